"""Measures an estimator at one point: bias, variance and mean squared error against draws."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import count
from time import perf_counter
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from benchfw.analysis.variance import DrawStatistics
from benchfw.backends import Rng
from benchfw.contract import Array, Params, claims_of
from benchfw.errors import BenchfwError, PluginError
from benchfw.measure.meter import Emit, Meter, next_look
from benchfw.records import Ending, Outcome, Status, Trial, change

LARGE = 2**16  # numbers from which on a GPU finds the statistics of a draw faster than the host
MOST_BUDGETS = 5.0  # of seconds that a trial may take: a cheap draw costs less than its statistics


def measure_estimator(trial: Trial, problem: Any, method: Any, rng: Rng, emit: Emit) -> Outcome:
    """Draw at one point until the variance is known to the precision asked for, or the budget ends."""
    meter = Meter(problem, trial.budget)
    outcome = _draw(trial, problem, method, rng, meter, emit)
    return change(outcome, claims_unbiased=claims_of(method).unbiased, counting=meter.counting())


def _draw(trial: Trial, problem: Any, method: Any, rng: Rng, meter: Meter, emit: Emit) -> Outcome:
    """Draw, and emit statistics now and then, until something ends it."""
    quantity = estimated_quantity(method, problem)
    params = meter.off_the_record(_place, trial, problem)
    unchanged = _guard(problem, params)
    statistics = DrawStatistics(meter.off_the_record(_exact, quantity, problem, params))
    began = perf_counter()
    patience = MOST_BUDGETS * (trial.budget.seconds or math.inf)
    look = 2  # one draw has no variance
    for draws in count(1):
        with meter.clock:
            value = checked_draw(method, problem, rng)(params)
        sample = checked_estimate(method, problem, value)
        finite = bool(np.isfinite(sample).all())
        if finite:
            statistics.add(sample)
        outcome = meter.spent(draws) if draws > 1 else None
        if perf_counter() - began > patience and draws > 1:
            reason = (
                f"{MOST_BUDGETS:g} times the budget of {trial.budget.seconds:g} seconds, statistics included"
            )
            outcome = Outcome(Status.DONE, Ending.SECONDS, reason)
        if draws < look and outcome is None and finite:
            continue
        look = next_look(draws)
        if not unchanged():
            raise PluginError(
                f"{type(method).__name__}, or an oracle of the problem, writes into the parameters that it "
                "gets, and all later draws would be elsewhere; let it work on a copy"
            )
        meter.check(draws)
        meter.note_move()
        if not finite:
            return Outcome(Status.DIVERGED, Ending.NOT_FINITE, f"draw {draws:,} is not finite")
        if statistics.out_of_range:
            reason = "the square of its variance is beyond double precision: rescale what is estimated"
            return Outcome(Status.DIVERGED, Ending.NOT_FINITE, reason)
        metrics = statistics.metrics().items()
        emit(meter.records(draws, {name: value for name, value in metrics if math.isfinite(value)}))
        if trial.precision and statistics.relative_half_width() <= trial.precision:
            reason = f"variance known to {trial.precision:.0%} after {draws:,} draws"
            outcome = Outcome(Status.DONE, Ending.PRECISION, reason)
        if outcome is not None:
            return outcome
    raise AssertionError("unreachable: the loop above has no end of its own")


def _guard(problem: Any, params: Any) -> Callable[[], bool]:
    """Return a function that says whether an array is as it was."""
    if not problem.backend.owns(params):
        return lambda: True
    before = np.array(problem.backend.to_numpy(params))
    return lambda: np.array_equal(
        before, problem.backend.to_numpy(params), equal_nan=before.dtype.kind == "f"
    )


def _place(trial: Trial, problem: Any) -> Any:
    if trial.at == "optimum":
        if getattr(problem, "optimum", None) is None:
            raise BenchfwError(f"at = \"optimum\": problem '{trial.problem.use}' does not know its optimum")
        return problem.optimum
    return problem.start() if hasattr(problem, "start") else None


def _exact(quantity: str, problem: Any, params: Any) -> Any:
    oracle = getattr(problem, quantity, None)
    return None if oracle is None else _for_statistics(problem, oracle(params))


def estimated_quantity(method: Any, problem: Any) -> Literal["value", "grad"]:
    """Return what an estimator estimates on a problem; "auto" is the gradient where there is one."""
    check_estimates(method)
    if method.estimates == "auto":
        return "grad" if hasattr(problem, "grad") else "value"
    return "value" if method.estimates == "value" else "grad"


def check_estimates(method: Any) -> None:
    """Raise PluginError unless an estimator says what it estimates, in one of the words for that."""
    found = getattr(method, "estimates", None)
    if found not in ("value", "grad", "auto"):
        raise PluginError(
            f'{type(method).__name__}.estimates must be "value", "grad" or "auto", not {found!r}'
        )


def checked_draw(method: Any, problem: Any, rng: Rng) -> Callable[[Params], Array]:
    """Return one draw of an estimator, or explain why it is not one."""
    draw: Callable[[Params], Array] = method.draw(problem, rng)
    if not callable(draw):
        raise PluginError(
            f"draw() of {type(method).__name__} gave {type(draw).__name__}; "
            "it must return a function of the parameters"
        )
    return draw


def checked_estimate(method: Any, problem: Any, value: Any) -> NDArray[Any]:
    """Return what a draw gave as an array of real numbers, or explain what is wrong with it."""
    name = type(method).__name__
    if value is None:
        raise PluginError(
            f"the function that draw() of {name} returned gave None instead of a number or an array"
        )
    estimate = _for_statistics(problem, value)
    if estimate.dtype.kind not in "fiub":
        raise PluginError(f"{name} drew {estimate.dtype} values; estimates are real numbers")
    return estimate


def _for_statistics(problem: Any, value: Any) -> NDArray[Any]:
    """Return an array that NumPy's functions take: large ones of a GPU as they are, others on the host."""
    if problem.backend.owns(value) and hasattr(value, "__array_function__") and value.size >= LARGE:
        found: NDArray[Any] = value
        return found
    return np.asarray(problem.backend.to_numpy(value))
