"""The general proximal-gradient iteration with a choice of divergence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, repeat
from typing import Any, ClassVar, Literal

import numpy as np

from benchfw import Array, BenchfwError, Count, Log, NonNegative, Positive, Rng
from benchfw_firstorder.steps import step_sizes
from benchfw_variational.batches import Expectation, batch_local, passes
from benchfw_variational.divergences import (
    DIVERGENCES,
    SPLIT,
    Gaussian,
    Gradient,
    Name,
    inverse,
    squared_distance,
)
from benchfw_variational.gaussian_posterior import NO_STEPS, GaussianPosterior
from benchfw_variational.oracles import LatentGaussian, Local
from benchfw_variational.priors.dense import DensePrior
from benchfw_variational.propositions import (
    Curve,
    Iterations,
    KnownConstants,
    least_squared_step_bound,
    mean_squared_step_bound,
)


@dataclass(frozen=True)
class ProximalSVI:
    """Iteration (9) of Khan et al. 2016, λ ← argmin ⟨λ, ∇̂f(λ_k)⟩ + h(λ) + D(λ‖λ_k)/β_k, on whole covariances.

    The reference for all of its kind, O(n³) a step. Estimated curvatures are taken as they come.
    Bound (split, a problem that knows its constants): Propositions 1 and 2 for the least |G_k|², or with a
    batch or samples for the mean of them, Proposition 3 where the gradient is random.
    """

    step: Positive | Literal["auto"] = "auto"
    """β_k = step (k+1)^-power; "auto" is α/L, half of it where the gradient is random."""
    divergence: Name = "kl"
    """D. "euclidean" is gradient descent in (m, V), or its proximal form with split; "kl" with split the
    method of Khan et al. 2015; "reversed-kl" mirror descent with the log-partition, "symmetric-kl" natural
    gradients (SVI), both in natural parameters."""
    split: bool = True
    """Whether h = KL[q‖prior], else h = 0 and f = F. In natural parameters h is not convex, has no closed
    form, and is refused."""
    power: NonNegative = 0.0
    """How fast the steps fall."""
    batch: Count | None = None
    """Examples a step, in an order redrawn each pass; all, if not given."""
    expectation: Expectation = "exact"
    """How expectations of the likelihood are found; "exact" takes no samples."""
    samples: Count = 500
    """Draws of an expectation that is not exact."""

    solves: ClassVar[type] = LatentGaussian
    tuning: ClassVar[dict[str, Log]] = {"step": Log(1e-4, 10)}

    def __post_init__(self) -> None:
        if self.split and self.divergence not in SPLIT:
            raise BenchfwError(
                f"with split the step of '{self.divergence}' has no closed form; "
                f"take split = false, or the divergence {' or '.join(SPLIT)}"
            )

    @property
    def bounds(self) -> str:
        """The metric that the propositions bound."""
        maybe_random = self.batch is not None or self.expectation != "exact"
        return "mean_squared_step" if maybe_random else "least_squared_step"

    def run(self, problem: LatentGaussian, rng: Rng) -> Iterator[GaussianPosterior]:
        """Yield q_0 = prior, q_1, …; where a step ends in no Gaussian, that is yielded for ever."""
        xp, prior = problem.backend.xp, problem.prior
        if not isinstance(prior, DensePrior):
            raise BenchfwError("proximal-svi needs a prior whose covariance is stored whole; take pg-svi")
        q = Gaussian(xp.zeros(prior.size), prior.gram)
        squared_steps = NO_STEPS
        for length, batch in zip(self._steps(problem), self._batches(problem, rng), strict=False):
            answer = GaussianPosterior(problem, q, squared_steps)
            yield answer
            if not answer.proper:
                yield from repeat(answer)
            mean, variance = q.mean[batch], xp.diagonal(q.covariance)[batch]
            local = batch_local(problem, rng, batch, mean, variance, self.expectation, self.samples)
            if not bool((xp.isfinite(local.slope) & xp.isfinite(local.curvature)).all()):
                yield from repeat(GaussianPosterior(problem, Gaussian(q.mean + xp.nan, q.covariance)))
            gradient = _likelihood_gradient(problem, q, batch, local)
            if self.split:
                new = SPLIT[self.divergence].proximal_step(q, gradient, length, prior.precision)
            else:
                whole = _with_prior(gradient, q, prior.precision)
                new = DIVERGENCES[self.divergence].step(q, whole, length)
            squared_steps = squared_steps.and_then(squared_distance(q, new) / length**2)
            q = new

    def bound(self, problem: Any, iterations: Iterations) -> Curve | None:
        """Return the propositions' bounds after at least one iteration, or None where they say nothing."""
        if not self.split or not isinstance(problem, KnownConstants) or self.expectation == "score-function":
            return None
        gap, smoothness = problem.start_gap, problem.likelihood_smoothness
        modulus = SPLIT[self.divergence].modulus(problem.top_eigenvalue)
        if self.power > 0 and self.bounds == "mean_squared_step":
            return None
        if not self._random(problem):
            # the proof of Proposition 2 bounds a weighted mean, which is the mean where all steps are equal
            steps = np.array(list(islice(self._steps(problem), int(iterations.max()))))
            curve = least_squared_step_bound(gap, smoothness, modulus, steps)
            return None if curve is None else curve[iterations - 1]
        noise = problem.gradient_noise(self.batch, None if self.expectation == "exact" else self.samples)
        step = next(self._steps(problem))
        return mean_squared_step_bound(gap, smoothness, modulus, step, noise, iterations)

    def _random(self, problem: Any) -> bool:
        some = self.batch is not None and self.batch < problem.num_samples
        return some or self.expectation != "exact"

    def _steps(self, problem: Any) -> Iterator[float]:
        step = self.step
        if step == "auto":
            if not self.split or not isinstance(problem, KnownConstants):
                raise BenchfwError(
                    'step = "auto" needs split = true and a problem that knows its constants, such as '
                    "gp-scaled: give the step as a number"
                )
            modulus = SPLIT[self.divergence].modulus(problem.top_eigenvalue)
            step = modulus / problem.likelihood_smoothness / (2 if self._random(problem) else 1)
        return step_sizes(step, "power", 0.0, self.power)

    def _batches(self, problem: LatentGaussian, rng: Rng) -> Iterator[Array]:
        size = problem.num_samples
        if self.batch is None:
            return repeat(problem.backend.xp.arange(size))
        return passes(lambda: rng.permutation(size), self.batch)


def _likelihood_gradient(problem: LatentGaussian, q: Gaussian, batch: Array, local: Local) -> Gradient:
    """Return ∂f/∂m and ∂f/∂V, n/B times those of a batch."""
    xp = problem.backend.xp
    weight = problem.num_samples / batch.shape[0]
    by_mean, by_covariance = xp.zeros_like(q.mean), xp.zeros_like(q.covariance)
    by_mean[batch] = weight * local.slope
    by_covariance[batch, batch] = weight / 2 * local.curvature
    return Gradient(by_mean, by_covariance)


def _with_prior(gradient: Gradient, q: Gaussian, precision: Array) -> Gradient:
    """Return the gradient plus that of KL[q‖N(0, P⁻¹)]: Pm and ½(P - V⁻¹)."""
    return Gradient(
        gradient.mean + precision @ q.mean,
        gradient.covariance + (precision - inverse(q.covariance)) / 2,
    )
