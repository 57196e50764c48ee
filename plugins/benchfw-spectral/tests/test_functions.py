"""Values, derivatives and Chebyshev series, against mpmath at up to degree 2000."""

from __future__ import annotations

import math
from pathlib import Path

import array_api_strict
import numpy as np
import pytest
from numpy.polynomial.chebyshev import chebval

from benchfw import BenchfwError
from benchfw_spectral.functions import Analytic, Exp, Inverse, Log, Power, XLogX, get_function, radius_through

WIDE = (0.05, 0.95)
EVERY = [Log(), Inverse(), Power(0.5), Power(-2.5), Power(3.0), XLogX(), Exp()]
POSITIVE = EVERY[:-1]

DEGREES = [0, 1, 2, 10, 60, 80, 500, 2000]


def read_series():
    """Yield function, interval, and signs and logarithms of |b_j| at these degrees.

    By mpmath with 50 digits: closed forms, and for x log x the definition.
    """
    lines = (Path(__file__).parent / "chebyshev_series.txt").read_text().splitlines()
    for head, *rows in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
        (name, *exponent), ends = (part.split() for part in head.split(" on "))
        function = Power(float(exponent[0])) if exponent else get_function(name)
        words = " ".join(rows).split()
        signs = np.array([{"+": 1, "-": -1}[sign] for sign in words[::2]])
        yield function, tuple(map(float, ends)), signs, np.array(words[1::2], dtype=float)


@pytest.mark.parametrize(("function", "interval", "expected_signs", "expected"), list(read_series()))
def test_series_is_that_of_mpmath_up_to_degree_2000(function, interval, expected_signs, expected):
    signs, logs = function.log_coefficients(interval, 2000)
    np.testing.assert_array_equal(signs[DEGREES], expected_signs)
    # a logarithm of size 14592 has no digits below 2e-12: there, one unit of its last place
    error = np.abs(logs[DEGREES] - expected)
    assert np.all(error <= np.maximum(1e-12, np.spacing(np.abs(expected))))


@pytest.mark.parametrize("function", EVERY, ids=str)
@pytest.mark.parametrize("interval", [WIDE, (1.0, 1.01), (0.4, 30.0)])
def test_series_sums_to_the_function(function, interval):
    low, high = interval
    x = np.linspace(low, high, 101)
    total = chebval((2 * x - low - high) / (high - low), function.coefficients(interval, 200))
    np.testing.assert_allclose(total, function(x), rtol=0, atol=2e-13 * np.abs(function(x)).max())


@pytest.mark.parametrize("function", EVERY, ids=str)
@pytest.mark.parametrize("degree", [0, 1, 2, 3])
def test_short_series_are_the_start_of_long_ones(function, degree):
    np.testing.assert_allclose(
        function.coefficients(WIDE, degree), function.coefficients(WIDE, 50)[: degree + 1], rtol=1e-14, atol=0
    )


@pytest.mark.parametrize("exponent", [0.5, -1.0, -0.5])
def test_powers_are_accurate_where_the_decay_is_nearly_1(exponent):
    # mpmath, [1e-8, 1]: log |b_2000|
    expected = {0.5: -16.48150514317373, -1.0: 9.503487551202795, -0.5: 0.3499964810007717}[exponent]
    _, logs = Power(exponent).log_coefficients((1e-8, 1.0), 2000)
    assert abs(logs[-1] - expected) < 1e-12


def test_power_minus_one_is_the_inverse():
    for one, other in zip(
        Power(-1.0).log_coefficients(WIDE, 300), Inverse().log_coefficients(WIDE, 300), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-13)


@pytest.mark.parametrize("degree", [0, 1, 2, 3])
def test_series_of_a_polynomial_ends(degree):
    signs, logs = Power(float(degree)).log_coefficients(WIDE, 20)
    assert np.all(signs[: degree + 1] == 1)
    assert np.all(signs[degree + 1 :] == 0)
    assert np.all(logs[degree + 1 :] == -np.inf)


@pytest.mark.parametrize("function", EVERY, ids=str)
def test_derivative_is_the_slope(function):
    x, step = np.array([0.3, 1.0, 2.5]), 1e-5
    slope = (function(x + step) - function(x - step)) / (2 * step)
    np.testing.assert_allclose(function.derivative(x), slope, rtol=1e-7)


@pytest.mark.parametrize("function", EVERY, ids=str)
def test_values_stay_in_the_namespace_of_their_array(function):
    x = array_api_strict.asarray([0.5, 2.0])
    for result in (function(x), function.derivative(x)):
        assert result.__array_namespace__() is array_api_strict
    np.testing.assert_allclose(np.asarray(function(x)), function(np.array([0.5, 2.0])), rtol=1e-15)


@pytest.mark.parametrize("function", [*POSITIVE[:4], XLogX()], ids=str)
def test_decay_is_the_ratio_of_late_coefficients(function):
    _, logs = function.log_coefficients(WIDE, 4000)
    rate = (logs[4000] - logs[2000]) / 2000
    assert abs(rate + math.log(function.decay(WIDE, 10))) < 3e-3  # powers of j are still seen
    assert function.decay(WIDE, 10) == pytest.approx((19**0.5 + 1) / (19**0.5 - 1), rel=1e-14)


