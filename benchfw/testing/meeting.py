"""Lets a method meet a problem: the answers of an optimizer, the draws of an estimator."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from time import perf_counter
from typing import TYPE_CHECKING, Any

from benchfw.contract import NO_ANSWER, answers_by, drawn_by, estimate_by
from benchfw.errors import BenchfwError, PluginError
from benchfw.loading import fault_text
from benchfw.testing.arrays import require_finite
from benchfw.testing.limit import restart

if TYPE_CHECKING:
    from benchfw.testing.subject import Effort, Subject

METHOD_SEED = 77
ANSWERS = 4  # that an optimizer is asked for where any would do
PATIENCE = 30.0  # seconds: after so many a slow optimizer need not finish its iterations


def check_draw(method: Any, problem: Any, where: str) -> None:
    """Raise unless a draw is made of finite numbers."""
    require_finite(estimate_by(method, problem, drawn(method, problem)), f"a draw on {where}")


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


def answers_of(method: Any, problem: Any, seed: int = METHOD_SEED) -> Iterator[Any]:
    """Return an optimizer's answers."""
    return answers_by(method, problem, problem.backend.rng(seed))


def sampled(subject: Subject, problem: Any, seed: int = METHOD_SEED) -> list[Any]:
    """Return one draw of an estimator, or the first answers of an optimizer."""
    method = subject.build()
    if subject.kind == "estimator":
        return [drawn(method, problem, seed)]
    return list(islice(answers_of(method, problem, seed), ANSWERS))


def followed(method: Any, problem: Any, effort: Effort, seed: int = METHOD_SEED) -> Iterator[Any]:
    """Yield an optimizer's answers, as many as the effort allows."""
    restart()
    until = perf_counter() + PATIENCE
    for answer in islice(answers_of(method, problem, seed), effort.iterations + 1):
        yield answer
        if perf_counter() > until:
            return


def drawn(method: Any, problem: Any, seed: int = METHOD_SEED) -> Any:
    """Return one draw of an estimator, evaluated beside the start."""
    return drawn_by(method, problem, problem.backend.rng(seed))(place_of(problem))


def place_of(problem: Any) -> Any:
    """Return a feasible point a little beside the start, where no term of a gradient vanishes by chance."""
    start: Any = problem.start() if hasattr(problem, "start") else None
    if not hasattr(start, "shape"):
        return start
    rng = problem.backend.rng(5)
    moved = start + problem.backend.asarray(
        0.1 * problem.backend.to_numpy(rng.standard_normal(start.shape)), dtype=start.dtype
    )
    return problem.project(moved) if hasattr(problem, "project") else moved
