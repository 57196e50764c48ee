"""Stochastic Lanczos quadrature, and the gradient that goes with it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

from benchfw import Claims, Rng, SpectralSum
from benchfw.kernels.conjugate_gradients import conjugate_gradients
from benchfw.kernels.lanczos import gauss_quadrature, lanczos, lanczos_apply
from benchfw_spectral.kernels.nystrom import nystrom_factor, nystrom_preconditioner
from benchfw_spectral.oracles import Array, Draw, Estimate, SpectralObjective, has_parameters, operator_of
from benchfw_spectral.probes import AnyKind, ValueDraw, check_probes, draw_probes, mean_of


@dataclass(frozen=True)
class Lanczos:
    """The Gauss quadrature of v'f(A)v by Lanczos steps from random probes v (Ubaru, Chen & Saad 2017).

    The gradient contracts dA with the mean of f'(A)v v': for log by conjugate gradients to the relative
    `tolerance` (at most `iterations`), for other functions by the Lanczos basis (Gardner et al. 2018). Both
    are biased by what the steps leave, which falls like ρ^-2·steps for a value. A value costs `steps`
    products a probe, and no interval is needed. `reorthogonalize` keeps the whole basis orthogonal, for as
    many blocks of memory. quadrature = "radau" puts one more node on the lower end of the problem's interval,
    at no further product: worth half of the steps where the spectrum crowds there, as with noise on a
    covariance. There too `rank` products more with random columns pay, as a preconditioner of the conjugate
    gradients (Frangella, Tropp & Udell 2023). `estimates` is "value", "grad", or "auto": the gradient where
    the matrix has parameters.
    """

    probes: int = 10
    steps: int = 20
    reorthogonalize: bool = False
    tolerance: float = 1e-6
    iterations: int = 1_000
    quadrature: Literal["gauss", "radau"] = "gauss"
    rank: int = 0
    probe: AnyKind = "rademacher"
    estimates: Literal["value", "grad", "auto"] = "auto"

    solves: ClassVar[tuple[type, ...]] = (SpectralSum, SpectralObjective)
    claims: ClassVar[Claims] = Claims(unbiased=False, averages="probes")

    def __post_init__(self) -> None:
        check_probes(self.probes)
        for name, value in {"steps": self.steps, "iterations": self.iterations}.items():
            if value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}")
        if self.rank < 0:
            raise ValueError(f"rank must be at least 0, got {self.rank}")
        if self.quadrature not in {"gauss", "radau"}:
            raise ValueError(f'quadrature must be "gauss" or "radau", got {self.quadrature!r}')
        if not self.tolerance > 0:
            raise ValueError(f"tolerance must be positive, got {self.tolerance}")

    def draw(self, problem: Any, rng: Rng) -> Draw:
        """Draw the probes; return the value or the gradient that they give."""
        parametric = has_parameters(problem, "lanczos", self.estimates)
        probes = draw_probes(problem, rng, self.probes, self.probe)
        if self.estimates == "value" or not parametric:
            return ValueDraw(problem, partial(self._trace, probes))
        # drawn after the probes, so that these do not depend on the rank
        size = probes.shape[0]
        sketch = rng.standard_normal((size, min(self.rank, size))) if self.rank else None
        return partial(self._gradient, problem, probes, sketch)

    def _trace(self, probes: Array, matrix: Any) -> Estimate:
        steps = min(self.steps, matrix.size)
        tridiagonals = lanczos(probes, operator_of(matrix), steps, self.reorthogonalize)
        end = matrix.interval[0] if self.quadrature == "radau" else None
        nodes, weights = gauss_quadrature(*tridiagonals, end)
        squares = (probes * probes).sum(axis=0)
        return mean_of(squares * (weights * matrix.function(nodes)).sum(axis=0), self.probe)

    def _gradient(self, problem: Any, probes: Array, sketch: Array | None, params: Array) -> Array:
        """Return scale/M Σ_k ∂_θ(v_k'f'(A)·A(θ)v_k) + rest'(θ)."""
        matrix = problem.at(params)
        operator, function = operator_of(matrix), matrix.function
        if function.name == "log":
            preconditioner = None
            if sketch is not None:
                low = matrix.interval[0]
                preconditioner = nystrom_preconditioner(nystrom_factor(sketch, operator, low), low)
            images = conjugate_gradients(probes, operator, self.tolerance, self.iterations, preconditioner)
        else:
            steps = min(self.steps, matrix.size)
            images = lanczos_apply(probes, operator, function.derivative, steps, self.reorthogonalize)
        return problem.scale / probes.shape[1] * matrix.pullback(images, probes) + problem.rest_grad(params)
