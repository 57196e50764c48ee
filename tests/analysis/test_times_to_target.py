"""Times to a target when some runs ended before they met it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchfw.analysis.censored import expected_running_time, median_time, survival

inf = math.inf
# leukaemia patients on 6-MP, weeks in remission (Gehan 1965); a false flag is a patient still in remission
GEHAN = [6, 6, 6, 6, 7, 9, 10, 10, 11, 13, 16, 17, 19, 20, 22, 23, 25, 32, 32, 34, 35]
RELAPSED = [1, 1, 1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0]


def test_the_product_limit_estimate_is_that_of_the_textbook():
    found = survival(GEHAN, RELAPSED)
    np.testing.assert_array_equal(found.times, [6, 7, 10, 13, 16, 22, 23])
    # Kalbfleisch & Prentice's example, as printed in Klein & Moeschberger 2003, table 4.1
    np.testing.assert_allclose(found.share, [0.857, 0.807, 0.753, 0.690, 0.627, 0.538, 0.448], atol=5e-4)
    errors = found.share * np.sqrt(found.hazard)
    np.testing.assert_allclose(errors, [0.076, 0.087, 0.096, 0.107, 0.114, 0.128, 0.135], atol=6e-4)


def test_the_median_of_the_textbook_example_is_23_weeks():
    found = median_time(GEHAN, RELAPSED)
    assert (found.estimate, found.low, found.high, found.count) == (23, 13, inf, 21)


@given(st.lists(st.floats(0.001, 1000), min_size=1, max_size=20))
def test_without_censoring_the_median_is_the_median(times):
    found = median_time(times, [True] * len(times))
    assert found.estimate == pytest.approx(np.median(times))
    assert found.low <= found.estimate <= found.high


def test_the_median_is_never_when_more_than_half_do_not_arrive():
    assert median_time([1, 2, 5, 5, 5], [1, 1, 0, 0, 0]).estimate == inf
    assert median_time([3, 3], [0, 0]).low == inf


def test_a_run_that_ended_early_counts_less_than_one_that_ended_late():
    # of four runs at risk after the first ended, two arrive: the median is the second's time
    assert median_time([0.5, 1, 2, 3, 4], [0, 1, 1, 1, 1]).estimate == pytest.approx(2.5)


def test_expected_running_time_is_all_time_over_successes():
    found = expected_running_time([1.0, 3.0, 5.0], [True, False, True])
    assert found.estimate == 4.5
    assert found.low < 4.5 < found.high


def test_expected_running_time_of_restarts_is_their_mean():
    rng = np.random.default_rng(1)
    # run after run until one succeeds, with chance 0.4; a success takes 1 and a failure 3
    totals = [1 + 3 * (rng.geometric(0.4) - 1) for _ in range(20_000)]
    reached = rng.random(20_000) < 0.4
    found = expected_running_time(np.where(reached, 1.0, 3.0), reached)
    errors = np.std(totals) / math.sqrt(len(totals)) + (found.high - found.low) / 4
    assert abs(found.estimate - np.mean(totals)) < 4 * errors


def test_ten_successes_in_ten_runs_are_not_certainty():
    found = expected_running_time([2.0] * 10, [True] * 10)
    # one more of either kind is 11 of 12 (Agresti & Coull 1998); t with 9 degrees of freedom
    half = 2.262157 * math.sqrt((12 / 11 - 1) / 10)
    assert found.estimate == 2
    assert (found.low, found.high) == pytest.approx((2 * math.exp(-half), 2 * math.exp(half)))


def test_the_noise_of_successes_is_raised_only_where_few_runs_fail():
    times, reached = np.array([1.0, 2.0, 3.0, 2.0, 2.0]), np.array([1, 0, 0, 1, 0])
    found = expected_running_time(times, reached)
    # two of five are below a half, where the correction would take noise away
    half = 2.776445 * np.std(times / 2 - reached / 0.4, ddof=1) / math.sqrt(5)
    assert found.high / found.estimate == pytest.approx(math.exp(half))


def test_no_success_bounds_the_expected_running_time_from_below():
    found = expected_running_time([2.0] * 10, [False] * 10)
    # ten failures in a row have a chance of 2.5 % at a success rate of 0.308
    assert (found.estimate, found.high) == (inf, inf)
    assert found.low == pytest.approx(2 / (1 - 0.025**0.1))


def test_no_run_is_not_a_number():
    for found in (median_time([], []), expected_running_time([], [])):
        assert math.isnan(found.estimate)


def test_an_infinite_time_is_refused_with_what_to_give_instead():
    with pytest.raises(ValueError, match="the time at which it ended"):
        median_time([1.0, inf], [True, False])
    with pytest.raises(ValueError, match="2 times and 1 flags"):
        median_time([1.0, 2.0], [True])
