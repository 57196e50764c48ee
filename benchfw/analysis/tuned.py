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
    """Return the median of what the best of `count` settings gives in a run that did not choose it."""
    return float(_medians([each.values[each.order][None] for each in held], count)[0])


def resample_best(held: Sequence[Held], counts: Sequence[int], seed: int) -> Floats:
    """Return `typical_best` for each count in resamples of the settings: (counts, RESAMPLES)."""
    settings = len(held[0].order)
    drawn = np.random.default_rng(seed).integers(settings, size=(RESAMPLES, settings))
    sorted_values = []
    for each in held:
        place = np.empty(settings, dtype=np.int64)
        place[each.order] = np.arange(settings)
        sorted_values.append(each.values[each.order][np.sort(place[drawn], axis=1)])
    return np.array([_medians(sorted_values, count) for count in counts])


def _medians(folds: Sequence[Floats], count: int) -> Floats:
    """Return the weighted median of each row over all folds; values are in the order of settings."""
    weights = np.tile(best_of(count, folds[0].shape[1]), len(folds)) / len(folds)
    values = np.concatenate(folds, axis=1)
    order = np.argsort(values, axis=1, kind="stable")
    reached = np.cumsum(weights[order], axis=1) >= 0.5 - 1e-12
    at = np.take_along_axis(order, np.argmax(reached, axis=1)[:, None], axis=1)
    return np.take_along_axis(values, at, axis=1)[:, 0]


def band(samples: Floats) -> tuple[float, float]:
    """Return the ends between which resamples lie at 95 %; infinite where they do not arrive."""
    tail = (1 - LEVEL) / 2
    ends = np.quantile(samples, [tail, 1 - tail], method="inverted_cdf")
    return float(ends[0]), float(ends[1])


def find_leader(samples: Sequence[Floats], looks: int) -> int | None:
    """Return the method that is better than every other in nearly all resamples, or None.

    `samples` has those of each method at one number of trials. The chance of 5 % is shared among the looks
    and the rivals.
    """
    medians = [float(np.median(each)) for each in samples]
    first = int(np.argmin(medians))
    rivals = len(samples) - 1
    if rivals < 1 or not math.isfinite(medians[first]):
        return None
    allowed = (1 - LEVEL) / 2 / (rivals * looks)
    worse = [np.mean(samples[first] >= each) for place, each in enumerate(samples) if place != first]
    return first if max(worse) <= allowed else None


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
