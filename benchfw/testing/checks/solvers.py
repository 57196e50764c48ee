"""Checks of solvers that are called again and again: effort counts, and each call begins anew."""

from __future__ import annotations

from itertools import islice, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchfw.measure.solvers import efforts_of, solve_afresh
from benchfw.testing.answers import METHOD_SEED, answer_numbers, ready_method
from benchfw.testing.check import NotApplicable, define_check, require
from benchfw.testing.subject import Subject

EFFORTS = 6  # calls that are compared: 1, 2, 3, 4, 6, 9


@define_check(
    "optimizer",
    advice="pass effort on to the solver: max_iter=effort, or tol=10.0**-effort with efforts = range(1, 13)",
)
def effort_honoured(subject: Subject) -> str:
    """More effort costs no less, and gives another answer on some problem."""
    efforts = _efforts(subject)
    if len(efforts) == 1:
        raise NotApplicable("it has one effort only")
    changes = False
    for setting in subject.need_settings():
        problem, method = setting.build(), subject.build()
        ready = ready_method(method, problem)
        calls = [_call(ready, problem, effort) for effort in efforts]
        for (less, (_, cheap)), (more, (_, dear)) in pairwise(zip(efforts, calls, strict=True)):
            require(
                cheap <= dear, f"on {setting.name} effort {less} costs {cheap:g}, and {more} only {dear:g}"
            )
        changes |= any(not np.array_equal(calls[0][0], found, equal_nan=True) for found, _ in calls[1:])
    require(changes, f"efforts from {efforts[0]} to {efforts[-1]} give the same answer on every problem")
    return f"efforts {', '.join(map(str, efforts))}"


@define_check(
    "optimizer",
    advice="begin every call anew: no warm start, and nothing kept in the object, the class or the module",
)
def solves_from_scratch(subject: Subject) -> None:
    """Equal effort gives the same answer at the same cost, bit for bit, whatever was solved before."""
    efforts = _efforts(subject)
    for setting in subject.need_settings():
        problem, method = setting.build(), subject.build()
        ready = ready_method(method, problem)
        first = {effort: _call(ready, problem, effort) for effort in (efforts[-1], efforts[0])}
        for effort, (answer, cost) in first.items():
            again, later = _call(ready, problem, effort)
            require(
                np.array_equal(answer, again, equal_nan=True),
                f"on {setting.name} a second call of effort {effort} gives another answer",
            )
            require(
                cost == later,
                f"on {setting.name} effort {effort} costs {cost:g} at first, and {later:g} later",
            )


def _efforts(subject: Subject) -> list[int]:
    """Return the efforts that a solver is checked with."""
    method = subject.build()
    if hasattr(method, "run"):
        raise NotApplicable("it gives its answers one after the other: it has no solve()")
    return list(islice(efforts_of(method), EFFORTS))


def _call(method: Any, problem: Any, effort: int) -> tuple[NDArray[np.float64], float]:
    """Return what one call answers, as numbers, and what it costs."""
    before = float(problem.cost)
    answer = solve_afresh(method, problem, problem.backend.rng(METHOD_SEED), effort)
    cost = float(problem.cost) - before
    return answer_numbers(problem, answer), cost
