"""Intervals cover at their level, also where some runs never arrive (+inf) or some values are zero."""

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
    geometric_interval,
    independent_ratio,
    lognormal_mean_end,
    mean_interval,
    median_interval,
    ratio_interval,
)

inf = math.inf
EXPERIMENTS = 2000
# four standard errors of a share of 0.95 among that many experiments
TOLERANCE = 4 * math.sqrt(0.95 * 0.05 / EXPERIMENTS)

positive = st.floats(1e-6, 1e6)


def coverage(truth, intervals):
    return np.mean([interval.low <= truth <= interval.high for interval in intervals])


@pytest.mark.parametrize("count", [2, 5, 20])
def test_mean_interval_covers_at_its_level(count):
    data = np.random.default_rng(1).normal(3, 2, (EXPERIMENTS, count))
    assert abs(coverage(3, map(mean_interval, data)) - 0.95) < TOLERANCE


@pytest.mark.parametrize("count", [3, 5, 20])
def test_ratio_interval_covers_at_its_level_when_pairs_share_their_noise(count):
    rng = np.random.default_rng(2)
    shared = rng.normal(0, 2, (EXPERIMENTS, count))
    values = np.exp(shared + rng.normal(math.log(3), 0.2, shared.shape))
    reference = np.exp(shared + rng.normal(0, 0.2, shared.shape))
    intervals = [ratio_interval(a, b) for a, b in zip(values, reference, strict=True)]
    assert abs(coverage(3, intervals) - 0.95) < TOLERANCE


@pytest.mark.parametrize("count", [6, 8, 11, 20])
def test_median_interval_covers_at_its_level_for_a_skewed_law(count):
    data = np.random.default_rng(3).lognormal(0, 1, (EXPERIMENTS, count))
    # the interpolation is within one percent of the level for such laws (Hettmansperger & Sheather 1986)
    assert abs(coverage(1, map(median_interval, data)) - 0.95) < TOLERANCE + 0.01


def test_median_interval_of_five_is_their_range_and_covers_as_the_binomial_says():
    data = np.random.default_rng(4).lognormal(0, 1, (EXPERIMENTS, 5))
    assert median_interval(data[0]) == Interval(np.median(data[0]), min(data[0]), max(data[0]), 5)
    assert abs(coverage(1, map(median_interval, data)) - 0.9375) < TOLERANCE


@given(st.lists(positive, min_size=1, max_size=25))
def test_median_interval_contains_the_median(values):
    interval = median_interval(values)
    assert interval.estimate == pytest.approx(np.median(values))
    assert interval.low <= interval.estimate * (1 + 1e-12)
    assert interval.high >= interval.estimate * (1 - 1e-12)


def test_between_two_modes_every_median_is_covered():
    rng = np.random.default_rng(12)
    for count in (6, 7, 10, 12, 20):
        high = rng.random((2000, count)) < 0.5
        found = [
            median_interval(each)
            for each in np.where(high, 3.0, 1.0) + 0.02 * rng.standard_normal(high.shape)
        ]
        for median in (1.2, 2.0, 2.8):
            assert coverage(median, found) > 0.95 - TOLERANCE


def test_median_is_never_when_more_than_half_never_arrive():
    assert median_interval([1, 2, inf, inf, inf]).estimate == inf
    mostly = median_interval([1, 2, 3, inf, inf])
    assert (mostly.estimate, mostly.low, mostly.high) == (3, 1, inf)
    assert median_interval([1, inf]) == Interval(inf, 0.0, inf, 2)


@given(st.lists(st.tuples(positive, positive), min_size=2, max_size=12))
def test_geometric_means_divide_to_the_paired_ratio(pairs):
    values, reference = np.array(pairs).T
    quotient = geometric_interval(values).estimate / geometric_interval(reference).estimate
    assert ratio_interval(values, reference).estimate == pytest.approx(quotient)


@given(st.lists(st.tuples(positive, positive), min_size=2, max_size=12))
def test_inverting_swaps_the_methods(pairs):
    values, reference = np.array(pairs).T
    forward, back = ratio_interval(values, reference), ratio_interval(reference, values).inverted()
    assert forward.low == pytest.approx(back.low)
    assert forward.high == pytest.approx(back.high)


def test_one_observation_has_an_infinitely_wide_interval():
    assert mean_interval([2.0]) == Interval(2.0, -inf, inf, 1)
    alone = ratio_interval([2.0], [1.0])
    assert (alone.estimate, alone.low, alone.high) == (pytest.approx(2), 0, inf)
    assert not alone.bounded


def test_no_observation_is_not_a_number():
    for interval in (mean_interval([]), median_interval([]), ratio_interval([], []), geometric_interval([])):
        assert math.isnan(interval.estimate)
        assert interval.count == 0


