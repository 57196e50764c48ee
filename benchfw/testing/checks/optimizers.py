"""Checks of optimizers: where they start, where they go, and what their theorems say."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from benchfw.contract import Bounded, gains_of
from benchfw.errors import SuiteError
from benchfw.records import Spec
from benchfw.search import setting_at, settle, spaces_in
from benchfw.tables import check_table, without
from benchfw.testing.answers import (
    FIX_NUMBERS,
    METHOD_SEED,
    answer_numbers,
    answers_of,
    flat_numbers,
    follow,
    is_array,
    require_finite,
    yields,
)
from benchfw.testing.check import CheckFailed, NotApplicable, define_check, require
from benchfw.testing.problems import Setting
from benchfw.testing.subject import Subject

REPETITIONS = 12  # a theorem on an expectation is held against the mean of so many runs
STANDARD_ERRORS = 4.0
LEAST_GAIN = 0.01
LOOKS = 5
FEASIBLE = 1e-9
STILL = 1e-6  # relative: rounding may move an optimum by so much
FIX_SEARCH = (
    "compare its answers by hand on the problem named above: what it keeps must have the better metric"
)
LATER = 20  # iterations at the optimum


@define_check("optimizer", advice="begin run() with x = problem.start() and yield it before anything else")
def start_first(subject: Subject) -> None:
    """The first answer is the problem's start."""
    if not yields(subject.build()):
        raise NotApplicable("it does not yield: trials measure the problem's start themselves")
    tried = 0
    for setting in subject.need_settings():
        problem = setting.build()
        if not hasattr(problem, "start"):
            continue
        first = next(answers_of(subject.build(), problem))
        start = problem.start()
        if is_array(first) and is_array(start):
            same = np.array_equal(flat_numbers(problem, first), flat_numbers(problem, start))
        else:
            same = _same_metrics(problem, first, start)
        require(same, f"on {setting.name} the first answer is another point")
        tried += 1
    if not tried:
        raise NotApplicable("its problems have no start")


def _same_metrics(problem: Any, first: Any, start: Any) -> bool:
    """Return whether an answer of another form than the parameters is as good as the start."""
    try:
        wanted = answer_numbers(problem, start)
    except (TypeError, AttributeError):
        raise NotApplicable("its answers are of another kind than its problems' parameters") from None
    count = len(problem.metrics(start))
    return bool(np.allclose(answer_numbers(problem, first)[:count], wanted[:count], rtol=1e-6, atol=1e-9))


@define_check(
    "optimizer",
    advice="end every step with problem.project or problem.prox, or say projects = False in the class",
)
def stays_feasible(subject: Subject) -> None:
    """Every answer is a point of the feasible set."""
    if not getattr(subject.build(), "projects", True):
        raise NotApplicable("it says that it does not project, and is for unconstrained problems")
    tried = 0
    for setting in subject.need_settings():
        problem = setting.build()
        if not hasattr(problem, "project"):
            continue
        for number, answer in follow(subject.build(), problem, 50):
            if not is_array(answer):
                break
            values = flat_numbers(problem, answer)
            require_finite(values, f"on {setting.name} answer {number}")
            moved = float(
                np.max(np.abs(flat_numbers(problem, problem.project(answer)) - values), initial=0.0)
            )
            scale = max(1.0, float(np.max(np.abs(values), initial=0.0)))
            require(moved <= FEASIBLE * scale, f"on {setting.name} answer {number} is {moved:.2g} outside")
            tried += 1
    if not tried:
        raise NotApplicable("its answers are not points of a set that one could project onto")


@define_check(
    "optimizer", advice="look for a wrong sign or a default step that is too long, on the problem named above"
)
def improves(subject: Subject) -> str:
    """It gets better: on a quadratic, on a box, and with a penalty where it says that it solves such."""
    gains = []
    for setting in subject.need_settings():
        start, ends, steps = _progress(subject, setting)
        rising = gains_of(setting.build())
        # a metric on data held out may well get worse: one that gets better is enough
        better = [
            name
            for name, end in ends.items()
            if (end - start[name] if name in rising else start[name] - end) >= LEAST_GAIN * abs(start[name])
        ]
        changes = ", ".join(f"{name} from {start[name]:.4g} to {end:.4g}" for name, end in ends.items())
        found = f"on {setting.name} {steps} steps bring {changes}"
        require(not any(math.isnan(end) for end in ends.values()), found, FIX_NUMBERS)
        require(bool(better), found, "" if _takes_steps(setting) else FIX_SEARCH)
        gains.append(setting.name)
    return f"on {', '.join(gains)}"


def _takes_steps(setting: Setting) -> bool:
    """Return whether a problem has gradients, along which methods take steps."""
    return hasattr(setting.build(), "grad")


