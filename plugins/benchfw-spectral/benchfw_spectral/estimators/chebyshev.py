"""The randomly cut Chebyshev series of a spectral sum, and of its gradient."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Literal
from weakref import finalize

import numpy as np

from benchfw import Array, Claims, Count, Distribution, Rng, SpectralSum
from benchfw_spectral.distributions import Optimal
from benchfw_spectral.functions.function import Function, Interval, Vector
from benchfw_spectral.kernels.chebyshev import chebyshev_forms, chebyshev_pairs
from benchfw_spectral.oracles import (
    Draw,
    Estimate,
    SpectralObjective,
    begin_interval,
    has_parameters,
    operator_of,
)
from benchfw_spectral.probes import AnyKind, ValueDraw, draw_probes, mean_of
from benchfw_spectral.variance import fitted, partial_variance, weighted_variance

MARGIN = 0.05  # of the interval's length: the iterates near the first one fit into the same interval
MOST_BYTES = 1 << 29  # of the pairs that are held at once
LEAST_DECAY = 1e-5  # below, Lemma 2's sum has more terms than it is worth


@dataclass(frozen=True)
class Chebyshev:
    """Probes and a random degree (Han, Avron & Shin 2018): (1/M) Σ_k v_k'p̂_n(A)v_k, and its gradient.

    p̂_n = Σ_{j<=n} (b_j/t_j) T_j has the mean f. One draw is probes, a degree and an interval, the same at
    every θ that it is asked about; where the spectrum at a later θ leaves the interval, that evaluation takes
    a wider one. Cost: n/2 products a probe for a value, n - 1 and n pairs for a gradient by Hankel sums, n
    - 1 more in reverse.
    """

    probes: Count = 10
    """Random vectors a draw, M."""
    distribution: Distribution = field(default=Optimal(mean=20.0))
    """Law of the degree n; any with t_j = P(n >= j) > 0 leaves no bias."""
    probe: AnyKind = "rademacher"
    """Law of their entries; "basis" takes every axis instead, without randomness."""
    mode: Literal["auto", "hankel", "reverse"] = "auto"
    """How a gradient is found: by "hankel" sums, in "reverse", or "auto"."""
    estimates: Literal["value", "grad", "auto"] = "auto"
    """What it gives: "value", "grad", or "auto", the gradient where the matrix has parameters."""

    check_with = (
        {"probes": 4, "distribution": {"use": "optimal", "mean": 6.0}},
        {"probes": 4, "distribution": {"use": "negative-binomial", "mean": 6.0}, "probe": "gaussian"},
    )

    solves: ClassVar[tuple[type, ...]] = (SpectralSum, SpectralObjective)

    @property
    def claims(self) -> Claims:
        """Unbiased where the law leaves no degree out."""
        return Claims(unbiased=bool(getattr(self.distribution, "unbiased", True)))

    def draw(self, problem: Any, rng: Rng) -> Draw:
        """Draw the probes and the degree; return the value or the gradient that they give."""
        parametric = has_parameters(problem, "chebyshev", self.estimates)
        probes = draw_probes(problem, rng, self.probes, self.probe)
        # the law depends on the interval, which the first θ will tell: its numbers are set aside now
        cutter = Cutter(
            self.distribution, problem.backend.rng(rng.integers(1 << 63)), parametric, _seen(self, problem)
        )
        if self.estimates == "value" or not parametric:
            return ValueDraw(problem, partial(self._trace, probes, cutter))
        return partial(self._gradient, problem, probes, cutter)

    def _trace(self, probes: Array, cutter: Cutter, matrix: Any) -> Estimate:
        interval, weights = cutter.series(matrix)
        forms = chebyshev_forms(probes, operator_of(matrix), len(weights) - 1, interval)
        found = mean_of(cutter.on_backend(weights) @ forms, self.probe)
        # the probes share one degree, so that their spread says nothing of what it adds
        return Estimate(found.value, math.nan) if self.claims.unbiased else found

    def _gradient(self, problem: Any, probes: Array, cutter: Cutter, params: Array) -> Array:
        """Return scale/M Σ_k ∂_θ(v_k'p̂_n(A(θ))v_k) + rest'(θ)."""
        matrix = problem.at(params)
        begin_interval(matrix)
        gradient = problem.rest_grad(params)  # a device works on it while the host finds the series
        interval, weights = cutter.series(matrix)
        degree, operator = len(weights) - 1, operator_of(matrix)
        if degree == 0:
            return gradient
        at_once = max(1, MOST_BYTES // (2 * degree * probes.itemsize * matrix.size))
        count = probes.shape[1]
        for first in range(0, count, at_once):
            some = probes[:, first : first + at_once]
            pairs = chebyshev_pairs(some, operator, weights, interval, self.mode)
            left, right = (_columns(each, operator.order) for each in pairs)
            gradient = gradient + problem.scale / count * matrix.pullback(left, right, symmetric=True)
        return gradient

    def noise_smoothness(self, problem: Any) -> float | None:
        """Return the `probe_noise` of a problem that knows it, over √M."""
        noise: float | None = getattr(problem, "probe_noise", None)
        return None if noise is None or self.probe == "basis" else noise / math.sqrt(self.probes)

    def facts(self, problem: Any) -> dict[str, float]:
        """Return the last interval's condition and decay, Lemma 2's variance, K, and the degrees drawn.

        The partial variance is Lemma 2's sum up to its least term: all of it, unless that is infinite. A law
        that does not know its `mean`, `log_survival` and `falloff` leaves out what follows from them.
        """
        seen = _seen(self, problem)
        if seen.function is None or not seen.degrees:
            return {}
        (low, high), decay = seen.interval, seen.decay
        law = fitted(self.distribution, seen.function, seen.interval)
        found = {
            "condition": high / low if low > 0 else math.nan,
            "decay": decay,
            "mean_degree": float(np.mean(seen.degrees)),
            "largest_degree": float(max(seen.degrees)),
        }
        if not _knows_tails(law):
            return found
        sure = np.asarray(law.log_survival(np.arange(math.ceil(law.mean) + 1), decay)) == 0.0
        variances = math.nan, math.nan
        if decay - 1 > LEAST_DECAY:
            series = seen.function, seen.interval, law
            variances = weighted_variance(*series), partial_variance(*series)
        endless = {"infinite_variance": 1.0} if self._is_endless(seen) else {}
        return (
            endless
            | found
            | {
                "weighted_variance": variances[0],
                "partial_variance": variances[1],
                "sure_degree": float(np.flatnonzero(sure)[-1]),
            }
        )

    def caveats(self, problem: Any) -> list[str]:
        """Say so where the law makes the variance infinite."""
        seen = _seen(self, problem)
        if seen.function is None or not self._is_endless(seen):
            return []
        name = type(self.distribution).__name__
        tail = f"the tail of {name} falls faster than the series of {seen.function.name}, squared"
        return [f"{tail}: its variance is infinite, and a measured one grows with the number of draws"]

    def _is_endless(self, seen: Seen) -> bool:
        """Return whether Lemma 2's variance of a randomly cut series is infinite."""
        if not self.claims.unbiased or seen.function is None or seen.decay - 1 <= LEAST_DECAY:
            return False
        if not _knows_tails(fitted(self.distribution, seen.function, seen.interval)):
            return False
        return math.isinf(weighted_variance(seen.function, seen.interval, self.distribution))


def _knows_tails(law: Any) -> bool:
    """Return whether a law says, beyond what the contract asks for, how its tails fall."""
    return all(hasattr(law, name) for name in ("mean", "log_survival", "falloff"))


@dataclass
class Seen:
    """What the draws on one problem have met: the degrees, and the last interval."""

    degrees: list[int] = field(default_factory=list)
    function: Function | None = None
    interval: Interval = (math.nan, math.nan)
    decay: float = math.nan


_met: dict[int, dict[Chebyshev, Seen]] = {}


def _seen(estimator: Chebyshev, problem: Any) -> Seen:
    """Return what an estimator has met on a problem, which need not be hashable; forgotten with it."""
    key = id(problem)
    if key not in _met:
        _met[key] = {}
        finalize(problem, _met.pop, key, None)
    return _met[key].setdefault(estimator, Seen())


class Cutter:
    """The degree and the interval of one draw, fixed by the first matrix that it meets."""

    def __init__(self, law: Any, rng: Rng, parametric: bool, seen: Seen) -> None:
        self._law = law
        self._rng = rng
        self._margin = MARGIN if parametric else 0.0
        self._seen = seen
        self._interval: Interval | None = None
        self._degree = 0
        self._tails: Vector = np.ones(1)

    def series(self, matrix: Any) -> tuple[Interval, Vector]:
        """Return the interval and the weights b_j/t_j, j = 0 … n, for this matrix."""
        low, high = matrix.interval
        if self._interval is None:
            self._interval = (low, high + self._margin * (high - low))
            self._cut(matrix.function)
        interval = (min(low, self._interval[0]), max(high, self._interval[1]))
        return interval, matrix.function.coefficients(interval, self._degree) / self._tails

    def on_backend(self, weights: Vector) -> Array:
        """Return the weights where the probes are."""
        return self._rng.backend.asarray(weights)

    def _cut(self, function: Function) -> None:
        interval = self._interval or (math.nan, math.nan)
        function.check(interval)
        law = fitted(self._law, function, interval)
        decay = function.decay(interval, getattr(law, "mean", 0.0))  # the contract asks for no mean
        self._degree = int(law.sample(self._rng, decay))
        self._tails = law.survival(np.arange(self._degree + 1), decay)
        self._seen.degrees.append(self._degree)
        self._seen.function, self._seen.interval, self._seen.decay = function, interval, decay


def _columns(blocks: Array, order: str) -> Array:
    """Return blocks (n, size, M) side by side, (size, n M), in the memory order of products."""
    count, size, width = blocks.shape
    if order == "C":
        return blocks.swapaxes(0, 1).reshape(size, count * width)
    return blocks.swapaxes(1, 2).reshape(count * width, size).T  # a view: so the kernel stored them