def test_ratio_with_zeros_is_a_bootstrap_with_a_fixed_seed():
    values, reference = [0.0, 2.0, 4.0, 2.0] * 3, [1.0, 1.0, 2.0, 1.0] * 3
    interval = ratio_interval(values, reference)
    assert interval == ratio_interval(values, reference)
    assert interval.estimate == 8 / 5
    assert 1 < interval.low < 8 / 5 < interval.high <= 2


def test_ratio_to_nothing_is_not_a_number():
    assert math.isnan(ratio_interval([1.0, 2.0], [0.0, 0.0]).estimate)


def test_pairs_must_match():
    with pytest.raises(ValueError, match="differ in number: 2 and 1"):
        ratio_interval([1.0, 2.0], [1.0])


def test_one_trial_intervals_combine_as_independent():
    value, reference = Interval(4.0, 4.0 / 1.06, 4.0 * 1.06, 1), Interval(2.0, 2.0 / 1.08, 2.0 * 1.08, 1)
    ratio = independent_ratio(value, reference)
    assert ratio.estimate == 2
    half = math.hypot(math.log(1.06), math.log(1.08))
    assert math.log(ratio.high / 2) == pytest.approx(half)
    # half widths scale with the level as a normal's
    wide = independent_ratio(value, reference, 0.99)
    assert math.log(wide.high / 2) == pytest.approx(2.575829 / 1.959964 * half)
    assert not independent_ratio(value, mean_interval([2.0])).bounded


@pytest.mark.parametrize("count", [6, 25, 1000, 20_001])
def test_the_median_interval_is_that_of_the_binomial_law_for_any_number_of_values(count):
    binom = pytest.importorskip("scipy.stats").binom
    interval = median_interval(np.arange(count, dtype=float))
    # ranks inside the interval: the median lies between them as often as fair coins say
    low, high = math.floor(interval.low) + 1, math.ceil(interval.high) + 1
    wide = binom.cdf(high - 1, count, 0.5) - binom.cdf(low - 1, count, 0.5)
    narrow = binom.cdf(high - 2, count, 0.5) - binom.cdf(low, count, 0.5)
    assert narrow <= 0.95 <= wide


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
def test_no_count_of_infinities_makes_an_end_that_is_not_a_number(times):
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
    # pairs that say nothing leave fewer than `count`, whose interval is the wider of two neighbours
    assert abs(coverage(1, intervals) - 0.95) < TOLERANCE + 0.015


def test_censored_ratio_interval_of_five_pairs_covers_as_the_binomial_says():
    rng = np.random.default_rng(14)
    times = rng.lognormal(0, 1, (EXPERIMENTS, 2, 5))
    times[:, 0, 0] = inf
    intervals = [censored_ratio_interval(*rng.permuted(pair, axis=0)) for pair in times]
    assert abs(coverage(1, intervals) - 0.9375) < TOLERANCE


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


@pytest.mark.parametrize("spread", [0.5, 1.0, 2.0])
def test_the_mean_of_skewed_positive_numbers_is_below_its_upper_end_as_often_as_asked(spread):
    """Student's end of ten such numbers is too low in 11, 20 and 47 of 100 cases, instead of 5."""
    samples = 2000
    drawn = np.exp(spread * np.random.default_rng(3).standard_normal((samples, 10)) - spread**2 / 2)
    missed = np.mean([lognormal_mean_end(each, 0.9) < 1 for each in drawn])
    assert abs(missed - 0.05) < 4 * math.sqrt(0.05 * 0.95 / samples)


def test_the_upper_end_of_a_mean_is_not_below_students_and_does_not_move_for_a_number_near_0():
    few = [1.0, 1.1, 1.2, 1.3, 9.0]
    assert lognormal_mean_end(few, 0.9) >= mean_interval(few, 0.9).high
    assert lognormal_mean_end([0.0, *few], 0.9) == lognormal_mean_end([1e-300, *few], 0.9) < math.inf
    small = lognormal_mean_end([1e-3 * sum(few) / 6, *few], 0.9)
    assert lognormal_mean_end([1e-9, *few], 0.9) == pytest.approx(small, rel=0.01)
    assert lognormal_mean_end([2e-3 * sum(few) / 6, *few], 0.9) < 0.9 * small
    assert lognormal_mean_end([math.inf, *few], 0.9) == math.inf
    assert lognormal_mean_end([2.0, 2.0, 2.0], 0.9) == pytest.approx(2.0)
    assert lognormal_mean_end([1.0], 0.9) == math.inf
    assert lognormal_mean_end([-1.0, -1.1, -1.2], 0.9) == mean_interval([-1.0, -1.1, -1.2], 0.9).high
