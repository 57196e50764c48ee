"""Intervals where some runs never arrive (+inf) or some values are zero."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchfw.analysis.intervals import (
    FEWEST_PAIRS,
    Interval,
    censored_ratio_interval,
    median_interval,
    ratio_interval,
)

inf = math.inf
EXPERIMENTS = 2000
TOLERANCE = 4 * math.sqrt(0.95 * 0.05 / EXPERIMENTS)


@pytest.mark.parametrize(
    ("values", "estimate", "low", "high"),
    [
        ([1, 2, 3, 4, 5, inf], 3.5, 1 + 5 / 14, inf),
        ([1, 2, 3, 4, inf, inf], 3.5, 1 + 5 / 14, inf),
        ([1, 2, inf, inf, inf, inf], inf, 1 + 5 / 14, inf),
        ([1, inf, inf, inf, inf, inf], inf, 1, inf),
        ([inf] * 6, inf, inf, inf),
    ],
)
def test_a_median_interval_next_to_infinity_ends_at_a_number_or_at_infinity(values, estimate, low, high):
    interval = median_interval(values)
    assert (interval.estimate, interval.high) == (estimate, high)
    assert interval.low == pytest.approx(low)


@given(
    st.integers(1, 25).flatmap(
        lambda count: st.lists(st.floats(1e-6, 1e6), min_size=count, max_size=count).map(sorted)
    )
)
def test_no_number_of_infinities_makes_an_end_that_is_no_number(times):
    for never in range(len(times) + 1):
        values = times[: len(times) - never] + [inf] * never
        interval = median_interval(values)
        assert interval.low <= interval.estimate * (1 + 1e-12)
        assert interval.estimate <= interval.high * (1 + 1e-12)


@pytest.mark.parametrize("never", [0.1, 0.3])
@pytest.mark.parametrize("count", [6, 8, 12, 20])
def test_censored_ratio_interval_covers_one_when_both_methods_are_alike(count, never):
    rng = np.random.default_rng(13)
    times = rng.lognormal(0, 1, (EXPERIMENTS, 2, count))
    times[rng.random(times.shape) < never] = inf
    intervals = [censored_ratio_interval(*pair) for pair in times]
    covered = np.mean([interval.low <= 1 <= interval.high for interval in intervals])
    # pairs that say nothing leave fewer than `count`, whose interval is the wider of two neighbours
    assert abs(covered - 0.95) < TOLERANCE + 0.015


def test_censored_ratio_interval_of_five_pairs_covers_as_the_binomial_says():
    rng = np.random.default_rng(14)
    times = rng.lognormal(0, 1, (EXPERIMENTS, 2, 5))
    times[:, 0, 0] = inf
    intervals = [censored_ratio_interval(*rng.permuted(pair, axis=0)) for pair in times]
    covered = np.mean([interval.low <= 1 <= interval.high for interval in intervals])
    assert abs(covered - 0.9375) < TOLERANCE


@pytest.mark.parametrize("count", [5, 6, 7])
def test_order_statistics_too_few_for_the_level_say_nothing(count):
    # eight rivals: 1 - 0.05 / 8, where all of five ratios on one side happen by chance once in sixteen times
    interval = censored_ratio_interval([1.0] * count, [2.0] * (count - 1) + [inf], 1 - 0.05 / 8)
    assert (interval.low, interval.high) == (0, inf)


def test_censored_ratio_counts_a_missing_reference_as_infinitely_slow():
    values, reference = [1, 1, 1, 1, inf], [2, 2, 4, inf, inf]
    interval = censored_ratio_interval(values, reference)
    assert interval.count == 4  # the pair in which both never arrive says nothing
    assert interval.estimate == pytest.approx((0.25 + 0.5) / 2)
    assert (interval.low, interval.high) == (0, inf)


def test_two_methods_that_are_there_at_the_start_have_ratio_one():
    assert censored_ratio_interval([0.0] * 5 + [inf], [0.0] * 5 + [1.0]) == Interval(1, 1, inf, 6)


@pytest.mark.parametrize("count", [1, 2, 5, FEWEST_PAIRS - 1])
def test_ratio_with_zeros_says_nothing_of_a_few_pairs(count):
    values, reference = [0.0] + [1.0] * (count - 1), [2.0] * count
    assert ratio_interval(values, reference) == Interval((count - 1) / count / 2, 0, inf, count)


def test_ratio_with_zeros_is_bounded_from_ten_pairs_on():
    assert ratio_interval([0.0] + [1.0] * (FEWEST_PAIRS - 1), [2.0] * FEWEST_PAIRS).bounded
