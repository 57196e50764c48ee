"""The functional gradient of a small kernel machine, at a few points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Annotated

from benchfw import Array, Backend, BenchfwError, Count, CountedProblem, DatasetName, Positive, Range, Rng
from benchfw_kernelmachines.covariances import CovarianceName
from benchfw_kernelmachines.losses import LossName, get_loss
from benchfw_kernelmachines.oracles import Selection
from benchfw_kernelmachines.predictor import GramPredictor
from benchfw_kernelmachines.problems.kernel_classification import KernelClassification
from benchfw_kernelmachines.problems.kernel_regression import MOST_EXACT, KernelRegression
from benchfw_kernelmachines.problems.kernel_risk import KernelRiskProblem, Length

STEPS = 2
"""How many exact steps of gradient descent lead from f = 0 to the start."""


class FunctionalGradient(CountedProblem):
    """R(f) = λ/2 |f|² + mean ℓ(f(x_i), y_i) at f = Σ_i α_i k(x_i, ·), for estimators of its gradient in f.

    α is (n, C). The gradient is a function too, seen at points. Metrics are those of kernel-classification
    and kernel-regression; cost is in rows at which the derivative of the loss is asked for.

    Parameters:
      penalty: λ.
      components: more columns than so many are reduced to as many by PCA; 0: never.
      smoothness: of the covariance "matern": 0.5, 1.5 or 2.5.
      dataset: a name of the data catalog, or of a file in a folder of BENCHFW_DATA.
      rows: takes the first so many training rows, at most 10,000, since gram matrices are stored.
      points: the gradient is seen at the first so many test rows.
      loss: one of kernel-classification or of kernel-regression.
      covariance: of the functions.
      length: of the covariance: a number, "median" (the median distance of 2,000 rows) or
        "median/sqrt2".
    """

    check_with = (
        {"dataset": "uci-like(rows=400, features=3)", "rows": 60, "points": 8},
        {"dataset": "uci-like(rows=400, features=3)", "rows": 60, "points": 8, "covariance": "cauchy"},
        {"dataset": "stream-like(rows=300, classes=3)", "rows": 60, "points": 8, "loss": "softmax"},
    )

    cost_unit = "rows"

    def __init__(
        self,
        backend: Backend,
        rng: Rng,
        *,
        dataset: DatasetName = "uci-kin40k",
        rows: Annotated[int, Range(least=2)] = 500,
        points: Count = 50,
        loss: LossName = "squared",
        penalty: Positive = 1e-5,
        covariance: CovarianceName = "gaussian",
        smoothness: Positive = 1.5,
        length: Length = "median",
        components: Annotated[int, Range(least=0)] = 100,
    ) -> None:
        if rows > MOST_EXACT:
            raise BenchfwError(
                f"functional-gradient stores gram matrices: rows = {rows:,} is over {MOST_EXACT:,}; "
                "take fewer rows"
            )
        is_regression = get_loss(loss).task == "numbers"
        kind: Callable[..., KernelRiskProblem] = KernelRegression if is_regression else KernelClassification
        self.risk = kind(
            backend,
            rng,
            dataset=dataset,
            rows=rows,
            loss=loss,
            penalty=penalty,
            covariance=covariance,
            smoothness=smoothness,
            length=length,
            components=components,
        )
        test = self.risk.test.features
        if not 1 <= points <= test.shape[0]:
            raise BenchfwError(
                f"'{dataset}' has {test.shape[0]} test rows; points must be between 1 and that"
            )
        self.backend = backend
        self.caveats = self.risk.caveats
        self.num_samples = self.risk.num_samples
        self.penalty = self.risk.penalty
        self.covariance = self.risk.covariance
        self.inputs, self._targets = self.risk.rows(backend.xp.arange(self.num_samples))
        self.points = test[:points]
        self._gram = self.covariance.gram(self.inputs, self.inputs)
        self._point_gram = self.covariance.gram(self.points, self.inputs)

    def start(self) -> Array:
        """Return α after a few exact steps of length 1/μ from f = 0, μ the largest eigenvalue of gram/n."""
        return self._start

    @cached_property
    def _start(self) -> Array:
        step = 1 / self.risk.top_eigenvalue()
        params = self.backend.xp.zeros((self.num_samples, self.risk.num_outputs), dtype=self.inputs.dtype)
        for _ in range(STEPS):
            params = params - step * self._dual_gradient(params)
        return params

    def grad(self, params: Array) -> Array:
        """Return λ f + mean ℓ'(f(x_i), y_i) k(x_i, ·) at the points, flattened (points, C)."""
        self._count(self.num_samples)
        return self.at_points(self._dual_gradient(params)).reshape(-1)

    def derivatives(self, params: Array, rows: Selection) -> Array:
        """Return ℓ'(f(x_i), y_i) of these rows, (B, C); costs B."""
        slopes = self._slopes(params, rows)
        self._count(slopes.shape[0])
        return slopes

    def at_points(self, weights: Array, rows: Selection = slice(None)) -> Array:
        """Return Σ_i w_i k(x_i, ·) over these rows at the points, (points, C), for weights (B, C)."""
        return self._point_gram[:, rows] @ weights

    def metrics(self, answer: Array) -> Mapping[str, float]:
        """Return the metrics of f."""
        return self.risk.metrics(GramPredictor(self.covariance, self.inputs, answer))

    def _slopes(self, params: Array, rows: Selection) -> Array:
        return self.risk.loss.derivative(self._gram[rows] @ params, self._targets[rows])

    def _dual_gradient(self, params: Array) -> Array:
        """Return the weights of the k(x_i, ·) in the gradient, (n, C)."""
        return self.penalty * params + self._slopes(params, slice(None)) / self.num_samples
