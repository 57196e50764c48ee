"""A small strongly convex spectral objective whose optimum is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from benchfw import Array, Backend, BenchfwError, Constants, Count, CountedProblem, Positive, Rng, clip_gap
from benchfw.kernels import Counted, DenseOperator, MatrixFree, Operator
from benchfw_spectral.functions import Function, get_function
from benchfw_spectral.problems.matrices import RANK, stored

CONCAVE = frozenset({"log", "sqrt"})
CONVEX = frozenset({"exp", "xlogx", "inverse"})


@dataclass(frozen=True)
class AffineMatrix:
    """A(θ) = S + U diag(θ) U' at one θ."""

    size: int
    interval: tuple[float, float]
    function: Function
    operator: Operator
    directions: Array
    count: Callable[[int], None]

    def pullback(self, left: Array, right: Array, symmetric: bool = False) -> Array:
        """Return Σ_k (u_i'l_k)(u_i'r_k) for each direction: (p,)."""
        self.count(left.shape[1])
        return ((self.directions.T @ left) * (self.directions.T @ right)).sum(axis=1)


class SpectralQuadratic(CountedProblem):
    """± tr f(S + U diag(θ) U') + (α/2)|θ - c|² over the box [0, 1]^p, with its optimum at ½.

    The sign makes the trace convex: - for log and sqrt, + for exp, xlogx and inverse. c is chosen such that
    the gradient vanishes in the middle of the box.

    Parameters:
      function: f: "log", "sqrt", "exp", "xlogx" or "inverse".
      structure: "dense": the spectrum of S is uniform over [low, high], and the columns of U are random
        directions of length 1. "sparse": S is tridiagonal with its spectrum in [low, high], and θ is
        added to its first diagonal entries. "low-rank": S is low I plus three directions up to high, U
        is as before, and A is known by its products.
      size: rows of A.
      parameters: entries of θ, p.
      low: lower end of the spectrum of S.
      high: its upper end, above low.
      curvature: α, a lower bound of the strong convexity.
    """

    check_with = (
        {"size": 12, "parameters": 3},
        {"size": 12, "parameters": 3, "structure": "low-rank", "function": "exp"},
    )

    cost_unit = "products"

    def __init__(
        self,
        backend: Backend,
        rng: Rng,
        *,
        function: str = "log",
        structure: Literal["dense", "sparse", "low-rank"] = "dense",
        size: Count = 40,
        parameters: Count = 5,
        low: Positive = 0.5,
        high: Positive = 1.5,
        curvature: Positive = 1.0,
    ) -> None:
        if function not in CONCAVE | CONVEX:
            names = ", ".join(sorted(CONCAVE | CONVEX))
            raise BenchfwError(
                f"spectral-quadratic needs a convex or concave function of {names}, got '{function}'"
            )
        if not low < high:
            raise BenchfwError(f"low must be below high, got {low} and {high}")
        if structure == "sparse" and parameters > size:
            raise BenchfwError(f"a sparse spectral-quadratic of {size} rows has {size} parameters at most")
        xp = backend.xp
        self.backend = backend
        self.size = size
        self.scale = -1.0 if function in CONCAVE else 1.0
        self.function = get_function(function)
        self.constants = Constants(strong_convexity=curvature)
        self._curvature = curvature
        self._structure = structure
        self._low = low
        basis, _ = xp.linalg.qr(rng.standard_normal((size, size)))
        directions = rng.standard_normal((size, parameters))
        self._directions = directions / xp.linalg.norm(directions, axis=0)
        self._factor = (high - low) ** 0.5 * basis[:, :RANK]
        if structure == "dense":
            self._base = (basis * xp.linspace(low, high, size)) @ basis.T
        elif structure == "sparse":
            beside = (high - low) / 4 * xp.ones(size - 1)
            self._base = (low + high) / 2 * xp.eye(size) + xp.diag(beside, 1) + xp.diag(beside, -1)
            self._directions = xp.eye(size)[:, :parameters]
        else:
            self._base = low * xp.eye(size) + self._factor @ self._factor.T
        self.optimum = backend.read_only(xp.full(parameters, 0.5))
        # A grows with every θ_i, so that the corners of the box bound the spectrum over all of it
        largest = xp.linalg.eigvalsh(self._matrix(xp.ones(parameters)))[-1]
        self.interval = (low, float(largest) * (1 + 1e-12))
        self.function.check(self.interval)
        self._centre = self.optimum + self._trace_grad(self.optimum) / curvature
        self._least = self._objective(self.optimum)

    def start(self) -> Array:
        """Return a corner of the box."""
        return self.backend.xp.zeros_like(self.optimum)

    def at(self, params: Array) -> AffineMatrix:
        """Return A(θ)."""
        operator = Counted(self._operator(params), self._count)
        return AffineMatrix(self.size, self.interval, self.function, operator, self._directions, self._count)

    def rest(self, params: Array) -> float:
        """Return (α/2)|θ - c|²."""
        return float(0.5 * self._curvature * ((params - self._centre) ** 2).sum())

    def rest_grad(self, params: Array) -> Array:
        """Return α(θ - c)."""
        return self._curvature * (params - self._centre)

    def value(self, params: Array) -> float:
        """Return F(θ), by an eigendecomposition."""
        self._count(self.size)
        return self._objective(params)

    def grad(self, params: Array) -> Array:
        """Return ∇F(θ), by an eigendecomposition."""
        self._count(self.size)
        return self._trace_grad(params) + self.rest_grad(params)

    def project(self, params: Array) -> Array:
        """Return the nearest point of the box."""
        return self.backend.xp.clip(params, 0.0, 1.0)

    def metrics(self, params: Array) -> dict[str, float]:
        """Return |θ - θ*|² and F(θ) - F*."""
        distance = float(((params - self.optimum) ** 2).sum())
        return {
            "squared_distance": distance,
            "gap": clip_gap(self._objective(params) - self._least, self._least),
        }

    def _operator(self, params: Array) -> Operator:
        if self._structure == "low-rank":
            return MatrixFree(lambda block: self._product(params, block), self.size)
        matrix = self._matrix(params)
        return DenseOperator(matrix) if self._structure == "dense" else stored(self.backend, matrix).operator

    def _product(self, params: Array, block: Array) -> Array:
        """Return (low I + FF' + U diag(θ) U') block, through the factors alone."""
        along = self._directions @ (params[:, None] * (self._directions.T @ block))
        return self._low * block + self._factor @ (self._factor.T @ block) + along

    def _matrix(self, params: Array) -> Array:
        return self._base + (self._directions * params) @ self._directions.T

    def _objective(self, params: Array) -> float:
        spectrum = self.backend.xp.linalg.eigvalsh(self._matrix(params))
        return self.scale * float(self.function(spectrum).sum()) + self.rest(params)

    def _trace_grad(self, params: Array) -> Array:
        """Return scale · u_i'f'(A)u_i for each direction."""
        spectrum, vectors = self.backend.xp.linalg.eigh(self._matrix(params))
        squares = (vectors.T @ self._directions) ** 2
        return self.scale * (self.function.derivative(spectrum)[:, None] * squares).sum(axis=0)
