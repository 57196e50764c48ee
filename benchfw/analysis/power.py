"""What so many repetitions can find: the smallest ratio, or how many would show a given one."""

from __future__ import annotations

import math
from bisect import bisect_left

from benchfw.analysis.intervals import t_quantile
from benchfw.analysis.medians import CHECKED_PAIRS, KEPT
from benchfw.analysis.significance import BUDGET, FEWEST_PAIRS, least_probability

FACTOR = 1.25
"""The ratio that an undecided comparison is planned for."""

CHANCE = 0.9
ASSURANCE = 0.85
"""How often a plan has at least the chance that it promises: the spread of a few runs may be too small."""

MOST_REPETITIONS = 100_000
FEWEST_FOR_LARGE_PLANS = 10
LARGE_PLAN = 1000
"""A few runs are not a reason to ask for more than so many."""


def largest_spread(spread: float, count: int) -> float:
    """Return what the standard deviation of log ratios is at most, in 85 % of samples of so many pairs.

    The upper end of the chi-square interval, for normal logarithms: 2.5 times what three pairs show, 1.7
    times what five do, 1.4 times what ten do. NaN for one pair.
    """
    from scipy.special import chdtri

    if count < 2 or not math.isfinite(spread):
        return math.nan
    return spread * math.sqrt((count - 1) / float(chdtri(count - 1, ASSURANCE)))


def too_few_to_plan(needed: int | None, count: int) -> bool:
    """Return whether so few pairs would ask for so many that they are no base for a plan."""
    return count < FEWEST_FOR_LARGE_PLANS and (needed is None or needed > LARGE_PLAN)


def repetitions_needed(
    spread: float, level: float, factor: float = FACTOR, allowed: float = BUDGET, chance: float = CHANCE
) -> int | None:
    """Return how many pairs would show a factor with this chance, given the spread of the log ratios.

    None where that is more than MOST_REPETITIONS.
    """
    if not math.isfinite(spread):
        return None

    def enough(count: int) -> bool:
        return smallest_ratio(spread, count, level, allowed, chance) <= factor

    most = FEWEST_PAIRS
    while not enough(most):
        most *= 2
        if most > MOST_REPETITIONS:
            return None
    return bisect_left(range(most), True, lo=max(FEWEST_PAIRS, most // 2), key=enough)


def smallest_ratio(
    spread: float, count: int, level: float, allowed: float = BUDGET, chance: float = CHANCE
) -> float:
    """Return the ratio that so many pairs show with this chance, given the spread of the log ratios.

    By the t interval of this level, with the noncentral t distribution. (A sum of two quantiles of t would
    promise 90 % where five pairs at a level of 99.7 % have 79 %.) Infinite where so few pairs decide nothing.
    """
    from scipy.special import nctdtrinc

    if count < FEWEST_PAIRS or least_probability(count, allowed) > (1 - level) * (1 + 1e-9):
        return math.inf
    found = chance / KEPT if count >= CHECKED_PAIRS else chance
    shift = float(nctdtrinc(count - 1, 1 - found, t_quantile(level, count - 1)))
    exponent = shift * spread / math.sqrt(count)
    return math.exp(exponent) if exponent < 700 else math.inf
