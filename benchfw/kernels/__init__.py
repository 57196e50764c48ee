"""Pure array functions with a body per backend.

The families here are registered through the same hook as a plugin's: this module is one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pluggy

from benchfw.kernels._kernel import Kernel, kernel, namespace
from benchfw.kernels.linear_models import (
    least_squares_gradient,
    least_squares_value,
    logistic_gradient,
    logistic_value,
)
from benchfw.kernels.normals import normals
from benchfw.kernels.thresholding import soft_threshold

if TYPE_CHECKING:
    from benchfw.backends import Backend, Rng

__all__ = [
    "Kernel",
    "kernel",
    "least_squares_gradient",
    "least_squares_value",
    "logistic_gradient",
    "logistic_value",
    "namespace",
    "normals",
    "soft_threshold",
]

# the marker is made here, since this layer may not import the one that holds the hooks
_hookimpl = pluggy.HookimplMarker("benchfw")

_COLUMNS = 64


def _vector(backend: Backend, rng: Rng, size: int) -> tuple[Any, ...]:
    del backend
    return rng.standard_normal(size), 0.5


def _words(backend: Backend, rng: Rng, size: int) -> tuple[Any, ...]:
    del backend
    return (rng.bits(2 * size),)


def _regression(backend: Backend, rng: Rng, size: int) -> tuple[Any, ...]:
    """Return A (size, 64), b (size,), x (64,)."""
    del backend
    return rng.standard_normal((size, _COLUMNS)), rng.standard_normal(size), rng.standard_normal(_COLUMNS)


def _classification(backend: Backend, rng: Rng, size: int) -> tuple[Any, ...]:
    """Return A (size, 64), labels of ±1 (size,), x (64,)."""
    del backend
    return rng.standard_normal((size, _COLUMNS)), rng.rademacher(size), rng.standard_normal(_COLUMNS)


@_hookimpl
def register_kernels(register: Callable[..., None]) -> None:
    """Add the kernels of the core, each with arguments of a given size."""
    register(soft_threshold, _vector)
    register(normals, _words)
    register(least_squares_value, _regression)
    register(least_squares_gradient, _regression)
    register(logistic_value, _classification)
    register(logistic_gradient, _classification)
