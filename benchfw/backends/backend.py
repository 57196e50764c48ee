"""What a backend offers, and the backends by name: those of the core, and those that plugins add."""

from __future__ import annotations

import contextlib
import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from benchfw.errors import BackendUnavailable, BenchfwError, PluginError, nearest

if TYPE_CHECKING:
    import numpy as np

    from benchfw.backends.rng import Rng


# by place: listing what there is should not cost the import of NumPy
BUILT_IN = {
    "numpy": "benchfw.backends.numpy_backend:NumpyBackend",
    "cupy": "benchfw.backends.cupy_backend:CupyBackend",
}


class Device(NamedTuple):
    """One device of this machine: its model, and the variable and number that give it to a process alone."""

    number: str
    name: str
    variable: str

    def __str__(self) -> str:
        return f"{self.name} #{self.number}"


class Backend(ABC):
    """Where arrays live and who computes with them."""

    name: str
    xp: ModuleType
    on_device: bool = False
    """Whether arrays live on a device that two trials must not share."""
    draws_on_host: bool = False
    """Whether random numbers are made by NumPy and copied, because the library cannot compute with words."""

    @property
    def library(self) -> str:
        """The package that the arrays are of."""
        return self.xp.__name__.partition(".")[0]

    def owns(self, array: Any) -> bool:
        """Return whether an array lives here, so that kernels run this backend's bodies on it."""
        return type(array).__module__.partition(".")[0] == self.library

    def devices(self) -> tuple[Device, ...]:
        """Return the devices here that are of the first one's model, which keys and reports name."""
        return ()

    @abstractmethod
    def asarray(self, values: Any, dtype: Any = None) -> Any:
        """Return the values as an array on this backend, copied only if they are elsewhere."""

    def read_only(self, array: Any) -> Any:
        """Return a view of an array that cannot be written by accident, where the library has such views."""
        return array

    @abstractmethod
    def to_numpy(self, values: Any) -> np.ndarray:
        """Return an array of this backend as a NumPy array."""

    def sparse_rows(self, matrix: Any) -> Any:
        """Return a sparse matrix of SciPy as compressed sparse rows on this backend."""
        del matrix
        raise BenchfwError(f"{self.name} has no sparse matrices; choose another backend")

    def bits(self, seed: int, stream: int, block: int, start: int, count: int) -> Any:
        """Return words start … start+count-1 of a block of the stream (seed, stream), as uint64.

        Drawn on the host and copied; a body that draws on the device must give the same words.
        """
        from benchfw.backends.rng import philox_words

        return self.asarray(philox_words(seed, stream, block, start, count))

    def bits_of_blocks(self, seed: int, stream: int, first: int, blocks: int, count: int) -> Any:
        """Return the first `count` words of each of so many successive blocks: (blocks, count) uint64."""
        words = self.xp.empty((blocks, count), dtype="uint64")
        for place in range(blocks):
            words[place] = self.bits(seed, stream, first + place, 0, count)
        return words

    def normals(self, words: Any, dtype: Any) -> Any:
        """Return the normals of these words, as `normals.box_muller` does; a faster body must equal it."""
        from benchfw.backends.normals import box_muller

        return box_muller(self.xp, words, dtype)

    @abstractmethod
    def synchronize(self) -> None:
        """Wait until the device has finished all work handed to it."""

    @abstractmethod
    def memory(self) -> int:
        """Return the largest number of bytes held so far, on the device or by this process."""

    @abstractmethod
    def describe(self) -> Mapping[str, str]:
        """Return the device's name and the versions that its numbers depend on."""

    def stopwatch(self) -> Callable[[], float] | None:
        """Start the device's own clock; the call that stops it returns seconds; None without one."""
        return None

    def peak_during(self, call: Callable[[], Any]) -> int | None:
        """Make the call; return the most bytes it held at once beyond those held before. None: not known."""
        call()
        return None

    def rng(self, seed: int) -> Rng:
        """Return the generator of this seed; equal seeds give equal numbers on every backend."""
        if self.draws_on_host:
            from benchfw.backends.host_rng import HostRng

            return HostRng(self, seed)
        from benchfw.backends.rng import Rng

        return Rng(self, seed)


