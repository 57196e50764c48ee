from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from benchfw.analysis.bias import bias_interval, unbiased_probability
from benchfw.analysis.draws import (
    FEWEST_CARRIERS,
    Moments,
    least_spread,
    log_ratios,
    pair_spreads,
    pool_draws,
    pool_moments,
    spread_ends,
    spread_interval,
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
        assert bias_interval(np.mean(trials, axis=1), pool).high == math.inf
        assert (
            pair_spreads([1.0] * 5, [0.1] * 5, pool_of(rare(200)), variances(trials), [0.1] * 5, pool) is None
        )


def test_a_few_carriers_allow_a_lower_end_only():
    trials = rare(15)
    pool = pool_of(trials)
    assert FEWEST_CARRIERS < pool.carriers < math.sqrt(500)
    low, high = spread_ends(variances(trials), pool)
    assert 0 < low < np.mean(variances(trials))
    assert high == math.inf


@pytest.mark.parametrize("trials", [1, 5])
def test_the_ends_are_those_of_students_t_with_the_skewness_of_the_draws_taken_out(trials):
    """Hall 1992: t + g t²/3 + g² t³/27 + g/6 is Student's, with g the skewness of the mean."""
    draws = np.random.default_rng(8).normal(size=(trials, 250 // trials))
    values, pool = variances(draws), pool_of(draws)
    assert pool.skewness > 0.1
    if trials == 1:
        error, freedom = values[0] * pool.noise, draws.size - 2
    else:
        error, freedom = np.std(values, ddof=1) / math.sqrt(trials), trials - 1
    found = spread_interval(values, pool, 0.9)
    for end, side in ((found.low, 1), (found.high, -1)):
        t, g = (np.mean(values) - end) / error, pool.skewness
        assert t + g * t**2 / 3 + g**2 * t**3 / 27 + g / 6 == pytest.approx(side * t_quantile(0.9, freedom))


def test_runs_that_end_after_unlike_numbers_of_draws_may_have_stopped_by_what_they_drew():
    rng, counts = np.random.default_rng(9), [100, 150, 200, 250, 300]
    draws = [rng.normal(size=count) for count in counts]
    pool, values = pool_of(draws), np.array([np.var(each, ddof=1) for each in draws])
    assert pool.unevenness == pytest.approx(np.std(counts, ddof=1) / 200)
    assert pool_of(rng.normal(size=(5, 200))).unevenness == 0
    assert pool_of(draws[:1]).unevenness == 0
    even = replace(pool, unevenness=np.zeros(()))
    # by the unevenness times the standard deviation of one repetition
    error = max(np.std(values, ddof=1) / math.sqrt(5), least_spread(5) * pool.noise * np.mean(values))
    moved = pool.unevenness * math.sqrt(5) * error
    found, narrow = (spread_interval(values, each) for each in (pool, even))
    assert narrow.low - found.low == pytest.approx(moved)
    assert found.high - narrow.high == pytest.approx(moved)
    errors = [math.sqrt(2 / count) for count in counts]
    wide, alone = (
        pair_spreads(values, errors, each, 2 * values, errors, each).interval(0.95) for each in (pool, even)
    )
    both = 2 * pool.noise * pool.unevenness * math.sqrt(5)
    assert math.log(wide.high / alone.high) == pytest.approx(both)
    assert math.log(alone.low / wide.low) == pytest.approx(both)


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
    (calm, wild), errors = (pool_of(light), pool_of(heavy)), np.full(5, 0.07)
    worse = pair_spreads(variances(heavy), errors, wild, variances(light), errors, calm).interval(0.95)
    assert 0 < worse.low < worse.high == math.inf
    better = pair_spreads(variances(light), errors, calm, variances(heavy), errors, wild)
    assert better.interval(0.95).low == 0
    assert better.interval(0.95).high == pytest.approx(1 / worse.low)
    unknown = pair_spreads(variances(heavy), errors, wild, variances(heavy) * 9, errors, wild)
    assert (unknown.difference, unknown.equality) == (1, 1)


def test_what_logarithms_of_variances_lack_is_added_back_where_it_does_not_cancel():
    rng = np.random.default_rng(11)
    for law, alike in ((rng.normal, True), (rng.exponential, False)):
        light, other = rng.normal(size=(5, 400)), law(size=(5, 400))
        values, others = variances(light), variances(other)
        errors = [np.full(5, each) for each in (math.sqrt(2 / 400), math.sqrt(8 / 400))]
        ends = log_ratios(others, errors[1], pool_of(other), values, errors[0], pool_of(light))
        lacking = 0.0 if alike else (8 - 2) / 400 / 2
        for end in ends:
            assert end == pytest.approx(np.log(others / values) + lacking)


@pytest.mark.parametrize(
    ("noise", "skewness", "matched"), [(1.5, 3.0, True), (1.6, 3.0, False), (1.5, 3.2, False)]
)
def test_tails_that_are_nearly_as_heavy_cancel_in_a_ratio_of_five_runs(noise, skewness, matched):
    draws = np.random.default_rng(12).normal(size=(5, 400))
    pool, values, errors = pool_of(draws), variances(draws), np.full(5, 0.07)
    other = replace(pool, skewness=np.asarray(0.15))
    heavy = replace(pool, noise=noise * other.noise, skewness=skewness * other.skewness)
    assert other.known_above
    assert not heavy.known_above
    low, high = log_ratios(values, errors, heavy, values, errors, other)
    assert np.all(np.isfinite(low))
    assert np.all(np.isfinite(high)) == matched


def test_a_variance_that_is_known_to_be_infinite_has_no_upper_end_however_calm_the_draws():
    calm = np.random.default_rng(5).normal(size=(5, 1000))
    known, errors = pool_of(calm), np.full(5, 0.07)
    endless = pool_moments([replace(moments(draws), finite=False) for draws in calm])
    interval = spread_interval(variances(calm), endless)
    assert interval.low == spread_interval(variances(calm), known).low > 0
    assert interval.high == math.inf
    worse = pair_spreads(variances(calm), errors, endless, variances(calm) / 4, errors, known)
    assert 3 < worse.interval(0.95).low < worse.interval(0.95).high == math.inf
    better = pair_spreads(variances(calm) / 4, errors, endless, variances(calm), errors, known)
    assert better.interval(0.95).high == math.inf


def test_a_repetition_that_never_varied_leaves_the_ratio_of_the_means():
    # 40 of 1,000 draws in some repetitions and none in one: the mean ratio is known, that of logs is not
    trials = np.concatenate([np.zeros((1, 1000)), rare(160, trials=4, draws=1000)])
    pool = pool_of(trials)
    assert pool.known_above
    light = np.random.default_rng(4).normal(size=(5, 1000))
    errors = np.full(5, 0.1)
    found = pair_spreads(variances(trials), errors, pool, variances(light), errors, pool_of(light))
    expected = np.mean(variances(trials)) / np.mean(variances(light))
    assert found.interval(0.95).estimate == pytest.approx(expected)


def test_equal_means_of_repetitions_by_coincidence_are_not_a_sure_bias():
    draws = np.tile(np.repeat([0.0, 1.0], [70, 30]), (3, 1))
    for row in draws:
        np.random.default_rng(5).shuffle(row)
    pool = pool_of(draws)
    assert unbiased_probability([0.01] * 3, pool) > 0.05
    interval = bias_interval([0.01] * 3, pool)
    assert interval.low < 0 < interval.high
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
