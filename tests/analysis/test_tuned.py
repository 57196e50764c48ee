"""What fewer trials of tuning would have given, and who would lead."""

import itertools
import math

import numpy as np
import pytest

from benchfw.analysis import tuned
from benchfw.analysis.tuned import (
    Held,
    allowances,
    band,
    best_of,
    decide_leads,
    find_leader,
    resample_best,
    share_within,
    typical_best,
)


def held(values):
    """Return folds of a table of values, a row a setting and a column a run; the other runs' mean ranks."""
    table = np.asarray(values, dtype=float)
    return [
        Held(np.argsort(np.delete(table, run, 1).mean(axis=1), kind="stable"), table[:, run])
        for run in range(table.shape[1])
    ]


def test_the_chance_to_be_the_best_is_that_of_all_subsets():
    for settings in range(1, 9):
        for count in range(1, settings + 1):
            subsets = list(itertools.combinations(range(settings), count))
            firsts = [min(each) for each in subsets]
            shares = [firsts.count(place) / len(subsets) for place in range(settings)]
            assert best_of(count, settings) == pytest.approx(shares)


def test_the_chances_give_the_expected_best_of_tang_et_al():
    values = np.sort(np.random.default_rng(1).exponential(size=12))
    for count in (1, 2, 5, 12):
        written = sum(
            value * (math.comb(12 - i + 1, count) - math.comb(12 - i, count)) / math.comb(12, count)
            for i, value in enumerate(values, 1)
        )
        assert np.dot(best_of(count, 12), values) == pytest.approx(written)


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_the_typical_best_is_the_median_over_all_subsets_and_runs(count):
    table = np.random.default_rng(2).lognormal(size=(7, 3))
    table[5], table[6, 0] = math.inf, math.inf
    folds = held(table)
    found = []
    for fold in folds:
        place = {setting: rank for rank, setting in enumerate(fold.order)}
        subsets = itertools.combinations(range(7), count)
        found += [fold.values[min(each, key=place.get)] for each in subsets]
    assert typical_best(folds, count) == pytest.approx(np.median(found))


def test_settings_that_never_arrive_make_the_typical_best_infinite_where_most_do_not():
    table = np.full((8, 2), math.inf)
    table[:3] = [[1.0, 1.1], [2.0, 2.1], [3.0, 3.1]]
    folds = held(table)
    assert typical_best(folds, 1) == math.inf
    assert typical_best(folds, 4) < math.inf
    assert band(resample_best(folds, [1], 1)[0], folds)[1] == math.inf


def test_resamples_without_a_spread_between_runs_draw_settings_with_replacement():
    values = np.random.default_rng(3).lognormal(size=16)
    folds = held(np.column_stack([values, values]))
    drawn = np.random.default_rng(5).multinomial(16, np.full(16, 1 / 16), tuned.RESAMPLES)
    for count, samples in zip((1, 4), resample_best(folds, (1, 4), 5), strict=True):
        for often, sample in zip(drawn[:20], samples, strict=False):
            inside = np.sort(np.repeat(values, often))
            best = [min(each) for each in itertools.combinations(inside, count)]
            assert sample == pytest.approx(np.median(best))


def test_other_runs_move_all_settings_by_students_deviates():
    rng = np.random.default_rng(6)
    shifts = rng.normal(size=3)
    folds = held(np.exp(np.zeros((8, 1)) + shifts))  # all settings alike: only runs differ
    logs = np.log(resample_best(folds, [2], 7)[0])
    error = np.std(shifts, ddof=1) / math.sqrt(3)
    # Student's t with 2 degrees of freedom has quartiles at 0.8165
    quartiles = np.quantile(logs, [0.25, 0.5, 0.75])
    spread = error * 3 * 1.36 / math.sqrt(tuned.RESAMPLES)  # Kolmogorov's bound over the density there
    assert quartiles == pytest.approx(
        np.median(shifts) + error * np.array([-0.8165, 0, 0.8165]), abs=2 * spread
    )


@pytest.mark.parametrize("runs", [3, 10])
def test_other_runs_move_settings_as_far_as_students_tails_reach(runs):
    from scipy.special import stdtrit

    shifts = np.random.default_rng(12).normal(size=runs)
    folds = held(np.zeros((8, 1)) + shifts)  # with a sign: they add
    moved = resample_best(folds, [2], 13)[0] - np.median(shifts)
    deviates = np.abs(moved) / (np.std(shifts, ddof=1) / math.sqrt(runs))
    for level in (0.5, 0.9, 0.95, 0.99):
        beyond = np.mean(deviates > stdtrit(runs - 1, (1 + level) / 2))
        assert abs(beyond - (1 - level)) < 4 * math.sqrt(level * (1 - level) / tuned.RESAMPLES)