def _progress(subject: Subject, setting: Setting) -> tuple[dict[str, float], dict[str, float], int]:
    """Return the metrics at the start and their means over the last quarter, and the number of steps."""
    problem, steps = setting.build(), subject.effort.iterations
    wanted = set(np.linspace(3 * steps / 4, steps, LOOKS, dtype=int).tolist())
    start: dict[str, float] = {}
    looks, number, answer = [], 0, None
    for number, answer in follow(subject.build(), problem, subject.effort.iterations):
        if not start:
            start = dict(problem.metrics(answer))
        elif number in wanted:
            looks.append(problem.metrics(answer))
    looks = looks or [problem.metrics(answer)]  # it ended by itself
    return start, {name: float(np.mean([each[name] for each in looks])) for name in start}, number


@define_check(
    "optimizer", advice="correct bound(), or the constants that it takes from the problem; None says nothing"
)
def bound_holds(subject: Subject) -> str:
    """The theorem's curve is above what is measured, or below it where higher is better."""
    method = subject.build()
    if not isinstance(method, Bounded):
        raise NotApplicable("it gives no bound")
    held_to = []
    for setting in subject.need_settings():
        iterations, measured, curve = _curves(subject, setting)
        if curve is None:
            continue
        mean = measured.mean(axis=0)
        with np.errstate(invalid="ignore"):  # of what has diverged
            error = measured.std(axis=0, ddof=1) / math.sqrt(len(measured))
        # where a metric is not known yet, or the theorem silent, there is nothing to compare
        compared = ~np.isnan(measured).any(axis=0) & (curve < math.inf)
        sign = -1 if method.bounds in gains_of(setting.build()) else 1
        over = compared & ~(sign * mean - STANDARD_ERRORS * error <= sign * curve + 1e-9 * np.abs(curve))
        worst = int(np.argmax(over))
        require(
            not over.any(),
            f"on {setting.name} {method.bounds} is {mean[worst]:.4g} after {iterations[worst]} steps, "
            f"and the bound {curve[worst]:.4g}",
        )
        held_to.append(setting.name)
    if not held_to:
        raise NotApplicable("its theorem says nothing of the problems that it meets")
    return f"on {', '.join(held_to)}"


def _curves(subject: Subject, setting: Setting) -> tuple[Any, Any, Any]:
    """Return iterations, (steps,), the metric of several runs, (runs, steps), and the bound or None."""
    method, problem = subject.build(), setting.build()
    seeds = range(METHOD_SEED, METHOD_SEED + REPETITIONS)
    runs = [list(follow(method, problem, 100, seed)) for seed in seeds]
    shortest = min(runs, key=len)
    iterations = np.array([number for number, _ in shortest])
    measured = [
        [_measured(problem, answer, method.bounds) for _, answer in run[: len(shortest)]] for run in runs
    ]
    curve = method.bound(problem, iterations)
    return iterations, np.array(measured), None if curve is None else np.asarray(curve)


def _measured(problem: Any, answer: Any, metric: str) -> float:
    """Return a metric, nan where it is not known; one that became nan is infinite, and above every bound."""
    found = problem.metrics(answer).get(metric)
    if found is None:
        return math.nan
    return math.inf if math.isnan(found) else float(found)


@define_check(
    "optimizer", advice="check the fixed point by hand: at the optimum every term of the step must vanish"
)
def fixed_point(subject: Subject) -> str:
    """Started at an optimum where no sample disagrees, it stays there."""
    tried = []
    for setting in subject.need_settings():
        if not setting.built_in:
            continue
        problem = setting.with_options(interpolated=True, settled=True).build()
        *_, (steps, last) = follow(subject.build(), problem, LATER)
        distance = problem.metrics(last)["distance"]
        scale = max(1.0, float(np.linalg.norm(flat_numbers(problem, problem.optimum))))
        require(
            distance <= STILL * scale,
            f"on {setting.name} it is {distance:.2g} away after {steps} steps",
        )
        tried.append(setting.name)
    if not tried:
        raise NotApplicable("it meets no problem whose optimum is known beforehand")
    return f"on {', '.join(tried)}"


@define_check(
    "optimizer",
    advice="declare spaces of its parameters, with values that these take: tuning = {'step': Log(1e-4, 1)}",
)
def search_spaces(subject: Subject) -> str:
    """The search spaces that it declares are of its parameters, and their values can be built."""
    own = getattr(subject.entry.factory, "tuning", None)
    if own is None:
        raise NotApplicable("it declares none")
    given = without(subject.tables[0], *own) if isinstance(own, Mapping) else subject.tables[0]
    name = subject.entry.name
    try:
        table = check_table("optimizer", {**given, "tune": "default"}, subject.registry, name, reserved={})
    except SuiteError as fault:
        raise CheckFailed(str(fault)) from None
    spec = Spec(name, without(table, "use"))
    spaces = spaces_in(spec.params)
    for place in (0.0, 0.5, 1.0):
        subject.build(settle(spec, setting_at(spaces, place)).table)
    return ", ".join(f"{path} {space}" for path, space in spaces.items())
