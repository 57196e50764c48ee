"""Lanczos recurrences, one a column: tridiagonals, their Gauss quadratures, and f(A) V.

The recurrence is the same on every backend; `column_dots` and `add_scaled` are the passes over memory that
make it fast, and have the bodies (blocks.py). On a GPU one launch makes all steps with a small dense matrix;
on the host sparse rows are multiplied in passes that go on to the inner products (row_passes.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchfw.errors import BenchfwError
from benchfw.kernels._kernel import kernel, namespace
from benchfw.kernels.blocks import (
    add_scaled,
    column_dots,
    has_extremes,
    in_safe_range,
    safe_limit,
    safe_powers,
    well_conditioned,
)
from benchfw.kernels.operators import as_operator
from benchfw_spectral.kernels.resident import NOTHING, resident, side_by_side
from benchfw_spectral.kernels.resident_source import LANCZOS
from benchfw_spectral.kernels.row_passes import row_passes

BREAKDOWN = 30.0  # roundings of A w: where a Krylov space ends, residuals are below 9 of them, rarely 12


def _counts(probes: Any, matrix: Any, steps: int, reorthogonalize: bool = False) -> tuple[float, float]:
    operator = as_operator(matrix, size=probes.shape[0])
    passes = 2 * steps * (steps + 1) if reorthogonalize else 0
    columns = probes.shape[1]
    flops = columns * (steps * operator.work + (9 * steps + passes) * operator.size)
    # a step reads the matrix, two blocks and a product, and writes a block
    moved = steps * (operator.work / 2 + 4 * probes.size) + passes * probes.size
    return float(flops), float(moved * probes.dtype.itemsize)


@kernel("lanczos", counts=_counts)
def lanczos(probes: Any, matrix: Any, steps: int, reorthogonalize: bool = False) -> tuple[Any, Any]:
    """Return the tridiagonals of A from each column v / |v|: alpha (steps, M), beta (steps, M).

    The last beta stands outside: it leads to the step that was not made. Probes are (size, M), of any length;
    Golub & Meurant 2010, §4.1, in the order of Paige 1972. Where a Krylov space is exhausted, all further
    alpha and beta are zero. Full reorthogonalization keeps `steps` blocks; quadratures converge without it,
    only later.
    """
    xp = namespace(probes)
    rows = [(alpha, beta) for _, alpha, beta in lanczos_steps(probes, matrix, steps, reorthogonalize)]
    alphas, betas = zip(*rows, strict=True)
    return xp.stack(alphas), xp.stack(betas)


@lanczos.on("numpy")
def _lanczos_numpy(probes: Any, matrix: Any, steps: int, reorthogonalize: bool = False) -> tuple[Any, Any]:
    found = None if reorthogonalize else _steps_in_place(probes, matrix, steps)
    return lanczos.portable(probes, matrix, steps, reorthogonalize) if found is None else found


@lanczos.on("cupy")
def _lanczos_cupy(probes: Any, matrix: Any, steps: int, reorthogonalize: bool = False) -> tuple[Any, Any]:
    found = None if reorthogonalize else _steps_by_one_launch(probes, matrix, steps, keep_basis=False)
    return lanczos.portable(probes, matrix, steps, reorthogonalize) if found is None else found[1:]


def lanczos_steps(
    probes: Any, matrix: Any, steps: int, reorthogonalize: bool = False
) -> Iterator[tuple[Any, Any, Any]]:
    """Yield w_j (size, M), alpha_j (M,), beta_j (M,) of A w_j = beta_j-1 w_j-1 + alpha_j w_j + beta_j w_j+1.

    After a breakdown w = alpha = beta = 0.
    """
    if steps < 1:
        raise BenchfwError(f"Lanczos takes at least one step, not {steps}; give steps=1 or more")
    xp = namespace(probes)
    operator = as_operator(matrix, size=probes.shape[0])
    rounding = _rounding(probes)
    residual, beta, _ = in_safe_range(probes)
    current, scale = xp.zeros_like(probes), xp.zeros_like(beta)
    powers = None  # of two, for A of extreme size: the recurrence is then that of A powers
    basis: list[Any] = []
    for step in range(steps):
        previous, current = current, residual * _inverse(xp, beta)
        if reorthogonalize:
            basis.append(current)
        product = operator.matmat(current)
        if powers is not None:
            product = product * powers
        residual, alpha, length = _next_residual(product, current, previous, beta, basis)
        if step == 0 and has_extremes(xp.abs(alpha) + length):
            powers = safe_powers(product)
            residual, alpha, length = _next_residual(product * powers, current, previous, beta, basis)
        scale = xp.maximum(scale, xp.abs(alpha) + length)
        beta = xp.where(length > rounding * scale, length, xp.zeros_like(beta))
        yield (current, alpha, beta) if powers is None else (current, alpha / powers, beta / powers)


def _next_residual(
    product: Any, current: Any, previous: Any, beta: Any, basis: list[Any]
) -> tuple[Any, Any, Any]:
    """Return A w_j less its parts along w_j, w_j-1 and the basis, (size, M), with alpha_j and its length."""
    residual = add_scaled(product, -beta, previous)
    alpha = column_dots(current, residual)
    residual = add_scaled(residual, -alpha, current)
    for vector in basis:  # once more is enough: the recurrence was the first time
        residual = add_scaled(residual, -column_dots(vector, residual), vector)
    return residual, alpha, namespace(residual).sqrt(column_dots(residual, residual))


def _steps_in_place(probes: Any, matrix: Any, steps: int) -> tuple[Any, Any] | None:
    """Return alpha and beta, (steps, M) each, by the steps of `lanczos_steps` in two blocks of memory.

    None where the matrix is not one of sparse rows, the block is small, or lengths are extreme.
    """
    passes = row_passes(as_operator(matrix, size=probes.shape[0]), probes) if steps >= 1 else None
    if passes is None:
        return None
    start, beta, _ = in_safe_range(probes)
    current = passes.hold(start)  # w_j times beta: one pass less than w_j itself
    other = np.zeros_like(current)
    inverse = scale = np.zeros_like(beta)
    alphas, betas = np.empty((2, steps, beta.shape[0]), dtype=beta.dtype)
    for step in range(steps):
        before, inverse = inverse, _inverse(np, beta)
        alpha = inverse * passes.multiply(current, other, inverse, -beta * beta * before)
        length = np.sqrt(passes.subtract(other, alpha * inverse, current))
        if step == 0 and has_extremes(np.abs(alpha) + length):
            return None
        scale = np.maximum(scale, np.abs(alpha) + length)
        beta = np.where(length > _rounding(probes) * scale, length, 0)
        current, other = other, current
        alphas[step], betas[step] = alpha, beta
    passes.count(steps * beta.shape[0])
    return alphas, betas


def _rounding(probes: Any) -> float:
    """Return the length, relative to A w, of residuals that are rounding alone."""
    size: int = probes.shape[0]
    return BREAKDOWN * float(namespace(probes).finfo(probes.dtype).eps) * math.sqrt(size)


def _steps_by_one_launch(
    probes: Any, matrix: Any, steps: int, keep_basis: bool
) -> tuple[Any, Any, Any] | None:
    """Return the w_j (steps, size, M) if they are kept, alpha and beta (steps, M), from a GPU.

    None where the matrix is not one that the GPU can hold, or lengths are extreme.
    """
    import cupy

    held = resident(as_operator(matrix, size=probes.shape[0]), probes) if steps >= 1 else None
    if held is None:
        return None
    reports, bases, alphas, betas = [], [], [], []
    for tile in held.tiles(probes):
        alpha, beta = (cupy.empty((steps, tile.shape[1]), dtype=tile.dtype) for _ in range(2))
        basis = cupy.empty((steps, *tile.shape), dtype=tile.dtype) if keep_basis else NOTHING
        limits = _rounding(probes), safe_limit(probes)
        arrays = held.places(tile, 2), alpha, beta
        block = cupy.empty(tile.shape, dtype=tile.dtype)
        reports.append(held.launch(LANCZOS, "lanczos", tile, block, basis, steps, *limits, *arrays))
        bases.append(basis)
        alphas.append(alpha)
        betas.append(beta)
    if any(report() for report in reports):
        return None
    held.count(steps * probes.shape[1])
    return side_by_side(bases) if keep_basis else None, side_by_side(alphas), side_by_side(betas)


def _inverse(xp: Any, lengths: Any) -> Any:
    """Return 1 / lengths, and 0 where a length is 0."""
    some = lengths > 0
    return xp.where(some, 1.0 / xp.where(some, lengths, xp.ones_like(lengths)), xp.zeros_like(lengths))


def ritz(alpha: Any, beta: Any) -> tuple[Any, Any]:
    """Return the eigenvalues (M, steps) and eigenvectors (M, steps, steps) of the tridiagonals.

    Steps after a breakdown stand apart from the first one; they get its alpha, a mean of eigenvalues of A, so
    that a function of A can be evaluated there.
    """
    xp = namespace(alpha)
    steps, kind = alpha.shape[0], alpha.dtype
    reached = xp.concat([alpha[:1, :], xp.where(beta > 0, alpha[1:, :], alpha[:1, :])])
    diagonal = xp.matrix_transpose(reached)
    beside = xp.matrix_transpose(xp.concat([beta, xp.zeros_like(alpha[:1, :])]))
    tridiagonal = (
        diagonal[:, :, None] * xp.eye(steps, dtype=kind)
        + beside[:, :, None] * xp.eye(steps, k=1, dtype=kind)
        + beside[:, None, :] * xp.eye(steps, k=-1, dtype=kind)
    )
    values, vectors = xp.linalg.eigh(tridiagonal)
    return values, vectors


def _quadrature_counts(alpha: Any, beta: Any, end: float | None = None) -> tuple[float, float]:
    del end
    steps, columns = alpha.shape
    return 9.0 * steps**3 * columns, float(3 * alpha.nbytes + beta.nbytes)


@kernel("gauss-quadrature", counts=_quadrature_counts)
def gauss_quadrature(alpha: Any, beta: Any, end: float | None = None) -> tuple[Any, Any]:
    """Return nodes and weights, (steps, M) each, with v'f(A)v / v'v ≈ Σ_i weights_i f(nodes_i) a column.

    `alpha` and `beta` are those of `lanczos`; weights add up to 1. Golub & Welsch 1969. Steps after a
    breakdown give nodes of weight zero, at the first alpha. With an `end` below the spectrum the rule is that
    of Gauss and Radau: it has one more node, there, which the last beta pays for. Golub 1973.
    """
    xp = namespace(alpha)
    inside = beta[: alpha.shape[0] - 1, :]
    if end is not None:
        last, beyond = _radau(alpha, beta, end)
        alpha, inside = xp.concat([alpha, last]), xp.concat([inside, beyond])
    values, vectors = ritz(alpha, inside)
    return xp.matrix_transpose(values), xp.matrix_transpose(vectors[:, 0, :] ** 2)


def _radau(alpha: Any, beta: Any, end: float) -> tuple[Any, Any]:
    """Return the last alpha and beta, (1, M) each, that make `end` an eigenvalue with one more row.

    Where the rows so far have that eigenvalue to rounding, the new one stands apart.
    """
    xp = namespace(alpha)
    powers = safe_powers(xp.abs(alpha) + abs(end))
    alpha, beta, asked, end = alpha * powers, beta * powers, end, end * powers
    pivot = lowest = alpha[:1, :] - end  # of T - end I, row by row
    for step in range(1, alpha.shape[0]):
        beside = beta[step - 1 : step, :]
        reached = xp.where(beside > 0, alpha[step : step + 1, :], alpha[:1, :])
        pivot = reached - end - beside**2 / xp.where(pivot == 0, xp.ones_like(pivot), pivot)
        lowest = xp.minimum(lowest, pivot)
    scale = xp.max(xp.abs(alpha), axis=0, keepdims=True) + xp.abs(end)
    rounding = float(xp.finfo(alpha.dtype).eps)
    if bool(xp.any(lowest < -(rounding**0.5) * scale)):
        raise BenchfwError(
            f"the spectrum is not above {asked:g}, where a node was asked for; give a lower end"
        )
    apart = lowest <= 100 * rounding * scale
    beyond = xp.where(apart, xp.zeros_like(pivot), beta[-1:, :])
    last = end + beyond**2 / xp.where(apart, xp.ones_like(pivot), pivot)
    return last / powers, beyond / powers


def _apply_counts(
    probes: Any, matrix: Any, function: Any, steps: int, reorthogonalize: bool = False
) -> tuple[float, float]:
    del function
    flops, moved = _counts(probes, matrix, steps, reorthogonalize)
    return flops + 2.0 * steps * probes.size, moved + (steps + 1.0) * probes.nbytes


@kernel("lanczos-apply", counts=_apply_counts)
def lanczos_apply(
    probes: Any, matrix: Any, function: Callable[[Any], Any], steps: int, reorthogonalize: bool = False
) -> Any:
    """Return f(A) V ≈ |v| W f(T) e_1 for each column v, (size, M); it keeps `steps` blocks.

    Exact for polynomials f of degree below `steps`. `function` maps arrays elementwise. Saad 1992; it
    converges without reorthogonalization too, Druskin & Knizhnerman 1991.
    """
    xp = namespace(probes)
    basis, alphas, betas = zip(*lanczos_steps(probes, matrix, steps, reorthogonalize), strict=True)
    coefficients = _coefficients(probes, xp.stack(alphas), xp.stack(betas), function)
    total = xp.zeros_like(probes)
    for step, vector in enumerate(basis):
        total = add_scaled(total, coefficients[:, step], vector)
    return total


@lanczos_apply.on("cupy")
def _lanczos_apply_cupy(
    probes: Any, matrix: Any, function: Callable[[Any], Any], steps: int, reorthogonalize: bool = False
) -> Any:
    found = None if reorthogonalize else _steps_by_one_launch(probes, matrix, steps, keep_basis=True)
    if found is None:
        return lanczos_apply.portable(probes, matrix, function, steps, reorthogonalize)
    basis, alphas, betas = found
    return (basis * _coefficients(probes, alphas, betas, function).T[:, None, :]).sum(axis=0)


def _coefficients(probes: Any, alphas: Any, betas: Any, function: Callable[[Any], Any]) -> Any:
    """Return |v| f(T) e_1 for each column v, (M, steps)."""
    xp = namespace(probes)
    values, vectors = ritz(alphas, betas[:-1, :])
    images = function(values) * vectors[:, 0, :]
    _, lengths, powers = in_safe_range(probes)
    if powers is not None:
        lengths = lengths / powers
    return xp.sum(vectors * images[:, None, :], axis=2) * lengths[:, None]


def sample_lanczos(backend: Any, rng: Any, size: int) -> tuple[Any, ...]:
    """Return 8 probes, a matrix of condition about 5, and at most 6 steps."""
    del backend
    side = math.isqrt(size)
    return rng.rademacher((side, 8)), well_conditioned(rng, side), max(1, min(6, side))


def sample_gauss_quadrature(backend: Any, rng: Any, size: int) -> tuple[Any, ...]:
    """Return tridiagonals of at most 6 steps with well separated eigenvalues."""
    steps = max(1, min(6, size))
    columns = size // steps
    alpha = 4.0 * backend.xp.arange(1.0, steps + 1)[:, None] + rng.random((steps, columns))
    return alpha, 1.0 + rng.random((steps, columns))


def sample_lanczos_apply(backend: Any, rng: Any, size: int) -> tuple[Any, ...]:
    """Return the arguments of `sample_lanczos` with the function 1 / (1 + x)."""
    probes, matrix, steps = sample_lanczos(backend, rng, size)
    return probes, matrix, lambda values: 1.0 / (1.0 + values), steps
