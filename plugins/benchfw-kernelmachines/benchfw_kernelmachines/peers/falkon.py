"""The library Falkon (Meanti et al. 2020)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from benchfw import BenchfwError, Count, Rng, Unavailable
from benchfw_kernelmachines.optimizers.kernel_ridge_exact import need_squared_loss, zero_predictor
from benchfw_kernelmachines.oracles import KernelRisk
from benchfw_kernelmachines.predictor import GramPredictor


@dataclass(frozen=True)
class PeerFalkon:
    """Nyström ridge regression by Falkon: preconditioned conjugate gradients on random rows.

    Gaussian covariance and squared loss on the CPU. Its iterations cannot be seen from outside.
    """

    centres: Count = 1000
    """Rows drawn at random."""
    iterations: Count = 20
    """Of the conjugate gradients; where rows are counted, each is a look at all of them."""

    solves: ClassVar[type] = KernelRisk

    def run(self, problem: KernelRisk, rng: Rng) -> Iterator[GramPredictor]:
        """Yield f = 0, then what Falkon finds."""
        try:
            import falkon
            import torch
        except ImportError as fault:
            raise Unavailable(
                "falkon is not installed; see github.com/FalkonML/falkon for the wheel that fits your torch"
            ) from fault
        if problem.backend.library != "numpy":
            raise Unavailable("peer-falkon is run on the CPU; take the backend numpy")
        need_squared_loss(problem, "peer-falkon")
        covariance = problem.covariance
        if covariance.name != "gaussian":
            raise BenchfwError(f"peer-falkon has the gaussian covariance only, not '{covariance.name}'")
        model = falkon.Falkon(
            kernel=falkon.kernels.GaussianKernel(covariance.length),
            penalty=problem.penalty,
            M=min(self.centres, problem.num_samples),
            maxiter=self.iterations,
            seed=rng.integers(1 << 31),
            options=falkon.FalkonOptions(use_cpu=True),
        )
        yield zero_predictor(problem)
        rows, targets = problem.rows(np.arange(problem.num_samples))
        if problem.cost_unit == "rows":
            problem.charge((self.iterations - 1) * problem.num_samples)
        model.fit(torch.from_numpy(rows), torch.from_numpy(targets))
        yield GramPredictor(covariance, model.ny_points_.numpy(), model.alpha_.numpy())
