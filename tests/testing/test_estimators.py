"""The test of a mean: it finds what is there, and rarely what is not, however often it looks."""

from __future__ import annotations

import numpy as np
import pytest

from benchfw.testing.checks.estimators import RESOLUTION, mean_test

EXACT = np.array([3.0, -4.0, 0.0])


def draws(seed, shift=0.0, noise=0.5):
    rng = np.random.default_rng(seed)
    return lambda: EXACT + shift + noise * rng.standard_normal(3)


def test_an_unbiased_mean_passes_and_is_resolved_to_half_a_percent():
    verdict = mean_test(draws(1), EXACT, seconds=60.0)
    assert not verdict.biased
    assert verdict.resolved <= RESOLUTION


@pytest.mark.parametrize("coordinate", range(3))
def test_a_bias_of_one_percent_in_one_coordinate_is_found(coordinate):
    shift = np.zeros(3)
    shift[coordinate] = 0.01 * np.linalg.norm(EXACT)
    verdict = mean_test(draws(2, shift), EXACT, seconds=60.0)
    assert verdict.biased
    assert verdict.worst[0] == pytest.approx(0.01, rel=0.5)


@pytest.mark.thorough
def test_false_alarms_are_rarer_than_the_level_although_every_look_may_end_the_test():
    # at level 0.2 and not 1e-4, so that 200 tests show it: at most 40 expected, with a standard error of 6
    alarms = sum(mean_test(draws(seed, noise=50.0), EXACT, 0.01, level=0.2).biased for seed in range(200))
    assert alarms <= 60


def test_draws_that_never_vary_are_compared_up_to_rounding():
    assert not mean_test(lambda: EXACT * (1 + 1e-14), EXACT, 60.0).biased
    assert mean_test(lambda: EXACT * (1 + 1e-9), EXACT, 60.0).biased


def test_the_time_limit_ends_a_test_that_resolves_nothing():
    verdict = mean_test(draws(3, noise=1e6), EXACT, seconds=0.0)
    assert verdict.draws == 256
    assert verdict.resolved > 1
