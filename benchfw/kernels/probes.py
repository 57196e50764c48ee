"""Probes of random signs, from random words."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchfw.backends.rng import signs
from benchfw.errors import BenchfwError
from benchfw.kernels._kernel import kernel, namespace


def _counts(words: Any, count: int, dtype: Any = np.float64) -> tuple[float, float]:
    return float(count), float(words.nbytes + count * np.dtype(dtype).itemsize)


@kernel("rademacher", counts=_counts)
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
        raise BenchfwError(f"{words.shape[0]} words hold no {count} signs; give (count + 63) // 64 of them")


def sample_rademacher(backend: Any, rng: Any, size: int) -> tuple[Any, ...]:
    """Return the words of `size` signs."""
    del backend
    return rng.bits((size + 63) // 64), size
