"""Gaussian-process classification."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple

from benchfw import Array, Backend, DatasetName, NonNegative, Rng
from benchfw.kernels import cholesky_solve, column_dots, gaussian_gram, inverse_half_powers
from benchfw_variational.coordinates import LatentCoordinates, LinearCoordinates
from benchfw_variational.likelihoods import get_likelihood
from benchfw_variational.priors.dense import DensePrior
from benchfw_variational.problems.latent_gaussian import Diagonal, LatentGaussianModel, load_examples

Form = Literal["latent", "whitened"]


class Covariance(NamedTuple):
    """e^(2 log_scale) exp(-|x-x'|² / (2 e^(2 log_length))), and what is added on the diagonal."""

    log_length: float
    log_scale: float
    jitter: float


SETTINGS = {
    "sonar": Covariance(-1.0, 6.0, 1e-4),
    "ionosphere": Covariance(1.0, 2.5, 1e-2),
    "usps-2vs4": Covariance(2.5, 5.0, 1e-4),
    "usps-3vs5": Covariance(2.5, 5.0, 1e-4),
}
"""Khan et al. 2016, §7.1, and the jitter of their experiments."""


class GPClassification(LatentGaussianModel):
    """Gaussian-process classification of two classes, from q = prior (m = 0, V = K).

    K_ij = e^(2 log_scale) exp(-|x_i-x_j|² / (2 e^(2 log_length))) + jitter [i=j]. Metrics: `negative_bound`,
    `log_loss_bits` (`log_loss` where the likelihood is a density), `test_error`.

    Parameters:
      dataset: a set of two classes; features as they are.
      log_length: logarithm of the length; by default as in Khan et al. 2016 for sonar, ionosphere,
        usps-2vs4 and usps-3vs5, else of the root mean square distance of two rows.
      log_scale: half the logarithm of the variance; by default as there, else 2.
      jitter: added to the diagonal of K; by default as there, else 1e-3.
      likelihood: a name, or a table of its name and parameters.
      coordinates: what λ = (m, L) is over: the latent values z, or white values w, z = Cw with CC' = K.
      diagonal: how λ = (m, L) stores L_ii: its logarithm, or raw.
    """

    check_with: ClassVar[Sequence[Mapping[str, Any]]] = (
        {"dataset": "sonar-like(rows=30, features=4, train=20)", "log_length": 1.0, "log_scale": 0.0},
        {"dataset": "sonar-like(rows=30, features=4, train=20)", "coordinates": "whitened"},
        {"dataset": "sonar-like(rows=30, features=4, train=20)", "likelihood": "bernoulli-probit"},
    )

    prior: DensePrior

    def __init__(
        self,
        backend: Backend,
        rng: Rng,
        *,
        dataset: DatasetName = "ionosphere",
        log_length: float | None = None,
        log_scale: float | None = None,
        jitter: NonNegative | None = None,
        likelihood: str | Mapping[str, Any] = "bernoulli-logit",
        coordinates: Form = "latent",
        diagonal: Diagonal = "log",
    ) -> None:
        train, test = load_examples(backend, dataset, classes=True)
        usual = SETTINGS.get(dataset) or _usual(train.features)
        self._length = math.exp(usual.log_length if log_length is None else log_length)
        self._scale = math.exp(2 * (usual.log_scale if log_scale is None else log_scale))
        self._inputs = train.features
        gram = self._scale * gaussian_gram(train.features, train.features, self._length)
        prior = DensePrior(gram, usual.jitter if jitter is None else jitter)
        super().__init__(
            backend,
            prior,
            get_likelihood(likelihood),
            train,
            test,
            coordinates=(
                LinearCoordinates(prior.cholesky) if coordinates == "whitened" else LatentCoordinates(prior)
            ),
            diagonal=diagonal,
            classes=True,
        )
        self.caveats = prior.caveats

    def covariances(self, features: Array) -> tuple[Array, Array]:
        """Return the covariances of training and new rows, (n, k), and the variances of the new, (k,)."""
        columns = self._scale * gaussian_gram(self._inputs, features, self._length)
        return columns, self.backend.xp.full(features.shape[0], self._scale)

    def predict(self, params: Array, features: Array) -> tuple[Array, Array]:
        """Return mean and variance of the latent values at new rows, (k,) each."""
        mean, lower = self.unpack(params)
        columns, prior = self.covariances(features)
        if isinstance(self.coordinates, LinearCoordinates):
            weights = inverse_half_powers(columns, self.prior.cholesky, 1)[0]
            explained = column_dots(weights, weights)
        else:
            weights = cholesky_solve(self.prior.cholesky, columns)
            explained = (columns * weights).sum(axis=0)
        variance = prior - explained + ((lower.T @ weights) ** 2).sum(axis=0)
        xp = self.backend.xp
        return mean @ weights, xp.maximum(variance, xp.finfo(prior.dtype).eps * prior)


def _usual(features: Array) -> Covariance:
    log_length = math.log(2 * float(features.var(axis=0).sum())) / 2
    return Covariance(log_length, 2.0, 1e-3)
