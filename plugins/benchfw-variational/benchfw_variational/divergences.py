"""Divergences between Gaussians, and the iteration (9) of Khan et al. 2016 with each of them.

λ⁺ = argmin ⟨λ, ∇f(λ_k)⟩ + h(λ) + D(λ‖λ_k)/β. Gradients come in (m, V), which is λ for the Euclidean and the
KL divergence; for the other two λ are the natural parameters (V⁻¹m, -½V⁻¹), to which they are then taken.
A step that leaves the positive definite matrices ends in a V that is not positive definite, or not finite.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, Protocol

from benchfw import Array
from benchfw.kernels import cholesky_solve, namespace
from benchfw_variational.cholesky import cholesky, log_determinant

Name = Literal["euclidean", "kl", "reversed-kl", "symmetric-kl"]


class Gaussian(NamedTuple):
    """N(m, V): mean (n,) and covariance (n, n)."""

    mean: Array
    covariance: Array


class Gradient(NamedTuple):
    """A gradient in (m, V): (n,), and (n, n), symmetric."""

    mean: Array
    covariance: Array


class Divergence(Protocol):
    """D(q‖q_k), and what (9) is with it where h = 0."""

    def between(self, new: Gaussian, old: Gaussian) -> float:
        """Return D(new‖old)."""
        ...

    def step(self, old: Gaussian, gradient: Gradient, length: float) -> Gaussian:
        """Return the argmin of ⟨λ, gradient⟩ + D(λ‖old)/length."""
        ...


class SplitDivergence(Divergence, Protocol):
    """One with which (9) has a closed form also where h = KL[q‖N(0, K)] is not linearized."""

    def proximal_step(self, old: Gaussian, gradient: Gradient, length: float, precision: Array) -> Gaussian:
        """Return the argmin of ⟨λ, gradient⟩ + KL[q‖N(0, P⁻¹)] + D(λ‖old)/length, P = `precision`."""
        ...

    def modulus(self, top: float) -> float:
        """Return α of ⟨λ-λ', ∇D(λ‖λ')⟩ >= α|λ-λ'|², over all V with no eigenvalue above `top`."""
        ...


class Euclidean:
    """½|m-m_k|² + ½|V-V_k|²: gradient descent, and with h its proximal form."""

    def between(self, new: Gaussian, old: Gaussian) -> float:
        """Return half the squared distance in (m, V)."""
        return squared_distance(new, old) / 2

    def step(self, old: Gaussian, gradient: Gradient, length: float) -> Gaussian:
        """Return m - β ∂/∂m, V - β ∂/∂V."""
        return Gaussian(old.mean - length * gradient.mean, old.covariance - length * gradient.covariance)

    def proximal_step(self, old: Gaussian, gradient: Gradient, length: float, precision: Array) -> Gaussian:
        """Return (I + βP)⁻¹(m_k - β ∂f/∂m), and the V > 0 of V² - WV = ½βI, W = V_k - β(∂f/∂V + ½P)."""
        xp = namespace(precision)
        mean, moved = self.step(old, gradient, length)
        mean = xp.linalg.solve(xp.eye(len(mean)) + length * precision, mean)
        values, vectors = xp.linalg.eigh(moved - length / 2 * precision)
        roots = xp.sqrt(values**2 + 2 * length)
        # the two are equal, and neither takes a difference of equals
        values = xp.where(values > 0, (roots + values) / 2, length / (roots + xp.abs(values)))
        return Gaussian(mean, (vectors * values) @ vectors.T)

    def modulus(self, top: float) -> float:
        """Return 1."""
        return 1.0


