"""What the core itself registers, by the same door as everybody else: its kernels.

They are named, not imported: listing what there is should not cost the import of NumPy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchfw.hookspecs import hookimpl

if TYPE_CHECKING:
    from benchfw.backends import Backend, Rng
    from benchfw.hookspecs import RegisterKernel

COLUMNS = 64


@hookimpl
def register_kernels(register: RegisterKernel) -> None:
    """Add the kernels of the core, each with arguments of a given size."""
    register("benchfw.kernels:soft_threshold", _vector)
    register("benchfw.kernels:normals", _words)
    register("benchfw.kernels:least_squares_value", _regression)
    register("benchfw.kernels:least_squares_gradient", _regression)
    register("benchfw.kernels:logistic_value", _classification)
    register("benchfw.kernels:logistic_gradient", _classification)


def _vector(_: Backend, rng: Rng, size: int) -> tuple[Any, ...]:
    return rng.standard_normal(size), 0.5


def _words(_: Backend, rng: Rng, size: int) -> tuple[Any, ...]:
    return (rng.bits(2 * size),)


def _regression(_: Backend, rng: Rng, size: int) -> tuple[Any, ...]:
    """Return A (size, 64), b (size,), x (64,)."""
    return rng.standard_normal((size, COLUMNS)), rng.standard_normal(size), rng.standard_normal(COLUMNS)


def _classification(_: Backend, rng: Rng, size: int) -> tuple[Any, ...]:
    """Return A (size, 64), labels of ±1 (size,), x (64,)."""
    return rng.standard_normal((size, COLUMNS)), rng.rademacher(size), rng.standard_normal(COLUMNS)
