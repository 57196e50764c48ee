"""Small results on their way from a device to the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchfw.backends import owner_of


def read_later(values: Any) -> Callable[[], Any]:
    """Begin to copy a small array to the host; return what waits for the copy, but not for work after it.

    So a device has work while the host looks at a result of earlier work. Arrays of other backends than CuPy
    are returned as they are.
    """
    if owner_of(values) != "cupy":
        return lambda: values
    import cupy

    place = cupy.cuda.alloc_pinned_memory(values.nbytes)  # only there a copy goes on beside the host
    values.data.copy_to_host_async(place.ptr, values.nbytes)
    copied = cupy.cuda.Event(disable_timing=True)
    copied.record()

    def wait() -> np.ndarray:
        copied.synchronize()
        return np.frombuffer(place, dtype=values.dtype, count=values.size).reshape(values.shape)

    return wait
