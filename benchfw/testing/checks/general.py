"""Checks of every role: how a plugin is built, and that it changes nothing that is not its own."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Sequence
from itertools import islice, pairwise
from typing import Any

import numpy as np

from benchfw.backends import get_backend
from benchfw.harness.calls import find_wrong_call
from benchfw.parameters import is_protocol, meanings_of
from benchfw.registry import NESTABLE, kind_of
from benchfw.testing.answers import (
    ANSWERS,
    answer_numbers,
    answers_of,
    copy_arrays,
    draw_once,
    find_changed_array,
    flat_numbers,
    is_array,
    is_close,
    point_near_start,
    ready_method,
)
from benchfw.testing.check import DRAWING_ROLES, CheckFailed, NotApplicable, define_check, require
from benchfw.testing.subject import Subject

ROUNDING = 1e-6  # relative, of metrics that are computed in another order
KEEP_PROBLEM = (
    "leave the problem's attributes as they are, copy its arrays before you write into them, and keep what a "
    "run learns in local variables"
)


@define_check(
    "problem",
    "estimator",
    "optimizer",
    "distribution",
    advice="give every parameter a default, or say what the checks use: check_with = ({'NAME': …},)",
)
def defaults(subject: Subject) -> str:
    """Every parameter has a default or is given in check_with, whose tables can be built."""
    for table in subject.tables:
        missing = [
            each.name
            for each in subject.entry.parameters.values()
            if each.required and each.name not in table
        ]
        require(not missing, f"{', '.join(missing)} must be given", _how_to_give(missing))
    if subject.kind == "problem":
        for setting in subject.settings:
            setting.build()
    else:
        for table in subject.tables:
            subject.build(table)
    return ", ".join(subject.entry.parameters) or "it has no parameters"


def _how_to_give(missing: Sequence[str]) -> str:
    """Return what to write for an estimator, say, that has no default; otherwise the check's own advice."""
    nested = next((name for name in missing if kind_of(name) in NESTABLE), None)
    if nested is None:
        return ""
    return (
        f"name the {kind_of(nested)} that the checks use, as a suite would, in the class: "
        f'check_with = ({{"{nested}": {{"use": "…"}}}},)'
    )


@define_check(
    "estimator",
    "optimizer",
    advice="make it run on one of the problems named above; small parameters go into check_with = ({...},)",
)
def meets_a_problem(subject: Subject) -> str:
    """It runs on the small problems that have its oracles."""
    method = subject.build()
    _check_call(method, subject.kind)
    _check_protocols(getattr(method, "solves", None))
    if not subject.settings and subject.refusals:
        raise CheckFailed(f"it refuses all of them ({'; '.join(subject.refusals)})")
    left_out = f"; not on {', nor on '.join(subject.broken)}" if subject.broken else ""
    return f"on {len(subject.need_settings())} problems{left_out}"


def _check_call(method: Any, kind: str) -> None:
    """Raise unless a method can be called as its role demands."""
    found = find_wrong_call(method, kind)
    if found is not None:
        raise CheckFailed(*found)


def _check_protocols(solves: Any) -> None:
    """Raise unless a method names an oracle protocol, or several of which one is enough."""
    named = solves if isinstance(solves, tuple) and solves else (solves,)
    for each in named:
        require(
            is_protocol(each),
            f"solves is {getattr(each, '__name__', repr(each))}, which is not an oracle protocol",
            "name the class itself, such as solves = Smooth, with from benchfw import Smooth",
        )


@define_check(
    *DRAWING_ROLES,
    advice='give each a type and a line: a string below the field, or "name: …" below "Parameters:"',
)
def documented(subject: Subject) -> None:
    """There is a docstring, and every parameter has a type and a line about its meaning."""
    factory = subject.entry.factory
    require(bool(inspect.getdoc(factory)), "it has no docstring")
    if subject.kind == "kernel":
        return
    meanings = meanings_of(factory)
    for name, parameter in subject.entry.parameters.items():
        require(parameter.hint is not Any, f"parameter '{name}' has no type")
        require(name in meanings, f"parameter '{name}' has no description")


@define_check(
    "estimator",
    "optimizer",
    "distribution",
    advice="make it a frozen dataclass, and keep what changes in local variables",
)
def parameters_kept(subject: Subject) -> None:
    """Hyperparameters are the same after a run as before."""
    method = subject.build()
    names = [name for name in subject.entry.parameters if hasattr(method, name)]
    before = copy.deepcopy({name: getattr(method, name) for name in names})
    if subject.kind == "distribution":
        method.sample(get_backend("numpy").rng(3), 1.5, 20)
    elif subject.kind == "estimator":
        draw_once(method, subject.setting().build())
    else:
        list(islice(answers_of(method, subject.setting().build()), ANSWERS))
    for name in names:
        same = np.array_equal(before[name], getattr(method, name)) or before[name] == getattr(method, name)
        require(bool(same), f"'{name}' was {before[name]!r} and is {getattr(method, name)!r}")


