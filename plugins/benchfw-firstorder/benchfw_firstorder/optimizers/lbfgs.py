"""SciPy's L-BFGS-B, iterate by iterate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from benchfw import Count, Rng, Smooth, VectorOracles, from_callback


@dataclass(frozen=True)
class LBFGS:
    """L-BFGS-B of SciPy (Byrd et al. 1995), the quasi-Newton method that most users would reach for.

    Every line search evaluates value and gradient at each trial point; where the problem has `value_and_grad`
    the two share their product with the data and cost one gradient. Where it has a `box` the bounds are
    passed on; a penalty is not seen. The run ends when a line search finds no lower value, as a rule at the
    rounding of the objective.
    """

    memory: Count = 10
    """Past steps that make the Hessian."""

    solves: ClassVar[type] = Smooth

    @from_callback
    def run(self, problem: Smooth, rng: Rng, callback: Callable[[Any], None]) -> None:
        """Hand over the points that end SciPy's iterations."""
        from scipy.optimize import Bounds, minimize

        oracles = VectorOracles(problem)
        minimize(
            oracles.value_and_grad,
            oracles.start,
            jac=True,
            method="L-BFGS-B",
            bounds=oracles.box and Bounds(*oracles.box),
            callback=lambda point: callback(oracles.answer(point)),
            options={"maxcor": self.memory, "ftol": 0.0, "gtol": 0.0, "maxiter": 10**9, "maxfun": 10**9},
        )
