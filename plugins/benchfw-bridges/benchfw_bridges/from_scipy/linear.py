"""The iterative solvers of scipy.sparse.linalg as optimizers of quadratic functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal, Protocol

import numpy as np

from benchfw import Array, BenchfwError, Params, Rng, Smooth, VectorOracles, from_callback
from benchfw_bridges.from_scipy.keywords import check_keywords

OURS = ("A", "b", "x0", "callback", "callback_type", "show", "check", "damp", "calc_var")
MANY = 10**9  # iterations: the trial's budget comes first
ENDLESS = {"rtol": float(np.finfo(np.float64).eps), "maxiter": MANY}  # a residual of 0 would be divided by


class ScipyLinear:
    """A solver of scipy.sparse.linalg that calls back; further parameters are its keywords.

    For problems that are `quadratic`: it solves Hz = -g for the step z from the start, with g the gradient
    there. A product with H is the problem's `hessp`, or else a difference of two gradients. Answers of
    gmres, lgmres and gcrotmk come once a restart.

    Parameters:
      solver: as SciPy calls it.
    """

    solves: ClassVar[type] = Smooth
    projects: ClassVar[bool] = False
    check_with: ClassVar[tuple[Mapping[str, Any], ...]] = ({"solver": "cg"}, {"solver": "gmres"})

    def __init__(
        self,
        solver: Literal[
            "bicg", "bicgstab", "cg", "cgs", "gcrotmk", "gmres", "lgmres", "minres", "qmr", "tfqmr"
        ] = "cg",
        **keywords: Any,
    ) -> None:
        self.solver, self.keywords = solver, keywords
        check_keywords(_function(solver), keywords, OURS, "scipy-linear")

    @from_callback
    def run(self, problem: Smooth, rng: Rng, callback: Callable[[Any], None]) -> None:
        """Hand over the start plus the steps that end SciPy's iterations."""
        from scipy.sparse.linalg import LinearOperator

        require_quadratic(problem, "scipy-linear")
        oracles = VectorOracles(problem)
        start = oracles.start
        slope = oracles.grad(start)
        if not slope.any():
            callback(oracles.answer(start))
            return
        product = _product(oracles, slope)
        size = len(start)
        extra = {"callback_type": "x"} if self.solver == "gmres" else {}
        _function(self.solver)(
            LinearOperator((size, size), matvec=product, rmatvec=product, dtype=np.float64),
            -slope,
            callback=lambda step: callback(oracles.answer(start + step)),
            **extra,
            **{**ENDLESS, **self.keywords},
        )


class LinearResiduals(Smooth, Protocol):
    """|r(x)|²/2 with residuals r that are linear: the residuals, and products with their Jacobian."""

    def residuals(self, params: Params) -> Array:
        """Return r, (m,); counted in `cost`."""
        ...

    def jvp(self, params: Params, direction: Params) -> Array:
        """Return the Jacobian times a direction, (m,); counted in `cost`."""
        ...

    def vjp(self, params: Params, weights: Array) -> Params:
        """Return the transposed Jacobian times a weight for each residual; counted in `cost`."""
        ...


class ScipyLsqr:
    """lsqr or lsmr of scipy.sparse.linalg; further parameters are its keywords.

    Each minimizes |Jz + r|² for the step z from the start, with the residuals r and their Jacobian J there.
    They do not call back: effort is the number of iterations of a call from scratch.

    Parameters:
      solver: as SciPy calls it.
    """

    solves: ClassVar[type] = LinearResiduals
    projects: ClassVar[bool] = False
    check_with: ClassVar[tuple[Mapping[str, Any], ...]] = ({"solver": "lsqr"}, {"solver": "lsmr"})

    def __init__(self, solver: Literal["lsqr", "lsmr"] = "lsqr", **keywords: Any) -> None:
        self.solver, self.keywords = solver, keywords
        self._limit = "iter_lim" if solver == "lsqr" else "maxiter"
        check_keywords(_function(solver), keywords, (*OURS, self._limit), "scipy-lsqr")

    def solve(self, problem: LinearResiduals, rng: Rng, effort: int) -> Any:
        """Return the answer after so many iterations."""
        from scipy.sparse.linalg import LinearOperator

        require_quadratic(problem, "scipy-lsqr")
        backend, oracles = problem.backend, VectorOracles(problem)
        start = problem.start()
        residuals = backend.to_numpy(problem.residuals(start))
        operator = LinearOperator(
            (len(residuals), len(oracles.start)),
            matvec=lambda z: backend.to_numpy(problem.jvp(start, oracles.params(z))),
            rmatvec=lambda w: oracles.vector(problem.vjp(start, backend.asarray(w))),
            dtype=np.float64,
        )
        endless = {"atol": 0.0, "btol": 0.0, "conlim": 0.0}
        found = _function(self.solver)(
            operator, -residuals, **{**endless, **self.keywords, self._limit: effort}
        )
        return oracles.answer(oracles.start + found[0])


def require_quadratic(problem: Any, name: str) -> None:
    """Raise BenchfwError unless a problem says that its function is a quadratic over all of space."""
    if not getattr(problem, "quadratic", False):
        raise BenchfwError(
            f"{name} solves linear systems, and the problem does not say quadratic = True; "
            "choose a problem such as 'quadratic' or 'least-squares'"
        )


def _product(oracles: VectorOracles, slope: Any) -> Callable[[Any], Any]:
    """Return the product with the Hessian of a quadratic whose gradient at the start is known."""
    start = oracles.start
    if oracles.has_hessp:
        return lambda direction: oracles.hessp(start, np.ravel(direction))

    def difference(direction: Any) -> Any:
        length = float(np.linalg.norm(direction))  # a step of length 1: short ones would lose digits
        if length == 0.0:
            return np.zeros_like(start)
        return length * (oracles.grad(start + np.ravel(direction) / length) - slope)

    return difference


def _function(solver: str) -> Callable[..., Any]:
    import scipy.sparse.linalg

    found: Callable[..., Any] = getattr(scipy.sparse.linalg, solver)
    return found
