"""Stochastic Lanczos quadrature, and the gradient that goes with it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar, Literal

from benchfw import Array, BenchfwError, Claims, Count, Positive, Range, Rng, SpectralSum
from benchfw_spectral.kernels.conjugate_gradients import conjugate_gradients
from benchfw_spectral.kernels.lanczos import gauss_quadrature, lanczos, lanczos_apply
from benchfw_spectral.kernels.nystrom import nystrom_factor, nystrom_preconditioner
from benchfw_spectral.oracles import Draw, Estimate, SpectralObjective, has_parameters, operator_of
from benchfw_spectral.probes import AnyKind, ValueDraw, draw_probes, mean_of


@dataclass(frozen=True)
class Lanczos:
    """The Gauss quadrature of v'f(A)v by Lanczos steps from random probes v (Ubaru, Chen & Saad 2017).

    The gradient contracts dA with the mean of f'(A)v v': from the basis of the same steps (Dong et al. 2017),
    or for log by conjugate gradients (Gardner et al. 2018). Both are biased by what the steps leave, which
    falls like ρ^-2·steps for a value. No interval is needed.
    """

    probes: Count = 10
    """Random vectors a draw, M."""
    steps: Count = 20
    """Lanczos steps, and products, a probe."""
    reorthogonalize: bool = False
    """Whether the whole basis is kept orthogonal, for as many blocks of memory."""
    solve: Literal["tolerance", "steps"] = "tolerance"
    """How the gradient of log finds A⁻¹v: by conjugate gradients to a "tolerance", or from as many Lanczos
    "steps" as all other functions take."""
    tolerance: Positive = 1e-6
    """Relative residual of the conjugate gradients behind the gradient of log."""
    iterations: Count = 1_000
    """The most steps that they take."""
    quadrature: Literal["gauss", "radau"] = "gauss"
    """"radau" puts one more node on the lower end of the problem's interval, at no further product: worth
    half of the steps where the spectrum crowds there, as with noise on a covariance."""
    rank: Annotated[int, Range(least=0)] = 0
    """Products with random columns for a preconditioner of the conjugate gradients (Frangella, Tropp & Udell
    2023); they pay where the spectrum crowds at its lower end."""
    probe: AnyKind = "rademacher"
    """Law of their entries; "basis" takes every axis instead, without randomness."""
    estimates: Literal["value", "grad", "auto"] = "auto"
    """What it gives: "value", "grad", or "auto", the gradient where the matrix has parameters."""

    solves: ClassVar[tuple[type, ...]] = (SpectralSum, SpectralObjective)
    claims: ClassVar[Claims] = Claims(unbiased=False, averages="probes")

    def __post_init__(self) -> None:
        if self.solve == "steps" and self.rank:
            raise BenchfwError('a preconditioner needs solve = "tolerance"; with "steps" leave out its rank')

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
        if function.name == "log" and self.solve == "tolerance":
            preconditioner = None
            if sketch is not None:
                low = matrix.interval[0]
                preconditioner = nystrom_preconditioner(nystrom_factor(sketch, operator, low), low)
            images = conjugate_gradients(probes, operator, self.tolerance, self.iterations, preconditioner)
        else:
            steps = min(self.steps, matrix.size)
            images = lanczos_apply(probes, operator, function.derivative, steps, self.reorthogonalize)
        return problem.scale / probes.shape[1] * matrix.pullback(images, probes) + problem.rest_grad(params)
