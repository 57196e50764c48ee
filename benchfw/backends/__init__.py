"""Where arrays live: NumPy on the host, CuPy on a GPU, and whatever else a plugin registers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchfw.backends.backend import (
    Backend,
    BackendTable,
    Device,
    available_backends,
    backend_names,
    current_table,
    get_backend,
    is_on_device,
    owner_of,
)

if TYPE_CHECKING:
    from benchfw.backends.rng import Rng

__all__ = [
    "Backend",
    "BackendTable",
    "Device",
    "Rng",
    "available_backends",
    "backend_names",
    "current_table",
    "get_backend",
    "is_on_device",
    "owner_of",
]


def __getattr__(name: str) -> Any:
    if name == "Rng":  # imported when it is used: listing plugins draws nothing
        from benchfw.backends.rng import Rng

        return Rng
    raise AttributeError(f"module 'benchfw.backends' has no attribute '{name}'")
