"""scipy.optimize.minimize as an optimizer."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal

from benchfw import BenchfwError, Rng, Smooth, VectorOracles, from_callback

Method = Literal[
    "BFGS",
    "CG",
    "COBYLA",
    "COBYQA",
    "L-BFGS-B",
    "Nelder-Mead",
    "Newton-CG",
    "Powell",
    "SLSQP",
    "TNC",
    "dogleg",
    "trust-constr",
    "trust-exact",
    "trust-krylov",
    "trust-ncg",
]
MANY = 10**9  # iterations: the trial's budget comes first
ENDLESS: Mapping[str, Mapping[str, float]] = {
    "BFGS": {"gtol": 0.0, "maxiter": MANY},
    "CG": {"gtol": 0.0, "maxiter": MANY},
    "COBYLA": {"maxiter": MANY},
    "COBYQA": {"maxiter": MANY, "maxfev": MANY},
    "L-BFGS-B": {"ftol": 0.0, "gtol": 0.0, "maxiter": MANY, "maxfun": MANY},
    "Nelder-Mead": {"xatol": 0.0, "fatol": 0.0, "maxiter": MANY, "maxfev": MANY},
    "Newton-CG": {"xtol": 0.0, "maxiter": MANY},
    "Powell": {"ftol": 0.0, "maxiter": MANY, "maxfev": MANY},  # xtol is also that of its line searches
    "SLSQP": {"ftol": 0.0, "maxiter": MANY},
    "TNC": {"xtol": 0.0, "gtol": 0.0, "maxfun": MANY},
    "trust-constr": {"gtol": 0.0, "xtol": 0.0, "maxiter": MANY},
    "dogleg": {"gtol": 0.0, "maxiter": MANY},
    "trust-exact": {"gtol": 0.0, "maxiter": MANY},
    "trust-krylov": {"gtol": 0.0, "maxiter": MANY},
    "trust-ncg": {"gtol": 0.0, "maxiter": MANY},
}
"""Options that let a method run on until the trial ends it."""
WITHOUT_GRADIENT = frozenset({"COBYLA", "COBYQA", "Nelder-Mead", "Powell"})
BOUNDED = frozenset({"COBYQA", "L-BFGS-B", "Nelder-Mead", "Powell", "SLSQP", "TNC", "trust-constr"})
WITH_HESSP = frozenset({"Newton-CG", "trust-constr", "trust-krylov", "trust-ncg"})
NEED_HESSP = frozenset({"dogleg", "trust-exact", "trust-krylov", "trust-ncg"})
START_FIRST = frozenset({"COBYQA", "trust-constr"})  # they call back at the start too
NAME = "scipy-minimize"


class ScipyMinimize:
    """scipy.optimize.minimize: every method of it that calls back; further parameters are its options.

    Value and gradient come from the problem, together where it has `value_and_grad`; products with the
    Hessian from its `hessp`. The `box` becomes bounds; trust-constr starts just inside of them. Without
    options that say otherwise no tolerance and no number of iterations ends the run, but COBYLA and COBYQA
    end when their trust region is small. A penalty is not seen.

    Parameters:
      method: as SciPy calls it.
    """

    solves: ClassVar[type] = Smooth
    check_with: ClassVar[tuple[Mapping[str, Any], ...]] = ({"method": "BFGS"}, {"method": "SLSQP"})

    def __init__(self, method: Method = "BFGS", **options: Any) -> None:
        self.method, self.options = method, options
        if method not in ENDLESS:
            raise BenchfwError(f"{NAME}: method must be one of {', '.join(ENDLESS)}, got {method!r}")
        self.projects = method in BOUNDED
        _check_options(method, options)

    @from_callback
    def run(self, problem: Smooth, rng: Rng, callback: Callable[[Any], None]) -> None:
        """Hand over the points that end SciPy's iterations."""
        from scipy.optimize import minimize

        oracles = VectorOracles(problem)
        given = arguments_for(self.method, oracles)
        given["options"] = {**ENDLESS[self.method], **self.options}
        hear = _Hearing(lambda point: callback(oracles.answer(point)), self.method in START_FIRST)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of rounding, near the end of a run without tolerance
            start = _inside(oracles.start, oracles.box) if self.method == "trust-constr" else oracles.start
            minimize(x0=start, method=self.method, callback=hear, **given)


