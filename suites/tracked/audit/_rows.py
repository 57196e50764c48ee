"""Intervals of one row at a time: how often each covers the truth."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchfw.analysis.compare import independent_difference, paired_difference
from benchfw.analysis.convergence import Curve
from benchfw.analysis.intervals import (
    Interval,
    censored_ratio_interval,
    expected_running_time,
    median_interval,
    ratio_interval,
)
from benchfw.analysis.power import largest_spread, repetitions_needed, smallest_ratio
from benchfw.analysis.rates import fit_law
from benchfw.report.figures.critical_difference import rank_methods

Rng = np.random.Generator
REPETITIONS = 10


@dataclass(frozen=True)
class Case:
    """One line of the table: the share of experiments in which something holds, and what it should be."""

    group: str
    name: str
    holds: Callable[[Rng], bool]
    least: float = 0.93
    most: float = 0.97


def covers(interval: Interval, truth: float) -> bool:
    return interval.low <= truth <= interval.high


# ratios of 10 repetitions: both methods share the data's own factor


def pairs(rng: Rng, truth: float, noise: float = 0.1) -> tuple[np.ndarray, np.ndarray]:
    data = rng.normal(0, 0.5, REPETITIONS)
    below, above = np.exp(data + rng.normal(0, noise, (2, REPETITIONS)))
    return truth * above, below


def ratio_covers(rng: Rng) -> bool:
    return covers(ratio_interval(*pairs(rng, 2.3)), 2.3)


def paired_difference_covers(rng: Rng) -> bool:
    above, below = pairs(rng, 1.15)
    return covers(paired_difference(below, above).ratio, 1.15)


def independent_difference_covers(rng: Rng) -> bool:
    below, above = rng.lognormal(0, 0.1, REPETITIONS), 1.15 * rng.lognormal(0, 0.1, REPETITIONS)
    return covers(independent_difference(below, above).ratio, 1.15)


# times to a target: log-normal with median 1; a run has ended by 2


def times(rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    needed = rng.lognormal(0, 0.7, REPETITIONS)
    return np.minimum(needed, 2.0), needed <= 2.0


def mean_below(horizon: float, sigma: float = 0.7) -> float:
    """Return E min(T, horizon) of the log-normal law."""
    below = lambda value: math.erfc(-value / math.sqrt(2)) / 2  # noqa: E731
    z = math.log(horizon) / sigma
    return math.exp(sigma**2 / 2) * below(z - sigma) + horizon * (1 - below(z))


def median_covers(rng: Rng) -> bool:
    ends, reached = times(rng)
    return covers(median_interval(np.where(reached, ends, np.inf)), 1.0)


def running_time_covers(rng: Rng) -> bool:
    successes = math.erfc(-math.log(2.0) / 0.7 / math.sqrt(2)) / 2
    return covers(expected_running_time(*times(rng)), mean_below(2.0) / successes)


def time_ratio_covers(rng: Rng) -> bool:
    above, below = pairs(rng, 1.5, noise=0.4)
    above[above > 3.0], below[below > 3.0] = np.inf, np.inf
    return covers(censored_ratio_interval(above, below), 1.5)


# plans


def plan_is_kept(rng: Rng, pilot: int) -> bool:
    """Return whether the repetitions that a pilot asks for show a factor of 1.25 with 90 % chance."""
    spread = largest_spread(float(np.std(rng.normal(0, 0.3, pilot), ddof=1)), pilot)
    return (repetitions_needed(spread, 0.975) or math.inf) >= (repetitions_needed(0.3, 0.975) or math.inf)


def ratio_is_found(rng: Rng, pilot: int) -> bool:
    """Return whether ten repetitions find the ratio that a pilot promises with 90 % chance."""
    spread = largest_spread(float(np.std(rng.normal(0, 0.3, pilot), ddof=1)), pilot)
    return smallest_ratio(spread, REPETITIONS, 0.975) >= smallest_ratio(0.3, REPETITIONS, 0.975)


# rates and ranks


def rate_covers(rng: Rng) -> bool:
    steps = np.unique(np.geomspace(1, 1000, 60).round())
    walks = np.cumsum(rng.normal(0, 0.1, (REPETITIONS, len(steps))), axis=1)
    curves = [Curve(steps, steps, steps, np.exp(walk) / steps) for walk in walks]
    return covers(fit_law(curves, "sublinear").slope, -1.0)


def like_methods_are_ranked_apart(rng: Rng) -> bool:
    found = rank_methods(rng.random((5, 5)))
    return float(np.ptp(found.means)) >= found.difference


def cases() -> Iterator[Case]:
    yield Case("ratio", "10 pairs, t of logs", ratio_covers)
    yield Case("ratio", "compare, 10 pairs", paired_difference_covers)
    yield Case("ratio", "compare, 10 and 10 unpaired", independent_difference_covers)
    yield Case("time to target", "median, never = infinity", median_covers)
    yield Case("time to target", "expected running time", running_time_covers)
    yield Case("time to target", "ratio of censored pairs", time_ratio_covers)
    yield Case("rate", "slope of 10 correlated curves", rate_covers)
    for pilot in (3, 5, 10):
        kept = partial(plan_is_kept, pilot=pilot)
        yield Case("plan", f"{pilot} runs: so many repetitions have the chance promised", kept, 0.8, 1.0)
    for pilot in (3, 5, 10):
        kept = partial(ratio_is_found, pilot=pilot)
        yield Case("plan", f"{pilot} runs: ten repetitions find the ratio promised", kept, 0.8, 1.0)
    # 5 % and two standard errors of a thousand experiments
    yield Case(
        "errors",
        "ranks: some of 5 equal methods on 5 problems differ",
        like_methods_are_ranked_apart,
        0.0,
        0.065,
    )
