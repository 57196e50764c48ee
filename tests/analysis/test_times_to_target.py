"""Times to a target when some runs ended before they met it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchfw.analysis.intervals import expected_running_time

inf = math.inf


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
    assert math.isnan(expected_running_time([], []).estimate)


def test_a_time_that_nobody_can_have_measured_gives_no_expected_running_time():
    assert math.isnan(expected_running_time([1.0, inf], [True, False]).estimate)
