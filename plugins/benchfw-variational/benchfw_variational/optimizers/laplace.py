"""The Laplace approximation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from benchfw import Array, BenchfwError, Rng
from benchfw_variational.implicit_covariance import ImplicitCovariance
from benchfw_variational.oracles import LatentGaussian, Local
from benchfw_variational.posterior import DualPosterior

HALVINGS = 30


@dataclass(frozen=True)
class Laplace:
    """The Laplace approximation: Newton steps to the mode of p(z|y), precisions -∂² log p(y_i|z_i) there.

    Rasmussen & Williams 2006, §3.4, with steps halved as long as the posterior density falls.
    """

    solves: ClassVar[type] = LatentGaussian

    def run(self, problem: LatentGaussian, rng: Rng) -> Iterator[DualPosterior]:
        """Yield the prior, then the Gaussian of each Newton point."""
        xp, prior = problem.backend.xp, problem.prior
        dual = mean = precisions = xp.zeros(problem.num_samples)
        local = _at(problem, mean)
        if not bool(xp.isfinite(local.curvature).all()):
            raise BenchfwError(f"laplace needs a likelihood that is smooth, not '{problem.likelihood.name}'")
        while True:
            yield DualPosterior(problem, dual, precisions)
            precisions = xp.maximum(local.curvature, 0.0)
            move = ImplicitCovariance(prior, precisions).precondition(dual + local.slope)
            image = prior.matmat(move)
            height = _height(local, mean, dual)
            for length in (0.5**halving for halving in range(HALVINGS)):
                new_dual, new_mean = dual - length * move, mean - length * image
                new = _at(problem, new_mean)
                if _height(new, new_mean, new_dual) <= height:
                    dual, mean, local = new_dual, new_mean, new
                    precisions = xp.maximum(local.curvature, 0.0)
                    break


def _at(problem: LatentGaussian, latent: Array) -> Local:
    """Return losses, slopes and curvatures at a point: one sample of a q without variance."""
    xp = problem.backend.xp
    nothing = xp.zeros_like(latent)
    rows = xp.arange(problem.num_samples)
    return problem.sampled(rows, latent, nothing, nothing[None, :], "reparameterization")


def _height(local: Local, mean: Array, dual: Array) -> float:
    """Return -log p(z, y) up to a constant."""
    return float(local.loss.sum() + mean @ dual / 2)
