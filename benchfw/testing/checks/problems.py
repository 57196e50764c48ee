"""Checks of problems: their oracles agree with each other, and are counted."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchfw.contract import gains_of
from benchfw.counting import check_counted
from benchfw.measure.metrics import take_metrics
from benchfw.testing.answers import (
    copy_arrays,
    find_changed_array,
    flat_numbers,
    is_array,
    is_close,
    point_near_start,
    require_finite,
)
from benchfw.testing.check import NotApplicable, define_check, require
from benchfw.testing.oracles import find_wrong_shape, oracle_calls
from benchfw.testing.problems import Setting
from benchfw.testing.subject import Subject

DIRECTIONS = 6
WIDTHS = (1e-2, 1e-3, 1e-4, 1e-5)  # wide ones for curved values, narrow ones for rounded ones: one must fit
ROUNDING = 1e-9


def _built(subject: Subject, *oracles: str) -> Iterator[tuple[Setting, Any]]:
    """Yield the problem in each of its forms; without oracles or arrays there is nothing to say."""
    for setting in subject.settings:
        problem = setting.build()
        missing = [name for name in ("start", *oracles) if not hasattr(problem, name)]
        if missing:
            raise NotApplicable(f"it has no {', '.join(missing)}")
        if not is_array(problem.start()):
            raise NotApplicable("its parameters are not arrays")
        yield setting, problem


@define_check(
    "problem", advice="return an array like the one that the oracle is given: of shape (n,), not (n, 1)"
)
def shapes_kept(subject: Subject) -> None:
    """What grad, grad_batch, project and prox return has the shape of the parameters."""
    for setting, problem in _built(subject):
        found = find_wrong_shape(problem, point_near_start(problem))
        require(not found, f"on {setting.name} {found}")


@define_check(
    "problem", advice="derive the gradient again, a term at a time, and compare with differences of value()"
)
def gradient(subject: Subject) -> None:
    """The gradient is the derivative of the value, by central differences."""
    for setting, problem in _built(subject, "value", "grad"):
        place = point_near_start(problem)
        exact = flat_numbers(problem, problem.grad(place))
        require_finite(exact, f"the gradient on {setting.name}")
        allowed = 1e-4 * float(np.linalg.norm(exact)) + 1e-8
        for name, direction in _directions(exact.size):
            wanted = float(exact @ direction)
            slopes_found = [_slope(problem, place, direction, width) for width in WIDTHS]
            found = min(slopes_found, key=lambda slope: abs(slope - wanted))
            require(
                abs(found - wanted) <= allowed,
                f"along {name} the value rises by {found:.6g} and grad says {wanted:.6g}, on {setting.name}",
            )


def _slope(problem: Any, place: Any, direction: Any, width: float) -> float:
    """Return the central difference of the value."""
    step = problem.backend.asarray((width * direction).reshape(place.shape), dtype=place.dtype)
    return (float(problem.value(place + step)) - float(problem.value(place - step))) / (2 * width)


def _directions(size: int) -> Iterator[tuple[str, Any]]:
    rng = np.random.default_rng(17)
    for index in rng.permutation(size)[:20].tolist() if size > 20 else range(size):
        yield f"coordinate {index}", np.eye(1, size, index)[0]
    for number in range(DIRECTIONS):
        direction = rng.standard_normal(size)
        yield f"random direction {number}", direction / np.linalg.norm(direction)


@define_check(
    "problem", advice="divide by the size of the batch, and add what does not belong to single samples once"
)
def batch_gradient(subject: Subject) -> None:
    """grad_batch over all samples is grad, and a batch is the mean of its samples."""
    for setting, problem in _built(subject, "grad", "grad_batch"):
        place, xp = point_near_start(problem), problem.backend.xp
        everything = xp.arange(problem.num_samples)
        whole = flat_numbers(problem, problem.grad_batch(place, everything))
        require_finite(whole, f"the gradient on {setting.name}")
        require(
            is_close(whole, flat_numbers(problem, problem.grad(place)), ROUNDING),
            f"the batch of all samples has another gradient than grad on {setting.name}",
        )
        few = min(5, problem.num_samples)
        singles = [
            flat_numbers(problem, problem.grad_batch(place, everything[i : i + 1])) for i in range(few)
        ]
        require(
            is_close(
                flat_numbers(problem, problem.grad_batch(place, everything[:few])),
                np.mean(singles, axis=0),
                ROUNDING,
            ),
            f"a batch of {few} is not the mean of its samples on {setting.name}",
        )


@define_check(
    "problem",
    advice="derive prox again: x - prox(x) must be step times a subgradient of the penalty at prox(x)",
)
def prox_optimal(subject: Subject) -> None:
    """The prox minimizes penalty(z) + |z - x|²/(2 step), by the growth that strong convexity demands."""
    for setting, problem in _built(subject, "prox", "penalty"):
        rng = np.random.default_rng(3)
        for step in (0.1, 1.0):
            x = flat_numbers(problem, problem.start()) + rng.standard_normal(
                flat_numbers(problem, problem.start()).size
            )
            z = flat_numbers(problem, problem.prox(_like(problem, x), step))
            least = _moreau(problem, z, x, step)
            require(math.isfinite(least), f"the penalty of prox(x) is {least} on {setting.name}")
            for other in _around(z, x, rng):
                value, growth = (
                    _moreau(problem, other, x, step),
                    float((other - z) @ (other - z)) / (2 * step),
                )
                require(
                    value >= least + growth - 1e-7 * (abs(least) + growth),
                    f"a point {np.linalg.norm(other - z):.2g} away from prox(x, {step:g}) is better, on "
                    f"{setting.name}",
                )


def _moreau(problem: Any, z: Any, x: Any, step: float) -> float:
    return float(problem.penalty(_like(problem, z))) + float((z - x) @ (z - x)) / (2 * step)


def _around(z: Any, x: Any, rng: Any) -> Iterator[Any]:
    """Yield points near and far, along coordinates and at random, and on the way to x."""
    for width in (1e-3, 1e-1, 1.0):
        for index in range(min(len(z), 10)):
            for side in (-1.0, 1.0):
                yield z + side * width * np.eye(1, len(z), index)[0]
        for _ in range(10):
            yield z + width * rng.standard_normal(len(z))
        yield z + width * (x - z)


@define_check("problem", advice="project onto the nearest point of a convex set")
def projection(subject: Subject) -> None:
    """The projection is idempotent and brings no two points further apart, and the start is feasible."""
    for setting, problem in _built(subject, "project"):
        project = _projector(problem)
        start = flat_numbers(problem, problem.start())
        require(is_close(project(start), start, ROUNDING), f"the start is not feasible on {setting.name}")
        rng = np.random.default_rng(4)
        for _ in range(10):
            one, other = start + 3 * rng.standard_normal((2, start.size))
            once = project(one)
            require(
                is_close(project(once), once, ROUNDING),
                f"project(project(x)) is not project(x) on {setting.name}",
            )
            before, after = np.linalg.norm(one - other), np.linalg.norm(once - project(other))
            require(
                after <= before * (1 + ROUNDING),
                f"two points {before:.3g} apart are {after:.3g} apart when projected, on {setting.name}",
            )


def _projector(problem: Any) -> Callable[[Any], Any]:
    return lambda values: flat_numbers(problem, problem.project(_like(problem, values)))


def _like(problem: Any, values: Any) -> Any:
    """Return values in the shape and type of the start."""
    start = problem.start()
    return problem.backend.asarray(values.reshape(start.shape), dtype=start.dtype)


@define_check("problem", advice="start where metrics can be computed, and guard logarithms and divisions")
def metrics_finite(subject: Subject) -> None:
    """There is at least one metric, and all are finite at the start."""
    for setting in subject.settings:
        problem = setting.build()
        if not hasattr(problem, "start"):
            raise NotApplicable("it has no start")
        try:
            found = take_metrics(problem, problem.start())
        except (TypeError, AttributeError):
            raise NotApplicable("its answers are of another kind than its parameters") from None
        require(bool(found), f"metrics is empty on {setting.name}")
        for name, value in found.items():
            require(math.isfinite(value), f"{name} is {value} at the start of {setting.name}")
        for name in sorted(gains_of(problem)):
            require(
                name in found,
                f"higher_is_better names {name}, and the metrics are {', '.join(found)}",
                "spell it as metrics() does",
            )


@define_check(
    "problem",
    name="calls-counted",
    advice="derive the class from benchfw.CountedProblem; call self._count in every oracle, and nowhere else",
)
def oracles_counted(subject: Subject) -> None:
    """Every oracle call raises the cost, metrics does not, and methods cannot write it."""
    for setting in subject.settings:
        problem = setting.build()
        check_counted(type(problem))
        place = point_near_start(problem)
        for name, call in oracle_calls(problem, place).items():
            before = float(problem.cost)
            call()
            counted = float(problem.cost) > before or name in {"project", "prox"}  # which need no data
            require(counted, f"{name} is not counted on {setting.name}")
        before = float(problem.cost)
        if is_array(place):
            problem.metrics(place)
            require(float(problem.cost) == before, f"metrics is counted on {setting.name}")


@define_check(
    "problem", name="inputs-kept", advice="copy before you write: params + step and not params += step"
)
def arguments_kept(subject: Subject) -> None:
    """Oracles change neither their arguments nor the data."""
    for setting, problem in _built(subject):
        place = point_near_start(problem)
        mine, start = flat_numbers(problem, place).copy(), flat_numbers(problem, problem.start()).copy()
        before = copy_arrays(problem)
        for name, call in oracle_calls(problem, place).items():
            call()
            same = np.array_equal(flat_numbers(problem, place), mine)
            require(same, f"{name} changes its argument on {setting.name}")
        where = find_changed_array(problem, before)
        require(where is None, f"an oracle changes problem.{where} on {setting.name}")
        same = np.array_equal(flat_numbers(problem, problem.start()), start)
        require(same, f"start() is another point after some calls on {setting.name}")
