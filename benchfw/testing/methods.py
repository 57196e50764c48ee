"""Runs a method on a problem: the answers of an optimizer, the draws of an estimator."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from time import perf_counter
from typing import Any

from benchfw.errors import BenchfwError, PluginError
from benchfw.loading import fault_text
from benchfw.measure.estimators import checked_draw, checked_estimate
from benchfw.measure.optimizers import NO_ANSWER, checked_answers
from benchfw.measure.trial import prepare_method
from benchfw.testing.arrays import require_finite
from benchfw.testing.check import restart_limit

METHOD_SEED = 77
ANSWERS = 4  # that an optimizer is asked for where any would do
LONGEST_RUN = 30.0  # seconds: after so many a slow optimizer need not finish its iterations


def check_draw(method: Any, problem: Any, where: str) -> None:
    """Raise unless a draw is made of finite numbers."""
    require_finite(checked_estimate(method, problem, draw_once(method, problem)), f"a draw on {where}")


def check_answers(method: Any, problem: Any, where: str) -> None:
    """Raise unless there are answers, and the problem can measure them."""
    answers = list(islice(answers_of(method, problem), ANSWERS))
    if not answers:
        raise PluginError(NO_ANSWER)
    for answer in answers:
        try:
            problem.metrics(answer)
        except BenchfwError:
            raise
        except Exception as fault:
            raise PluginError(
                f"run() of {type(method).__name__} yields {type(answer).__name__}, which metrics() of "
                f"{where} cannot measure ({fault_text(fault)}); yield answers that the metrics take"
            ) from fault


def ready_method(method: Any, problem: Any) -> Any:
    """Return a method as a trial runs it: prepared for the problem."""
    return prepare_method(method, problem, "draw" if hasattr(method, "draw") else "run").method


def answers_of(method: Any, problem: Any, seed: int = METHOD_SEED) -> Iterator[Any]:
    """Return an optimizer's answers."""
    return checked_answers(ready_method(method, problem), problem, problem.backend.rng(seed))


def follow(method: Any, problem: Any, iterations: int, seed: int = METHOD_SEED) -> Iterator[Any]:
    """Yield an optimizer's answers after 0, 1, … iterations."""
    restart_limit()
    until = perf_counter() + LONGEST_RUN
    for answer in islice(answers_of(method, problem, seed), iterations + 1):
        yield answer
        if perf_counter() > until:
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
