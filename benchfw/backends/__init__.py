"""Where arrays live: NumPy on the host, CuPy on a GPU, and whatever else a plugin registers."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from benchfw.backends.backend import Backend
from benchfw.errors import BackendUnavailable, PluginError, nearest

if TYPE_CHECKING:
    from benchfw.backends.rng import Rng

__all__ = ["Backend", "Rng", "available_backends", "backend_names", "get_backend", "register_backend"]


def _numpy() -> Backend:
    from benchfw.backends.numpy_backend import NumpyBackend

    return NumpyBackend()


def _cupy() -> Backend:
    from benchfw.backends.cupy_backend import open_cupy

    return open_cupy()


_BUILT_IN: dict[str, Callable[[], Backend]] = {"numpy": _numpy, "cupy": _cupy}
_factories: dict[str, Callable[[], Backend]] = dict(_BUILT_IN)
_open: dict[str, Backend] = {}


def backend_names() -> tuple[str, ...]:
    """Return every name that `get_backend` knows, whether or not this machine has the device."""
    return tuple(_factories)


def register_backend(name: str, factory: Callable[[], Backend]) -> None:
    """Add a backend: `factory()` returns it or raises BackendUnavailable with the reason."""
    if name in _BUILT_IN:
        raise PluginError(f"the backend name '{name}' belongs to benchfw; choose another name")
    _factories[name] = factory
    _open.pop(name, None)


def get_backend(name: str) -> Backend:
    """Return the backend of this name, the same object on every call; BackendUnavailable says why not."""
    if name in _open:
        return _open[name]
    if name not in _factories:
        raise BackendUnavailable(f"unknown backend '{name}'{nearest(name, _factories)}")
    try:
        made = _factories[name]()
    except BackendUnavailable:
        raise
    except Exception as fault:
        raise BackendUnavailable(f"{name} is not available: {type(fault).__name__}: {fault}") from fault
    if not isinstance(made, Backend):
        raise BackendUnavailable(
            f"{name} is not available: its factory gave {type(made).__name__}, no Backend"
        )
    _open[name] = made
    return made


def available_backends() -> list[Backend]:
    """Return the backends that this machine has, numpy first."""
    found = []
    for name in backend_names():
        with contextlib.suppress(BackendUnavailable):
            found.append(get_backend(name))
    return found


def __getattr__(name: str) -> Any:
    if name == "Rng":  # imported when it is used: listing plugins draws nothing
        from benchfw.backends.rng import Rng

        return Rng
    raise AttributeError(f"module 'benchfw.backends' has no attribute '{name}'")
