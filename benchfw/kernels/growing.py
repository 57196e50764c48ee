"""Memory of a GPU for arrays that are larger from step to step."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

ROUNDED = range(1 << 20, (1 << 30) + 1)  # bytes


@contextmanager
def growing_arrays() -> Iterator[None]:
    """Have CuPy's pool give powers of two, unless somebody has chosen how memory is given.

    An array that is larger from step to step would else never find what the one before has left: every step
    would take new memory, which stops the device, and the pool would grow by all of them.
    """
    import cupy

    pool = cupy.get_default_memory_pool()
    if cupy.cuda.get_allocator() != pool.malloc:
        yield
        return

    def allocate(size: int) -> Any:
        try:
            return pool.malloc(round_up(size))
        except MemoryError:
            return pool.malloc(size)

    with cupy.cuda.using_allocator(allocate):
        yield


def round_up(size: int) -> int:
    """Return the next power of two; small and very large sizes as given."""
    return 1 << (size - 1).bit_length() if size in ROUNDED else size
