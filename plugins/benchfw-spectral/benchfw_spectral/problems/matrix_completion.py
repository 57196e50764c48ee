"""Matrix completion by a smoothed nuclear norm."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

from benchfw import Array, Backend, Constants, CountedProblem, DatasetName, Positive, Rng
from benchfw.data import local_datasets
from benchfw_spectral.functions.power import Power
from benchfw_spectral.kernels.lanczos import gauss_quadrature, lanczos
from benchfw_spectral.oracles import Estimate
from benchfw_spectral.probes import mean_of
from benchfw_spectral.problems.ratings import BOX, Known, read_ratings
from benchfw_spectral.problems.smoothed_gram import Factored, SmoothedGram, smaller_gram, top_bound

LARGEST_OBJECTIVE = 1_000  # of min(d, r): eigenvalues of more would take longer than most steps
PROBES, STEPS = 20, 10  # of the estimate in their place: 1.3 s and 0.2 % on MovieLens 1M


class MatrixCompletion(CountedProblem):
    """Matrix completion: F(θ) = tr (θθ' + εI)^½ + λ Σ_Ω (θ_ij - R_ij)² over 0 <= θ_ij <= 5, θ (items, users).

    Han, Avron & Shin 2018, §5.1. A product with θθ' + εI costs 1 a column, also those that bound its
    spectrum. An exact gradient costs m (1 + 5.5 m/D) and a value m (0.5 + 0.75 m/D), as their operations do,
    for m and D the shorter and the longer side. Metrics are the root mean squared errors on the test and the
    training ratings, and the objective: above 1,000 items and users an estimate, by probes that all trials
    share.

    With data_term = "prox" the sum over Ω is a penalty, and `value` and `grad` are those of the trace alone:
    for methods that take proximal steps, which may then be 2√ε long.

    Parameters:
      dataset: ratings; those of the data's own split, or nine tenths drawn anew in each repetition, are
        R on Ω, and the others test.
      stand_in_for: a set that is taken instead if its file is here; if not, that is a caveat.
      weight: λ.
      smoothing: ε; by default λmax(RR')/condition for R filled up with zeros, where the methods start.
      condition: see there.
      data_term: where the sum over Ω is: in the "gradient", or in the "prox".
      dtype: the type of θ and of all that is computed from it, except the sums of the metrics.
    """

    check_with = tuple(
        {
            "dataset": "movielens-like(users=12, items=10, ratings=60)",
            "condition": 5.0,
            "data_term": data_term,
        }
        for data_term in ("gradient", "prox")
    )

    cost_unit = "products"
    scale = 1.0
    function = Power(0.5)

    def __init__(
        self,
        backend: Backend,
        rng: Rng,
        *,
        dataset: DatasetName = "movielens-100k",
        stand_in_for: str = "",
        weight: Positive = 0.02,
        smoothing: Positive | None = None,
        condition: Positive = 350.0,
        data_term: Literal["gradient", "prox"] = "gradient",
        dtype: Literal["float64", "float32"] = "float64",
    ) -> None:
        self.backend = backend
        self.dtype = dtype
        self.weight = weight
        self.penalized = data_term == "prox"
        self.caveats: list[str] = []
        if stand_in_for in local_datasets():
            dataset = stand_in_for
        elif stand_in_for:
            self.caveats.append(f"{stand_in_for} is not here: {dataset} is a synthetic set in its place")
        ratings = read_ratings(dataset, seed=rng.integers(1 << 63))
        self.shape = self.size, self.num_users = ratings.shape
        self._train, self._test = (
            Known(backend.asarray(each.cells), backend.asarray(each.values, dtype=dtype))
            for each in (ratings.train, ratings.test)
        )
        if smoothing is None:
            top = top_bound(backend, self.start(), steps=10)()
            smoothing = top / condition if top > 0 else 1.0
        self.smoothing = float(smoothing)
        # a function of the singular values, h(σ) = √(σ² + ε), has gradients as smooth as h: h'' <= 1/√ε
        # of one probe's gradient: at two θ it differs by so much more than the exact one, a unit of distance
        self.probe_noise = math.sqrt(self.size / self.smoothing)
        smooth_weight = 0.0 if self.penalized else weight
        self.constants = Constants(smoothness=2 * smooth_weight + 1 / math.sqrt(self.smoothing))

    def start(self) -> Array:
        """Return the training ratings, and zeros elsewhere."""
        params = self.backend.xp.zeros(self.shape, dtype=self.dtype)
        params.reshape(-1)[self._train.cells] = self._train.values
        return params

    def project(self, params: Array) -> Array:
        """Return the nearest point of the box."""
        return self.backend.xp.clip(params, *BOX)

    def at(self, params: Array) -> SmoothedGram:
        """Return A(θ) = θθ' + εI."""
        return SmoothedGram(self.backend, params, self.smoothing, self.function, self._count)

    def value(self, params: Array) -> float:
        """Return the smooth part of F, from the eigenvalues of the smaller of θθ' and θ'θ."""
        self._count(price(self.shape, 0.5, 0.75))
        return self._trace(params) + self.rest(params)

    def grad(self, params: Array) -> Array:
        """Return (θθ' + εI)^-½ θ = θ (θ'θ + εI)^-½, from the smaller of both, plus the rest's gradient."""
        self._count(price(self.shape, 1.0, 5.5))
        values, vectors = self.backend.xp.linalg.eigh(smaller_gram(params))
        slopes = 2 * self.function.derivative(values.clip(0) + self.smoothing)
        half = vectors * slopes**0.5
        root = half @ half.T  # of an array and itself: BLAS computes one triangle
        return self._with_rest(root @ params if self.size <= self.num_users else params @ root, params)

    def truncated_grad(self, params: Array, basis: Array) -> tuple[Array, Array]:
        """Return an estimate of the gradient from a basis of users (users, k), and a better basis.

        h'(σ) of h = √(σ² + ε) is kept for the k singular values that one sweep of subspace iteration finds;
        the others are taken as small, where h'(σ) = σ/√ε. Costs 1.5 k products.
        """
        xp = self.backend.xp
        count = basis.shape[1]
        self._count(1.5 * count)
        items = xp.linalg.qr(params @ basis)[0]
        users = params.T @ items
        squares, rotation = xp.linalg.eigh(users.T @ users)  # of the singular values
        root = self.smoothing**0.5
        excess = (rotation * (1 / (squares.clip(0) + self.smoothing) ** 0.5 - 1 / root)) @ rotation.T
        gradient = (items @ excess) @ users.T
        gradient += params / root
        return self._with_rest(gradient, params), users

    def prox(self, params: Array, step: float) -> Array:
        """Return the prox of `penalty`: on Ω a mean with R, and everywhere the nearest point of the box."""
        moved = self.project(params)
        if self.penalized:
            pull = 2 * step * self.weight
            known = params.reshape(-1)[self._train.cells] + pull * self._train.values
            moved.reshape(-1)[self._train.cells] = self.project(known / (1 + pull))
        return moved

    def penalty(self, params: Array) -> float:
        """Return what the prox is of: infinite outside of the box, in it the sum over Ω, or 0."""
        if bool((params < BOX[0]).any() | (params > BOX[1]).any()):
            return math.inf
        return self._data(params) if self.penalized else 0.0

    def rest(self, params: Array) -> float:
        """Return the smooth part of F beside the trace: λ Σ_Ω (θ_ij - R_ij)², or 0 if that is a penalty."""
        return 0.0 if self.penalized else self._data(params)

    def rest_grad(self, params: Array) -> Array:
        """Return the gradient of `rest`: 2λ (θ - R) on Ω and 0 elsewhere."""
        return self._with_rest(self.backend.xp.zeros(self.shape, dtype=self.dtype), params)

    def metrics(self, answer: Array) -> Mapping[str, float]:
        """Return test_rmse, train_rmse and the objective."""
        found = {"test_rmse": self._test.rmse(answer), "train_rmse": self._train.rmse(answer)}
        if min(self.shape) <= LARGEST_OBJECTIVE:
            return {**found, "objective": self._trace(answer.astype("float64")) + self._data(answer)}
        objective, error = self._estimate(answer)
        said = (
            f"the objective is estimated by {PROBES} probes, the same in all trials, with a standard error of"
        )
        if not any(caveat.startswith(said) for caveat in self.caveats):
            self.caveats.append(f"{said} {error / abs(objective):.1%}; differences have less")
        return {**found, "objective": objective}

    def _trace(self, params: Array) -> float:
        values = self.backend.xp.linalg.eigvalsh(smaller_gram(params)).clip(0) + self.smoothing
        return float(self.function(values).sum()) + self._null_trace()

    def _data(self, params: Array) -> float:
        return self.weight * self._train.squares(params)

    def _with_rest(self, gradient: Array, params: Array) -> Array:
        """Return a gradient of the trace with that of the rest added, in place."""
        if not self.penalized:
            gradient.reshape(-1)[self._train.cells] += 2 * self.weight * self._train.residuals(params)
        return gradient

    def _estimate(self, params: Array) -> Estimate:
        """Return F by Lanczos quadrature from probes that are always the same."""
        factor = params if self.size <= self.num_users else params.T
        probes = self.backend.rng(0).rademacher((factor.shape[0], PROBES), dtype=self.dtype)
        nodes, weights = gauss_quadrature(*lanczos(probes, Factored(factor, 1.0, self.smoothing), STEPS))
        trace = mean_of(factor.shape[0] * (weights * self.function(nodes)).sum(axis=0))
        return Estimate(trace.value + self._null_trace() + self._data(params), trace.std_error)

    def _null_trace(self) -> float:
        """Return what the eigenvalues ε add that θθ' + εI has and θ'θ + εI has not."""
        return max(0, self.size - self.num_users) * float(self.function(self.smoothing))


def price(shape: tuple[int, int], square: float, cube: float) -> int:
    """Return 4 (square m²D + cube m³) operations as products with one column, which are 4mD operations each.

    m and D are the shorter and the longer side. A singular value decomposition takes 4m²D + 22m³ operations
    (Golub & Van Loan 2013, 8.6), eigenvalues alone 2m²D + 3m³ (measured).
    """
    short, long = sorted(shape)
    return round(short * (square + cube * short / long))
