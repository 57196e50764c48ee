"""NumPy's random numbers on another backend, for libraries without arithmetic on 64-bit words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchfw.backends.backend import get_backend
from benchfw.backends.rng import Rng


def _drawn_on_host(name: str) -> Callable[..., Any]:
    """Return a method that draws by NumPy and copies the arrays; Python's numbers stay what they are."""

    def draw(self: Rng, *args: Any, **options: Any) -> Any:
        host = Rng(get_backend("numpy"), self.seed, self.stream, self.block)  # type: ignore[arg-type]
        given = [_for_numpy(each) for each in args]
        values = getattr(host, name)(*given, **{key: _for_numpy(each) for key, each in options.items()})
        self.block = host.block
        return self.backend.asarray(values) if isinstance(values, np.ndarray) else values

    draw.__name__ = name
    draw.__doc__ = getattr(Rng, name).__doc__
    return draw


def _for_numpy(argument: Any) -> Any:
    """Return an argument as NumPy takes it: another library's dtype by its name, as in torch.float32."""
    kind = type(argument)
    foreign = kind.__module__ != "builtins" and not isinstance(argument, np.dtype | np.generic)
    if not foreign or hasattr(argument, "shape"):
        return argument
    return np.dtype(str(argument).rpartition(".")[2])


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
