"""NumPy's random numbers on another backend, for libraries without arithmetic on 64-bit words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchfw.backends.normals import box_muller_on_host
from benchfw.backends.rng import Rng, philox_words


class _Host:
    """What a generator needs of NumPy."""

    name = "numpy"
    xp: Any = np
    asarray = staticmethod(np.asarray)
    to_numpy = staticmethod(np.asarray)
    bits = staticmethod(philox_words)
    normals = staticmethod(box_muller_on_host)

    @staticmethod
    def bits_of_blocks(seed: int, stream: int, first: int, blocks: int, count: int) -> np.ndarray:
        words = np.empty((blocks, count), dtype=np.uint64)
        for place in range(blocks):
            words[place] = philox_words(seed, stream, first + place, 0, count)
        return words


def _drawn_on_host(name: str) -> Callable[..., Any]:
    """Return a method that draws by NumPy and copies the arrays; Python's numbers stay what they are."""

    def draw(self: HostRng, *args: Any, **options: Any) -> Any:
        host = Rng(_Host(), self.seed, self.stream, self.block)
        given = [self.for_numpy(each) for each in args]
        values = getattr(host, name)(*given, **{key: self.for_numpy(each) for key, each in options.items()})
        self.block = host.block
        return self.backend.asarray(values) if isinstance(values, np.ndarray) else values

    draw.__name__ = name
    draw.__doc__ = getattr(Rng, name).__doc__
    return draw


class HostRng(Rng):
    """The numbers of one (seed, stream), each call's drawn on the host and copied to the backend."""

    __slots__ = ()

    rademacher = _drawn_on_host("rademacher")
    random = _drawn_on_host("random")
    integers = _drawn_on_host("integers")
    permutation = _drawn_on_host("permutation")
    choice = _drawn_on_host("choice")
    standard_normal = _drawn_on_host("standard_normal")
    standard_normals = _drawn_on_host("standard_normals")
    normal = _drawn_on_host("normal")

    def for_numpy(self, argument: Any) -> Any:
        """Return an argument as NumPy takes it: another library's dtype by its name, as in torch.float32."""
        if argument is None or isinstance(argument, int | float | str | tuple | list | type | np.dtype):
            return argument
        is_array = hasattr(argument, "shape")
        return self.backend.to_numpy(argument) if is_array else np.dtype(str(argument).rpartition(".")[2])
