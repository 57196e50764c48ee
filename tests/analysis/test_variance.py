from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from benchfw.analysis.variance import (
    FEWEST_DRAWS,
    FEWEST_EQUAL_DRAWS,
    DrawStatistics,
)
from benchfw.errors import BenchfwError


def fed(draws, exact=None):
    statistics = DrawStatistics(exact)
    for draw in draws:
        statistics.add(draw)
    return statistics


@given(arrays(np.float64, st.tuples(st.integers(2, 30), st.integers(1, 4)), elements=st.floats(-1e3, 1e3)))
def test_streamed_moments_are_those_of_the_whole_sample(draws):
    statistics = fed(draws, np.zeros(draws.shape[1]))
    np.testing.assert_allclose(statistics.mean, draws.mean(axis=0), atol=1e-9)
    assert statistics.variance == pytest.approx(draws.var(axis=0, ddof=1).sum(), rel=1e-9, abs=1e-9)
    assert statistics.mse == pytest.approx((draws**2).sum(axis=1).mean(), rel=1e-9, abs=1e-9)


def test_scalar_bias_is_the_signed_error_of_the_mean():
    statistics = fed([1.0, 2.0, 6.0], exact=5.0)
    assert statistics.bias == pytest.approx(-2)
    assert statistics.mse == pytest.approx((16 + 9 + 1) / 3)


def test_the_exact_value_is_that_at_the_start_though_its_array_is_written_again():
    exact = np.zeros(3)
    statistics = DrawStatistics(exact)
    exact += 7.0
    for _ in range(4):
        statistics.add(np.ones(3))
    assert statistics.mse == pytest.approx(3.0)


def test_a_large_mean_does_not_spoil_the_variance():
    draws = np.random.default_rng(0).normal(0, 1, 4000)
    near, far = fed(draws), fed(draws + 1e8)
    # 1e8 + x keeps x to about 1.5e-8
    assert far.variance == pytest.approx(near.variance, rel=1e-6)
    assert far.variance_std_error == pytest.approx(near.variance_std_error, rel=1e-6)


@pytest.mark.parametrize(("name", "kurtosis"), [("normal", 3.0), ("uniform", 1.8), ("laplace", 6.0)])
def test_std_error_of_the_variance_tends_to_the_fourth_moment_formula(name, kurtosis):
    draws = getattr(np.random.default_rng(6), name)(size=20_000)
    statistics = fed(draws)
    expected = draws.var() * math.sqrt((kurtosis - 1) / len(draws))
    assert statistics.variance_std_error == pytest.approx(expected, rel=0.06)


def test_vector_bias_is_centred_at_zero_for_an_unbiased_estimator():
    rng = np.random.default_rng(8)
    biases = [fed(rng.normal(0, 1, (40, 10)), np.zeros(10)).bias for _ in range(600)]
    std_error = np.std(biases) / math.sqrt(len(biases))
    assert abs(np.mean(biases)) < 4 * std_error
    # the plain length of the mean error would be about sqrt(10 / 40) = 0.5 here
    assert std_error < 0.02


def test_vector_bias_tends_to_its_length():
    rng = np.random.default_rng(9)
    shift = np.array([3.0, -4.0, 0.0, 0.0])
    biases = [fed(rng.normal(shift, 1, (300, 4)), np.zeros(4)).bias for _ in range(200)]
    std_error = np.std(biases) / math.sqrt(len(biases))
    # second order: the directions of the two halves turn by (d - 1) / (n |b|), each way
    assert abs(np.mean(biases) - 5) < 4 * std_error + 3 / (300 * 5) * 2


def test_odd_and_even_halves_are_told_apart():
    draws = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 0.0], [0.0, 2.0], [1.0, 0.0]])
    assert fed(draws, np.zeros(2)).bias == pytest.approx(0, abs=1e-15)
    draws[:, :] = [3.0, 4.0]
    assert fed(draws, np.zeros(2)).bias == pytest.approx(5)


def test_many_equal_draws_have_no_variance_and_need_no_more():
    statistics = fed([np.ones(3)] * FEWEST_EQUAL_DRAWS, np.ones(3))
    assert set(statistics.metrics().values()) == {0}
    assert statistics.relative_half_width() == 0


def test_an_estimator_with_rare_events_is_not_called_precise_before_one_came():
    chance = 0.01
    draws = np.where(np.random.default_rng(11).random(400) < chance, 1 / chance, 0.0)
    first = int(np.flatnonzero(draws)[0])
    assert first > FEWEST_DRAWS
    assert all(fed(draws[:n]).relative_half_width() == math.inf for n in range(FEWEST_DRAWS, first))
    # and one event among the draws tells the variance no better than by its own size
    assert fed(draws[: first + 1]).relative_half_width() > 1


