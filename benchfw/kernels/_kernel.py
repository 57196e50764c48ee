"""A kernel: one pure array function with a portable body and, where they pay, bodies for single backends."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np

from benchfw.backends import get_backend, owner_of
from benchfw.backends.backend import BUILT_IN
from benchfw.errors import PluginError

P = ParamSpec("P")
R = TypeVar("R")

Counts = Callable[..., tuple[float, float]]
"""What a call costs: the arguments -> (floating-point operations, bytes that must be moved)."""


TOLERANCE = 200.0
"""Units in the last place by which bodies may differ: they add in other orders."""


def kernel(
    name: str, counts: Counts | None = None, tolerance: float = TOLERANCE
) -> Callable[[Callable[P, R]], Kernel[P, R]]:
    """Make a kernel of the portable body below; `counts(*args)` returns a call's operations and bytes.

    `tolerance` says by how many units in the last place its bodies may differ.

    ::

        @kernel("soft-threshold")
        def soft_threshold(x, threshold): ...


        @soft_threshold.on("numpy")
        def soft_threshold_numpy(x, threshold): ...
    """

    def decorate(portable: Callable[P, R]) -> Kernel[P, R]:
        return Kernel(name, portable, counts, tolerance)

    return decorate


_namespaces: dict[tuple[type, ...], Any] = {}  # of arrays that the core's backends own


def namespace(*arrays: Any) -> Any:
    """Return the array-API namespace of these arrays, for portable bodies: that of a plugin's backend."""
    kinds = tuple(map(type, arrays))
    if kinds in _namespaces:
        return _namespaces[kinds]
    owner = owner_of(arrays[0])
    if owner is not None and owner not in BUILT_IN:
        return get_backend(owner).xp
    # its first import takes a tenth of a second, which a run that needs no portable body should not pay
    from array_api_compat import array_namespace

    found = array_namespace(*arrays)
    if owner is not None:
        _namespaces[kinds] = found
    return found


class Kernel(Generic[P, R]):
    """Calls the body of the backend that the first array among its arguments lives on.

    A backend without a body of its own, and an array library that is not a backend, get the portable body.
    A call without any array is a TypeError: lists and numbers do not say where to compute.
    """

    def __init__(
        self,
        name: str,
        portable: Callable[P, R],
        counts: Counts | None = None,
        tolerance: float = TOLERANCE,
    ) -> None:
        functools.update_wrapper(self, portable)  # so that help() and signatures show the portable body's
        self.name = name
        self.portable = portable
        self.counts = counts
        self.tolerance = tolerance
        self.expected_failures: Mapping[str, str] = {}  # of conformance checks, with the reason
        self._bodies: dict[str, Callable[P, R]] = {}
        self._by_type: dict[type, Callable[P, R] | None] = {}

    def __repr__(self) -> str:
        return f"<kernel {self.name}: {', '.join(['portable', *self._bodies])}>"

    def __reduce__(self) -> str:
        return self.portable.__qualname__  # pickled by name, as a function is

    @property
    def bodies(self) -> Mapping[str, Callable[P, R]]:
        """The bodies for single backends, by backend; read-only."""
        return MappingProxyType(self._bodies)

    def on(self, backend: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
        """Add the body for one backend: a decorator that returns the body unchanged."""
        if backend in self._bodies:
            raise PluginError(f"kernel '{self.name}' already has a body for {backend}")

        def add(body: Callable[P, R]) -> Callable[P, R]:
            self._bodies[backend] = body
            self._by_type.clear()
            return body

        return add

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the body that belongs to the arguments."""
        by_type = self._by_type
        for argument in args:
            kind = type(argument)
            body = by_type[kind] if kind in by_type else self._find_body(argument)
            if body is not None:
                return body(*args, **kwargs)
        for argument in kwargs.values():
            body = self._find_body(argument)
            if body is not None:
                return body(*args, **kwargs)
        raise TypeError(f"kernel '{self.name}' was called without an array; give it at least one")

    def _find_body(self, argument: Any) -> Callable[P, R] | None:
        """Return the body for an argument; None if it is not an array."""
        kind = type(argument)
        # NumPy's scalars have an array namespace too, but do not say where to compute
        is_number = kind.__module__ == "builtins" or issubclass(kind, np.generic)
        owner = None if is_number else owner_of(argument)
        body = None
        if owner is not None or (hasattr(kind, "__array_namespace__") and not is_number):
            body = self._bodies.get(owner or "", self.portable)
        if is_number or owner in BUILT_IN:  # whatever plugins are active
            self._by_type[kind] = body
        return body
