"""scipy.optimize.least_squares as an optimizer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, Protocol

from benchfw import Array, BenchfwError, Params, Rng, Smooth, VectorOracles, from_callback
from benchfw_bridges.from_scipy.keywords import check_keywords

NAME = "scipy-least-squares"
OURS = ("fun", "x0", "jac", "bounds", "method", "callback", "args", "kwargs", "loss", "f_scale", "verbose")
ENDLESS = {"ftol": None, "xtol": None, "gtol": 1e-15, "max_nfev": 10**9}  # SciPy wants one tolerance


class SumOfSquares(Smooth, Protocol):
    """A function |r(x)|²/2: the residuals r and their Jacobian."""

    def residuals(self, params: Params) -> Array:
        """Return r, (m,); counted in `cost`."""
        ...

    def jacobian(self, params: Params) -> Array:
        """Return the derivatives of r, (m, d); counted in `cost`."""
        ...


class ScipyLeastSquares:
    """scipy.optimize.least_squares; further parameters are its keywords.

    For problems that have `residuals` and a `jacobian`; the `box` becomes bounds. Without keywords that say
    otherwise it runs on until the gradient is rounding. MINPACK's "lm" does not call back, and is left out.

    Parameters:
      method: as SciPy calls it.
    """

    solves: ClassVar[type] = SumOfSquares
    check_with: ClassVar[tuple[Mapping[str, Any], ...]] = ({}, {"method": "dogbox"})

    def __init__(self, method: Literal["trf", "dogbox"] = "trf", **keywords: Any) -> None:
        from scipy.optimize import least_squares

        if method not in {"trf", "dogbox"}:
            raise BenchfwError(f"{NAME}: method must be trf or dogbox, got {method!r}")
        check_keywords(least_squares, keywords, OURS, NAME)
        self.method, self.keywords = method, keywords

    @from_callback
    def run(self, problem: SumOfSquares, rng: Rng, callback: Callable[[Any], None]) -> None:
        """Hand over the points that end SciPy's iterations."""
        from scipy.optimize import least_squares

        backend, oracles = problem.backend, VectorOracles(problem)

        def residuals(vector: Any) -> Any:
            return backend.to_numpy(problem.residuals(oracles.params(vector)))

        def jacobian(vector: Any) -> Any:
            return backend.to_numpy(problem.jacobian(oracles.params(vector)))

        given: dict[str, Any] = {**ENDLESS, **self.keywords}
        if oracles.box is not None:
            given["bounds"] = oracles.box
        least_squares(
            residuals,
            oracles.start,
            jac=jacobian,
            method=self.method,
            callback=lambda point: callback(oracles.answer(point)),
            **given,
        )

    def caveats(self, problem: Any) -> Sequence[str]:
        """Say what the cost leaves out."""
        return [
            "its cost has no factorizations of the Jacobian, which SciPy makes in every step; compare times"
        ]
