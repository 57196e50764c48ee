"""What a catalog knows about a data set, and whether arrays are what it promises, and finite."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from benchfw.errors import DataError, PluginError

if TYPE_CHECKING:
    import numpy as np

Ask: TypeAlias = Callable[[str], bytes | None]
"""Returns the short text at an address, or None if the server answers "not found"."""

Arrays: TypeAlias = "dict[str, np.ndarray[Any, Any]]"
"""NumPy arrays by name, as `load` returns them."""

CHUNK_BYTES = 1 << 24  # a memory-mapped array is read piece by piece


@dataclass(frozen=True)
class ArraySpec:
    """One array: a word in `shape` stands for an open length, the same word for the same length.

    `dtype` is NumPy's name, or "text" for unicode of any width. An optional array belongs to some copies
    of the set only; `Dataset.notes` says to which.
    """

    shape: tuple[int | str, ...]
    dtype: str
    optional: bool = False

    @property
    def bytes(self) -> int:
        """The bytes of the array; 0 where a length is open."""
        width = self.dtype.lstrip("abcdefghijklmnopqrstuvwxyz")
        lengths = [each for each in self.shape if isinstance(each, int)]
        return math.prod(lengths) * int(width) // 8 if width and len(lengths) == len(self.shape) else 0

    def __str__(self) -> str:
        lengths = ", ".join(f"{each:,}" if isinstance(each, int) else each for each in self.shape)
        return f"({lengths}{',' if len(self.shape) == 1 else ''}) {self.dtype}"


@dataclass(frozen=True)
class RawFile:
    """One file as its official home gives it; `url` is None where a person must get it."""

    name: str
    url: str | None = None
    sha256: str | None = None


@dataclass(frozen=True)
class Dataset:
    """A data set of a catalog: what it holds, where it comes from, how its files are read."""

    name: str
    title: str
    arrays: Mapping[str, ArraySpec] = field(default_factory=dict)
    citation: str = ""
    licence: str = ""
    files: tuple[RawFile, ...] = ()
    loader: str | Callable[[Mapping[str, Path]], Any] | None = None
    """Turns raw files, {name: path}, into arrays; a function or "module:function"."""
    contents: Mapping[str, str] = field(default_factory=dict)
    """The content hash of every known copy, and what that copy is."""
    size: int = 0
    """The bytes of its files, where they are known."""
    sealed: bool = False
    """No other content is right: files that parse to anything else are refused."""
    streamed: bool = False
    """The loader yields pieces of the arrays, which are kept as memory-mapped .npy files."""
    redistributable: bool = False
    by_hand: str = ""
    notes: str = ""
    twin: str = ""
    """The synthetic set that can stand in for it."""
    split: tuple[str | int, ...] = ()
    """The rule of `benchfw.data.split`, with its numbers."""
    make: str | Callable[..., Arrays] | None = None
    """Makes the arrays of a synthetic set; a function or "module:function"."""
    stream: str | Callable[..., Any] | None = None
    """Yields pieces of them instead."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Parameters that `make` and `stream` are given unless a name says otherwise."""
    lengths: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """The values that an open length may have, where the copies in use are known."""
    find_files: str | Callable[[Ask], Sequence[RawFile]] | None = None
    """Finds the files of a set whose addresses only its host knows; a function or "module:function"."""
    home: str = ""
    """The page that describes it."""

    def __post_init__(self) -> None:
        # what `benchfw show` prints of a registered name
        object.__setattr__(self, "__doc__", f"{self.title}\n\n{self.citation}".strip())

    @property
    def fetchable(self) -> bool:
        """Whether every file of it has an address, or can be found."""
        return self.find_files is not None or (bool(self.files) and all(each.url for each in self.files))

    @property
    def bytes(self) -> int:
        """How much it is: its files where that is known, else the arrays whose lengths are known."""
        return self.size or sum(spec.bytes for spec in self.arrays.values())

    @property
    def origin(self) -> str:
        """Where it comes from, in a phrase."""
        if self.make is not None:
            return "made on demand"
        return "can be fetched" if self.fetchable else "by hand"

    @property
    def addresses(self) -> str:
        """The addresses of its files; where these must be found, that of its home."""
        return ", ".join(each.url for each in self.files if each.url) or self.home