Factory = Callable[[], Backend]
"""A backend's class, or a function that returns it; both raise BackendUnavailable with the reason."""


class BackendTable:
    """The backends that one registry knows. Each is opened once, those of the core once a process."""

    def __init__(self) -> None:
        self._added: dict[str, Callable[[], Factory]] = {}
        self._open: dict[str, Backend] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """Every name, whether or not this machine has the device."""
        return (*BUILT_IN, *self._added)

    def add(self, name: str, find_factory: Callable[[], Factory]) -> None:
        """Add a backend; its factory is asked for when it is first needed."""
        if name in BUILT_IN:
            raise PluginError(f"the backend name '{name}' belongs to benchfw; choose another name")
        self._added[name] = find_factory

    def get(self, name: str) -> Backend:
        """Return the backend of this name, opened at the first call; BackendUnavailable says why not."""
        if name not in self._open:
            built_in = name in BUILT_IN
            self._open[name] = _built_in(name) if built_in else _open_backend(name, self._factory)
        return self._open[name]

    def _factory(self, name: str) -> Factory:
        if name in BUILT_IN:
            return _built_in_class(name)
        if name not in self._added:
            raise BackendUnavailable(f"unknown backend '{name}'{nearest(name, self.names)}")
        return self._added[name]()

    def on_device(self, name: str) -> bool:
        """Return whether trials on this backend need a device each.

        A class that was registered says so where the device is absent too; a function's backend is opened.
        """
        factory = self._factory(name)
        if isinstance(factory, type):
            return bool(getattr(factory, "on_device", False))
        with contextlib.suppress(BackendUnavailable):
            return self.get(name).on_device
        return False

    def owner_of(self, array: Any) -> str | None:
        """Return the name of the backend that an array lives on; None where no open backend owns it.

        A backend that has the name of the array's library is opened for the question.
        """
        library = type(array).__module__.partition(".")[0]
        for name in ("numpy", library):
            if name not in self._open and name in self.names:
                with contextlib.suppress(BackendUnavailable):
                    self.get(name)
        return next((name for name, backend in self._open.items() if backend.owns(array)), None)


def _built_in_class(name: str) -> type[Backend]:
    module, _, attribute = BUILT_IN[name].partition(":")
    found: type[Backend] = getattr(importlib.import_module(module), attribute)
    return found


@cache
def _built_in(name: str) -> Backend:
    return _open_backend(name, _built_in_class)


def _open_backend(name: str, find_factory: Callable[[str], Factory]) -> Backend:
    try:
        made: Any = find_factory(name)()
    except BackendUnavailable:
        raise
    except Exception as fault:
        raise BackendUnavailable(f"{name} is not available: {type(fault).__name__}: {fault}") from fault
    if not isinstance(made, Backend):
        kind = type(made).__name__
        raise BackendUnavailable(f"{name} is not available: its factory gave {kind}, not a Backend")
    return made


current_table: ContextVar[BackendTable] = ContextVar("current_table", default=BackendTable())  # noqa: B039
"""The table that is asked; a registry puts its own here while it is active."""


def backend_names() -> tuple[str, ...]:
    """Return every name that `get_backend` knows, whether or not this machine has the device."""
    return current_table.get().names


def get_backend(name: str) -> Backend:
    """Return the backend of this name, the same object on every call; BackendUnavailable says why not."""
    return current_table.get().get(name)


def available_backends(names: Iterable[str]) -> list[Backend]:
    """Return those of these backends that this machine has."""
    found = []
    for name in names:
        with contextlib.suppress(BackendUnavailable):
            found.append(get_backend(name))
    return found


def is_on_device(name: str) -> bool:
    """Return whether trials on this backend need a device each."""
    return current_table.get().on_device(name)


def owner_of(array: Any) -> str | None:
    """Return the name of the backend that an array lives on; None where no open backend owns it."""
    return current_table.get().owner_of(array)
