"""Arrays in checks: as numbers to compare, guarded against writes, and strict ones for portable code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchfw.backends import Backend, Rng, get_backend
from benchfw.testing.check import CheckFailed, NotApplicable

FIX_NUMBERS = "look for a step that is too long, a division by 0, or the logarithm of a negative number"
DEPTH = 4  # a problem holds tables, a table holds arrays


def is_array(value: Any) -> bool:
    """Return whether a value is an array of some backend."""
    return hasattr(value, "shape") and hasattr(value, "dtype")


def answer_numbers(problem: Any, answer: Any) -> NDArray[np.float64]:
    """Return an answer as numbers, flat: its metrics, and its entries where it is an array."""
    values = [np.array([float(each) for each in problem.metrics(answer).values()])]
    if is_array(answer):
        values.append(flat_numbers(problem, answer))
    return np.concatenate(values)


def flat_numbers(problem: Any, value: Any) -> NDArray[np.float64]:
    """Return a value or an array of the problem's backend as flat NumPy numbers."""
    return np.asarray(problem.backend.to_numpy(value), dtype=np.float64).reshape(-1)


def require_finite(values: NDArray[Any], what: str) -> None:
    """Raise CheckFailed where one of the values is nan or infinite."""
    if not np.isfinite(values).all():
        raise CheckFailed(f"{what} is {values[~np.isfinite(values)][0]}", FIX_NUMBERS)


def is_close(one: NDArray[np.float64], other: NDArray[np.float64], tolerance: float) -> bool:
    """Return whether two vectors are equal, relative to the largest entry of either."""
    finite = np.isfinite(one)
    if one.shape != other.shape or not np.array_equal(finite, np.isfinite(other)):
        return False
    if not np.array_equal(one[~finite], other[~finite], equal_nan=True):
        return False
    scale = max(1e-300, float(np.max(np.abs(np.concatenate([one[finite], other[finite]])), initial=0.0)))
    return bool(np.all(np.abs(one[finite] - other[finite]) <= tolerance * scale))


def copy_arrays(owner: Any) -> dict[str, NDArray[Any]]:
    """Return copies of the NumPy arrays that an object holds, by where they are."""
    return {place: np.array(array) for place, array in _arrays(owner, "", DEPTH)}


def find_changed_array(owner: Any, before: Mapping[str, NDArray[Any]]) -> str | None:
    """Return where an array that was held before is another now."""
    now = dict(_arrays(owner, "", DEPTH))
    for place, array in before.items():
        if place in now and not np.array_equal(now[place], array, equal_nan=array.dtype.kind == "f"):
            return place.lstrip(".")
    return None


def _arrays(owner: Any, place: str, depth: int) -> Iterator[tuple[str, NDArray[Any]]]:
    if isinstance(owner, np.ndarray):
        if owner.dtype.kind in "fiub":
            yield place, owner
        return
    if depth == 0 or isinstance(owner, str | bytes | type) or callable(owner):
        return
    if isinstance(owner, Mapping):
        items = [(f"{place}[{key!r}]", value) for key, value in owner.items()]
    elif isinstance(owner, tuple | list):
        items = [(f"{place}[{index}]", value) for index, value in enumerate(owner)]
    else:
        items = [(f"{place}.{key}", value) for key, value in getattr(owner, "__dict__", {}).items()]
    for name, value in items:
        yield from _arrays(value, name, depth - 1)


def assert_agree(one: Any, other: Any, tolerance: float = 200.0) -> None:
    """Raise CheckFailed unless two results are equal up to `tolerance` units in the last place.

    Sums in another order differ by rounding; what is not a floating-point number must be equal.
    """
    if isinstance(one, tuple):
        if len(one) != len(other):
            raise CheckFailed(f"one has {len(one)} parts and the other {len(other)}")
        for parts in zip(one, other, strict=True):
            assert_agree(*parts, tolerance)
        return
    one, other = np.asarray(one), np.asarray(other)
    if one.shape != other.shape or one.dtype != other.dtype:
        raise CheckFailed(f"{one.dtype} {one.shape} and {other.dtype} {other.shape} are not alike")
    if one.dtype.kind != "f":
        if not np.array_equal(one, other):
            raise CheckFailed(f"{np.sum(one != other)} of {one.size} entries differ")
        return
    scale = max(1.0, float(np.max(np.abs(other), initial=0.0)))
    allowed = tolerance * float(np.finfo(one.dtype).eps) * scale
    worst = float(np.max(np.abs(one - other), initial=0.0))
    if not worst <= allowed:  # nor may it be nan
        raise CheckFailed(f"they differ by {worst:.2e}, and rounding explains {allowed:.1e}")


class StrictBackend(Backend):
    """Arrays that know the array-API standard and nothing else."""

    name = "array-api-strict"

    def __init__(self) -> None:
        try:
            import array_api_strict
        except ImportError:
            raise NotApplicable("array-api-strict is not installed; pip install array-api-strict") from None
        self.xp = array_api_strict

    def asarray(self, values: Any, dtype: Any = None) -> Any:
        """Return the values as a strict array."""
        wanted = getattr(self.xp, np.dtype(dtype).name) if isinstance(dtype, type | np.dtype) else dtype
        return self.xp.asarray(np.asarray(values), dtype=wanted)

    def to_numpy(self, values: Any) -> np.ndarray:
        """Return a strict array as a NumPy array."""
        return np.asarray(values)

    def bits(self, seed: int, stream: int, block: int, start: int, count: int) -> Any:
        """Return words of a block."""
        return self.asarray(get_backend("numpy").bits(seed, stream, block, start, count))

    def synchronize(self) -> None:
        """Return at once."""

    def memory(self) -> int:
        """Return 0: nobody asks."""
        return 0

    def describe(self) -> Mapping[str, str]:
        """Return the version."""
        return {"device": "array-api-strict", "version": self.xp.__version__}

    def rng(self, seed: int) -> Rng:
        """Return the generator of this seed."""
        return StrictRng(self, seed)


class StrictRng(Rng):
    """NumPy's numbers as strict arrays; Python's numbers stay what they are."""

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name not in {
            "standard_normal",
            "random",
            "integers",
            "rademacher",
            "permutation",
            "choice",
            "normal",
        }:
            return found
        backend = super().__getattribute__("backend")

        def drawn(*args: Any, **options: Any) -> Any:
            host = Rng(get_backend("numpy"), self.seed, self.stream, self.block)
            values = getattr(host, name)(*args, **options)
            self.block = host.block
            return backend.asarray(values) if isinstance(values, np.ndarray) else values

        return drawn
