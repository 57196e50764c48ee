"""Checks of estimators: what they claim about their mean, and how their variance falls.

`mean_test` may look at the draws again and again: it ends when the answer is clear.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchfw.analysis.intervals import normal_quantile, t_quantile
from benchfw.analysis.variance import DrawStatistics
from benchfw.contract import claims_of
from benchfw.measure.estimators import estimated_quantity
from benchfw.testing.answers import METHOD_SEED, flat_numbers, point_near_start, ready_method, require_finite
from benchfw.testing.check import NotApplicable, define_check, require
from benchfw.testing.problems import Setting
from benchfw.testing.subject import Subject, describe_options

FACTOR = 4  # by which the number of probes or samples grows
CLEAR = 0.025  # relative standard error of a variance that is known well enough
FEWEST_DRAWS = 64
MOST_DRAWS = 20_000

LEVEL = 1e-4
RESOLUTION = 0.005  # of the exact value: a bias of 1 % stands out from an interval of this half width
FIRST_LOOK = 256
BLOCK = 1024  # draws held at once
ROUNDING = 1e3  # units in the last place that sums may be off

Vector = NDArray[np.float64]


@define_check(
    "estimator", advice="draw what is random in draw(), and only evaluate in the function that it returns"
)
def deterministic_draw(subject: Subject) -> None:
    """One draw is a deterministic function of the parameters."""
    for setting in subject.need_settings():
        problem, method = setting.build(), subject.build()
        draw = ready_method(method, problem).draw(problem, problem.backend.rng(METHOD_SEED))
        place = point_near_start(problem)
        first = flat_numbers(problem, draw(place))
        if hasattr(problem, "start"):
            draw(problem.start())  # another place between
        again = flat_numbers(problem, draw(place))
        require(np.array_equal(first, again), f"one draw gives two values at one place on {setting.name}")


@define_check(
    "estimator",
    advice="correct the weights (1 over the batch, a probability, the probes), or claim unbiased=False",
)
def unbiased(subject: Subject) -> str:
    """An estimator that claims to be unbiased has the exact value as its mean (tested at 1e-4)."""
    claims = [table for table in subject.tables if claims_of(subject.build(table)).unbiased]
    if not claims:
        raise NotApplicable("it does not claim to be unbiased")
    settings = subject.need_settings()
    level = LEVEL / (len(claims) * len(settings))
    found: list[tuple[float, str]] = []
    for table in claims:
        for setting in settings:
            verdict = _tested(subject.build(table), setting, subject.effort.seconds, level)
            if verdict is None:
                continue
            off, chance = verdict.worst
            require(
                not verdict.biased,
                f"on {setting.name}{_changes(table)} the mean of {verdict.draws:,} draws is off by "
                f"{off:+.2%} of the exact value, and chance explains {chance:.2%}",
            )
            found.append((verdict.resolved, setting.name))
    if not found:
        raise NotApplicable("no problem that it meets knows the exact value")
    (least, sharp), (most, blunt) = min(found), max(found)
    return (
        f"no bias above {least:.2%} of the exact value on {sharp}, {most:.2%} on {blunt} ({len(found)} tests)"
    )


@define_check("estimator", advice="claim the bias_order=(parameter, order) that the theory gives, or none")
def bias_order(subject: Subject) -> str:
    """A bias that is said to fall like a power of a parameter does so."""
    claim = claims_of(subject.build()).bias_order
    if claim is None:
        raise NotApplicable("it claims no order of its bias")
    parameter, order = claim
    few = getattr(subject.build(), parameter)
    for setting in subject.need_settings():
        found = [
            _tested(subject.build(**{parameter: count}), setting, subject.effort.seconds, LEVEL, stop=False)
            for count in (few, 2 * few)
        ]
        if None in found:
            continue
        (least, most), (lower, upper) = (_size(each) for each in found if each is not None)
        require(
            lower <= most * 2.0**-order,
            f"on {setting.name} the bias is {least:.3g} to {most:.3g} at {parameter} = {few} and {lower:.3g} "
            f"to {upper:.3g} at twice that, which is not {2.0**-order:.3g} of it",
        )
    return f"falls like {parameter}^-{order:g}"


@define_check("estimator", advice="average independent draws, or claim no averages")
def variance_falls(subject: Subject) -> str:
    """The variance falls like 1/M in the number of probes or samples that it says it averages."""
    parameter = claims_of(subject.build()).averages
    if not parameter:
        raise NotApplicable("it does not claim to average: Claims(averages=…) names a parameter")
    few = getattr(subject.build(), parameter)
    tried = 0
    for setting in subject.need_settings():
        statistics = [
            _statistics(subject.build(**{parameter: count}), setting, subject.effort.seconds / 2)
            for count in (few, FACTOR * few)
        ]
        if any(each.variance == 0 for each in statistics):
            continue  # nothing varies there
        one, other = statistics
        ratio = one.variance / other.variance
        error = math.hypot(*(each.variance_std_error / each.variance for each in statistics))
        allowed = normal_quantile(1 - LEVEL) * error
        require(
            abs(math.log(ratio / FACTOR)) <= allowed,
            f"on {setting.name} {FACTOR} times the {parameter} make the variance {ratio:.2f} times smaller, "
            f"and chance explains {FACTOR * math.exp(-allowed):.2f} to {FACTOR * math.exp(allowed):.2f}",
        )
        tried += 1
    if not tried:
        raise NotApplicable("its draws do not vary on the problems that it meets")
    return f"on {tried} problems"


def _tested(
    method: Any, setting: Setting, seconds: float, level: float, *, stop: bool = True
) -> MeanDifference | None:
    """Return the test of a method's mean on a problem, or None where the exact value is not known."""
    draw, exact = sampler(method, setting)
    if exact is None or not np.isfinite(exact).all():
        return None
    return mean_test(draw, exact, seconds, level, stop=stop)


