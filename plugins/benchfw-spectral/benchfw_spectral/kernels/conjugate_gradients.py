"""Conjugate gradients for a block of right-hand sides."""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt
from typing import Any

import numpy as np

from benchfw.errors import BenchfwError
from benchfw.kernels._kernel import kernel, namespace
from benchfw.kernels.blocks import add_scaled, column_dots, in_safe_range, safe_limit, well_conditioned
from benchfw.kernels.operators import as_operator
from benchfw.kernels.transfers import read_now
from benchfw_spectral.kernels.resident import resident, side_by_side
from benchfw_spectral.kernels.resident_source import CONJUGATE_GRADIENTS


def _counts(
    rhs: Any,
    matrix: Any,
    tolerance: float = 1e-10,
    iterations: int = 1000,
    preconditioner: Any = None,
    start: Any = None,
) -> tuple[float, float]:
    """Return the cost of one iteration: how many there are depends on the spectrum."""
    del tolerance, iterations, preconditioner, start
    operator = as_operator(matrix, size=rhs.shape[0])
    flops = rhs.shape[1] * (operator.work + 10 * operator.size)
    return float(flops), float((operator.work / 2 + 8 * rhs.size) * rhs.dtype.itemsize)


@kernel("conjugate-gradients", counts=_counts)
def conjugate_gradients(
    rhs: Any,
    matrix: Any,
    tolerance: float = 1e-10,
    iterations: int = 1000,
    preconditioner: Callable[[Any], Any] | None = None,
    start: Any = None,
) -> Any:
    """Return X with A X = rhs, (size, k), for positive definite A; the columns share products, nothing else.

    A column is done, and stays as it is, when its residual, as the recurrence updates it, is at most
    `tolerance` times as long as its right-hand side. `preconditioner` maps a block R to about A⁻¹ R. From a
    `start`, (size, k), a first product finds its residual; without one the start is 0. Hestenes & Stiefel
    1952.
    """
    xp = namespace(rhs)
    operator = as_operator(matrix, size=rhs.shape[0])
    rhs, lengths, powers = in_safe_range(rhs)
    goal = tolerance * lengths
    solution, residual, direction = xp.zeros_like(rhs), rhs, xp.zeros_like(rhs)
    if start is not None:
        solution = start if powers is None else start * powers
        residual = rhs - operator.matmat(solution)
    active, slope = _longer(xp, residual, goal), xp.zeros_like(goal)
    for iteration in range(1, iterations + 1):
        if not bool(xp.any(active)):
            break
        descent = residual if preconditioner is None else preconditioner(residual)
        before, slope = slope, column_dots(residual, descent)
        direction = add_scaled(descent, _ratio(xp, slope, before, before != 0), direction)
        product = operator.matmat(direction)
        curvature = column_dots(direction, product)
        if bool(xp.any(active & ~(curvature > 0))):
            least = float(xp.min(xp.where(active, curvature, xp.ones_like(curvature))))
            raise _not_definite(least, iteration)
        step = _ratio(xp, slope, curvature, active)
        solution = add_scaled(solution, step, direction)
        residual = add_scaled(residual, -step, product)
        active = _longer(xp, residual, goal)
    _require_solved(int(xp.sum(xp.astype(active, xp.int64))), rhs.shape[1], tolerance, iterations)
    return solution if powers is None else solution / powers


@conjugate_gradients.on("cupy")
def _conjugate_gradients_cupy(
    rhs: Any,
    matrix: Any,
    tolerance: float = 1e-10,
    iterations: int = 1000,
    preconditioner: Callable[[Any], Any] | None = None,
    start: Any = None,
) -> Any:
    import cupy

    operator = as_operator(matrix, size=rhs.shape[0])
    held = resident(operator, rhs) if preconditioner is None else None
    if held is None:
        return conjugate_gradients.portable(rhs, operator, tolerance, iterations, preconditioner, start)
    begun = start is not None
    starts = held.tiles(start if begun else rhs)
    reports, solutions, outcomes = [], [], []
    for tile, guess in zip(held.tiles(rhs), starts, strict=True):
        solution = guess.astype(tile.dtype, order="C") if begun else cupy.empty(tile.shape, dtype=tile.dtype)
        block = cupy.empty(tile.shape, dtype=tile.dtype)
        outcome = cupy.empty((4, tile.shape[1]), dtype=tile.dtype)
        numbers = iterations, float(tolerance), safe_limit(tile)
        arrays = held.places(tile, 2), outcome
        launched = (
            CONJUGATE_GRADIENTS,
            "conjugate_gradients",
            tile,
            solution,
            int(begun),
            block,
            *numbers,
            *arrays,
        )
        reports.append(held.launch(*launched))
        solutions.append(solution)
        outcomes.append(outcome)
    if any(report() for report in reports):  # a right-hand side of extreme length
        return conjugate_gradients.portable(rhs, operator, tolerance, iterations, preconditioner, start)
    made, unsolved, refused, curvatures = read_now(side_by_side(outcomes))
    held.count(int(made.sum()) + begun * rhs.shape[1])
    if refused.any():
        worst = int(np.argmin(np.where(refused > 0, curvatures, np.inf)))
        raise _not_definite(float(curvatures[worst]), int(refused[worst]))
    _require_solved(int(unsolved.sum()), rhs.shape[1], tolerance, iterations)
    return side_by_side(solutions)


def _not_definite(least: float, iteration: int) -> BenchfwError:
    return BenchfwError(
        f"the matrix given to conjugate gradients is not positive definite: p'Ap = {least:.3g} in "
        f"iteration {iteration}; add a multiple of the identity, or check its products"
    )


def _require_solved(unsolved: int, columns: int, tolerance: float, iterations: int) -> None:
    if unsolved:
        raise BenchfwError(
            f"conjugate gradients left {unsolved} of {columns} columns above tolerance {tolerance:g} "
            f"after {iterations} iterations; give more iterations, a preconditioner or a larger tolerance"
        )


def _longer(xp: Any, residual: Any, goal: Any) -> Any:
    # not (length <= goal): what is not a number must not pass for solved
    return ~(xp.sqrt(column_dots(residual, residual)) <= goal)


def _ratio(xp: Any, above: Any, below: Any, where: Any) -> Any:
    """Return above / below in some places, 0 in the others."""
    return xp.where(where, above / xp.where(where, below, xp.ones_like(below)), xp.zeros_like(above))


def sample_conjugate_gradients(backend: Any, rng: Any, size: int) -> tuple[Any, ...]:
    """Return 8 right-hand sides, a matrix of condition about 5, and a tolerance below the rounding."""
    del backend
    side = isqrt(size)
    return rng.standard_normal((side, 8)), well_conditioned(rng, side), 1e-15
