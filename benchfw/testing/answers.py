"""What methods answer: optimizers asked for answers, estimators for draws, and both as numbers to compare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from time import perf_counter
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchfw.callbacks import CallbackRun
from benchfw.errors import BenchfwError, PluginError
from benchfw.loading import fault_text
from benchfw.measure.audit import check_alike
from benchfw.measure.estimators import checked_draw, checked_estimate
from benchfw.measure.metrics import take_metrics
from benchfw.measure.observer import like_start
from benchfw.measure.optimizers import NO_ANSWER, numbered_answers
from benchfw.measure.solvers import NO_CALLBACK
from benchfw.measure.trial import prepare_method
from benchfw.testing.check import CheckFailed, restart_limit

METHOD_SEED = 77
ANSWERS = 4  # that an optimizer is asked for where any would do
LONGEST_RUN = 30.0  # seconds: after so many a slow optimizer need not finish its iterations
FIX_NUMBERS = "look for a step that is too long, a division by 0, or the logarithm of a negative number"
MOST_EFFORT = 60  # each call begins anew, and all of them together take three times this
FAR = 1e3  # of a point at which a constraint shows
DEPTH = 4  # a problem holds tables, a table holds arrays


def check_draw(method: Any, problem: Any, where: str) -> None:
    """Raise unless a draw is made of finite numbers."""
    require_finite(checked_estimate(method, problem, draw_once(method, problem)), f"a draw on {where}")


def check_answers(method: Any, problem: Any, where: str) -> None:
    """Raise unless there are answers, and the problem can measure them."""
    answers = list(islice(answers_of(method, problem), ANSWERS))
    if not answers:
        raise PluginError(NO_ANSWER)
    if (
        len(answers) == 1
        and hasattr(problem, "start")
        and isinstance(getattr(method, "run", None), CallbackRun)
    ):
        raise PluginError(NO_CALLBACK)
    for answer in answers:
        try:
            take_metrics(problem, answer)
        except BenchfwError:
            raise
        except Exception as fault:
            does = "run() of {} yields" if hasattr(method, "run") else "solve() of {} returns"
            raise PluginError(
                f"{does.format(type(method).__name__)} {type(answer).__name__}, which metrics() of {where} "
                f"cannot measure ({fault_text(fault)}); give answers that its metrics take"
            ) from fault


def ready_method(method: Any, problem: Any) -> Any:
    """Return a method as a trial runs it: prepared for the problem."""
    return prepare_method(method, problem, "draw" if hasattr(method, "draw") else "run").method


def yields(method: Any) -> bool:
    """Return whether an optimizer yields its answers itself: it neither calls back nor has solve()."""
    return hasattr(method, "run") and not isinstance(method.run, CallbackRun)


def answers_of(method: Any, problem: Any, seed: int = METHOD_SEED) -> Iterator[Any]:
    """Return an optimizer's answers."""
    return (answer for _, answer in _numbered(method, problem, seed))


def _numbered(method: Any, problem: Any, seed: int) -> Iterator[tuple[int, Any]]:
    """Yield an optimizer's answers with their numbers; PluginError where one is not like the start."""
    answers = numbered_answers(ready_method(method, problem), problem, problem.backend.rng(seed))
    like: Any = None
    for place, (number, answer) in enumerate(answers):
        like = like if place else like_start(problem, answer)
        try:
            check_alike(like, answer, number)
        except BenchfwError as fault:
            raise PluginError(f"on {type(problem).__name__} {fault}") from None
        yield number, answer


def follow(method: Any, problem: Any, iterations: int, seed: int = METHOD_SEED) -> Iterator[tuple[int, Any]]:
    """Yield an optimizer's answers after 0, 1, … iterations, or to so much effort, with these numbers."""
    restart_limit()
    until = perf_counter() + LONGEST_RUN
    most = iterations if hasattr(method, "run") else min(iterations, MOST_EFFORT)
    for number, answer in _numbered(method, problem, seed):
        yield number, answer
        if perf_counter() > until or number >= most:
            return


def draw_once(method: Any, problem: Any, seed: int = METHOD_SEED) -> Any:
    """Return one draw of an estimator, evaluated beside the start."""
    draw = checked_draw(ready_method(method, problem), problem, problem.backend.rng(seed))
    return draw(point_near_start(problem))