def sampler(method: Any, setting: Setting) -> tuple[Callable[[], Vector], Vector | None]:
    """Return a function that draws anew at one place, and the exact answer there."""
    problem = setting.build()
    method = ready_method(method, problem)
    place, rng = point_near_start(problem), problem.backend.rng(METHOD_SEED)
    oracle = getattr(problem, estimated_quantity(method, problem), None)
    exact = None if oracle is None else flat_numbers(problem, oracle(place))

    def draw() -> Vector:
        value = np.asarray(problem.backend.to_numpy(method.draw(problem, rng)(place))).reshape(-1)
        require_finite(value, f"a draw on {setting.name}")
        return value if value.dtype.kind == "f" else value.astype(np.float64)

    return draw, exact


def _statistics(method: Any, setting: Setting, seconds: float) -> DrawStatistics:
    """Return statistics of draws, enough of them to compare variances."""
    draw, _ = sampler(method, setting)
    statistics = DrawStatistics()
    until = process_time() + seconds
    for count in range(1, MOST_DRAWS):
        statistics.add(draw())
        if count >= FEWEST_DRAWS and count % FEWEST_DRAWS == 0:
            clear = statistics.variance_std_error <= CLEAR * statistics.variance
            if clear or process_time() > until:
                break
    return statistics


def _size(verdict: MeanDifference) -> tuple[float, float]:
    """Return the least and the largest length that the bias may have."""
    found, chance = float(np.linalg.norm(verdict.error[:-1])), float(np.linalg.norm(verdict.radius[:-1]))
    return max(found - chance, 0.0), found + chance


def _changes(table: Any) -> str:
    options = describe_options(table)
    return f" with {options}" if options else ""


class MeanDifference(NamedTuple):
    """What was found after `draws`: `error` of the mean and the half widths that chance explains, (d + 1,).

    The last entry is along the exact value. `scale` is the length of the exact value.
    """

    draws: int
    error: Vector
    radius: Vector
    scale: float

    @property
    def biased(self) -> bool:
        """Whether some entry is further off than chance explains."""
        return not np.all(np.abs(self.error) <= self.radius)  # nan is off too

    @property
    def resolved(self) -> float:
        """The largest bias that could have been missed, as a share of the exact value's length."""
        return float(np.max(self.radius)) / self.scale

    @property
    def worst(self) -> tuple[float, float]:
        """The share by which the entry furthest outside its interval is off, and what chance explains."""
        index = int(np.argmax(np.abs(self.error) / self.radius))
        return float(self.error[index]) / self.scale, float(self.radius[index]) / self.scale


def mean_test(
    draw: Callable[[], Vector], exact: Vector, seconds: float, level: float = LEVEL, *, stop: bool = True
) -> MeanDifference:
    """Draw until the mean is seen to differ from `exact`, or the interval is narrow, or the time is out.

    Every entry, and the mean along `exact`, has a t-test after 256, 512, 1024, … draws. Look k = 0, 1, …
    spends level/((k+1)(k+2)), which adds up to `level` however many there are, and the entries share it.
    Without `stop` a difference ends nothing: it is to be measured. The time is the processor's, so that a
    busy machine resolves as much.
    """
    length = float(np.linalg.norm(exact))
    direction = exact / length if length > 0 else np.zeros_like(exact)
    target = np.append(exact, length)
    until = process_time() + seconds
    count, mean, squares = 0, np.zeros_like(target), np.zeros_like(target)
    rounding = 0.0
    for look in range(64):
        goal = FIRST_LOOK << look
        while count < goal and (count < FIRST_LOOK or process_time() < until):
            raw = [draw() for _ in range(min(BLOCK, goal - count))]
            rounding = ROUNDING * float(np.finfo(raw[0].dtype).eps)
            block = np.asarray(raw, dtype=np.float64).reshape(len(raw), -1)
            block = np.column_stack([block, block @ direction])
            count, mean, squares = _merged(count, mean, squares, block)
        share = level / ((look + 1) * (look + 2)) / len(target)
        error_of_mean = np.sqrt(squares / (count - 1) / count)
        scale = length or float(np.linalg.norm(error_of_mean)) * math.sqrt(count) or 1.0
        radius = t_quantile(1 - share, count - 1) * error_of_mean + rounding * scale
        verdict = MeanDifference(count, mean - target, radius, scale)
        if (stop and verdict.biased) or verdict.resolved <= RESOLUTION or process_time() >= until:
            return verdict
    raise AssertionError("unreachable: 2^64 draws take longer than any limit")


def _merged(count: int, mean: Vector, squares: Vector, block: Vector) -> tuple[int, Vector, Vector]:
    """Return count, mean and sum of squared deviations with a block of rows added. Chan et al. 1983."""
    more = len(block)
    block_mean = block.mean(axis=0)
    change = block_mean - mean
    total = count + more
    squares = squares + ((block - block_mean) ** 2).sum(axis=0) + change**2 * (count * more / total)
    return total, mean + change * (more / total), squares
