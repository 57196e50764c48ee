"""Where arrays live: NumPy on the host, CuPy on a GPU, and whatever else a plugin registers."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING, Any

from benchfw.backends.backend import Backend
from benchfw.errors import BackendUnavailable, PluginError, nearest

if TYPE_CHECKING:
    from benchfw.backends.rng import Rng

__all__ = [
    "Backend",
    "BackendTable",
    "Rng",
    "available_backends",
    "backend_names",
    "get_backend",
]


@cache
def _numpy() -> Backend:
    from benchfw.backends.numpy_backend import NumpyBackend

    return NumpyBackend()


@cache
def _cupy() -> Backend:
    from benchfw.backends.cupy_backend import open_cupy

    return open_cupy()


_BUILT_IN: dict[str, Callable[[], Backend]] = {"numpy": _numpy, "cupy": _cupy}


class BackendTable:
    """The backends by name: those of the core, and those that plugins add. Each is opened once."""

    def __init__(self) -> None:
        self._added: dict[str, Callable[[], Backend]] = {}
        self._open: dict[str, Backend] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """Every name, whether or not this machine has the device."""
        return (*_BUILT_IN, *self._added)

    def add(self, name: str, factory: Callable[[], Backend]) -> None:
        """Add a backend: `factory()` returns it or raises BackendUnavailable with the reason."""
        if name in _BUILT_IN:
            raise PluginError(f"the backend name '{name}' belongs to benchfw; choose another name")
        self._added[name] = factory

    def get(self, name: str) -> Backend:
        """Return the backend of this name, opened at the first call."""
        if name not in self._open:
            self._open[name] = self._make(name)
        return self._open[name]

    def _make(self, name: str) -> Backend:
        factory = _BUILT_IN.get(name) or self._added.get(name)
        if factory is None:
            raise BackendUnavailable(f"unknown backend '{name}'{nearest(name, self.names)}")
        try:
            made = factory()
        except BackendUnavailable:
            raise
        except Exception as fault:
            raise BackendUnavailable(f"{name} is not available: {type(fault).__name__}: {fault}") from fault
        if not isinstance(made, Backend):
            raise BackendUnavailable(
                f"{name} is not available: its factory gave {type(made).__name__}, not a Backend"
            )
        return made


current_table: ContextVar[BackendTable] = ContextVar("current_table", default=BackendTable())  # noqa: B039
"""The table that `get_backend` looks in; a registry puts its own here while it is active."""


def backend_names() -> tuple[str, ...]:
    """Return every name that `get_backend` knows, whether or not this machine has the device."""
    return current_table.get().names


def get_backend(name: str) -> Backend:
    """Return the backend of this name, the same object on every call; BackendUnavailable says why not."""
    return current_table.get().get(name)


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