def test_decay_of_exp_is_twice_the_degree_over_the_half_width():
    assert Exp().decay((-1.0, 1.0), 10) == 20
    assert Exp().decay((0.0, 4.0), 10) == 10


@pytest.mark.parametrize("degree", [0, 0.3, 1, 5, 80])
@pytest.mark.parametrize("half", [0.01, 1.0, 1e3])
def test_decay_of_exp_is_above_1(degree, half):
    assert Exp().decay((-half, half), degree) > 1


@pytest.mark.parametrize("function", POSITIVE, ids=str)
@pytest.mark.parametrize("low", [0.0, -1.0])
def test_singular_functions_refuse_an_interval_that_touches_0(function, low):
    for ask in (function.check, lambda i: function.decay(i, 5), lambda i: function.log_coefficients(i, 5)):
        with pytest.raises(BenchfwError, match="not analytic at 0"):
            ask((low, 1.0))


@pytest.mark.parametrize("interval", [(1.0, 1.0), (2.0, 1.0), (0.1, math.inf), (math.nan, 1.0)])
@pytest.mark.parametrize("function", EVERY, ids=str)
def test_intervals_must_be_finite_and_not_empty(function, interval):
    with pytest.raises(BenchfwError, match="finite a < b"):
        function.check(interval)


def test_functions_have_names():
    assert get_function("log") == Log()
    assert get_function("sqrt") == get_function("power") == Power(0.5)
    assert get_function("power", exponent=-1.5) == Power(-1.5)
    assert [get_function(name) for name in ("exp", "xlogx", "inverse")] == [Exp(), XLogX(), Inverse()]
    assert get_function(Log()) == Log()
    with pytest.raises(BenchfwError, match="unknown function 'invers'; did you mean 'inverse'"):
        get_function("invers")


def real_log(x):
    if x.dtype.kind == "c":
        raise TypeError("real numbers only")
    return np.log(x)


def through_zero(interval):
    return radius_through(0, interval)


@pytest.mark.parametrize("degree", [0, 1, 30, 2000])
def test_own_function_that_takes_complex_numbers_is_accurate_at_any_degree(degree):
    signs, logs = Analytic(np.log, through_zero).log_coefficients(WIDE, degree)
    expected_signs, expected = Log().log_coefficients(WIDE, degree)
    np.testing.assert_array_equal(signs, expected_signs)
    np.testing.assert_allclose(logs, expected, rtol=0, atol=2e-12)


def test_own_function_that_is_real_stops_at_rounding_and_says_so():
    function = Analytic(real_log, through_zero)
    with pytest.warns(UserWarning, match="known to degree 5"):
        signs, _ = function.log_coefficients(WIDE, 100)
    exact = Log().coefficients(WIDE, 50)
    np.testing.assert_allclose(function.coefficients(WIDE, 50), exact, rtol=0, atol=1e-15)
    assert np.all(signs[60:] == 0)


def test_own_function_may_be_odd():
    function = Analytic(np.tanh, lambda interval: radius_through(0.5j * math.pi, interval))
    signs, logs = function.log_coefficients((-2.0, 2.0), 41)
    assert np.all(signs[::2] == 0)
    assert np.all(np.isfinite(logs[1::2]))
    x = np.linspace(-2, 2, 9)
    np.testing.assert_allclose(chebval(x / 2, function.coefficients((-2.0, 2.0), 80)), np.tanh(x), atol=1e-13)


@pytest.mark.parametrize("function", [np.sqrt, np.abs, real_log])
def test_own_function_with_too_large_a_radius_is_found_out(function):
    interval = (-1.0, 1.0) if function is np.abs else (0.0001, 1.0)
    with pytest.raises(BenchfwError, match="is not analytic inside the radius"):
        Analytic(function, 3.0).log_coefficients(interval, 50)


@pytest.mark.parametrize("radius", [1.0, math.inf, math.nan, -2.0])
def test_radius_must_be_finite_and_above_1(radius):
    with pytest.raises(BenchfwError, match="finite and above 1"):
        Analytic(np.log, radius).decay(WIDE, 5)


def test_own_function_knows_its_derivative_where_it_was_given():
    x = np.array([0.5])
    assert Analytic(np.log, 1.5, derivative=np.reciprocal).derivative(x) == 2
    with pytest.raises(BenchfwError, match="derivative of the function log is not known"):
        Analytic(np.log, 1.5).derivative(x)


@pytest.mark.parametrize("point", [0.0, -0.3, 2.0, 0.5 + 0.5j])
def test_radius_through_a_point_is_that_of_its_ellipse(point):
    radius, (low, high) = radius_through(point, WIDE), WIDE
    # the distances to both foci add to the long axis, ρ + 1/ρ in units of the half width
    distances = abs(point - low) + abs(point - high)
    assert radius + 1 / radius == pytest.approx(2 * distances / (high - low), rel=1e-12)
