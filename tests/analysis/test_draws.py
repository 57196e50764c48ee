from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from benchfw.analysis.draws import (
    FEWEST_CARRIERS,
    Moments,
    bias_ends,
    least_spread,
    log_ratios,
    pair_spreads,
    pool_draws,
    pool_moments,
    spread_ends,
    spread_interval,
    unbiased_probability,
)
from benchfw.analysis.intervals import t_quantile
from benchfw.analysis.variance import DrawStatistics


def moments(draws):
    statistics = DrawStatistics()
    for draw in draws:
        statistics.add(draw)
    found = statistics.variance, statistics.variance_std_error, statistics.variance_skewness
    return Moments(*found, statistics.count)


def pool_of(trials):
    return pool_moments([moments(draws) for draws in trials])


def variances(trials):
    return np.var(trials, axis=-1, ddof=1)


def rare(events, trials=5, draws=100):
    """Draws that are 0, but for so many events, spread evenly over the trials and within them."""
    found = np.zeros((trials, draws))
    for number in range(events):
        place = (number // trials + 0.5) / math.ceil(events / trials)
        found[number % trials, int(place * draws)] = 1.0
    return found


def test_the_pool_has_the_moments_of_all_squares_together():
    draws = np.random.default_rng(1).normal(size=(4, 200)) * np.array([[1.0], [2.0], [1.0], [0.5]])
    numbers = np.arange(2, 201)
    means = np.cumsum(draws, axis=1)[:, :-1] / (numbers - 1)
    squares = ((numbers - 1) / numbers * (draws[:, 1:] - means) ** 2).ravel()
    pool = pool_of(draws)
    assert pool.draws == 800
    assert pool.carriers == pytest.approx(np.sum(squares) ** 2 / np.sum(squares**2))
    assert pool.noise == pytest.approx(np.std(squares) / math.sqrt(len(squares)) / np.mean(squares))
    third = np.mean((squares - np.mean(squares)) ** 3) / np.std(squares) ** 3
    assert pool.skewness == pytest.approx(third / math.sqrt(len(squares)))
    assert pool.variance == pytest.approx(np.mean(variances(draws)))


@pytest.mark.parametrize("scale", [1e-120, 1.0, 1e120])
def test_the_pool_does_not_depend_on_the_unit(scale):
    draws = np.random.default_rng(2).exponential(size=(3, 100))
    given = [moments(each) for each in draws]
    scaled = [Moments(each.variance * scale, each.std_error * scale, each.skewness, 100) for each in given]
    assert pool_moments(scaled).carriers == pytest.approx(pool_moments(given).carriers)
    assert pool_moments(scaled).skewness == pytest.approx(pool_moments(given).skewness)


@pytest.mark.parametrize("events", [1, 4, 12, 30])
def test_rare_events_count_as_so_many_carriers(events):
    # a little more: the squares of later draws are taken about a mean that the first events have moved
    assert events <= pool_of(rare(events, draws=1000)).carriers < 1.15 * events


def test_too_few_carriers_say_nothing():
    for events in (0, 1, 4):
        trials = rare(events)
        pool = pool_of(trials)
        interval = spread_interval(variances(trials), pool)
        assert (interval.low, interval.high) == (0, math.inf)
        assert math.isnan(unbiased_probability(np.mean(trials, axis=1) - 0.5, pool))
        assert bias_ends(np.mean(trials, axis=1), pool)[1] == math.inf
        assert pair_spreads([1.0] * 5, pool_of(rare(200)), variances(trials), pool) is None


def test_a_few_carriers_allow_a_lower_end_only():
    trials = rare(15)
    pool = pool_of(trials)
    assert FEWEST_CARRIERS < pool.carriers < math.sqrt(500)
    low, high = spread_ends(variances(trials), pool)
    assert 0 < low < np.mean(variances(trials))
    assert high == math.inf


@pytest.mark.parametrize("trials", [1, 5])
def test_the_ends_are_those_of_students_t(trials):
    draws = np.random.default_rng(8).normal(size=(trials, 250 // trials))
    values, pool = variances(draws), pool_of(draws)
    if trials == 1:
        error, freedom = values[0] * pool.noise, draws.size - 2
    else:
        error, freedom = np.std(values, ddof=1) / math.sqrt(trials), trials - 1
    found = spread_interval(values, pool, 0.9)
    half = t_quantile(0.9, freedom) * error
    assert (found.low, found.high) == pytest.approx((np.mean(values) - half, np.mean(values) + half))


def test_variances_of_runs_that_agree_by_chance_have_the_least_probable_spread():
    pool = pool_of(np.random.default_rng(9).normal(size=(5, 200)))
    found = spread_interval([1.0] * 5, pool)
    assert found.high - 1 == pytest.approx(t_quantile(0.95, 4) * least_spread(5) * pool.noise)


@pytest.mark.parametrize(("draws", "enough"), [(50, 8), (900, 30), (3600, 60), (10**6, 60)])
def test_the_root_of_the_draws_must_carry_the_variance_for_all_ends_and_8_of_them_for_a_lower_one(
    draws, enough
):
    for carriers in (7.9, 8.1, enough - 0.1, enough + 0.1):
        pool = pool_draws([1.0] * 5, [0.1] * 5, [0.1] * 5, [draws // 5] * 5)
        pool = replace(pool, carriers=np.asarray(carriers))
        assert bool(pool.decisive) is (carriers > 8)
        assert bool(pool.broad) is (carriers > enough)
        low, high = spread_ends([1.0, 1.1, 0.9, 1.0, 1.0], pool)
        assert (low > 0, high < math.inf) == (carriers > 8, carriers > enough)
        assert math.isnan(unbiased_probability([0.1, 0.2, 0.0, 0.1, 0.1], pool)) is (carriers < enough)


@pytest.mark.parametrize(("trials", "most"), [(1, 0.25), (2, 0.5), (5, 0.32), (20, 0.23)])
def test_the_fewer_runs_the_more_skewness_an_upper_end_bears(trials, most):
    pool = pool_of(np.random.default_rng(10).normal(size=(trials, 400)))
    assert replace(pool, skewness=np.asarray(0.99 * most)).known_above
    assert not replace(pool, skewness=np.asarray(1.01 * most)).known_above


def test_a_variance_without_an_upper_end_bounds_a_ratio_on_one_side():
    rng = np.random.default_rng(3)
    light, heavy = rng.normal(size=(5, 400)), rare(15) * 30
    calm, wild = pool_of(light), pool_of(heavy)
    worse = pair_spreads(variances(heavy), wild, variances(light), calm).interval(0.95)
    assert 0 < worse.low < worse.high == math.inf
    better = pair_spreads(variances(light), calm, variances(heavy), wild)
    assert better.interval(0.95).low == 0
    assert better.interval(0.95).high == pytest.approx(1 / worse.low)
    unknown = pair_spreads(variances(heavy), wild, variances(heavy) * 9, wild)
    assert (unknown.difference, unknown.equality) == (1, 1)


def test_a_variance_that_is_known_to_be_infinite_has_no_upper_end_however_calm_the_draws():
    calm = np.random.default_rng(5).normal(size=(5, 1000))
    known = pool_of(calm)
    endless = pool_moments([replace(moments(draws), finite=False) for draws in calm])
    interval = spread_interval(variances(calm), endless)
    assert interval.low == spread_interval(variances(calm), known).low > 0
    assert interval.high == math.inf
    worse = pair_spreads(variances(calm), endless, variances(calm) / 4, known)
    assert 3 < worse.interval(0.95).low < worse.interval(0.95).high == math.inf
    better = pair_spreads(variances(calm) / 4, endless, variances(calm), known)
    assert better.interval(0.95).high == math.inf


def test_a_repetition_that_never_varied_leaves_nothing_to_compare():
    # 40 of 1,000 draws in some repetitions and none in one
    trials = np.concatenate([np.zeros((1, 1000)), rare(160, trials=4, draws=1000)])
    pool = pool_of(trials)
    assert pool.known_above
    light = np.random.default_rng(4).normal(size=(5, 1000))
    assert pair_spreads(variances(trials), pool, variances(light), pool_of(light)) is None
    ends = log_ratios(variances(light), pool_of(light), variances(trials), pool)
    assert [np.unique(each).tolist() for each in ends] == [[-math.inf], [math.inf]]


def test_the_ends_of_many_ratios_at_once_are_those_of_each_alone():
    draws = np.random.default_rng(12).exponential(size=(2, 3, 5, 300))
    above, below = variances(draws)
    pools = [[pool_of(each) for each in group] for group in draws]
    together = [
        pool_draws(*([[[getattr(each, name) for each in map(moments, trials)] for trials in group]
                      for name in ("variance", "std_error", "skewness", "draws")]))
        for group in (draws[0], draws[1])
    ]  # fmt: skip
    low, high = log_ratios(above, together[0], below, together[1])
    for number in range(3):
        alone = log_ratios(above[number], pools[0][number], below[number], pools[1][number])
        assert np.array_equal(alone, (low[number], high[number]))


def test_equal_means_of_repetitions_by_coincidence_are_not_a_sure_bias():
    draws = np.tile(np.repeat([0.0, 1.0], [70, 30]), (3, 1))
    for row in draws:
        np.random.default_rng(5).shuffle(row)
    pool = pool_of(draws)
    assert unbiased_probability([0.01] * 3, pool) > 0.05
    low, high = bias_ends([0.01] * 3, pool)
    assert low < 0 < high
    assert unbiased_probability([0.3] * 3, pool) < 0.05


def test_of_two_repetitions_no_bias_is_tested():
    pool = pool_of(np.random.default_rng(6).normal(size=(2, 100)))
    assert math.isnan(unbiased_probability([9.0, 9.1], pool))


def test_many_estimators_at_once_are_each_as_if_alone():
    rng = np.random.default_rng(7)
    trials = [[moments(each) for each in rng.exponential(size=(4, 60))] for _ in range(3)]
    columns = [
        [[getattr(each, name) for each in group] for group in trials]
        for name in ("variance", "std_error", "skewness", "draws")
    ]
    together = pool_draws(*columns)
    values = np.array(columns[0])
    lows, highs = spread_ends(values, together)
    for group, row, low, high in zip(trials, values, lows, highs, strict=True):
        alone = spread_interval(row, pool_moments(group))
        assert (alone.low, alone.high) == pytest.approx((low, high))