@define_check(
    "estimator",
    "optimizer",
    "distribution",
    "kernel",
    advice="define the class or the kernel at the top of its module, and hold no lambda, lock or open file",
)
def picklable(subject: Subject) -> None:
    """It can be pickled, as worker processes need."""
    made = subject.entry.factory if subject.kind == "kernel" else subject.build()
    try:
        twin = pickle.loads(pickle.dumps(made))  # noqa: S301 - just written
    except Exception as fault:  # noqa: BLE001 - a stranger's class may raise anything
        raise CheckFailed(f"pickle says: {fault}") from None
    require(type(twin) is type(made), f"it comes back as {type(twin).__name__}")


@define_check(
    "estimator", "optimizer", advice="write x = x - step * g and not x -= step * g; copy before you write"
)
def inputs_kept(subject: Subject) -> None:
    """Nothing that it is given changes: the parameters, the problem's arrays, answers already handed over."""
    for setting in subject.need_settings():
        problem, method = setting.build(), subject.build()
        params = point_near_start(problem)
        before, mine, kept = copy_arrays(problem), copy.deepcopy(params), []
        if subject.kind == "estimator":
            draw = ready_method(method, problem).draw(problem, problem.backend.rng(7))
            draw(params)
            if is_array(params):
                require(np.array_equal(params, mine), f"draw(params) changed params on {setting.name}")
        else:
            kept = [_Kept(problem, each) for each in islice(answers_of(method, problem), ANSWERS)]
        for number, each in enumerate(kept):
            require(
                each.is_same(),
                f"answer {number} changed after it was handed over, on {setting.name}",
                "" if is_array(each.answer) else "give a new object, or a copy, in every iteration",
            )
        place = find_changed_array(problem, before)
        require(place is None, f"it changed problem.{place} on {setting.name}", KEEP_PROBLEM)
        for number, each in enumerate(kept):
            if is_array(each.answer):
                require(
                    each.measures_the_same(),
                    f"it changed the problem: answer {number} has other metrics than before, "
                    f"on {setting.name}",
                    KEEP_PROBLEM,
                )


class _Kept:
    """An answer and what was seen of it when it was handed over: its metrics, and its content.

    An object may fill caches, and a problem compute its metrics from those of the answer before: it has
    changed if both its content and its metrics have, and these by more than rounding.
    """

    def __init__(self, problem: Any, answer: Any) -> None:
        self.answer, self._problem = answer, problem
        self._metrics, self._content = answer_numbers(problem, answer), _content(problem, answer)

    def is_same(self) -> bool:
        """Return whether the answer is as it was."""
        same = self._content is not None and _content(self._problem, self.answer) == self._content
        return same or (not is_array(self.answer) and self.measures_the_same())

    def measures_the_same(self) -> bool:
        """Return whether the problem gives it the same metrics, up to rounding."""
        return is_close(answer_numbers(self._problem, self.answer), self._metrics, ROUNDING)


def _content(problem: Any, answer: Any) -> bytes | None:
    """Return all that an answer holds; None for an object that cannot be pickled."""
    if is_array(answer):
        return flat_numbers(problem, answer).tobytes()
    try:
        return pickle.dumps(answer)
    except Exception:  # noqa: BLE001 - a stranger's object may raise anything
        return None


@define_check(
    "estimator",
    "optimizer",
    advice="ask the problem's oracles, or declare the cost of another library by problem.charge(amount), "
    "or say knows_cost = False in the class",
)
def calls_counted(subject: Subject) -> None:
    """What it does is counted by the problem, or declared: the cost grows."""
    if not getattr(subject.build(), "knows_cost", True):
        raise NotApplicable("it says that it does not know its cost")
    for setting in subject.need_settings():
        problem, method = setting.build(), subject.build()
        costs = [float(problem.cost)]
        if subject.kind == "estimator":
            for seed in range(3):
                draw_once(method, problem, seed)
                costs.append(float(problem.cost))
        else:
            costs += [float(problem.cost) for _ in islice(answers_of(method, problem), ANSWERS)]
        require(
            all(before <= after for before, after in pairwise(costs)), f"the cost falls on {setting.name}"
        )
        require(costs[-1] > costs[0], f"no oracle call was counted on {setting.name}")
