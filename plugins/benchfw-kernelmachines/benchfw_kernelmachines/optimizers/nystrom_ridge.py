"""Kernel ridge regression on a few centres."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from benchfw import Count, Rng
from benchfw.kernels import inverse_half_powers
from benchfw_kernelmachines.optimizers.kernel_ridge_exact import (
    need_squared_loss,
    ridge_solve,
    zero_predictor,
)
from benchfw_kernelmachines.oracles import KernelRisk
from benchfw_kernelmachines.predictor import GramPredictor

AT_A_TIME = 4096  # rows
JITTER = 1e-10  # of k(x, x) = 1: centres may lie close together


@dataclass(frozen=True)
class NystromRidge:
    """Nyström ridge regression: the best f = Σ_j k(z_j, ·) α_j over random rows z.

    With K_zz = LL' and the features L⁻¹k(z, x) it is a linear ridge regression; O(n centres²) time, in
    float64. It holds the features of 4,096 rows at a time, and a few matrices of the side `centres`.
    Williams & Seeger 2001; Rudi et al. 2015.
    """

    centres: Count = 1000
    """Rows z_j, drawn at random."""

    solves: ClassVar[type] = KernelRisk

    def run(self, problem: KernelRisk, rng: Rng) -> Iterator[GramPredictor]:
        """Yield f = 0, then the solution."""
        need_squared_loss(problem, "nystrom-ridge")
        yield zero_predictor(problem)
        xp, gram, count = problem.backend.xp, problem.covariance.gram, problem.num_samples
        chosen = rng.choice(count, min(self.centres, count), replace=False)
        centres = problem.rows(chosen).rows.astype(xp.float64)
        factor = xp.linalg.cholesky(gram(centres, centres) + JITTER * xp.eye(len(centres)))
        matrix, block = xp.zeros_like(factor), xp.zeros((len(centres), problem.num_outputs))
        for first in range(0, count, AT_A_TIME):
            rows, targets = problem.rows(xp.arange(first, min(first + AT_A_TIME, count)))
            features = inverse_half_powers(gram(centres, rows.astype(xp.float64)), factor, 1)[0]
            matrix += features @ features.T
            block += features @ targets
        solution = ridge_solve(matrix, block, count * problem.penalty)
        yield GramPredictor(problem.covariance, centres, xp.linalg.solve(factor.T, solution))
