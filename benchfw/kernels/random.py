"""Normal numbers and random signs from random words, equal to the last bit on every backend."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchfw.backends import get_backend
from benchfw.backends.normals import box_muller, box_muller_on_host
from benchfw.backends.precisions import precision_of
from benchfw.backends.rng import signs
from benchfw.errors import BenchfwError
from benchfw.kernels._kernel import kernel, namespace


def _normals_counts(words: Any, *, dtype: Any = np.float64) -> tuple[float, float]:
    precision = precision_of(dtype)
    pairs = words.size * (1.0 if precision.floating == "float32" else 0.5)
    terms = len(precision.log) + len(precision.sine) + len(precision.cosine)
    return pairs * (2 * terms + 20), 8.0 * words.size + 2 * pairs * np.dtype(dtype).itemsize


@kernel("normals", counts=_normals_counts)
def normals(words: Any, *, dtype: Any = np.float64) -> Any:
    """Return the normals of n uint64 words: (n,) float64 for even n, or (2n,) float32. Box & Muller 1958."""
    return box_muller(namespace(words), words, dtype)


@normals.on("numpy")
def _normals_numpy(words: Any, *, dtype: Any = np.float64) -> Any:
    return box_muller_on_host(words, dtype)


@normals.on("cupy")
def _normals_cupy(words: Any, *, dtype: Any = np.float64) -> Any:
    return get_backend("cupy").normals(words, dtype)


def sample_normals(backend: Any, rng: Any, size: int) -> tuple[Any, ...]:
    """Return an even number of words."""
    del backend
    return (rng.bits(2 * size),)


def _signs_counts(words: Any, count: int, dtype: Any = np.float64) -> tuple[float, float]:
    return float(count), float(words.nbytes + count * np.dtype(dtype).itemsize)


@kernel("rademacher", counts=_signs_counts)
def rademacher(words: Any, count: int, dtype: Any = np.float64) -> Any:
    """Return signs, (count,), from (count + 63) // 64 uint64 words or more: the numbers of `Rng.rademacher`.

    Bit j of word i is sign 64 i + j, 1 where it is set and -1 where not.
    """
    _check(words, count)
    xp = namespace(words)
    bits = (words[:, None] >> xp.arange(64, dtype=xp.uint64)) & 1
    kind = getattr(xp, np.dtype(dtype).name)
    return xp.reshape(xp.astype(bits, kind) * 2 - 1, (-1,))[:count]


@rademacher.on("numpy")
def _rademacher_numpy(words: Any, count: int, dtype: Any = np.float64) -> Any:
    _check(words, count)
    return signs(np, np.ascontiguousarray(words), count, dtype)


@rademacher.on("cupy")
def _rademacher_cupy(words: Any, count: int, dtype: Any = np.float64) -> Any:
    import cupy

    _check(words, count)
    return signs(cupy, cupy.ascontiguousarray(words), count, dtype)


def _check(words: Any, count: int) -> None:
    if not 0 <= count <= 64 * words.shape[0]:
        raise BenchfwError(f"{words.shape[0]} words are too few for {count} signs; give (count + 63) // 64")


def sample_rademacher(backend: Any, rng: Any, size: int) -> tuple[Any, ...]:
    """Return the words of `size` signs."""
    del backend
    return rng.bits((size + 63) // 64), size
