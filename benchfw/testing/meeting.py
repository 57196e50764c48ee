"""Lets a method meet a problem: the answers of an optimizer, the draws of an estimator."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from time import perf_counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchfw.testing.subject import Effort, Subject

METHOD_SEED = 77
ANSWERS = 4  # that an optimizer is asked for where any would do
PATIENCE = 30.0  # seconds: after so many a slow optimizer need not finish its iterations


def answers_of(method: Any, problem: Any, seed: int = METHOD_SEED) -> Iterator[Any]:
    """Yield an optimizer's answers."""
    yield from method.run(problem, problem.backend.rng(seed))


def sampled(subject: Subject, problem: Any, seed: int = METHOD_SEED) -> list[Any]:
    """Return one draw of an estimator, or the first answers of an optimizer."""
    method = subject.build()
    if subject.kind == "estimator":
        return [drawn(method, problem, seed)]
    return list(islice(answers_of(method, problem, seed), ANSWERS))


def followed(method: Any, problem: Any, effort: Effort, seed: int = METHOD_SEED) -> Iterator[Any]:
    """Yield an optimizer's answers, as many as the effort allows."""
    until = perf_counter() + PATIENCE
    for answer in islice(answers_of(method, problem, seed), effort.iterations + 1):
        yield answer
        if perf_counter() > until:
            return


def drawn(method: Any, problem: Any, seed: int = METHOD_SEED) -> Any:
    """Return one draw of an estimator, evaluated beside the start."""
    return method.draw(problem, problem.backend.rng(seed))(place_of(problem))


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
