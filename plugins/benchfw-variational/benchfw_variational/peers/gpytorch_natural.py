"""Natural gradients of GPyTorch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from benchfw import BenchfwError, Log, Positive, Rng, Unavailable
from benchfw_variational.oracles import LatentGaussian
from benchfw_variational.posterior import FactorPosterior
from benchfw_variational.priors.dense import DensePrior


@dataclass(frozen=True)
class PeerGPyTorch:
    """Natural gradients (NGD) by GPyTorch on a full Gaussian of all values, for bernoulli-probit on the CPU.

    Steps of length step/(1 + step) in natural parameters are those of pg, but that GPyTorch takes
    expectations by Gauss-Hermite with its usual 20 points. It is given K itself.
    """

    step: Positive = 0.1
    """β, as for pg."""

    solves: ClassVar[type] = LatentGaussian
    tuning: ClassVar[dict[str, Log]] = {"step": Log(0.01, 100)}

    def run(self, problem: LatentGaussian, rng: Rng) -> Iterator[FactorPosterior]:
        """Yield the prior, then q after each step, one a pass."""
        if problem.backend.library != "numpy":
            raise Unavailable("peer-gpytorch is run on the CPU; take the backend numpy")
        name = problem.likelihood.name
        if name != "bernoulli-probit":
            raise BenchfwError(f"peer-gpytorch has the likelihood bernoulli-probit only, not '{name}'")
        if not isinstance(problem.prior, DensePrior):
            raise BenchfwError("peer-gpytorch needs a prior whose covariance is stored whole")
        torch, gpytorch = _libraries()
        count, lower = problem.num_samples, problem.prior.cholesky
        white = gpytorch.variational.NaturalVariationalDistribution(
            count, mean_init_std=0.0
        )  # q of C⁻¹z, K = CC'
        model = _model(torch, gpytorch, problem.prior.gram, white)
        rows, targets = torch.arange(count)[:, None].double(), torch.from_numpy((problem.targets + 1) / 2)
        bound = gpytorch.mlls.VariationalELBO(gpytorch.likelihoods.BernoulliLikelihood(), model, count)
        descent = gpytorch.optim.NGD(model.variational_parameters(), count, self.step / (1 + self.step))
        yield FactorPosterior(problem, problem.pack(np.zeros(count), lower))
        while True:
            descent.zero_grad()
            (-bound(model(rows), targets)).backward()
            descent.step()
            problem.charge(count)
            with torch.no_grad():
                found = white()
                parts = found.mean.numpy(), torch.linalg.cholesky(found.covariance_matrix).numpy()
            yield FactorPosterior(problem, problem.pack(*(lower @ part for part in parts)))


def _libraries() -> tuple[Any, Any]:
    try:
        import gpytorch
        import torch
    except ImportError as fault:
        raise Unavailable("GPyTorch is not installed; pip install 'benchfw-variational[peers]'") from fault
    return torch, gpytorch


def _model(torch: Any, gpytorch: Any, gram: Any, white: Any) -> Any:
    """Return a process over row numbers with this covariance, its values there given by a whitened q."""
    stored = torch.from_numpy(gram)

    class Stored(gpytorch.kernels.Kernel):  # type: ignore[misc]
        """K of which the inputs are row numbers, (k, 1)."""

        def forward(self, x1: Any, x2: Any, diag: bool = False, **_: Any) -> Any:
            first, second = x1[..., 0].long(), x2[..., 0].long()
            return stored[first, second] if diag else stored[first[..., :, None], second[..., None, :]]

    class Process(gpytorch.models.ApproximateGP):  # type: ignore[misc]
        """A process without mean, its inducing inputs all the row numbers."""

        def __init__(self) -> None:
            rows = torch.arange(len(gram))[:, None].double()
            super().__init__(gpytorch.variational.VariationalStrategy(self, rows, white, False))
            self.covariance = Stored()

        def forward(self, x: Any) -> Any:
            mean = torch.zeros(x.shape[:-1], dtype=x.dtype)
            return gpytorch.distributions.MultivariateNormal(mean, self.covariance(x))

    return Process().double()
