"""EigenPro (Ma & Belkin 2017) as scikit-learn-extra has it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from benchfw import BenchfwError, Rng
from benchfw.errors import Unavailable
from benchfw_kernelmachines.optimizers.kernel_ridge_exact import need_squared_loss, zero_predictor
from benchfw_kernelmachines.oracles import KernelRisk
from benchfw_kernelmachines.predictor import GramPredictor


@dataclass(frozen=True)
class PeerEigenPro:
    """Kernel regression by EigenPro: preconditioned mini-batches with the exact gram, for `epochs` passes.

    Gaussian covariance and squared loss on the CPU. It has no penalty: compare errors, not objectives.
    """

    epochs: int = 2
    components: int = 1000

    solves: ClassVar[type] = KernelRisk

    def __post_init__(self) -> None:
        for name in ("epochs", "components"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")

    def run(self, problem: KernelRisk, rng: Rng) -> Iterator[GramPredictor]:
        """Yield f = 0, then the last of the epochs."""
        try:
            from sklearn_extra.kernel_methods import EigenProRegressor
        except ImportError as fault:
            raise Unavailable(
                "scikit-learn-extra is not installed; pip install scikit-learn-extra"
            ) from fault
        if problem.backend.name != "numpy":
            raise Unavailable("peer-eigenpro is run on the CPU; take the backend numpy")
        need_squared_loss(problem, "peer-eigenpro")
        covariance = problem.covariance
        if covariance.name != "gaussian":
            raise BenchfwError(f"peer-eigenpro has the gaussian covariance only, not '{covariance.name}'")
        model = EigenProRegressor(
            n_epoch=self.epochs,
            n_components=self.components,
            kernel="rbf",
            bandwidth=covariance.length,
            random_state=rng.integers(1 << 31),
        )
        yield zero_predictor(problem)
        rows, targets = problem.rows(np.arange(problem.num_samples))
        problem.cost += (self.epochs - 1) * problem.num_samples
        model.fit(rows, targets)
        yield GramPredictor(covariance, model.centers_, model.coef_)