def test_a_run_that_does_not_arrive_is_as_far_from_the_others_as_the_slowest_that_does():
    never, slowest = (held(np.resize([1.0, 1.2, last], (8, 3))) for last in (math.inf, 1.2))
    found = resample_best(never, [1, 2], 14)
    assert np.std(found[0]) > 0
    assert np.array_equal(found, resample_best(slowest, [1, 2], 14))


def test_metrics_with_a_sign_move_by_differences():
    folds = held(np.array([[-1.0, 1.0, 3.0]] * 8))
    samples = resample_best(folds, [1], 8)[0]
    assert np.min(samples) < -1
    assert np.max(samples) > 3
    assert np.median(samples) == pytest.approx(1.0, abs=0.2)


def test_methods_that_are_the_same_have_no_leader():
    folds = held(np.random.default_rng(9).lognormal(size=(16, 3)))
    samples = resample_best(folds, [1, 4], 10)
    assert find_leader([samples[0], samples[0]]) == (0, 1.0)
    never = np.full(1000, math.inf)
    assert find_leader([never, never])[1] == 1.0
    place, chance = find_leader([never, samples[0]])
    assert (place, chance) == (1, pytest.approx(2 / 1001))


def test_a_leader_is_as_sure_as_it_is_of_its_closest_rival():
    rng = np.random.default_rng(11)
    slow, close, best = (rng.normal(mean, 1, 1000) for mean in (20, 1, 0))
    _, alone = find_leader([slow, best])
    place, chance = find_leader([slow, close, best])
    assert place == 2
    assert alone == pytest.approx(2 / 1001)
    assert chance == min(1.0, 2 * (np.count_nonzero(best >= close) + 1) / 1001)


def test_leads_share_the_budget_among_problems_and_need_three_runs():
    assert decide_leads([0.04, 0.04], 5, 1, 1) == [True, True]
    assert decide_leads([0.04, 0.9], 5, 1, 1) == [False, False]
    assert decide_leads([0.04, 0.04], 5, 1, 2) == [False, False]
    assert decide_leads([0.002, 0.9], 5, 1, 2) == [True, False]
    assert decide_leads([0.002, 0.002], 2, 1, 1) == [False, False]
    assert decide_leads([0.002, 0.9], 3, 1, 1) == [True, False]
    # three runs of two pairs of methods: 2/64 is more than each pair may have
    assert decide_leads([0.002, 0.9], 3, 2, 1) == [False, False]
    assert decide_leads([0.002, 0.002], 3, 2, 1) == [True, True]


def test_allowances_are_powers_of_two_up_to_half_of_the_settings():
    assert allowances(32) == [1, 2, 4, 8, 16]
    assert allowances(31) == [1, 2, 4, 8]
    assert allowances(1) == []


def test_the_share_near_the_best_has_wilsons_interval():
    found = share_within(np.array([1.0, 1.5, 2.0, 2.5, math.inf, math.inf, 9.0, 9.0]), 1.0, 2.0)
    assert found.estimate == 3 / 8
    # 3 of 8: statsmodels' proportion_confint(3, 8, method="wilson")
    assert (found.low, found.high) == pytest.approx((0.13684, 0.69426), abs=1e-5)


def test_the_band_of_a_metric_with_a_sign_stays_within_the_values_of_its_runs():
    gains = -np.minimum(1.0, np.random.default_rng(9).uniform(0.6, 1.1, (8, 3)))  # negated: at most 1
    folds = held(gains)
    samples = resample_best(folds, [4], 1)[0]
    assert np.quantile(samples, 0.025) < -1
    low, high = band(samples, folds)
    assert low == np.min(gains) == -1
    assert low <= typical_best(folds, 4) <= high
    assert band(samples + 9, folds) == (np.max(gains), np.max(gains))
    assert band(np.full(9, math.inf), folds) == (math.inf, math.inf)
    positive = held(np.random.default_rng(9).lognormal(size=(8, 3)))
    assert band(samples, positive)[0] < -1  # these multiply, and end where they do
