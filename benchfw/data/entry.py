"""What the catalog knows about a data set: plain data, cheap to import."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np

    Arrays: TypeAlias = dict[str, np.ndarray[Any, Any]]

LOCAL = ("127.0.0.1", "localhost", "::1")


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
    """A data set of the catalog; calling it returns its arrays.

    `contents` maps the content hash of every known copy to what that copy is. A set is `sealed` when no
    other content is right: a download or an imported file that parses to anything else is refused.
    `loader` is "module:function", or a function, and turns the raw files, {name: path}, into arrays, or into
    a stream of pieces of them when the set is `streamed`, that is, kept as memory-mapped .npy files.
    `size` is the bytes of its files, where they are known to us.
    `make` and `stream` are "module:function", or functions, that make the arrays: a synthetic set.
    `lengths` says which values an open length may have, where the copies in use are known.
    `split` names the rule of `benchfw.data.split`, with its numbers.
    """

    name: str
    title: str
    arrays: Mapping[str, ArraySpec] = field(default_factory=dict)
    citation: str = ""
    licence: str = ""
    files: tuple[RawFile, ...] = ()
    loader: str | Callable[[Mapping[str, Path]], Any] | None = None
    contents: Mapping[str, str] = field(default_factory=dict)
    size: int = 0
    sealed: bool = False
    streamed: bool = False
    redistributable: bool = False
    by_hand: str = ""
    notes: str = ""
    twin: str = ""
    split: tuple[str | int, ...] = ()
    make: str | Callable[..., Arrays] | None = None
    stream: str | Callable[..., Any] | None = None
    defaults: Mapping[str, Any] = field(default_factory=dict)
    lengths: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # what `benchfw show` prints of a registered name
        object.__setattr__(self, "__doc__", f"{self.title}\n\n{self.citation}".strip())

    def __call__(self, **params: Any) -> Arrays:
        """Return the arrays by name."""
        from benchfw.data.access import load_entry

        return load_entry(self, params)

    @property
    def fetchable(self) -> bool:
        """Whether every file of it has an address."""
        return bool(self.files) and all(each.url for each in self.files)

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
        """The addresses of its files."""
        return ", ".join(each.url for each in self.files if each.url)