def point_near_start(problem: Any) -> Any:
    """Return a feasible point a little beside the start, where no term of a gradient vanishes by chance."""
    start: Any = problem.start() if hasattr(problem, "start") else None
    if not hasattr(start, "shape"):
        return start
    rng = problem.backend.rng(5)
    moved = start + problem.backend.asarray(
        0.1 * problem.backend.to_numpy(rng.standard_normal(start.shape)), dtype=start.dtype
    )
    return problem.project(moved) if hasattr(problem, "project") else moved


def is_constrained(problem: Any) -> bool:
    """Return whether points far from the start are outside of the problem's feasible set."""
    start: Any = problem.start() if hasattr(problem, "start") else None
    if not is_array(start) or not hasattr(problem, "project"):
        return False
    away = start + problem.backend.asarray(
        FAR * problem.backend.to_numpy(problem.backend.rng(6).standard_normal(start.shape)), dtype=start.dtype
    )
    there, projected = (flat_numbers(problem, each) for each in (away, problem.project(away)))
    return not np.array_equal(there, projected)


def is_array(value: Any) -> bool:
    """Return whether a value is an array of some backend."""
    return hasattr(value, "shape") and hasattr(value, "dtype")


def answer_numbers(problem: Any, answer: Any) -> NDArray[np.float64]:
    """Return an answer as numbers, flat: its metrics, and its entries where it is an array."""
    values = [np.array(list(take_metrics(problem, answer).values()))]
    if is_array(answer):
        values.append(flat_numbers(problem, answer))
    return np.concatenate(values)


def flat_numbers(problem: Any, value: Any) -> NDArray[np.float64]:
    """Return a value or an array of the problem's backend as flat NumPy numbers."""
    return np.asarray(problem.backend.to_numpy(value), dtype=np.float64).reshape(-1)


def require_finite(values: NDArray[Any], what: str) -> None:
    """Raise CheckFailed where one of the values is nan or infinite."""
    if not np.isfinite(values).all():
        raise CheckFailed(f"{what} is {values[~np.isfinite(values)][0]}", FIX_NUMBERS)


def is_close(one: NDArray[np.float64], other: NDArray[np.float64], tolerance: float) -> bool:
    """Return whether two vectors are equal, relative to the largest entry of either."""
    finite = np.isfinite(one)
    if one.shape != other.shape or not np.array_equal(finite, np.isfinite(other)):
        return False
    if not np.array_equal(one[~finite], other[~finite], equal_nan=True):
        return False
    scale = max(1e-300, float(np.max(np.abs(np.concatenate([one[finite], other[finite]])), initial=0.0)))
    return bool(np.all(np.abs(one[finite] - other[finite]) <= tolerance * scale))


def copy_arrays(owner: Any) -> dict[str, NDArray[Any]]:
    """Return copies of the NumPy arrays that an object holds, by where they are."""
    return {place: np.array(array) for place, array in _arrays(owner, "", DEPTH)}


def find_changed_array(owner: Any, before: Mapping[str, NDArray[Any]]) -> str | None:
    """Return where an array that was held before is another now."""
    now = dict(_arrays(owner, "", DEPTH))
    for place, array in before.items():
        if place in now and not np.array_equal(now[place], array, equal_nan=array.dtype.kind == "f"):
            return place.lstrip(".")
    return None


def _arrays(owner: Any, place: str, depth: int) -> Iterator[tuple[str, NDArray[Any]]]:
    if isinstance(owner, np.ndarray):
        if owner.dtype.kind in "fiub":
            yield place, owner
        return
    if depth == 0 or isinstance(owner, str | bytes | type | ModuleType) or callable(owner):
        return
    if isinstance(owner, Mapping):
        items = [(f"{place}[{key!r}]", value) for key, value in owner.items()]
    elif isinstance(owner, tuple | list):
        items = [(f"{place}[{index}]", value) for index, value in enumerate(owner)]
    else:
        items = [(f"{place}.{key}", value) for key, value in getattr(owner, "__dict__", {}).items()]
    for name, value in items:
        yield from _arrays(value, name, depth - 1)