class KullbackLeibler:
    """KL[q‖q_k] in (m, V): with h the method of Khan et al. 2015."""

    def between(self, new: Gaussian, old: Gaussian) -> float:
        """Return ½(tr V_k⁻¹V + |m-m_k|² in V_k⁻¹ + log|V_k| - log|V| - n)."""
        precision, move = inverse(old.covariance), new.mean - old.mean
        distance = float((precision * new.covariance).sum() + move @ precision @ move)
        volumes = log_determinant(cholesky(old.covariance)) - log_determinant(cholesky(new.covariance))
        return (distance + volumes - len(move)) / 2

    def step(self, old: Gaussian, gradient: Gradient, length: float) -> Gaussian:
        """Return V⁻¹ = V_k⁻¹ + 2β ∂/∂V, m = m_k - βV_k ∂/∂m."""
        precision = inverse(old.covariance) + 2 * length * gradient.covariance
        return Gaussian(old.mean - length * old.covariance @ gradient.mean, inverse(precision))

    def proximal_step(self, old: Gaussian, gradient: Gradient, length: float, precision: Array) -> Gaussian:
        """Return eqs. (64) and (78): V⁻¹ = rV_k⁻¹ + (1-r)(P + 2∂f/∂V), and m by rV_k⁻¹ + (1-r)P."""
        xp = namespace(precision)
        rate = length / (1 + length)
        metric = (1 - rate) * inverse(old.covariance) + rate * precision
        move = xp.linalg.solve(metric, precision @ old.mean + gradient.mean)
        return Gaussian(old.mean - rate * move, inverse(metric + 2 * rate * gradient.covariance))

    def modulus(self, top: float) -> float:
        """Return min(1/top, 1/(2 top²)), from V_k⁻¹ in m and ½V_k⁻¹⊗V⁻¹ in V."""
        return min(1 / top, 1 / (2 * top**2))


class ReversedKullbackLeibler:
    """KL[q_k‖q], the Bregman divergence of the log-partition in natural parameters: mirror descent.

    With h there is no closed form, and h is not convex in these parameters.
    """

    def between(self, new: Gaussian, old: Gaussian) -> float:
        """Return KL[old‖new]."""
        return KullbackLeibler().between(old, new)

    def step(self, old: Gaussian, gradient: Gradient, length: float) -> Gaussian:
        """Return the moments (m, V + mm') less β times the gradient in natural parameters, as m and V."""
        move = length * old.covariance @ gradient.mean
        shrinkage = 2 * length * old.covariance @ gradient.covariance @ old.covariance
        return Gaussian(old.mean - move, old.covariance - shrinkage - move[:, None] * move)


class SymmetricKullbackLeibler:
    """½ KL[q‖q_k] + ½ KL[q_k‖q], to second order in natural parameters: natural gradients (SVI), eq. (4).

    To that order it is ½ d'I d with I the Fisher matrix of q_k; beyond it, and with h, nothing is closed.
    """

    def between(self, new: Gaussian, old: Gaussian) -> float:
        """Return the mean of both divergences themselves."""
        divergence = KullbackLeibler()
        return (divergence.between(new, old) + divergence.between(old, new)) / 2

    def step(self, old: Gaussian, gradient: Gradient, length: float) -> Gaussian:
        """Return the natural parameters less β times the gradient in the moments (m, V + mm'), as m and V."""
        covariance = inverse(inverse(old.covariance) + 2 * length * gradient.covariance)
        return Gaussian(old.mean - length * covariance @ gradient.mean, covariance)


SPLIT: dict[str, SplitDivergence] = {"euclidean": Euclidean(), "kl": KullbackLeibler()}
DIVERGENCES: dict[str, Divergence] = {
    **SPLIT,
    "reversed-kl": ReversedKullbackLeibler(),
    "symmetric-kl": SymmetricKullbackLeibler(),
}


def squared_distance(one: Gaussian, other: Gaussian) -> float:
    """Return |m-m'|² + |V-V'|²."""
    return float(((one.mean - other.mean) ** 2).sum() + ((one.covariance - other.covariance) ** 2).sum())


def inverse(matrix: Array) -> Array:
    """Return the inverse of a positive definite matrix; NaN for any other."""
    return cholesky_solve(cholesky(matrix), namespace(matrix).eye(matrix.shape[0]))
