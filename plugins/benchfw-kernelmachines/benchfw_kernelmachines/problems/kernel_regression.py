"""Regression by kernel machines."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Literal

import numpy as np

from benchfw import Array, Backend, BenchfwError, Count, DatasetName, NonNegative, Positive, Range, Rng
from benchfw.data import Table, deviations
from benchfw_kernelmachines.covariances import CovarianceName
from benchfw_kernelmachines.losses import get_loss
from benchfw_kernelmachines.predictor import GramPredictor
from benchfw_kernelmachines.problems.kernel_risk import KernelRiskProblem, Leading, Length, Work

MOST_EXACT = 10_000
"""The most training rows whose gram matrix is stored."""


class KernelRegression(KernelRiskProblem):
    """Kernel regression: λ/2 |f|² + mean ℓ(f(x), y) over the functions of a covariance.

    Targets are brought to mean 0 and variance 1 on the training rows: objective, loss and epsilon are in
    these units; `train_rmse` and `test_rmse` in the target's own.

    Parameters:
      loss: "squared", or "epsilon-insensitive".
      epsilon: errors below it cost nothing with that loss.
      exact: whether to measure `function_error`, the mean of |f - f*|² over the test rows, f* the exact
        minimizer; for the squared loss and at most 10,000 rows.
    """

    test_metric = "test_rmse"
    check_with = (
        {"dataset": "uci-like(rows=400, features=3)", "rows": 200},
        {"dataset": "uci-like(rows=400, features=3)", "rows": 200, "loss": "epsilon-insensitive"},
    )

    def __init__(
        self,
        backend: Backend,
        rng: Rng,
        *,
        dataset: DatasetName = "uci-kin40k",
        rows: Annotated[int, Range(least=2)] | None = None,
        loss: Literal["squared", "epsilon-insensitive"] = "squared",
        epsilon: NonNegative = 0.1,
        penalty: Positive = 1e-5,
        covariance: CovarianceName = "gaussian",
        smoothness: Positive = 1.5,
        length: Length = "median",
        components: Annotated[int, Range(least=0)] = 100,
        standardize: bool = True,
        evaluation: Count = 10_000,
        leading: Leading = "loss",
        counts: Work = "rows",
        exact: bool = False,
    ) -> None:
        super().__init__(
            backend,
            dataset=dataset,
            rows=rows,
            loss=get_loss(loss, epsilon),
            penalty=penalty,
            covariance=covariance,
            smoothness=smoothness,
            length=length,
            components=components,
            standardize=standardize,
            evaluation=evaluation,
            leading=leading,
            counts=counts,
        )
        if exact and self.loss.name != "squared":
            raise BenchfwError(f"exact = true needs the loss 'squared', not '{self.loss.name}'")
        if exact and self.num_samples > MOST_EXACT:
            raise BenchfwError(
                f"exact = true takes at most {MOST_EXACT:,} training rows, not {self.num_samples:,}; "
                "say how many with rows"
            )
        self._exact = exact

    def learn_labels(self, labels: np.ndarray) -> None:
        """Learn mean and deviation of the targets; BenchfwError where they are constant."""
        self._mean = float(labels.mean(dtype=np.float64))
        self._deviation = float(deviations(labels))
        if self._deviation == 0:
            raise BenchfwError(f"the targets of '{self._dataset}' are all {self._mean:g}: nothing to predict")

    def label(self, labels: np.ndarray) -> np.ndarray:
        """Return standardized targets, (n,) float32."""
        return ((labels - self._mean) / self._deviation).astype(np.float32)

    def errors(self, train: Array, test: Array) -> Mapping[str, float]:
        """Return root mean square errors, and where the minimizer is known the distance from it."""
        values = {"train_rmse": self._rmse(train, self.train), "test_rmse": self._rmse(test, self.test)}
        if self._exact:
            values["function_error"] = float(((test - self.exact_scores) ** 2).mean())
        return values

    def _rmse(self, scores: Array, table: Table) -> float:
        return self._deviation * math.sqrt(float(((scores[:, 0] - table.targets) ** 2).mean()))

    @cached_property
    def exact_scores(self) -> Array:
        """f* at the test rows, (n, 1), in float64; the rows that it takes are not counted."""
        from benchfw_kernelmachines.optimizers.kernel_ridge_exact import ridge_solve  # which few ask for

        whole = self._encoded(self._source.take(self.backend.xp.arange(self.num_samples)))
        rows, targets, test = (each.astype(np.float64) for each in (*whole, self.test.features))
        weights = ridge_solve(self.covariance.gram(rows, rows), targets, self.num_samples * self.penalty)
        return GramPredictor(self.covariance, rows, weights).predict(test)
