"""Bayesian generalized linear models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from benchfw import Array, Backend, DatasetName, Positive, Rng
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
            dimension=train.features.shape[1],
            diagonal=diagonal,
            classes=classes,
        )
        self._features = train.features

    def prior_factor(self) -> Array:
        """Return the prior's standard deviation times the identity, (d, d)."""
        return self._deviation * self.backend.xp.eye(self.dimension)

    def whitened_square(self, block: Array) -> float:
        """Return |block|² over the prior variance."""
        return float((block * block).sum()) / self._deviation**2

    def latent(self, mean: Array, lower: Array, batch: Array | None) -> tuple[Array, Array]:
        """Return x_i'm and |L'x_i|² of a batch, or of all examples."""
        rows = self._features if batch is None else self._features[batch]
        return _linear(rows, mean, lower)

    def pull_back(
        self, mean: Array, lower: Array, batch: Array, slopes: Array, curvatures: Array
    ) -> tuple[Array, Array]:
        """Return X'slopes + m/variance and X'diag(curvatures)XL + L/variance."""
        rows, variance = self._features[batch], self._deviation**2
        by_lower = rows.T @ (curvatures[:, None] * (rows @ lower))
        return rows.T @ slopes + mean / variance, by_lower + lower / variance

    def covariances(self, features: Array) -> tuple[Array, Array]:
        """Return the covariances of training and new rows, (n, k), and the variances of the new, (k,)."""
        prior = self._deviation**2 * (features * features).sum(axis=1)
        return self._deviation**2 * (self._features @ features.T), prior

    def predict(self, params: Array, features: Array) -> tuple[Array, Array]:
        """Return x'm and |L'x|² for new rows, (k,) each."""
        return _linear(features, *self.unpack(params))


def _linear(rows: Array, mean: Array, lower: Array) -> tuple[Array, Array]:
    return rows @ mean, ((rows @ lower) ** 2).sum(axis=1)
