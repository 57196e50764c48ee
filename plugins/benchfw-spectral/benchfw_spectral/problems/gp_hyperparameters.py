"""The hyperparameters of a Gaussian process, by maximum likelihood."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Annotated, Literal

import numpy as np

from benchfw import Array, Backend, Count, CountedProblem, DatasetName, Positive, Range, Rng
from benchfw_spectral.problems.dense_gp import Points
from benchfw_spectral.problems.gp_data import Start, regression_data
from benchfw_spectral.problems.gp_matrix import TOLERANCE, CovarianceMatrix, Structure
from benchfw_spectral.problems.ski import Interpolation

DEVIATIONS = (1e-3, 1e2)  # of noise and signal
KEPT = 2  # matrices: an iterate's, and that of a snapshot beside it


class GPHyperparameters(CountedProblem):
    """Learning noise σ, signal s_f and length ℓ of a Gaussian process.

    F(θ) = (½ y'A⁻¹y + ½ log det A + d/2 log 2π)/d, the negative log marginal likelihood a point, over the
    logarithms θ = (log σ, log s_f, log ℓ). A = C + σ² I, C the Gaussian covariance of d training inputs.
    Box: σ and s_f in [0.001, 100], ℓ at most the extent of the inputs and at least a quarter of a grid cell
    (dense: a thousandth of the extent).

    A product with one column costs 1, a pullback of k pairs k; the exact value or gradient costs the products
    that determine A (its size or the grid's, whichever is less) and those of conjugate gradients.

    Parameters:
      dataset: "sound", "szeged-weather" (humidity against hours), or a table of the catalog,
        standardized.
      structure: "ski": C = W T W' interpolates one-dimensional inputs on a grid (Wilson & Nickisch
        2015). "dense": C whole, in any dimension. "auto": ski where there is one input column.
      grid: nodes of that grid.
      noise: σ at the start; by default 0.02 for sound, 0.1 for szeged-weather, 0.5 for tables.
      scale: s_f at the start; by default 0.05, 0.3 and 1.
      length: ℓ at the start; by default 20, 20 and √columns.
      points: takes the first so many training rows alone.
      tolerance: relative residual of the conjugate gradients for A⁻¹y in a stochastic gradient; exact oracles
        and metrics solve to 1e-6 or to this, whichever is less.
      warm_start: whether they start at the solution for the last θ; exact oracles and metrics do not.
    """

    check_with = (
        {"dataset": "uci-like(rows=40, features=2)"},
        {"dataset": "szeged-weather-like(hours=200)", "grid": 60},
    )

    cost_unit = "products"

    def __init__(
        self,
        backend: Backend,
        rng: Rng,
        *,
        dataset: DatasetName = "szeged-weather",
        structure: Literal["auto", "ski", "dense"] = "auto",
        grid: Count = 3_000,
        noise: Positive | None = None,
        scale: Positive | None = None,
        length: Positive | None = None,
        points: Annotated[int, Range(least=2)] | None = None,
        tolerance: Positive = TOLERANCE,
        warm_start: bool = False,
    ) -> None:
        data = regression_data(dataset, points)
        wanted = {"noise": noise, "scale": scale, "length": length}
        given = {name: value for name, value in wanted.items() if value is not None}
        interpolated = structure == "ski" or (structure == "auto" and data.inputs.shape[1] == 1)
        self._structure: Structure = (
            Interpolation(backend, data.inputs, data.test_inputs, grid)
            if interpolated
            else Points(backend, data.inputs, data.test_inputs)
        )
        self.backend = backend
        self.size = self._structure.size
        self.scale = 1 / (2 * self.size)
        self._targets = backend.asarray(data.targets)
        self._test_targets = backend.asarray(data.test_targets)
        self._start = data.start._replace(**given)
        lower, upper = zip(DEVIATIONS, DEVIATIONS, self._structure.lengths, strict=True)
        self.box = backend.asarray(np.log(lower)), backend.asarray(np.log(upper))
        self._tolerance = tolerance
        self._warm_start = warm_start
        self._kept: OrderedDict[bytes, CovarianceMatrix] = OrderedDict()

    def start(self) -> Array:
        """Return the logarithms of the starting noise, scale and length, (3,)."""
        return self.project(self.backend.asarray(np.log(self._start)))

    def project(self, params: Array) -> Array:
        """Return the nearest point of the box."""
        return self.backend.xp.clip(params, *self.box)

    def at(self, params: Array) -> CovarianceMatrix:
        """Return A(θ); the last two are kept, with their solutions of A α = y."""
        key = self.backend.to_numpy(params).tobytes()
        if key not in self._kept:
            latest = next(reversed(self._kept.values()), None) if self._warm_start else None
            start = None if latest is None else latest.solution
            self._kept[key] = self._matrix(params, self._count, self._tolerance, start)
        self._kept.move_to_end(key)
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return self._kept[key]

    def rest(self, params: Array) -> float:
        """Return (½ y'A⁻¹y + d/2 log 2π)/d."""
        return self._rest(self.at(params))

    def rest_grad(self, params: Array) -> Array:
        """Return the gradient of `rest`, -½ ∂_θ(α'Aα)/d at α = A⁻¹y."""
        return self._rest_grad(self.at(params))

    def value(self, params: Array) -> float:
        """Return F, its determinant from a factorization."""
        matrix = self._matrix(params, self._count)  # not kept: an estimator's next draw must pay for itself
        return self.scale * matrix.log_determinant() + self._rest(matrix)

    def grad(self, params: Array) -> Array:
        """Return ∇F, its traces from an inverse."""
        matrix = self._matrix(params, self._count)
        return self.scale * self.backend.asarray(matrix.log_determinant_grad()) + self._rest_grad(matrix)

    def metrics(self, answer: Array) -> Mapping[str, float]:
        """Return F, exactly, the root mean square error of predictions, and the three hyperparameters."""
        # a matrix of its own: a solution kept from here would spare the method's next step its products
        matrix = self._matrix(answer, lambda _: None)
        errors = matrix.covariance.predict(matrix.weights) - self._test_targets
        noise, scale, length = self._hyperparameters(answer)
        return {
            "negative_log_likelihood": self.scale * matrix.log_determinant() + self._rest(matrix),
            "test_rmse": math.sqrt(float((errors**2).mean())),
            "noise": noise,
            "scale": scale,
            "length": length,
        }

    def _rest_grad(self, matrix: CovarianceMatrix) -> Array:
        column = matrix.weights[:, None]
        return -self.scale * matrix.pullback(column, column)

    def _rest(self, matrix: CovarianceMatrix) -> float:
        return self.scale * float(self._targets @ matrix.weights) + math.log(2 * math.pi) / 2

    def _matrix(
        self,
        params: Array,
        count: Callable[[int], None],
        tolerance: float | None = None,
        start: Array | None = None,
    ) -> CovarianceMatrix:
        noise, scale, length = self._hyperparameters(params)
        covariance = self._structure.covariance(scale, length)
        tolerance = min(self._tolerance, TOLERANCE) if tolerance is None else tolerance
        return CovarianceMatrix(self.backend, covariance, noise, self._targets, count, tolerance, start)

    def _hyperparameters(self, params: Array) -> Start:
        return Start(*np.exp(self.backend.to_numpy(params)).tolist())
