"""Small results on their way from a device to the host, and memory for arrays that grow there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from benchfw.backends import owner_of

ROUNDED = range(1 << 20, (1 << 30) + 1)  # bytes of a request that becomes a power of two


def read_later(values: Any) -> Callable[[], Any]:
    """Begin to copy a small array to the host; return what waits for the copy, but not for work after it.

    So a device has work while the host looks at a result of earlier work. Arrays of other backends than CuPy
    are returned as they are.
    """
    if owner_of(values) != "cupy":
        return lambda: values
    import cupy

    read = _copied(values)
    done = cupy.cuda.Event(disable_timing=True)
    done.record()

    def wait() -> np.ndarray:
        done.synchronize()
        return read()

    return wait


def read_now(values: Any) -> np.ndarray:
    """Return a small array of CuPy on the host, after all work so far: faster than `cupy.asnumpy`."""
    import cupy

    read = _copied(values)
    cupy.cuda.get_current_stream().synchronize()
    return read()


def _copied(values: Any) -> Callable[[], np.ndarray]:
    """Begin a copy to pinned memory, so that the host need not wait; return what reads it there."""
    import cupy

    place = cupy.cuda.alloc_pinned_memory(values.nbytes)
    values.data.copy_to_host_async(place.ptr, values.nbytes)
    return lambda: np.frombuffer(place, dtype=values.dtype, count=values.size).reshape(values.shape)


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
