"""What methods of variational inference may ask of a problem."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from benchfw import Array, FiniteSum


class Local(NamedTuple):
    """What a batch says of q: f_i = -E_q log p(y_i|z_i), ∂f_i/∂m_i and 2 ∂f_i/∂v_i, each (B,)."""

    loss: Array
    slope: Array
    curvature: Array


class Likelihood(Protocol):
    """p(y|z) of one example, by its logarithm in z: a frozen dataclass; all methods are elementwise."""

    name: str
    discrete: bool  # whether p(y|z) is a probability, and no density
    twice_differentiable: bool  # whether the second derivative exists everywhere

    def check(self, targets: Array) -> None:
        """Raise BenchfwError, in one sentence, for targets that this likelihood cannot have."""
        ...

    def loss(self, targets: Array, latent: Array) -> Array:
        """Return -log p(y|z); the arguments broadcast."""
        ...

    def slope(self, targets: Array, latent: Array) -> Array:
        """Return the first derivative of the loss in z."""
        ...

    def curvature(self, targets: Array, latent: Array) -> Array:
        """Return the second derivative of the loss in z."""
        ...

    def expectations(self, targets: Array, mean: Array, variance: Array) -> Local:
        """Return loss, slope and curvature under z ~ N(mean, variance), by closed form or quadrature."""
        ...

    def log_predictive(self, targets: Array, mean: Array, variance: Array) -> Array:
        """Return log E p(y|z) under z ~ N(mean, variance)."""
        ...


class Factor(Protocol):
    """B = I + (s s')∘K, factored: it speaks for q = N(m, (K⁻¹ + diag(s²))⁻¹)."""

    @property
    def log_determinant(self) -> float: ...

    def solve(self, block: Array) -> Array:
        """Return B⁻¹ block for (n,) or (n, k)."""
        ...

    def variances(self, rows: Array | None = None) -> Array:
        """Return V_ii = k_ii - s-weighted explained part, at these rows or at all of them."""
        ...


class Prior(Protocol):
    """z ~ N(0, K) over the n training examples."""

    size: int
    diagonal: Array

    def matmat(self, block: Array) -> Array:
        """Return K block for (n,) or (n, k)."""
        ...

    def columns(self, rows: Array) -> Array:
        """Return the columns of K that belong to these rows: (n, B)."""
        ...

    def factor(self, scales: Array) -> Factor:
        """Return B = I + (s s')∘K for s = `scales` >= 0, factored."""
        ...


class LatentGaussian(FiniteSum, Protocol):
    """Minimize F(q) = Σ_i f_i(m_i, v_i) + KL(q | N(0, K)) over Gaussians q = N(m, V), counted in examples."""

    likelihood: Likelihood
    targets: Array

    @property
    def prior(self) -> Prior:
        """Of the latent values."""
        ...

    def local(self, batch: Array, mean: Array, variance: Array) -> Local:
        """Return the exact expectations of a batch whose marginals are given, (B,) each; costs B."""
        ...

    def sampled(self, batch: Array, mean: Array, variance: Array, normals: Array, kind: str) -> Local:
        """Return them by Monte Carlo from normals (S, B): "score-function", "reparameterization"; costs B."""
        ...

    def hermite(self, batch: Array, mean: Array, variance: Array, points: int) -> Local:
        """Return them by Gauss-Hermite with so many points; costs B."""
        ...

    def marginals(self, params: Array, batch: Array | None = None) -> tuple[Array, Array]:
        """Return mean and variance, under λ = (m, L), of the latent values of a batch, or of all examples."""
        ...

    def gradient(self, params: Array, batch: Array, local: Local) -> Array:
        """Return ∇F in λ, with the weight n/B on what the batch says."""
        ...

    def losses(self, mean: Array, variance: Array) -> float:
        """Return Σ f_i over all examples, uncounted: for metrics, not for methods."""
        ...

    def divergence(self, params: Array) -> float:
        """Return KL(q | prior) of λ."""
        ...

    def pack(self, mean: Array, lower: Array) -> Array:
        """Return λ of m and L."""
        ...

    def covariances(self, features: Array) -> tuple[Array, Array]:
        """Return prior covariances of training and new latent values, (n, k), and prior variances, (k,)."""
        ...

    def predict(self, params: Array, features: Array) -> tuple[Array, Array]:
        """Return mean and variance, under λ, of the latent values at new rows, (k,) each."""
        ...


class Posterior(Protocol):
    """A Gaussian answer, whatever parameters stand behind it."""

    @property
    def mean(self) -> Array:
        """Of the latent values of the training examples, (n,)."""
        ...

    @property
    def variance(self) -> Array:
        """Likewise, (n,)."""
        ...

    def negative_bound(self) -> float:
        """Return F(q), with exact expectations."""
        ...

    def predict(self, features: Array) -> tuple[Array, Array]:
        """Return mean and variance of the latent value at new rows, (k,) each."""
        ...

    def log_predictive(self, features: Array, targets: Array) -> Array:
        """Return log p(y|x, data) under q for new rows and their targets, (k,)."""
        ...
