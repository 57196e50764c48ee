"""Lemma 2 and Figure 1 of Han, Avron & Shin (2018), against mpmath and a simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.polynomial.chebyshev import chebval

from benchfw_spectral.distributions import (
    Deterministic,
    Geometric,
    NegativeBinomial,
    Optimal,
    Oracle,
    Poisson,
)
from benchfw_spectral.functions import Analytic, Inverse, Log, Power, XLogX, radius_through
from benchfw_spectral.variance import log_weighted_variance, partial_variance, weighted_variance

INTERVALS = {"log": (0.05, 0.95), "sqrt": (0.05, 0.95), "exp": (-1.0, 1.0)}
LAWS = {
    "optimal": Optimal,
    "shape 5": NegativeBinomial,
    "shape 1": lambda mean: NegativeBinomial(mean, shape=1),
    "poisson": Poisson,
}
MEANS = range(5, 101, 5)
# logarithms of the variance at these means, by mpmath with 600 digits from the masses of each law (exp with
# ρ = 2N); the Poisson law diverges for log and sqrt, and stands there with its sum up to the smallest term
FIGURE_1 = {
    ("log", "optimal"): [
        -4.69715685,
        -10.7002545,
        -16.1401621,
        -21.3595011,
        -26.4583520,
        -31.4807236,
        -36.4500693,
        -41.3804247,
        -46.2808757,
        -51.1576501,
        -56.0152060,
        -60.8568469,
        -65.6850892,
        -70.5018946,
        -75.3088226,
        -80.1071333,
        -84.8978595,
        -89.6818588,
        -94.4598506,
        -99.2324449,
    ],
    ("log", "shape 5"): [
        -2.02873973,
        -4.00545858,
        -5.38710318,
        -6.46177999,
        -7.34360225,
        -8.09202730,
        -8.74241076,
        -9.31759885,
        -9.83324506,
        -10.3005571,
        -10.7278412,
        -11.1214266,
        -11.4862486,
        -11.8262307,
        -12.1445437,
        -12.4437869,
        -12.7261181,
        -12.9933480,
        -13.2470113,
        -13.4884196,
    ],
    ("log", "shape 1"): [
        -0.435749225,
        -1.14470441,
        -1.55528854,
        -1.84550335,
        -2.07015814,
        -2.25348373,
        -2.40834990,
        -2.54241699,
        -2.66061614,
        -2.76630921,
        -2.86189125,
        -2.94912902,
        -3.02936319,
        -3.10363519,
        -3.17277016,
        -3.23743297,
        -3.29816723,
        -3.35542307,
        -3.40957744,
        -3.46094914,
    ],
    ("log", "poisson"): [
        -3.19342787,
        -7.37295856,
        -11.2161388,
        -14.8476369,
        -18.3424439,
        -21.7489835,
        -25.0957629,
        -28.3996919,
        -31.6713613,
        -34.9178161,
        -38.1439885,
        -41.3534751,
        -44.5489845,
        -47.7326100,
        -50.9060047,
        -54.0704972,
        -57.2271723,
        -60.3769270,
        -63.5205120,
        -66.6585617,
    ],
    ("sqrt", "optimal"): [
        -10.0488928,
        -16.9552325,
        -22.8489739,
        -28.3756195,
        -33.7077237,
        -38.9183858,
        -44.0457354,
        -49.1122723,
        -54.1324176,
        -59.1159826,
        -64.0699510,
        -68.9994735,
        -73.9084597,
        -78.7999479,
        -83.6763468,
        -88.5395986,
        -93.3912925,
        -98.2327452,
        -103.065060,
        -107.889172,
    ],
    ("sqrt", "shape 5"): [
        -4.94376415,
        -6.98074460,
        -8.40945195,
        -9.51707871,
        -10.4226644,
        -11.1888786,
        -11.8530215,
        -12.4391458,
        -12.9636820,
        -13.4383577,
        -13.8718381,
        -14.2707082,
        -14.6400897,
        -14.9840452,
        -15.3058512,
        -15.6081893,
        -15.8932812,
        -16.1629891,
        -16.4188888,
        -16.6623256,
    ],
    ("sqrt", "shape 1"): [
        -3.16716447,
        -3.86332885,
        -4.26978248,
        -4.55795570,
        -4.78139296,
        -4.96390991,
        -5.11819996,
        -5.25183578,
        -5.36969997,
        -5.47512537,
        -5.57048860,
        -5.65754418,
        -5.73762427,
        -5.81176428,
        -5.88078491,
        -5.94534771,
        -6.00599375,
        -6.06317120,
        -6.11725546,
        -6.16856408,
    ],
    ("sqrt", "poisson"): [
        -6.41915011,
        -11.2035178,
        -15.8017293,
        -20.1260043,
        -24.1329673,
        -27.8845276,
        -31.4737753,
        -34.9638639,
        -38.3885560,
        -41.7660977,
        -45.1074258,
        -48.4197924,
        -51.7083598,
        -54.9769772,
        -58.2286087,
        -61.4655926,
        -64.6898093,
        -67.9027951,
        -71.1058223,
        -74.2999571,
    ],
    ("exp", "optimal"): [
        -16.2757169,
        -44.5376533,
        -77.4639908,
        -113.555563,
        -152.045986,
        -192.468934,
        -234.510363,
        -277.944245,
        -322.600052,
        -368.344524,
        -415.070643,
        -462.690567,
        -511.130895,
        -560.329378,
        -610.232552,
        -660.794000,
        -711.973045,
        -763.733747,
        -816.044120,
        -868.875515,
    ],
    ("exp", "shape 5"): [
        -2.52711904,
        -4.55199743,
        -5.97442211,
        -7.07859704,
        -7.98209283,
        -8.74693637,
        -9.41012325,
        -9.99554814,
        -10.5195534,
        -10.9938136,
        -11.4269610,
        -11.8255588,
        -12.1947138,
        -12.5384781,
        -12.8601209,
        -13.1623179,
        -13.4472869,
        -13.7168868,
        -13.9726908,
        -14.2160423,
    ],
    ("exp", "shape 1"): [
        -0.788294299,
        -1.48701420,
        -1.89433731,
        -2.18294846,
        -2.40664949,
        -2.58934270,
        -2.74375886,
        -2.87748936,
        -2.99542726,
        -3.10091167,
        -3.19632322,
        -3.28341907,
        -3.36353325,
        -3.43770249,
        -3.50674846,
        -3.57133344,
        -3.63199906,
        -3.68919392,
        -3.74329374,
        -3.79461638,
    ],
    ("exp", "poisson"): [
        -3.96599996,
        -8.75261149,
        -13.5436955,
        -18.3517621,
        -23.1738066,
        -28.0074008,
        -32.8507258,
        -37.7023840,
        -42.5612762,
        -47.4265204,
        -52.2973973,
        -57.1733115,
        -62.0537638,
        -66.9383311,
        -71.8266513,
        -76.7184114,
        -81.6133395,
        -86.5111968,
        -91.4117728,
        -96.3148808,
    ],
}


@pytest.mark.parametrize(("function", "law"), FIGURE_1)
def test_figure_1_is_that_of_mpmath_at_every_mean(function, law):
    interval = INTERVALS[function]
    if law == "poisson" and function != "exp":
        found = [math.log(partial_variance(function, interval, Poisson(mean))) for mean in MEANS]
    else:
        found = [log_weighted_variance(function, interval, LAWS[law](mean)) for mean in MEANS]
    np.testing.assert_allclose(found, FIGURE_1[function, law], rtol=1e-8)


@pytest.mark.parametrize(
    ("function", "mean", "expected"),
    [
        ("log", 10, [2.25e-5, 1.82e-2, 3.18e-1, 6.28e-4]),
        ("log", 50, [6.06e-23, 3.36e-5, 6.29e-2, 6.85e-16]),
        ("sqrt", 10, [4.33e-8, 9.30e-4, 2.10e-2, 1.36e-5]),
        ("exp", 10, [4.55e-20, 1.05e-2, 2.26e-1, 1.58e-4]),
    ],
)
def test_figure_1_has_its_values_to_three_figures(function, mean, expected):
    found = [partial_variance(function, INTERVALS[function], law(mean)) for law in LAWS.values()]
    assert [f"{value:.2e}" for value in found] == [f"{value:.2e}" for value in expected]


@pytest.mark.parametrize("function", INTERVALS)
def test_optimal_law_has_the_smallest_variance_but_for_the_oracle(function):
    interval = INTERVALS[function]
    for mean in MEANS:
        oracle, optimal, *others = (
            log_weighted_variance(function, interval, law(mean))
            for law in (Oracle, *LAWS.values(), Geometric)
        )
        assert oracle <= optimal < min(others)
        assert optimal - oracle < math.log(1.6)


@pytest.mark.parametrize("function", ["log", "sqrt", "inverse", XLogX(), Power(-2.5)], ids=str)
@pytest.mark.parametrize("mean", [0.5, 10, 1000.0])
def test_poisson_law_diverges_where_the_series_is_geometric(function, mean):
    assert weighted_variance(function, (0.05, 0.95), Poisson(mean)) == math.inf
    assert 0 < partial_variance(function, (0.05, 0.95), Poisson(mean)) < math.inf


@pytest.mark.parametrize("shape", [0.5, 1.0, 5.0])
@pytest.mark.parametrize("function", ["log", "sqrt"])
def test_negative_binomial_law_diverges_below_a_mean(function, shape):
    rate = ((19**0.5 - 1) / (19**0.5 + 1)) ** 2
    border = shape * rate / (1 - rate)  # N/(N+r) = ρ^-2
    assert weighted_variance(function, (0.05, 0.95), NegativeBinomial(border * 0.999, shape)) == math.inf
    assert weighted_variance(function, (0.05, 0.95), NegativeBinomial(border * 1.01, shape)) < math.inf


def test_sums_that_converge_slowly_are_summed_to_their_end():
    """1/x under the geometric law: (2π/ab) Σ (ρ^-2/s)^j - ρ^-2j with s = N/(N+1) is a closed form."""
    low, high = 0.05, 0.95
    rate = ((19**0.5 - 1) / (19**0.5 + 1)) ** 2
    for survival in (rate * 1.0001, rate * 1.1, 0.9):
        ratio = rate / survival
        expected = 2 * math.pi / (low * high) * (ratio / (1 - ratio) - rate / (1 - rate))
        found = weighted_variance(Inverse(), (low, high), Geometric(survival / (1 - survival)))
        assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("mean", [1, 7, 300.0])
def test_exp_has_a_finite_variance_under_every_random_law(mean):
    for law in (Optimal, Oracle, NegativeBinomial, Geometric, Poisson):
        assert weighted_variance("exp", (-1.0, 1.0), law(mean)) < math.inf


def test_deterministic_law_has_an_infinite_variance_unless_the_series_ends():
    for function in ("log", "exp"):
        assert weighted_variance(function, (0.5, 1.0), Deterministic(7)) == math.inf
        assert partial_variance(function, (0.5, 1.0), Deterministic(7)) == 0
    assert weighted_variance(Power(3.0), (0.5, 1.0), Deterministic(3)) == 0
    assert weighted_variance(Power(3.0), (0.5, 1.0), Deterministic(2)) == math.inf
    assert 0 < weighted_variance(Power(3.0), (0.5, 1.0), Poisson(2)) < math.inf


def test_own_odd_function_has_the_variance_of_its_series():
    tanh = Analytic(np.tanh, lambda interval: radius_through(0.5j * math.pi, interval))
    law = Optimal(6)
    decay = tanh.decay((-1.0, 1.0), 6)
    coefficients = tanh.coefficients((-1.0, 1.0), 50)[1:]
    expected = math.pi / 2 * coefficients**2 @ (1 / law.survival(np.arange(1, 51), decay) - 1)
    assert weighted_variance(tanh, (-1.0, 1.0), law) == pytest.approx(expected, rel=1e-12)
    assert weighted_variance(tanh, (-1.0, 1.0), Poisson(6)) == math.inf


@pytest.mark.parametrize("law", [Optimal(6), Oracle(6), NegativeBinomial(6), Geometric(6)], ids=repr)
def test_variance_is_what_a_simulation_measures(backend, law):
    """The mean of ∫ (p_n - f)²/√(1-x²) over drawn n, by Gauss-Chebyshev quadrature."""
    interval, count = (0.05, 0.95), 20_000
    nodes = np.cos((np.arange(200) + 0.5) * math.pi / 200)
    exact = np.log(0.5 + 0.45 * nodes)
    fitted = law.for_series("log", interval) if hasattr(law, "for_series") else law
    decay = (19**0.5 + 1) / (19**0.5 - 1)
    drawn = fitted.sample(backend.rng(2), decay, size=count)
    errors = {}
    for degree in np.unique(drawn):
        weights = Log().coefficients(interval, int(degree)) / fitted.survival(np.arange(degree + 1), decay)
        errors[degree] = math.pi * np.mean((chebval(nodes, weights) - exact) ** 2)
    sample = np.array([errors[degree] for degree in drawn])
    std_error = sample.std() / math.sqrt(count)
    assert abs(sample.mean() - weighted_variance("log", interval, law)) < 4 * std_error
