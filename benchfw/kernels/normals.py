"""Normal numbers from random words, equal to the last bit on every backend."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchfw.backends.normals import box_muller, precision_of
from benchfw.kernels._kernel import kernel, namespace


def _counts(words: Any, *, dtype: Any = np.float64) -> tuple[float, float]:
    precision = precision_of(dtype)
    pairs = words.size * (1.0 if precision.floating == "float32" else 0.5)
    terms = len(precision.log) + len(precision.sine) + len(precision.cosine)
    return pairs * (2 * terms + 20), 8.0 * words.size + 2 * pairs * np.dtype(dtype).itemsize


@kernel("normals", counts=_counts)
def normals(words: Any, *, dtype: Any = np.float64) -> Any:
    """Return the normals of n uint64 words: (n,) float64 for even n, or (2n,) float32. Box & Muller 1958."""
    return box_muller(namespace(words), words, dtype)


@normals.on("numpy")
def _normals_numpy(words: Any, *, dtype: Any = np.float64) -> Any:
    return box_muller(np, words, dtype)


@normals.on("cupy")
def _normals_cupy(words: Any, *, dtype: Any = np.float64) -> Any:
    import cupy

    return box_muller(cupy, words, dtype)


def sample_normals(backend: Any, rng: Any, size: int) -> tuple[Any, ...]:
    """Return an even number of words."""
    del backend
    return (rng.bits(2 * size),)
