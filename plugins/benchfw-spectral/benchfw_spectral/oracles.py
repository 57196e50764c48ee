"""What spectral methods may ask of a problem, beyond the shared protocols of benchfw."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeAlias

from benchfw import Array, BenchfwError, Smooth
from benchfw.kernels import Operator, as_operator
from benchfw_spectral.functions.function import Function


class SpectralMatrix(Protocol):
    """A symmetric matrix, through its products; every product with a column costs the problem 1."""

    size: int
    interval: tuple[float, float]  # holds the spectrum
    function: Function
    operator: Operator


class ParametricMatrix(SpectralMatrix, Protocol):
    """A(θ) at one θ."""

    def pullback(self, left: Array, right: Array, symmetric: bool = False) -> Array:
        """Return Σ_i ∂_θ (l_i' A(θ) r_i), shaped like θ, for the columns of two (size, k) blocks; costs k.

        `symmetric` promises that Σ l_i r_i' is symmetric, as it is for a polynomial of A; some can use that.
        """
        ...


class SpectralObjective(Smooth, Protocol):
    """F(θ) = scale · tr f(A(θ)) + rest(θ), over a set onto which one can project."""

    scale: float

    def at(self, params: Array) -> ParametricMatrix: ...
    def rest(self, params: Array) -> float: ...
    def rest_grad(self, params: Array) -> Array: ...


class FactoredObjective(SpectralObjective, Protocol):
    """One with A(θ) = θθ' + εI, whose gradient is a function of the singular values of the matrix θ."""

    shape: tuple[int, int]
    dtype: str

    def truncated_grad(self, params: Array, basis: Array) -> tuple[Array, Array]:
        """Return a gradient from k singular values, near a basis (columns of θ, k), and a better basis."""
        ...


class Estimate(NamedTuple):
    """A number and its standard error, NaN where the method cannot know it."""

    value: float
    std_error: float


def begin_interval(matrix: Any) -> None:
    """Let a matrix begin to find its interval, if that takes a device some time."""
    begin = getattr(matrix, "begin_interval", None)
    if begin is not None:
        begin()


def matrix_at(problem: Any, params: Array) -> Any:
    """Return the matrix that a problem has at θ: its own where it has no parameters."""
    return problem.at(params) if hasattr(problem, "at") else problem


def has_parameters(problem: Any, method: str, estimates: str) -> bool:
    """Return whether a matrix has parameters; raise an error where a method can do nothing with it."""
    parametric = hasattr(problem, "at")
    if not (parametric or hasattr(problem, "matmat") or hasattr(problem, "operator")):
        raise BenchfwError(f"{method} needs products with a matrix, and the problem has none")
    if estimates == "grad" and not parametric:
        raise BenchfwError("the problem has no parameters, and so no gradient to estimate")
    return parametric


def operator_of(matrix: Any) -> Operator:
    """Return what kernels take: the matrix's operator, or its bare `matmat` as one."""
    found: Operator | None = getattr(matrix, "operator", None)
    if found is not None:
        return found
    if not hasattr(matrix, "matmat"):
        raise BenchfwError(f"{type(matrix).__name__} has neither an operator nor a matmat to multiply with")
    return as_operator(matrix.matmat, size=matrix.size)


def whole_value(problem: Any, params: Array, trace: Estimate) -> Estimate:
    """Return F(θ) from an estimate of the trace; the trace itself where the problem is nothing more."""
    if not hasattr(problem, "at"):
        return trace
    scale = problem.scale
    return Estimate(scale * trace.value + float(problem.rest(params)), abs(scale) * trace.std_error)


Draw: TypeAlias = Callable[[Array], Array]
