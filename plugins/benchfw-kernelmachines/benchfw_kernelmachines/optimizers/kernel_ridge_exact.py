"""Exact kernel ridge regression."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from benchfw import Array, BenchfwError, Count, Rng
from benchfw.kernels import cholesky_solve, namespace, scaled_cholesky
from benchfw_kernelmachines.oracles import KernelRisk
from benchfw_kernelmachines.predictor import GramPredictor


@dataclass(frozen=True)
class KernelRidgeExact:
    """Kernel ridge regression by one Cholesky factor: f = Σ_i k(x_i, ·) α_i, (K + nλI) α = y, in float64.

    O(n³) time and 16 n² bytes.
    """

    most: Count = 20_000
    """More rows are refused."""

    solves: ClassVar[type] = KernelRisk

    def run(self, problem: KernelRisk, rng: Rng) -> Iterator[GramPredictor]:
        """Yield f = 0, then the solution."""
        need_squared_loss(problem, "kernel-ridge-exact")
        if problem.num_samples > self.most:
            raise BenchfwError(
                f"kernel-ridge-exact takes at most {self.most} rows and here are {problem.num_samples}; "
                "raise its parameter most, or take nystrom-ridge"
            )
        yield zero_predictor(problem)
        xp = problem.backend.xp
        rows, targets = (each.astype(xp.float64) for each in problem.rows(xp.arange(problem.num_samples)))
        coefficients = ridge_solve(problem.covariance.gram(rows, rows), targets, len(rows) * problem.penalty)
        yield GramPredictor(problem.covariance, rows, coefficients)


def need_squared_loss(problem: KernelRisk, method: str) -> None:
    """Raise BenchfwError unless the loss is the squared one."""
    if problem.loss.name != "squared":
        raise BenchfwError(f"{method} minimizes the squared loss, not '{problem.loss.name}'")


def zero_predictor(problem: KernelRisk) -> GramPredictor:
    """Return f = 0: no centres."""
    zeros = problem.backend.xp.zeros
    return GramPredictor(problem.covariance, zeros((0, problem.dimension)), zeros((0, problem.num_outputs)))


def ridge_solve(matrix: Array, block: Array, ridge: float) -> Array:
    """Return (A + ridge I)⁻¹ block, (n, C), for a positive semi-definite A (n, n)."""
    xp = namespace(matrix)
    scales = xp.full(matrix.shape[0], ridge**-0.5, dtype=matrix.dtype)
    solution = cholesky_solve(scaled_cholesky(matrix, scales), block) / ridge
    if not bool(xp.isfinite(solution).all()):
        raise BenchfwError("the gram is singular to rounding; raise penalty")
    return solution
