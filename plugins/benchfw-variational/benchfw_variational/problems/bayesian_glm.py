"""Bayesian generalized linear models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from benchfw import Array, Backend, DatasetName, Positive, Rng
from benchfw_variational.coordinates import LinearCoordinates, linear_marginals
from benchfw_variational.likelihoods import get_likelihood
from benchfw_variational.priors.low_rank import LowRankPrior
from benchfw_variational.problems.latent_gaussian import Diagonal, LatentGaussianModel, load_examples


class BayesianGLM(LatentGaussianModel):
    """Bayesian generalized linear model: weights w ~ N(0, variance I), latent values x_i'w, from q = prior.

    Methods with duals see K = variance XX'; λ = (m, L) is over the weights. Metrics: `negative_bound`,
    `log_loss_bits` (`log_loss` where the likelihood is a density), and for classes `test_error`.

    Parameters:
      dataset: features as they are, no intercept.
      likelihood: a name, or a table of its name and parameters.
      variance: of each weight in the prior.
      diagonal: how λ = (m, L) stores L_ii: its logarithm, or raw.
    """

    check_with = (
        {"dataset": "sonar-like(rows=40, features=4, train=30)"},
        {"dataset": "counts-like(rows=40, features=3, train=30)", "likelihood": "poisson", "diagonal": "raw"},
    )
    expected_failures: ClassVar[Mapping[str, str]] = {
        "projection": "with a raw diagonal columns of L change their sign: LL' is kept, distances are not"
    }

    def __init__(
        self,
        backend: Backend,
        rng: Rng,
        *,
        dataset: DatasetName = "ionosphere",
        likelihood: str | Mapping[str, Any] = "bernoulli-logit",
        variance: Positive = 1.0,
        diagonal: Diagonal = "log",
    ) -> None:
        chosen = get_likelihood(likelihood)
        classes = chosen.name.startswith("bernoulli")
        train, test = load_examples(backend, dataset, classes=classes)
        self._deviation: float = variance**0.5
        super().__init__(
            backend,
            LowRankPrior(self._deviation * train.features),
            chosen,
            train,
            test,
            coordinates=LinearCoordinates(train.features, self._deviation),
            diagonal=diagonal,
            classes=classes,
        )
        self._features = train.features

    def covariances(self, features: Array) -> tuple[Array, Array]:
        """Return the covariances of training and new rows, (n, k), and the variances of the new, (k,)."""
        prior = self._deviation**2 * (features * features).sum(axis=1)
        return self._deviation**2 * (self._features @ features.T), prior

    def predict(self, params: Array, features: Array) -> tuple[Array, Array]:
        """Return x'm and |L'x|² for new rows, (k,) each."""
        return linear_marginals(features, *self.unpack(params))
