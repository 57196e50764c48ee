"""What the machine can do at most, seen with the plainest calls of a backend's own array library."""

from __future__ import annotations

from typing import Any

from benchfw.analysis.roofline import Ceilings
from benchfw.backends import Backend
from benchfw.measure.kernels import timed_blocks
from benchfw.records import Budget

FOOTPRINTS = tuple(1 << power for power in range(16, 29, 3))  # 64 KiB, in a cache, to 256 MiB, in none
COLUMNS = 1024
SIDES = (512, 1024, 2048, 4096, 8192)
ENOUGH = 0.02  # seconds of a matrix product: a larger one would be no faster
BUDGET = Budget(seconds=0.1)


def measure_ceilings(backend: Backend, dtype: str) -> Ceilings:
    """Return the rate of matrix products, and at each footprint the better one of copying and of reading."""
    bandwidths = tuple(max(_copied(backend, size), _read(backend, size, dtype)) for size in FOOTPRINTS)
    return Ceilings(dtype, _multiplied(backend, dtype), FOOTPRINTS, bandwidths)


def _copied(backend: Backend, footprint: int) -> float:
    """Return the bytes a second, read and written, of a copy from one half of a footprint to the other."""
    source = backend.xp.ones(footprint // 16)
    return footprint / _fastest(backend, _copy, backend.xp.zeros_like(source), source)


def _copy(target: Any, source: Any) -> None:
    target[...] = source


def _read(backend: Backend, footprint: int, dtype: str) -> float:
    """Return the bytes a second of a matrix-vector product: unlike a copy, it uses all of a CPU's threads."""
    row = backend.xp.ones(COLUMNS, dtype=dtype)
    matrix = backend.xp.ones((footprint // row.nbytes, COLUMNS), dtype=dtype)
    return float(matrix.nbytes) / _fastest(backend, backend.xp.matmul, matrix, row)


def _multiplied(backend: Backend, dtype: str) -> float:
    """Return the operations a second of the product of two square matrices, of the best size."""
    rng = backend.rng(0)  # a GPU multiplies constants at a higher clock than numbers
    best = 0.0
    for side in SIDES:
        left, right = (rng.standard_normal((side, side), dtype) for _ in range(2))
        seconds = _fastest(backend, backend.xp.matmul, left, right)
        best = max(best, 2.0 * side**3 / seconds)
        if seconds >= ENOUGH:
            break
    return best


def _fastest(backend: Backend, call: Any, *arguments: Any) -> float:
    call(*arguments)  # compiled and planned before the clock runs
    return min(block.seconds / block.calls for block in timed_blocks(backend, call, arguments, BUDGET))