def _inside(point: Any, box: tuple[Any, Any] | None) -> Any:
    """Return a point near by that is not on the edge of the box, where a barrier is infinite."""
    import numpy as np

    if box is None:
        return point
    low, high = box
    margin = 1e-8 * np.minimum(np.subtract(high, low), 1.0)
    return np.clip(point, low + margin, high - margin)


def arguments_for(method: str, oracles: VectorOracles) -> dict[str, Any]:
    """Return what `minimize` takes of a problem: fun, and jac, hess or hessp, bounds as the method wants."""
    from scipy.optimize import Bounds

    given: dict[str, Any] = {"fun": oracles.value}
    if method not in WITHOUT_GRADIENT:
        given["jac"] = oracles.grad
        if oracles.has_both:
            given |= {"fun": oracles.value_and_grad, "jac": True}
    if oracles.box is not None:
        if method not in BOUNDED:
            raise BenchfwError(
                f"{NAME}: method '{method}' does not keep to bounds, and the problem has a box; "
                f"use one of {', '.join(sorted(BOUNDED))}"
            )
        given["bounds"] = Bounds(*oracles.box, keep_feasible=True)  # trust-constr would step out
    if method in NEED_HESSP and not oracles.has_hessp:
        raise BenchfwError(
            f"{NAME}: method '{method}' needs the Hessian, and the problem has no "
            "hessp(params, direction); add it, or use a method such as BFGS or Newton-CG"
        )
    if method in WITH_HESSP and oracles.has_hessp:
        given["hessp"] = oracles.hessp
    elif method in NEED_HESSP:
        given["hess"] = _whole_hessian(oracles)
    return given


def _whole_hessian(oracles: VectorOracles) -> Callable[[Any], Any]:
    """Return the function that makes a Hessian of its products with the axes, which the problem counts."""
    import numpy as np

    axes = np.eye(len(oracles.start))
    return lambda point: np.stack([oracles.hessp(point, axis) for axis in axes])


class _Hearing:
    """What SciPy calls back: with the point, and with more by some methods."""

    def __init__(self, report: Callable[[Any], None], skips_first: bool) -> None:
        self._report, self._skips = report, skips_first

    def __call__(self, xk: Any, *_: Any) -> None:
        if self._skips:
            self._skips = False
        else:
            self._report(xk)


class _Ended(BaseException):
    """Ends a call that only tries the options."""


def _check_options(method: str, options: Mapping[str, Any]) -> None:
    """Raise BenchfwError for options that SciPy does not know or take: begin to minimize a small bowl."""
    import numpy as np
    from scipy.optimize import OptimizeWarning, minimize  # here in any case: not on the clock of `run`

    if not options:
        return

    def end(*_: Any) -> None:
        raise _Ended

    given: dict[str, Any] = {"fun": lambda x: x @ x / 2, "x0": np.ones(2), "method": method}
    given |= {"options": dict(options), "callback": end}
    if method not in WITHOUT_GRADIENT:
        given["jac"] = lambda x: x
    if method in NEED_HESSP:
        given["hess"] = lambda x: np.eye(len(x))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.filterwarnings("error", "Unknown solver options", OptimizeWarning)
            minimize(**given)
    except _Ended:
        pass
    except OptimizeWarning as fault:
        names = str(fault).partition(": ")[2]
        raise BenchfwError(
            f"{NAME}: method '{method}' has no option {names}; "
            f"scipy.optimize.show_options('minimize', '{method}') lists those it has"
        ) from None
    except Exception as fault:
        if any(isinstance(each, list | tuple) for each in options.values()):
            return  # a vector or a matrix fits the problem's size, and not that of the bowl
        raise BenchfwError(f"{NAME}: method '{method}' does not take {dict(options)!r}: {fault}") from fault