@pytest.mark.parametrize("shape", [(), (3,)])
def test_rounding_is_reported_neither_as_variance_nor_as_bias(shape):
    exact = np.full(shape, 0.1)
    near = [np.nextafter(exact, -1), exact, np.nextafter(exact, 1)]
    rng = np.random.default_rng(12)
    statistics = fed([near[i] for i in rng.integers(0, 3, FEWEST_EQUAL_DRAWS)], exact)
    assert (statistics.variance, statistics.bias) == (0, 0)
    assert statistics.relative_half_width() == 0
    # a spread that is small, but not rounding, is not lost: doubles near 1e15 are 1/8 apart
    assert fed(0.1 + 1e-12 * rng.standard_normal(100)).variance == pytest.approx(1e-24, rel=0.5)
    large = fed(1e15 + rng.standard_normal(1000), 1e15)
    assert large.variance == pytest.approx(1.0, rel=4 * math.sqrt(2 / 1000))
    assert large.mse == pytest.approx(large.variance, rel=0.02)


@pytest.mark.parametrize("shape", [(), (3,)])
def test_an_error_of_the_mean_in_the_last_places_is_not_a_bias(shape):
    exact = np.full(shape, 0.1)
    assert fed([exact * (1 + 4 * 2.0**-52)] * 40, exact).bias == 0
    assert fed([exact * (1 + 1e-13)] * 40, exact).bias == pytest.approx(
        1e-14 * math.sqrt(exact.size), rel=0.01
    )


def test_few_draws_are_never_precise_enough():
    assert fed([1.0] * (FEWEST_DRAWS - 1)).relative_half_width() == math.inf


def test_relative_half_width_falls_with_the_root_of_the_draws():
    draws = np.random.default_rng(10).normal(size=10_000)
    # the variance of a normal sample has relative standard error sqrt(2 / n)
    assert fed(draws).relative_half_width() == pytest.approx(1.96 * math.sqrt(2 / 10_000), rel=0.1)


def test_without_the_exact_value_only_the_spread_is_known():
    names = {"variance", "variance_std_error", "variance_skewness"}
    assert set(fed([1.0, 2.0, 4.0]).metrics()) == names
    assert set(fed([np.ones(2)] * 3).metrics()) == names | {"worst_variance"}


def test_matrices_and_python_floats_are_draws_too():
    assert fed([np.ones((2, 2)), np.zeros((2, 2))], np.zeros((2, 2))).variance == pytest.approx(2)
    assert fed([1, 2.0]).variance == pytest.approx(0.5)


def test_one_draw_says_nothing():
    statistics = fed([1.0], exact=0.0)
    assert all(math.isnan(value) for value in statistics.metrics().values())


def test_a_draw_of_another_size_than_the_exact_answer_is_refused():
    with pytest.raises(BenchfwError, match="3 values and the exact answer 2"):
        DrawStatistics(np.zeros(2)).add(np.zeros(3))


@given(arrays(np.float64, st.tuples(st.integers(3, 30), st.integers(1, 4)), elements=st.floats(-1e3, 1e3)))
def test_streamed_skewness_and_worst_coordinate_are_those_of_the_whole_sample(draws):
    from scipy.stats import skew

    statistics = fed(draws)
    numbers = np.arange(2, len(draws) + 1)[:, None]
    means = (np.cumsum(draws, axis=0)[:-1]) / (numbers - 1)
    increments = np.sum((numbers - 1) / numbers * (draws[1:] - means) ** 2, axis=1)
    if np.std(increments) > 1e-6 * max(np.mean(increments), 1e-12):
        assert statistics.variance_skewness == pytest.approx(skew(increments), rel=1e-4, abs=1e-4)
    assert statistics.worst_variance == pytest.approx(draws.var(axis=0, ddof=1).max(), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("exponent", [-240, -120, 120, 240])
def test_statistics_of_very_large_and_very_small_draws_are_those_of_others_rescaled(exponent):
    draws, unit = np.random.default_rng(4).exponential(1, (60, 2)), 2.0**exponent
    plain, scaled = fed(draws, np.ones(2)), fed(draws * unit, np.ones(2) * unit)
    assert scaled.variance == plain.variance * unit**2
    assert scaled.variance_std_error == plain.variance_std_error * unit**2
    assert scaled.variance_skewness == plain.variance_skewness
    assert scaled.worst_variance == plain.worst_variance * unit**2
    assert scaled.mse == pytest.approx(plain.mse * unit**2)
    assert not scaled.out_of_range


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("scale", [1e-170, 1e-100, 1e100, 1e200])
def test_a_variance_whose_square_is_beyond_double_precision_is_out_of_range(scale):
    assert fed(np.random.default_rng(5).normal(0, scale, 50), 0.0).out_of_range
    assert not fed(np.full(50, scale), 0.0).out_of_range


def test_a_small_first_difference_does_not_fix_the_unit():
    draws = np.random.default_rng(6).normal(0, 1, 200)
    late = fed([1.0, 1.0 + 1e-15, *draws])
    assert late.variance == pytest.approx(np.var([1.0, 1.0, *draws], ddof=1))
    assert fed([0.0, 1e-200, *draws]).variance == pytest.approx(np.var([0.0, 0.0, *draws], ddof=1))
