"""What a method would have reached with fewer trials of tuning, and how much of its space is as good.

The value of a setting is of runs that did not choose it: one tuning run is held out, the others choose.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchfw.analysis.intervals import Interval
from benchfw.analysis.significance import BUDGET, benjamini_hochberg, least_probability

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

RESAMPLES = 1000
LEVEL = 0.95


class Held(NamedTuple):
    """Settings in the order in which all tuning runs but one rank them, best first, and that run's values."""

    order: Integers
    values: Floats


def best_of(count: int, settings: int) -> Floats:
    """Return the chance of each setting, best first, to be the best of `count` drawn without replacement.

    C(n - i, k - 1) / C(n, k) for the i-th of n (Tang et al. 2020).
    """
    total = math.comb(settings, count)
    return np.array([math.comb(settings - each, count - 1) / total for each in range(1, settings + 1)])


def allowances(settings: int) -> list[int]:
    """Return the numbers of trials to look at: powers of two up to half of the settings.

    Beyond that the same few settings are the best of nearly all draws, and resampling tells nothing.
    """
    return [2**power for power in range(max(settings, 1).bit_length()) if 2**power <= settings / 2]


def typical_best(held: Sequence[Held], count: int) -> float:
    """Return the median of what the best of `count` settings gives in a run that did not choose it.

    A median, because settings that never arrive have infinite values; it may be infinite too.
    """
    weights, values = _weigh(held, np.ones((1, len(held[0].order)), dtype=np.int64), count)
    return float(_medians(weights, values)[0])


def resample_best(held: Sequence[Held], counts: Sequence[int], seed: int) -> Floats:
    """Return `typical_best` for each count with other settings and other runs: (counts, RESAMPLES).

    Settings are drawn anew from those that were tried. Other runs shift all settings of a method together,
    by Student's deviates of the mean over runs. With the same seed the deviates of all methods come from the
    same weights of runs, so that a difference of two methods has those of their paired differences.
    """
    settings = len(held[0].order)
    drawn = np.random.default_rng(seed).multinomial(settings, np.full(settings, 1 / settings), RESAMPLES)
    shifts = _run_weights(len(held), seed)
    is_positive = _is_positive(held)
    return np.array([_resample(held, count, drawn, shifts, is_positive) for count in counts])


def _resample(held: Sequence[Held], count: int, drawn: Integers, shifts: Floats, is_positive: bool) -> Floats:
    found = _medians(*_weigh(held, drawn, count))
    finite = np.concatenate([each.values[np.isfinite(each.values)] for each in held])
    # a run that does not arrive is as far from the others as the slowest that does
    slowest = float(np.max(finite)) if finite.size else 1.0
    by_run = np.array([min(typical_best([each], count), slowest) for each in held])
    with np.errstate(over="ignore"):
        moved = found * np.exp(shifts @ np.log(by_run)) if is_positive else found + shifts @ by_run
    return np.asarray(moved)


def _run_weights(runs: int, seed: int) -> Floats:
    """Return weights (RESAMPLES, runs) whose sums over runs are Student's deviates of the mean.

    A multivariate t law on the weights that sum to 0: for any numbers with standard error e, the weighted sum
    is e times t with runs - 1 degrees of freedom.
    """
    if runs < 2:
        return np.zeros((RESAMPLES, runs))
    rng = np.random.default_rng([seed, runs])
    normal = rng.standard_normal((RESAMPLES, runs))
    normal -= np.mean(normal, axis=1, keepdims=True)
    return np.asarray(normal / np.sqrt(runs * rng.chisquare(runs - 1, (RESAMPLES, 1))))


def _weigh(held: Sequence[Held], drawn: Integers, count: int) -> tuple[Floats, Floats]:
    """Return the chance of each value to be that of the best of `count`: (resamples, values), ascending.

    `drawn` is how often each setting is in a resample: (resamples, settings).
    """
    settings = len(held[0].order)
    chances = np.concatenate([[0.0], np.cumsum(best_of(count, settings))])
    parts = []
    for each in held:
        last = np.cumsum(drawn[:, each.order], axis=1)
        parts.append(chances[last] - chances[last - drawn[:, each.order]])
    values = np.concatenate([each.values[each.order] for each in held])
    order = np.argsort(values, kind="stable")
    return np.concatenate(parts, axis=1)[:, order] / len(held), values[order]


def _medians(weights: Floats, values: Floats) -> Floats:
    """Return weighted medians of rows: where half of the weight ends at a value, its mean with the next."""
    shares = np.cumsum(weights, axis=1)
    lower, upper = (values[np.argmax(shares >= half, axis=1)] for half in (0.5 - 1e-9, 0.5 + 1e-9))
    return np.asarray((lower + upper) / 2)


def band(samples: Floats, held: Sequence[Held]) -> tuple[float, float]:
    """Return the ends between which resamples lie at 95 %; infinite where they do not arrive.

    A metric with a sign may have limits that shifts do not know, as shares of rows do: no end is better than
    the best value of any run, or worse than the worst.
    """
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(samples, [tail, 1 - tail], method="inverted_cdf").tolist()
    if _is_positive(held):
        return low, high
    values = np.concatenate([each.values for each in held])
    known = values[np.isfinite(values)]
    found = [np.clip(end, np.min(known), np.max(known)) if math.isfinite(end) else end for end in (low, high)]
    return float(found[0]), float(found[1])


def _is_positive(held: Sequence[Held]) -> bool:
    """Return whether other runs multiply values; they add to those of a metric with a sign, or with 0."""
    return all(bool(np.all(each.values > 0)) for each in held)


def find_leader(samples: Sequence[Floats]) -> tuple[int, float]:
    """Return the method that is best in the median of its resamples, and the p-value of its lead.

    `samples` has those of each method at one number of trials. The p-value is twice the share of resamples
    in which it is not better than some other, of the rival with the largest share. Having been picked as the
    best of several needs no further correction (Gutmann & Maymin 1987).
    """
    medians = [float(np.median(each)) for each in samples]
    first = int(np.argmin(medians))
    if not math.isfinite(medians[first]):
        return first, 1.0
    behind = [
        np.count_nonzero(samples[first] >= each) for place, each in enumerate(samples) if place != first
    ]
    return first, min(1.0, 2 * (max(behind) + 1) / (len(samples[first]) + 1))


def decide_leads(probabilities: Sequence[float], runs: int, pairs: int, problems: int) -> list[bool]:
    """Return which leads of one problem are beyond chance, by their p-values at each number of trials.

    Each of the problems has its share of the budget, within which Benjamini & Hochberg select. So few runs
    that `pairs` of methods may differ by chance in all of them decide nothing (`least_probability`).
    """
    allowed = BUDGET / problems
    least = least_probability(runs, allowed / pairs)
    return [bool(each <= allowed) for each in benjamini_hochberg([max(least, p) for p in probabilities])]


def share_within(values: Floats, best: float, factor: float) -> Interval:
    """Return the share of settings whose value is within a factor of the best, with Wilson's interval."""
    from scipy.special import ndtri

    count = len(values)
    good = float(np.mean(values <= factor * best if best > 0 else values <= best))
    quantile = float(ndtri((1 + LEVEL) / 2))
    shrunk = 1 + quantile**2 / count
    middle = (good + quantile**2 / (2 * count)) / shrunk
    half = quantile / shrunk * math.sqrt(good * (1 - good) / count + quantile**2 / (4 * count**2))
    return Interval(good, max(0.0, middle - half), min(1.0, middle + half), count)
