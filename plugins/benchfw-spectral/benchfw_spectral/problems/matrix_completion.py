"""Matrix completion by a smoothed nuclear norm."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cached_property

from benchfw import Array, Backend, Constants, CountedProblem, DatasetName, Positive, Rng
from benchfw.data import local_datasets
from benchfw.kernels import Counted, Order, gauss_quadrature, lanczos
from benchfw_spectral.functions.function import Interval
from benchfw_spectral.functions.power import Power
from benchfw_spectral.oracles import Estimate
from benchfw_spectral.probes import mean_of
from benchfw_spectral.problems.matrices import collatz_bound
from benchfw_spectral.problems.ratings import BOX, Known, read_ratings

POWER_STEPS = 3  # they bound λmax within 1.3 % on MovieLens 100K and 1M
HAIR = 1e-6  # rounding must not put an eigenvalue outside of the interval
LARGEST_OBJECTIVE = 1_000  # of min(d, r): eigenvalues of more would take longer than most steps
PROBES, STEPS = 20, 10  # of the estimate in their place: 1.3 s and 0.2 % on MovieLens 1M


class MatrixCompletion(CountedProblem):
    """Matrix completion: F(θ) = tr (θθ' + εI)^½ + λ Σ_Ω (θ_ij - R_ij)² over 0 <= θ_ij <= 5, θ (items, users).

    Han, Avron & Shin 2018, §5.1. A product with θθ' + εI costs 1 a column, also those that bound its
    spectrum; an exact value or gradient costs as much as there are items. Metrics are the root mean squared
    errors on the test and the training ratings, and the objective: above 1,000 items and users an estimate,
    by probes that all trials share.

    Parameters:
      dataset: ratings; those of the data's own split, or nine tenths drawn anew in each repetition, are
        R on Ω, and the others test.
      stand_in_for: a set that is taken instead if its file is here; if not, that is a caveat.
      weight: λ.
      smoothing: ε; by default λmax(RR')/condition for R filled up with zeros, where the methods start.
      condition: see there.
    """

    check_with = ({"dataset": "movielens-like(users=12, items=10, ratings=60)", "condition": 5.0},)

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
    ) -> None:
        self.backend = backend
        self.weight = weight
        self.caveats: list[str] = []
        if stand_in_for in local_datasets():
            dataset = stand_in_for
        elif stand_in_for:
            self.caveats.append(f"{stand_in_for} is not here: {dataset} is a synthetic set in its place")
        ratings = read_ratings(dataset, seed=rng.integers(1 << 63))
        self.shape = self.size, self.num_users = ratings.shape
        self._train, self._test = (
            Known(backend.asarray(each.cells), backend.asarray(each.values))
            for each in (ratings.train, ratings.test)
        )
        if smoothing is None:
            top = top_bound(backend, self.start(), steps=10)
            smoothing = top / condition if top > 0 else 1.0
        self.smoothing = float(smoothing)
        # a function of the singular values, h(σ) = √(σ² + ε), has gradients as smooth as h: h'' <= 1/√ε
        self.constants = Constants(smoothness=2 * weight + 1 / math.sqrt(self.smoothing))

    def start(self) -> Array:
        """Return the training ratings, and zeros elsewhere."""
        params = self.backend.xp.zeros(self.shape)
        params.reshape(-1)[self._train.cells] = self._train.values
        return params

    def project(self, params: Array) -> Array:
        """Return the nearest point of the box."""
        return self.backend.xp.clip(params, *BOX)

    def at(self, params: Array) -> SmoothedGram:
        """Return A(θ) = θθ' + εI."""
        return SmoothedGram(self.backend, params, self.smoothing, self._count)

    def value(self, params: Array) -> float:
        """Return F, from the eigenvalues of the smaller of θθ' and θ'θ."""
        self._count(self.size)
        return self._value(params)

    def grad(self, params: Array) -> Array:
        """Return (θθ' + εI)^-½ θ = θ (θ'θ + εI)^-½, from the smaller of both, plus the rest's gradient."""
        self._count(self.size)
        values, vectors = self.backend.xp.linalg.eigh(_smaller_gram(params))
        slopes = 2 * self.function.derivative(values.clip(0) + self.smoothing)
        half = vectors * slopes**0.5
        root = half @ half.T  # of an array and itself: BLAS computes one triangle
        gradient = root @ params if self.size <= self.num_users else params @ root
        gradient.reshape(-1)[self._train.cells] += self._rest_slopes(params)
        return gradient

    def rest(self, params: Array) -> float:
        """Return λ Σ_Ω (θ_ij - R_ij)²."""
        residuals = self._train.residuals(params)
        return self.weight * float(residuals @ residuals)

    def rest_grad(self, params: Array) -> Array:
        """Return 2λ (θ - R) on Ω and 0 elsewhere."""
        gradient = self.backend.xp.zeros(self.shape)
        gradient.reshape(-1)[self._train.cells] = self._rest_slopes(params)
        return gradient

    def metrics(self, answer: Array) -> Mapping[str, float]:
        """Return test_rmse, train_rmse and the objective."""
        found = {"test_rmse": self._test.rmse(answer), "train_rmse": self._train.rmse(answer)}
        if min(self.shape) <= LARGEST_OBJECTIVE:
            return {**found, "objective": self._value(answer)}
        objective, error = self._estimate(answer)
        said = (
            f"the objective is estimated by {PROBES} probes, the same in all trials, with a standard error of"
        )
        if not any(caveat.startswith(said) for caveat in self.caveats):
            self.caveats.append(f"{said} {error / abs(objective):.1%}; differences have less")
        return {**found, "objective": objective}

    def _value(self, params: Array) -> float:
        values = self.backend.xp.linalg.eigvalsh(_smaller_gram(params)).clip(0) + self.smoothing
        return float(self.function(values).sum()) + self._null_trace() + self.rest(params)

    def _estimate(self, params: Array) -> Estimate:
        """Return F by Lanczos quadrature from probes that are always the same."""
        factor = params if self.size <= self.num_users else params.T
        probes = self.backend.rng(0).rademacher((factor.shape[0], PROBES))
        nodes, weights = gauss_quadrature(*lanczos(probes, Factored(factor, 1.0, self.smoothing), STEPS))
        trace = mean_of(factor.shape[0] * (weights * self.function(nodes)).sum(axis=0))
        return Estimate(trace.value + self._null_trace() + self.rest(params), trace.std_error)

    def _null_trace(self) -> float:
        """Return what the eigenvalues ε add that θθ' + εI has and θ'θ + εI has not."""
        return max(0, self.size - self.num_users) * float(self.function(self.smoothing))

    def _rest_slopes(self, params: Array) -> Array:
        return 2 * self.weight * self._train.residuals(params)


class SmoothedGram:
    """A = θθ' + εI at one θ: a ParametricMatrix of the square root; `count` hears of all products."""

    function = MatrixCompletion.function

    def __init__(
        self, backend: Backend, params: Array, smoothing: float, count: Callable[[int], None]
    ) -> None:
        self.backend = backend
        self.size: int = params.shape[0]
        self.operator = Counted(Factored(params, 1.0, smoothing), count)
        self._params = params
        self._smoothing = smoothing
        self._count = count

    @cached_property
    def interval(self) -> Interval:
        """From ε to a bound of the largest eigenvalue, found at the first question."""
        self._count(POWER_STEPS)
        top = top_bound(self.backend, self._params, POWER_STEPS) + self._smoothing
        return self._smoothing * (1 - HAIR), top * (1 + HAIR)

    def pullback(self, left: Array, right: Array, symmetric: bool = False) -> Array:
        """Return Σ_i ∂_θ (l_i'θθ'r_i) = (LR' + RL')θ, (size, users), for two (size, k) blocks.

        `symmetric` promises that LR' = RL', as for the pairs of a polynomial of A, and halves the work.
        """
        xp, params = self.backend.xp, self._params
        (size, users), count = params.shape, left.shape[1]
        self._count(count)
        rank = count if symmetric else 2 * count
        if 2 * rank * users > size * (count + users):  # then fewer operations go through LR', (size, size)
            coupling = left @ right.T
            return (coupling + coupling.T) @ params
        images = xp.empty((rank, users))
        xp.matmul(right.T, params, out=images[:count])
        if symmetric:
            images *= 2
            return left @ images
        xp.matmul(left.T, params, out=images[count:])
        return xp.concatenate([left.T, right.T]).T @ images


class Factored:
    """The operator of scale θθ' + shift I."""

    order: Order = "F"

    def __init__(self, factor: Array, scale: float, shift: float) -> None:
        self.size: int = factor.shape[0]
        self.work = 4.0 * factor.size
        self._factor = factor
        self._scale = scale
        self._shift = shift

    def matmat(self, block: Array) -> Array:
        """Return A block."""
        return self._rows(block, 1.0).T

    def update(self, block: Array, out: Array, scale: float, keep: float) -> Array:
        """Return scale A block + keep out, in place of `out`."""
        if keep != 1.0:
            out *= keep
        out += self._rows(block, scale).T
        return out

    def shifted(self, scale: float, shift: float) -> Factored:
        """Return the operator of scale A + shift I."""
        return Factored(self._factor, scale * self._scale, scale * self._shift + shift)

    def _rows(self, block: Array, scale: float) -> Array:
        """Return scale (A block)', (k, size)."""
        rows = (block.T @ self._factor) @ self._factor.T
        rows *= scale * self._scale
        rows += (scale * self._shift) * block.T
        return rows


def top_bound(backend: Backend, params: Array, steps: int) -> float:
    """Return an upper bound of the largest eigenvalue of θ'θ and θθ', after some products with θ'θ.

    Users have more ratings than the rarest items: θ'θ is the one whose bound falls fast.
    """
    # |θ|'|θ| has no smaller a top eigenvalue
    entries = params if bool(params.min() >= 0) else backend.xp.abs(params)
    return collatz_bound(backend, lambda x: entries.T @ (entries @ x), params.shape[1], steps)


def _smaller_gram(params: Array) -> Array:
    return params @ params.T if params.shape[0] <= params.shape[1] else params.T @ params
