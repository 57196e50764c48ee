"""Values, derivatives and Chebyshev series, against mpmath at up to degree 2000."""

from __future__ import annotations

import math

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
# (sign, log |b_j|) at these degrees, by mpmath with 50 digits: closed forms, and for x log x the definition
SERIES = {
    (Log(), (0.05, 0.95)): [
        (-1, 0.024214028501375934),
        (1, 0.22600187245668327),
        (-1, -0.93429061620652409),
        (-1, -6.2808909934667208),
        (-1, -31.429915867857878),
        (-1, -41.0605041023749),
        (-1, -239.09411496949327),
        (-1, -941.19837148550622),
    ],
    (Inverse(), (0.05, 0.95)): [
        (1, 1.5235127839707708),
        (-1, 1.749514656427454),
        (1, 1.282369348324192),
        (1, -2.4547931165019044),
        (1, -25.812058521665007),
        (1, -35.154964683730247),
        (1, -231.35599408710031),
        (1, -932.07395624199337),
    ],
    (Power(0.5), (0.05, 0.95)): [
        (1, -0.41611769560320359),
        (1, -1.0326746964590645),
        (-1, -2.944073574386455),
        (-1, -9.3787948686491396),
        (-1, -35.490197907483852),
        (-1, -45.268134202361017),
        (-1, -244.22696959991509),
        (-1, -947.02566124461809),
    ],
    (Power(-2.5), (0.05, 0.95)): [
        (1, 5.202241581592837),
        (-1, 5.8348516178888695),
        (1, 5.6928165730639646),
        (1, 3.3832684589417854),
        (1, -17.599691988940651),
        (1, -26.528376934071608),
        (1, -220.02491348177473),
        (1, -918.66986678560368),
    ],
    (Power(0.001), (0.05, 0.95)): [
        (1, -0.0010240694786778718),
        (1, -6.6830064949463083),
        (-1, -7.8443820418795522),
        (-1, -13.192943536416354),
        (-1, -38.343848167993484),
        (-1, -47.974728755526115),
        (-1, -246.01018411535283),
        (-1, -948.1158286443974),
    ],
    (Log(), (0.001, 3.7)): [
        (-1, -3.0933652088161479),
        (1, 0.66026442047451803),
        (-1, -0.065765520170854564),
        (-1, -1.9382655132883732),
        (-1, -5.3741629867877923),
        (-1, -6.3195002609481188),
        (-1, -21.962840960575887),
        (-1, -72.673275449836701),
    ],
    (Inverse(), (0.001, 3.7)): [
        (1, 2.7997112296659791),
        (-1, 3.4599756501404971),
        (1, 3.4270928900550699),
        (1, 3.1640308093716516),
        (1, 1.5198928051002875),
        (1, 0.86223760339174187),
        (1, -12.948521632487716),
        (1, -62.272661760628639),
    ],
    (Power(0.5), (0.001, 3.7)): [
        (1, 0.20325844786478095),
        (1, -0.20463780226406776),
        (-1, -1.8192285198656813),
        (-1, -5.1931807975259443),
        (-1, -9.9311082145105667),
        (-1, -11.054080868917146),
        (-1, -27.713354788252277),
        (-1, -79.133433025526716),
    ],
    (Power(-2.5), (0.001, 3.7)): [
        (1, 12.304499218667463),
        (-1, 12.997375636456002),
        (1, 12.996566559708138),
        (1, 12.971720582747178),
        (1, 12.334128504453218),
        (1, 11.948433918121357),
        (1, 0.39896836667798354),
        (1, -46.928119175914166),
    ],
    (Power(0.001), (0.001, 3.7)): [
        (1, -4.3951407757171634e-5),
        (1, -6.2483476112692649),
        (-1, -6.9757462096687604),
        (-1, -8.8509156018137831),
        (-1, -12.28918128164478),
        (-1, -13.234852024607752),
        (-1, -28.880159018348723),
        (-1, -79.592001824885246),
    ],
    (Exp(), (-1.0, 1.0)): [
        (1, 0.23591435850717865),
        (1, 0.12249919306911403),
        (1, -1.303810305375822),
        (1, -21.320031397413096),
        (1, -229.51975885149701),
        (1, -328.4286651882587),
        (1, -2957.2104025578208),
        (1, -14592.12543951561),
    ],
    (Exp(), (0.0, 50.0)): [
        (1, 47.476728004999244),
        (1, 48.149459653035294),
        (1, 48.088249299350436),
        (1, 46.156733677921972),
        (1, -8.8800747211292597),
        (1, -44.014688551002516),
        (1, -1322.4612096772419),
        (1, -8129.2958302824666),
    ],
    (XLogX(), (0.05, 0.95)): [
        (-1, -1.4688079490101473),
        (1, -2.5592182476593454),
        (1, -2.0991603485357358),
        (1, -9.8903994911615427),
        (1, -37.009972321197446),
        (1, -46.937613780561475),
        (1, -246.82765403142831),
        (1, -950.32164005774176),
    ],
    (XLogX(), (0.001, 3.7)): [
        (1, 0.5340071754809916),
        (1, 0.96756044346194369),
        (1, -0.485250828269555),
        (1, -5.6337215953699895),
        (1, -11.857797563369609),
        (1, -13.178798813162207),
        (1, -30.918091409474967),
        (1, -83.058792400325806),
    ],
}


@pytest.mark.parametrize(("function", "interval"), SERIES, ids=str)
def test_series_is_that_of_mpmath_up_to_degree_2000(function, interval):
    signs, logs = function.log_coefficients(interval, 2000)
    expected = np.array(SERIES[function, interval])
    np.testing.assert_array_equal(signs[DEGREES], expected[:, 0])
    # a logarithm of size 14592 has no digits below 2e-12: there, one unit of its last place
    error = np.abs(logs[DEGREES] - expected[:, 1])
    assert np.all(error <= np.maximum(1e-12, np.spacing(np.abs(expected[:, 1]))))


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
