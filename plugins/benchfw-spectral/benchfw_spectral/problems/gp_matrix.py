"""A(θ) = C(s_f, ℓ) + σ² I: the covariance of noisy observations, as spectral methods see it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Protocol

from benchfw import Array, Backend
from benchfw.kernels import Counted, Operator, column_dots
from benchfw_spectral.functions.function import Interval
from benchfw_spectral.functions.log import Log
from benchfw_spectral.kernels.conjugate_gradients import conjugate_gradients

TOLERANCE = 1e-6  # of the residual of A α = y: far below the noise of any stochastic gradient
ITERATIONS = 10_000
HAIR = 1e-6  # rounding must not put an eigenvalue outside of the interval


class Covariance(Protocol):
    """C = s_f² k(x, x'; ℓ) at one (s_f, ℓ) between training inputs, without noise."""

    rank: int  # of C at most: how many of its products determine it
    bounding: int  # how many products `top` takes

    @property
    def top(self) -> float:
        """No eigenvalue of C is larger."""
        ...

    def operator(self, noise: float) -> Operator:
        """Return C + σ² I."""
        ...

    def forms(self, left: Array, right: Array) -> tuple[Array, Array]:
        """Return Σ_i l_i' C r_i and Σ_i l_i' (∂C/∂ log ℓ) r_i over the columns of two (size, k) blocks."""
        ...

    def log_determinant(self, noise: float) -> float:
        """Return log det A for A = C + σ² I."""
        ...

    def inverse_traces(self, noise: float) -> tuple[float, float]:
        """Return tr A⁻¹ and tr(A⁻¹ ∂C/∂ log ℓ)."""
        ...

    def predict(self, weights: Array) -> Array:
        """Return C_* weights, the means at the test inputs, (t,)."""
        ...


class Structure(Protocol):
    """The inputs, prepared once, from which covariances are made."""

    size: int
    lengths: Interval  # that make sense for these inputs

    def covariance(self, scale: float, length: float) -> Covariance: ...


class CovarianceMatrix:
    """A(θ) at θ = (log σ, log s_f, log ℓ): a ParametricMatrix of log; `count` hears of all products."""

    function = Log()

    def __init__(
        self,
        backend: Backend,
        covariance: Covariance,
        noise: float,
        targets: Array,
        count: Callable[[int], None],
        tolerance: float = TOLERANCE,
        start: Array | None = None,
    ) -> None:
        self.backend = backend
        self.covariance = covariance
        self.noise = noise
        self.operator = Counted(covariance.operator(noise), count)
        self.size = self.operator.size
        self._targets = targets
        self._count = count
        self._tolerance = tolerance
        self._start = start  # near A⁻¹ y: the solution of a matrix near A
        self.solution: Array | None = None

    @cached_property
    def interval(self) -> Interval:
        """From the noise to a bound of the largest eigenvalue, found at the first question."""
        self._count(self.covariance.bounding)
        low = self.noise**2
        return low * (1 - HAIR), (self.covariance.top + low) * (1 + HAIR)

    def pullback(self, left: Array, right: Array, symmetric: bool = False) -> Array:
        """Return Σ_i ∂_θ (l_i' A r_i), (3,), for the columns of two (size, k) blocks."""
        self._count(left.shape[1])
        signal, longer = self.covariance.forms(left, right)
        identity = column_dots(left, right).sum()
        return self.backend.xp.stack([2 * self.noise**2 * identity, 2 * signal, longer])

    @property
    def weights(self) -> Array:
        """α = A⁻¹ y, (size,), by conjugate gradients, which run when it is first asked for."""
        if self.solution is None:
            start = None if self._start is None else self._start[:, None]
            column, tolerance = self._targets[:, None], self._tolerance
            found = conjugate_gradients(column, self.operator, tolerance, ITERATIONS, start=start)
            self.solution = found[:, 0]
        return self.solution

    def log_determinant(self) -> float:
        """Return tr log A, exactly: priced at the products that determine A."""
        self._count(self.covariance.rank)
        return self.covariance.log_determinant(self.noise)

    def log_determinant_grad(self) -> tuple[float, float, float]:
        """Return ∂_θ tr log A, exactly, at the same price."""
        self._count(self.covariance.rank)
        inverse, longer = self.covariance.inverse_traces(self.noise)
        from_noise = self.noise**2 * inverse
        return 2 * from_noise, 2 * (self.size - from_noise), longer
