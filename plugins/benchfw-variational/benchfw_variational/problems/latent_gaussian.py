"""What all problems with one latent value an example share: oracles, the form λ = (m, L), metrics."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from benchfw import Array, Backend, BenchfwError, CountedProblem
from benchfw.data import load, load_table
from benchfw_variational.coordinates import Coordinates
from benchfw_variational.likelihoods.sampling import hermite_local, sampled_local
from benchfw_variational.oracles import Likelihood, Local, Posterior, Prior
from benchfw_variational.posterior import FactorPosterior

Diagonal = Literal["log", "raw"]


class Examples(NamedTuple):
    """Features (n, p) and targets (n,), in float64."""

    features: Array
    targets: Array


def load_examples(backend: Backend, dataset: str, *, classes: bool) -> tuple[Examples, Examples]:
    """Return the training and the test rows of a data set, features as they are.

    Of two `classes` the first in order becomes -1 and the second 1; otherwise targets are as they are.
    """
    arrays = load(dataset)
    tables = [load_table(dataset, part, arrays=arrays) for part in ("train", "test")]
    if classes:
        kinds = np.unique(np.concatenate([each.targets for each in tables]))
        if len(kinds) != 2:
            raise BenchfwError(f"data set '{dataset}' has {len(kinds)} classes; this problem needs two")
        tables = [each._replace(targets=np.where(each.targets == kinds[1], 1, -1)) for each in tables]
    train, test = (
        Examples(
            backend.asarray(features.reshape(len(features), -1).astype(np.float64)),
            backend.asarray(targets.astype(np.float64)),
        )
        for features, targets in tables
    )
    return train, test


class LatentGaussianModel(CountedProblem, ABC):
    """F(q) = Σ_i f_i(m_i, v_i) + KL(q | prior) over Gaussians q, counted in examples.

    As a function of λ = (m, L) it is over q = N(m, LL') of the vector w of its `coordinates`. λ is flat: m,
    then the lower triangle of L row by row; L_ii stands there as it is ("raw") or as its logarithm ("log").
    The start is the prior.
    """

    cost_unit = "examples"

    def __init__(
        self,
        backend: Backend,
        prior: Prior,
        likelihood: Likelihood,
        train: Examples,
        test: Examples,
        *,
        coordinates: Coordinates,
        diagonal: Diagonal,
        classes: bool,
    ) -> None:
        self.backend = backend
        self.prior = prior
        likelihood.check(train.targets)
        likelihood.check(test.targets)
        self.likelihood = likelihood
        self.targets = backend.read_only(train.targets)
        self.num_samples: int = train.targets.shape[0]
        self.test = test
        self.coordinates = coordinates
        self.dimension = coordinates.dimension
        self.diagonal = diagonal
        self._classes = classes

    @property
    def pass_cost(self) -> float:
        """n: inside of a pass F is above F at its end, by a nat on ionosphere with the steps of the paper."""
        return self.num_samples

    @cached_property
    def optimum(self) -> Array:
        """λ of the least F; found when first asked for, and not counted."""
        from benchfw_variational.optimum import optimum  # which builds on this class

        with self._uncounted():
            return optimum(self)

    @abstractmethod
    def covariances(self, features: Array) -> tuple[Array, Array]:
        """Return prior covariances of training and new latent values, (n, k), and prior variances, (k,)."""

    @abstractmethod
    def predict(self, params: Array, features: Array) -> tuple[Array, Array]:
        """Return mean and variance, under λ, of the latent values at new rows, (k,) each."""

    def local(self, batch: Array, mean: Array, variance: Array) -> Local:
        """Return the exact expectations of a batch whose marginals are given, (B,) each; costs B."""
        self._count(batch.shape[0])
        return self.likelihood.expectations(self.targets[batch], mean, variance)

    def sampled(self, batch: Array, mean: Array, variance: Array, normals: Array, kind: str) -> Local:
        """Return them by Monte Carlo from normals (S, B); costs B."""
        self._count(batch.shape[0])
        return sampled_local(self.likelihood, self.targets[batch], mean, variance, normals, kind)

    def hermite(self, batch: Array, mean: Array, variance: Array, points: int) -> Local:
        """Return them by Gauss-Hermite with so many points; costs B."""
        self._count(batch.shape[0])
        return hermite_local(self.likelihood, self.targets[batch], mean, variance, points)

    def losses(self, mean: Array, variance: Array) -> float:
        """Return Σ f_i over all examples, uncounted: for metrics, not for methods."""
        return float(self.likelihood.expectations(self.targets, mean, variance).loss.sum())

    def start(self) -> Array:
        """Return λ of the prior."""
        return self.pack(self.backend.xp.zeros(self.dimension), self.coordinates.prior_factor)

    def value(self, params: Array) -> float:
        """Return F; costs n."""
        self._count(self.num_samples)
        return FactorPosterior(self, params).negative_bound()

    def grad(self, params: Array) -> Array:
        """Return the gradient of F in λ; costs n."""
        return self.grad_batch(params, self.backend.xp.arange(self.num_samples))

    def grad_batch(self, params: Array, batch: Array) -> Array:
        """Return the gradient with n/B times the f_i of a batch in place of all of them; costs B."""
        mean, lower = self.unpack(params)
        local = self.local(batch, *self.coordinates.latent(mean, lower, batch))
        return self._gradient(mean, lower, batch, local)

    def gradient(self, params: Array, batch: Array, local: Local) -> Array:
        """Return the gradient in λ that follows from what a batch says of its marginals, however found."""
        return self._gradient(*self.unpack(params), batch, local)

    def _gradient(self, mean: Array, lower: Array, batch: Array, local: Local) -> Array:
        xp = self.backend.xp
        weight = self.num_samples / batch.shape[0]
        slopes, curvatures = weight * local.slope, weight * local.curvature
        by_mean, by_lower = self.coordinates.pull_back(mean, lower, batch, slopes, curvatures)
        gradient = xp.concatenate([by_mean, by_lower.reshape(-1)[self._triangle]])
        entries = xp.diagonal(lower)
        # the entropy of q is the sum of their logarithms
        gradient[self._diagonal_places] -= 1.0 / entries
        if self.diagonal == "log":
            gradient[self._diagonal_places] *= entries
        return gradient

    def project(self, params: Array) -> Array:
        """Return λ with a positive diagonal of L: columns of L may change their sign, LL' stays the same."""
        xp = self.backend.xp
        if self.diagonal == "log" or bool((params[self._diagonal_places] > 0).all()):
            return params
        mean, lower = self.unpack(params)
        return self.pack(mean, lower * xp.where(xp.diagonal(lower) < 0, -1.0, 1.0))

    def metrics(self, answer: Any) -> Mapping[str, float]:
        """Return F, the mean of -log p(y|data) over the test rows, and for classes their rate of errors.

        The logarithm is that of base 2 (`log_loss_bits`), or where p is a density the natural one
        (`log_loss`). The answer is a posterior or λ; all metrics of one that is not finite are infinite.
        """
        posterior: Posterior = answer if hasattr(answer, "negative_bound") else FactorPosterior(self, answer)
        bound = posterior.negative_bound()
        log_loss = errors = math.inf
        if math.isfinite(bound):
            mean, variance = posterior.predict(self.test.features)
            log_loss = -float(self.likelihood.log_predictive(self.test.targets, mean, variance).mean())
            errors = 1.0 - float((mean * self.test.targets > 0).mean())
        values = {"negative_bound": bound if math.isfinite(bound) else math.inf}
        if self.likelihood.discrete:
            values["log_loss_bits"] = log_loss / math.log(2)
        else:
            values["log_loss"] = log_loss
        if self._classes:
            values["test_error"] = errors
        return values

    def marginals(self, params: Array, batch: Array | None = None) -> tuple[Array, Array]:
        """Return mean and variance, under λ, of the latent values of a batch, or of all examples."""
        return self.coordinates.latent(*self.unpack(params), batch)

    def divergence(self, params: Array) -> float:
        """Return the Kullback-Leibler divergence of N(m, LL') from the prior of w."""
        xp = self.backend.xp
        mean, lower = self.unpack(params)
        squares = self.coordinates.whitened_square(lower) + self.coordinates.whitened_square(mean[:, None])
        ratios = xp.diagonal(self.coordinates.prior_factor) / xp.abs(xp.diagonal(lower))
        return (squares - self.dimension) / 2 + float(xp.log(ratios).sum())

    def pack(self, mean: Array, lower: Array) -> Array:
        """Return λ."""
        xp = self.backend.xp
        params = xp.concatenate([mean, lower.reshape(-1)[self._triangle]])
        if self.diagonal == "log":
            params[self._diagonal_places] = xp.log(params[self._diagonal_places])
        return params

    def unpack(self, params: Array) -> tuple[Array, Array]:
        """Return m, (d,), and L, (d, d)."""
        xp = self.backend.xp
        lower = xp.zeros(self.dimension**2)
        lower[self._triangle] = params[self.dimension :]
        lower = lower.reshape(self.dimension, self.dimension)
        if self.diagonal == "log":
            rows = xp.arange(self.dimension)
            lower[rows, rows] = xp.exp(lower[rows, rows])
        return params[: self.dimension], lower

    @cached_property
    def _triangle(self) -> Array:
        """Where the entries of the lower triangle stand in the matrix, row by row."""
        xp = self.backend.xp
        return xp.flatnonzero(xp.tri(self.dimension, dtype=bool))

    @cached_property
    def _diagonal_places(self) -> Array:
        """Where the diagonal entries of L stand in λ."""
        xp = self.backend.xp
        return self.dimension - 1 + xp.cumsum(xp.arange(1, self.dimension + 1))