def resolve_function(name: str, source: str | Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that an entry gives as itself or as "module:function"."""
    if not isinstance(source, str):
        return source
    module, _, attribute = source.partition(":")
    try:
        function: Callable[..., Any] = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as fault:
        raise PluginError(f"data set '{name}': '{source}' cannot be imported ({fault})") from fault
    return function


def check_arrays(entry: Dataset, arrays: Mapping[str, np.ndarray[Any, Any]], where: str | Path) -> None:
    """Raise DataError unless the arrays have the names, shapes and types that the entry promises."""
    place = f"data set '{entry.name}' in {where}"
    lengths: dict[str, int] = {}
    for name, spec in entry.arrays.items():
        if name not in arrays:
            if spec.optional:
                continue
            raise DataError(
                f"{place} has no array '{name}', only {', '.join(sorted(arrays))}; replace the file"
            )
        if not _fits(arrays[name], spec, lengths):
            found = f"{arrays[name].shape} {arrays[name].dtype}"
            raise DataError(f"{place}: array '{name}' is {found}, not {spec}; replace the file")
        if arrays[name].size == 0:
            raise DataError(f"{place}: array '{name}' is empty; replace the file")
    for word, length in lengths.items():
        if length not in entry.lengths.get(word, (length,)):
            wanted = " or ".join(f"{each:,}" for each in entry.lengths[word])
            raise DataError(f"{place} has {length:,} {word}, not {wanted}; replace the file")


def _fits(array: np.ndarray[Any, Any], spec: ArraySpec, lengths: dict[str, int]) -> bool:
    dtype = "text" if array.dtype.kind == "U" else array.dtype.name
    if dtype != spec.dtype or array.ndim != len(spec.shape):
        return False
    return all(
        length == (wanted if isinstance(wanted, int) else lengths.setdefault(wanted, length))
        for length, wanted in zip(array.shape, spec.shape, strict=True)
    )


def check_finite(
    name: str,
    arrays: Mapping[str, np.ndarray[Any, Any]],
    where: str | Path = "",
    first_row: int = 0,
) -> None:
    """Raise DataError, with the array, row and column, if a floating-point array has NaN or infinity.

    `first_row` is the number of the arrays' first row, where they are a piece of a larger set.
    """
    for key, array in arrays.items():
        kind = getattr(getattr(array, "dtype", None), "kind", "")
        place = _find_not_finite(array) if kind in {"f", "c"} and array.size else None
        if place is not None:
            source = f" in {where}" if where else ""
            raise DataError(
                f"data set '{name}'{source}: array '{key}' has {array[place]} in "
                f"{_describe_place(place, first_row)}; fill in or leave out such rows"
            )


def _find_not_finite(array: np.ndarray[Any, Any]) -> tuple[int, ...] | None:
    """Return the place of the first element that is not finite, or None."""
    import numpy as np

    if array.ndim == 0:
        return None if np.isfinite(array) else ()
    rows = max(1, CHUNK_BYTES // max(1, array[:1].nbytes))
    for start in range(0, len(array), rows):
        piece = array[start : start + rows]
        with np.errstate(all="ignore"):
            total = complex(piece.sum())  # one pass without a mask: NaN and infinity survive any sum
        if math.isfinite(total.real) and math.isfinite(total.imag):
            continue
        wrong = np.argwhere(~np.isfinite(piece))
        if len(wrong):  # a sum of large numbers may overflow too
            row, *rest = (int(each) for each in wrong[0])
            return (start + row, *rest)
    return None


def _describe_place(place: tuple[int, ...], first_row: int) -> str:
    if not place:
        return "its only element"
    row, *rest = place
    names = ["column"] if len(rest) == 1 else [f"index {number}" for number in range(1, len(rest) + 1)]
    parts = [
        f"row {row + first_row:,}",
        *(f"{each} {index:,}" for each, index in zip(names, rest, strict=True)),
    ]
    return f"{', '.join(parts)} (counted from 0)"
