"""Gaussian-process classification whose constants are known, for the theorems."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import islice, repeat
from typing import Any

from benchfw import Backend, Count, Positive, Rng, clip_gap
from benchfw.kernels import gaussian_gram
from benchfw_variational.coordinates import LatentCoordinates
from benchfw_variational.likelihoods import get_likelihood
from benchfw_variational.posterior import FactorPosterior
from benchfw_variational.priors.dense import DensePrior
from benchfw_variational.problems.gp_classification import GPClassification
from benchfw_variational.problems.latent_gaussian import Examples, LatentGaussianModel
from benchfw_variational.proximal_step import proximal_path

JITTER = 0.1  # of the variance of a latent value: K stays well conditioned
TO_OPTIMUM = 200  # steps with β = 1, each of which about halves what is left
# of the logistic loss ℓ: |Eℓ''| <= 1/4, |½Eℓ'''| <= 1/(12√3), |¼Eℓ''''| <= 1/32, and a matrix of two rows of
# such entries has no norm above 0.2602
LOGISTIC_SMOOTHNESS = 0.2602
LOGISTIC_SQUARE = 1 + 1 / 64  # |ℓ'| <= 1, ½ℓ'' <= 1/8
LOGISTIC_VARIANCE = 1 / 4 + 1 / 256  # of ℓ' in an interval of length 1 and ½ℓ'' in one of 1/8


class ScaledGP(GPClassification):
    """Logistic classification of synthetic rows by a Gaussian process, K scaled to the top eigenvalue 1.

    Standard normal rows in the plane; the class is the sign of x_1 x_2, wrong for one row in ten. With λ
    = (m, V) the gradient of Σf_i is 0.2602-Lipschitz, and KL[q‖q_k] strongly convex with α = ½ (no V of
    the family's split steps is above K). Metrics: `gap`, and from methods that know their steps G_k =
    (λ_k - λ_{k+1})/β_k, after the first one `least_squared_step` and `mean_squared_step`, of |G_k|².

    Parameters:
      samples: rows to train on, and as many to test on.
      length: of the Gaussian covariance.
    """

    check_with = ({"samples": 12},)

    def __init__(self, backend: Backend, rng: Rng, *, samples: Count = 40, length: Positive = 1.0) -> None:
        train, test = _draw(backend, rng, samples), _draw(backend, rng, samples)
        gram = gaussian_gram(train.features, train.features, length)
        self.top_eigenvalue = 1.0
        self._length = length
        self._scale = 1 / (float(backend.xp.linalg.eigvalsh(gram)[-1]) + JITTER)
        self._inputs = train.features
        prior = DensePrior(self._scale * gram, self._scale * JITTER)
        LatentGaussianModel.__init__(  # not that of GPClassification, which would load a data set
            self,
            backend,
            prior,
            get_likelihood("bernoulli-logit"),
            train,
            test,
            coordinates=LatentCoordinates(prior),
            diagonal="log",
            classes=True,
        )
        self.likelihood_smoothness = LOGISTIC_SMOOTHNESS
        with self._uncounted():
            path = proximal_path(self, rng, repeat(None), step=1.0)
            # F is convex in (m, chol V): where the steps end there is no better place
            self._optimal_bound = next(islice(path, TO_OPTIMUM, None)).negative_bound()
            self.start_gap = FactorPosterior(self, self.start()).negative_bound() - self._optimal_bound

    def gradient_noise(self, batch: int | None, samples: int | None) -> float:
        """Return a bound of E|∇̂f - ∇f|², whatever the batches, with reparameterized samples, None for exact.

        Examples have entries of λ of their own: with w = n/B those of a batch err by w²Var/S + (w-1)²|∇f_i|²,
        the others by |∇f_i|²; w is that of the smallest batch of a pass.
        """
        size = self.num_samples
        weight = 1.0 if batch is None or batch >= size else size / (size % batch or batch)
        sampling = 0.0 if samples is None else weight * LOGISTIC_VARIANCE / samples
        return size * (sampling + (weight - 1) * LOGISTIC_SQUARE)

    def metrics(self, answer: Any) -> Mapping[str, float]:
        """Return the gap F - F*, and of the steps so far the least and the mean of |G_k|²."""
        posterior = answer if hasattr(answer, "negative_bound") else FactorPosterior(self, answer)
        bound = posterior.negative_bound()
        gap = clip_gap(bound - self._optimal_bound, bound) if math.isfinite(bound) else math.inf
        steps = getattr(posterior, "squared_steps", None)
        if steps is None or not steps.number or not math.isfinite(gap):
            return {"gap": gap}
        return {"gap": gap, "least_squared_step": steps.least, "mean_squared_step": steps.mean}


def _draw(backend: Backend, rng: Rng, samples: int) -> Examples:
    xp = backend.xp
    features = rng.standard_normal((samples, 2))
    signs = xp.where(features[:, 0] * features[:, 1] > 0, 1.0, -1.0)
    return Examples(features, xp.where(rng.random(samples) < 0.1, -signs, signs))
