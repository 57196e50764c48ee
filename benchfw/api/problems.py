"""`benchfw.problem`, and how what is given as a problem becomes one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

from benchfw.adapters import BATCHED, COUNTED, NEEDED, Oracles, ProblemMaker, check_costs, is_whole
from benchfw.contract import gains_of
from benchfw.errors import BenchfwError, PluginError, nearest

FUNCTIONS = (*COUNTED, *BATCHED, "project", "metrics")
KNOWN = (*FUNCTIONS, "start", "optimum", "num_samples", "higher_is_better", "limits", "costs", "cost_unit")


@dataclass(frozen=True)
class OwnProblem:
    """A problem of functions, or of data with a named loss: what `benchfw.problem` returns."""

    oracles: Oracles | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    loss: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)


@overload
def problem(
    value: Callable[[Any], float], grad: Callable[[Any], Any], start: Any, /, **oracles: Any
) -> OwnProblem: ...
@overload
def problem(
    *, value: Callable[[Any], float], grad: Callable[[Any], Any], start: Any, **oracles: Any
) -> OwnProblem: ...
@overload
def problem(X: Any, y: Any, /, *, loss: str, **parameters: Any) -> OwnProblem: ...
def problem(*given: Any, loss: str | None = None, **more: Any) -> OwnProblem:
    """Return a problem of functions, or of data `X, y` with a registered loss, for `benchfw.compare`.

    `problem(value, grad, start)` minimizes a function from a start; more oracles are given by name:
    `grad_batch` with `num_samples`, `project`, `prox` with `penalty`, `optimum`; `metrics`, a function of the
    answer, with `higher_is_better`, the names of those of which more is better. A value costs half a
    gradient; another oracle, such as `hess`, what `costs={"hess": 10}` says, or else an unknown amount.

    `problem(X, y, loss="logistic-regression")` is the registered problem of that name on these data; further
    keywords are its parameters. The losses of benchfw-firstorder standardize the columns of X, and the
    targets of a regression.
    """
    if loss is None:
        names = ("value", "grad", "start")
        oracles = dict(zip(names, given, strict=False)) | more
        missing = [name for name in names if name not in oracles]
        twice = [name for name in names[: len(given)] if name in more]
        if twice:
            raise BenchfwError(f"{twice[0]} of problem(…) is given twice; leave out one of the two")
        if missing or len(given) > len(names):
            raise BenchfwError(
                "problem(value, grad, start) needs "
                f"{'two functions and a start' if given else ', '.join(missing)}; for data it is "
                'problem(X, y, loss="…") with the name of a registered problem'
            )
        for name in NEEDED:
            if not callable(oracles[name]):
                raise BenchfwError(
                    f"{name} must be a function, got {type(oracles[name]).__name__}; "
                    'for data, problem(X, y, loss="…") names the loss'
                )
        for name, each in more.items():
            close = nearest(name, KNOWN, otherwise="") if name not in KNOWN else ""
            if close and not callable(each):
                raise BenchfwError(f"problem(…) has no '{name}'{close}")
        made = Oracles(oracles)
        check_members(made, "problem(…)")
        return OwnProblem(oracles=made)
    return OwnProblem(data=_check_data(given, loss), loss=loss, params=more)


def _check_data(given: Sequence[Any], loss: Any) -> dict[str, Any]:
    if not isinstance(loss, str) or not loss:
        raise BenchfwError(f"loss must be the name of a registered problem, got {loss!r}")
    if len(given) != 2:
        raise BenchfwError(
            f"problem(X, y, loss={loss!r}) takes features and targets, got {len(given)} values"
        )
    import numpy as np

    try:
        features, targets = (np.array(each) for each in given)  # copies: what is given may change later
    except ValueError as fault:
        raise BenchfwError(f"X and y must be arrays ({fault})") from None
    if features.ndim == 1 and targets.ndim == 1 and len(features) == len(targets):
        raise BenchfwError("X must have two dimensions, got one; for a single feature give X[:, None]")
    if features.ndim < 2 or targets.ndim < 1 or len(features) != len(targets):
        raise BenchfwError(
            f"X must have a row for each of y, got shapes {features.shape} and {targets.shape}"
        )
    if features.dtype.kind not in "biuf" or not np.isfinite(features).all():
        raise BenchfwError("X must hold finite numbers; leave out or fill in the rows where it does not")
    if not features.size:
        raise BenchfwError(f"X must have rows and columns, got shape {features.shape}")
    if targets.dtype.kind not in "biuf" or not np.isfinite(targets).all():
        raise BenchfwError("y must hold finite numbers; give classes as numbers, such as 0 and 1")
    return {"x": features, "y": targets}


def problem_factory(given: Any, place: str) -> Any:
    """Return what makes the problem of a trial from an object, a class or a function."""
    makes = isinstance(given, type) or (callable(given) and not _has_oracles(given))
    if not makes or isinstance(given, type):
        _check_oracles(given, place)
    if not makes:
        check_members(given, place)
        return ProblemMaker(given, "copied")
    call = call_of(given, place)
    whole = isinstance(given, type) and call == "backend and rng" and is_whole(given)
    return given if whole else ProblemMaker(given, call)


def _check_optimum(given: Any, start: Any, place: str) -> None:
    """Raise BenchfwError for an optimum of another shape than the start: NumPy would stretch it silently."""
    import numpy as np

    optimum = inspect.getattr_static(given, "optimum", None)
    if callable(start) or optimum is None or hasattr(optimum, "__get__"):
        return
    shapes = [np.shape(each) for each in (given.optimum, start)]
    if shapes[0] != shapes[1]:
        raise BenchfwError(
            f"{place}: optimum must be an answer like the start, which has the shape {shapes[1]}, and has "
            f"the shape {shapes[0]}; give the point, not its value"
        )


def check_members(given: Any, place: str) -> None:
    """Raise BenchfwError unless what an object has beside `value` and `grad` is of the right kind."""
    for name in FUNCTIONS:
        member = getattr(given, name, None)
        if member is not None and not callable(member):
            raise BenchfwError(f"{place}: {name} must be a function, got {type(member).__name__}")
    start = getattr(given, "start", None)
    if start is None or isinstance(start, str) or not _is_finite(start):
        raise BenchfwError(
            f"{place}: start must be finite numbers, or a function that returns them, got {start!r}"
        )
    if isinstance(inspect.getattr_static(given, "optimum", None), str):
        raise BenchfwError(f"{place}: optimum must be an answer like the start, got {given.optimum!r}")
    _check_optimum(given, start, place)
    if hasattr(given, "prox") and not hasattr(given, "penalty"):
        raise BenchfwError(f"{place}: prox is given and penalty is not; the objective needs both")
    samples: Any = getattr(given, "num_samples", None)
    if any(hasattr(given, name) for name in BATCHED) and not (hasattr(samples, "__index__") and samples > 0):
        raise BenchfwError(
            f"{place}: num_samples must be a whole number from 1 where there are batches, got {samples!r}"
        )
    try:
        gains_of(given)
        check_costs(given)
    except PluginError as fault:
        raise BenchfwError(f"{place}: {fault}".replace(f" of {Oracles.__name__}", "")) from None


def _is_finite(start: Any) -> bool:
    """Return whether numbers are finite; what is not an array of them is for the problem to know."""
    import numpy as np

    numbers = np.asarray(start) if isinstance(start, int | float | list | tuple | np.ndarray) else np.zeros(0)
    return numbers.dtype.kind not in "fc" or bool(np.isfinite(numbers).all())


def _has_oracles(given: Any) -> bool:
    return all(callable(getattr(given, name, None)) for name in NEEDED)


def call_of(given: Callable[..., Any], place: str) -> str:
    """Return how a class or a function that makes problems is called."""
    try:
        parameters = list(inspect.signature(given).parameters.values())
    except (TypeError, ValueError):
        raise BenchfwError(
            f"{place}: the parameters of {name_of(given)} cannot be read; wrap it in a function"
        ) from None
    if [each.name for each in parameters[:2]] == ["backend", "rng"]:
        return "backend and rng"
    needed = [
        each.name
        for each in parameters
        if each.default is each.empty
        and each.kind in {each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY}
    ]
    if needed:
        raise BenchfwError(
            f"{place}: {name_of(given)} is called with (backend, rng) or with nothing, and needs "
            f"{', '.join(needed)}; give an object of it, or a function that makes one"
        )
    return "nothing"


def _check_oracles(given: Any, place: str) -> None:
    lacks = [name for name in NEEDED if not callable(getattr(given, name, None))]
    whole = is_whole(given)
    if not whole and (lacks or not (isinstance(given, type) or hasattr(given, "start"))):
        name = given.__name__ if isinstance(given, type) else type(given).__name__
        lacks = lacks or ["start"]
        raise BenchfwError(
            f"{place}: {name} has no {', '.join(lacks)}; a problem is a name, an object or a class with "
            "value, grad and start, or benchfw.problem(…)"
        )


def name_of(given: Any) -> str:
    """Return what an object is called: a class or a function by its name, any other by its class."""
    name = getattr(given, "__name__", None) or type(given).__name__
    return "function" if name == "<lambda>" else str(name)
