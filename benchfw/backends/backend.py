"""What a backend offers: an array module, transfers, randomness, and a way to wait for the device."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from benchfw.errors import BenchfwError

if TYPE_CHECKING:
    import numpy as np

    from benchfw.backends.rng import Rng


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

    @abstractmethod
    def bits(self, seed: int, stream: int, block: int, start: int, count: int) -> Any:
        """Return words start … start+count-1 of a block of the stream (seed, stream), as uint64."""

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
        """Start the device's own clock; the call that stops it returns seconds. None: there is no such."""
        return None

    def peak_during(self, call: Callable[[], Any]) -> int | None:
        """Make the call; return the most bytes it held at once beyond those held before. None: not known."""
        call()
        return None

    def rng(self, seed: int) -> Rng:
        """Return the generator of this seed; equal seeds give equal numbers on every backend."""
        from benchfw.backends.rng import Rng

        return Rng(self, seed)
