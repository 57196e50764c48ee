"""The laws of the degree: masses, means, tails, samples, and the optimality of the optimal one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from benchfw import BenchfwError
from benchfw_spectral.distributions import (
    Deterministic,
    Geometric,
    NegativeBinomial,
    Optimal,
    Oracle,
    Poisson,
)
from benchfw_spectral.functions import Analytic, Power, get_function, radius_through

FIGURE_DECAY = (19**0.5 + 1) / (19**0.5 - 1)
CASES = [
    (mean, 1 + excess)
    for mean, excess in zip(
        10 ** np.random.default_rng(50).uniform(-1, 2, 50),
        10 ** np.random.default_rng(51).uniform(-2, 1, 50),
        strict=True,
    )
]


def interval_of(decay):
    """Return an interval on which the series of log falls like decay^-j."""
    return ((decay - 1) / (decay + 1)) ** 2, 1.0


def every_law(mean, decay):
    return [
        Optimal(mean),
        NegativeBinomial(mean),
        NegativeBinomial(mean, shape=0.7),
        Geometric(mean),
        Poisson(mean),
        Oracle(mean),
        Oracle(mean).for_series("log", interval_of(decay)),
        Deterministic(math.ceil(mean)),
    ]


def kind(law):
    return f"{type(law).__name__}-{getattr(law, 'shape', '')}"


@pytest.mark.parametrize(("mean", "decay"), CASES, ids=lambda value: f"{value:.4g}")
def test_masses_sum_to_1_and_have_the_mean_of_the_law(mean, decay):
    degrees = np.arange(math.ceil(60 * (mean + 1) + 40 / math.log(decay)))
    for law in every_law(mean, decay):
        masses = -np.diff(law.survival(degrees, decay))
        assert masses.min() > -1e-14, law
        assert masses.sum() == pytest.approx(1, abs=1e-9), law
        assert degrees[:-1] @ masses == pytest.approx(law.mean, rel=1e-9), law


@pytest.mark.parametrize(("mean", "decay"), CASES[:10], ids=lambda value: f"{value:.4g}")
def test_optimal_masses_are_those_of_theorem_3(mean, decay):
    sure = max(0, math.ceil(mean - decay / (decay - 1)))
    beyond = np.arange(1, 60)
    masses = -np.diff(Optimal(mean).survival(np.arange(sure + 61), decay))
    assert np.all(masses[:sure] == 0)
    assert masses[sure] == pytest.approx(1 - (mean - sure) * (decay - 1) / decay, abs=1e-14)
    expected = (mean - sure) * (decay - 1) ** 2 * decay ** -(beyond + 1.0)
    np.testing.assert_allclose(masses[sure + 1 :], expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("mean", [0.3, 7.5, 60.0])
def test_tails_are_those_of_scipy(mean):
    degrees = np.arange(200)
    pairs = [
        (Poisson(mean), stats.poisson(mean)),
        (Geometric(mean), stats.nbinom(1, 1 / (mean + 1))),
        (NegativeBinomial(mean), stats.nbinom(5, 5 / (mean + 5))),
        (NegativeBinomial(mean, 0.7), stats.nbinom(0.7, 0.7 / (mean + 0.7))),
    ]
    for law, reference in pairs:
        np.testing.assert_allclose(law.survival(degrees), reference.sf(degrees - 1), rtol=1e-10, atol=1e-300)


@pytest.mark.parametrize(
    ("law", "degree", "expected"),
    [  # mpmath, 40 digits
        (Poisson(10), 400, -1089.4414085450056),
        (Poisson(10), 2000, -8611.3491545077964),
        (Poisson(0.5), 300, -1623.3483416114451),
        (Poisson(100), 1500, -2666.5819640416344),
        (NegativeBinomial(10), 3000, -1191.9363578189155),
        (NegativeBinomial(10, 1), 9000, -857.79161823892374),
        (NegativeBinomial(7, 0.5), 11000, -762.7933981352164),
        (NegativeBinomial(100), 20000, -951.54097300090632),
        (NegativeBinomial(3, 2.5), 2000, -1202.3357857595463),
    ],
    ids=str,
)
def test_logarithms_of_tails_go_on_where_float64_ends(law, degree, expected):
    assert law.log_survival(degree) == pytest.approx(expected, rel=1e-13)
    assert law.survival(degree) == 0


@pytest.mark.parametrize(
    ("law", "degree", "missing"),
    [
        (Poisson(100), 5, 1.6139305336977305e-37),
        (Poisson(50), 1, 1.9287498479639178e-22),
        (NegativeBinomial(100), 3, -math.log1p(-4.742132219251069e-6)),
    ],
    ids=str,
)
def test_logarithms_of_tails_keep_their_digits_near_1(law, degree, missing):
    assert -law.log_survival(degree) == pytest.approx(missing, rel=1e-13)


@pytest.mark.parametrize("law", every_law(3.5, 1.2), ids=kind)
def test_tails_start_at_1_and_never_rise(law):
    tails = law.survival(np.arange(300), 1.2)
    assert tails[0] == 1
    assert law.survival(0, 1.2) == 1
    assert np.all(np.diff(tails) <= 1e-15)


@pytest.mark.parametrize(("mean", "decay"), [(10.0, FIGURE_DECAY), (2.5, 1.02)], ids=lambda v: f"{v:.3g}")
def test_a_million_samples_follow_every_law(backend, mean, decay):
    count = 10**6
    for stream, law in enumerate(every_law(mean, decay)):
        sample = law.sample(backend.rng(7).at(stream), decay, size=count)
        assert sample.dtype == np.int64
        expected = -count * np.diff(law.survival(np.arange(sample.max() + 2), decay))
        observed = np.bincount(sample)
        assert np.all(observed[expected <= 0] == 0), law
        cells = expected >= 20
        observed, expected = observed[cells], expected[cells]
        observed[-1] += count - observed.sum()  # what is rare goes with the last cell
        expected[-1] += count - expected.sum()
        if len(expected) > 1:
            assert stats.chisquare(observed, expected).pvalue > 1e-3, law


@pytest.mark.parametrize("law", every_law(3.5, 1.2), ids=kind)
def test_one_draw_is_an_int_and_the_first_of_many(backend, law):
    one = law.sample(backend.rng(3), 1.2)
    assert type(one) is int
    assert one == law.sample(backend.rng(3), 1.2, size=5)[0]
    assert law.sample(backend.rng(3), 1.2, size=(2, 3)).shape == (2, 3)
    assert law.sample(backend.rng(3), 1.2, size=0).shape == (0,)


@pytest.mark.parametrize("law", every_law(0.5, 1.2)[:-1], ids=kind)
def test_degree_0_is_drawn_when_the_mean_is_small(backend, law):
    assert law.sample(backend.rng(3), 1.2, size=100).min() == 0


@pytest.mark.parametrize(
    ("mean", "decay"), [(10.0, FIGURE_DECAY), (3.7, 1.05), (0.4, 2.0)], ids=lambda v: f"{v:.3g}"
)
def test_no_feasible_perturbation_improves_the_optimal_law(mean, decay):
    """Move mass between random triples of degrees so that sum and mean stay: objective (10) must not fall."""
    generator = np.random.default_rng(10)
    count = math.ceil(mean + 40 / math.log(decay))
    degrees = np.arange(count)
    tails = Optimal(mean).survival(np.arange(count + 1), decay)
    masses = -np.diff(tails)

    def objective(tails):
        return decay ** (-2.0 * degrees[1:]) @ (1 / tails[1:] - 1)

    least = objective(tails[:-1])
    richer = 0
    for _ in range(1000):
        move = np.zeros(count)
        for _ in range(generator.integers(1, 5)):
            low, middle, high = np.sort(
                generator.choice(min(count, math.ceil(3 * mean) + 20), 3, replace=False)
            )
            share = (high - middle) / (high - low)
            triple = np.zeros(count)
            triple[[low, middle, high]] = share, -1, 1 - share
            move += generator.standard_normal() * triple
        # degrees without mass can only gain
        limit = np.min(np.where(move < 0, masses / np.where(move < 0, -move, 1), np.inf))
        move *= limit * generator.uniform()
        perturbed = tails[:-1] - np.append(0.0, np.cumsum(move)[:-1])
        assert abs(move.sum()) < 1e-12
        assert abs(degrees @ move) < 1e-9
        assert (masses + move).min() > -1e-15
        value = objective(perturbed)
        assert value >= least * (1 - 1e-12)
        richer += value > least * (1 + 1e-9)
    assert richer > 100  # the perturbations were not all empty


def test_oracle_is_the_optimal_law_for_a_geometric_series():
    oracle = Oracle(6.3).for_series("inverse", interval_of(1.4))
    degrees = np.arange(300)
    np.testing.assert_allclose(
        oracle.log_survival(degrees), Optimal(6.3).log_survival(degrees, 1.4), atol=1e-11
    )


def test_oracle_tails_follow_the_coefficients():
    law = Oracle(10).for_series("log", (0.05, 0.95))
    degrees = np.arange(1, 500)
    drops = law.log_survival(degrees)
    _, logs = get_function("log").log_coefficients((0.05, 0.95), 499)
    below = drops < 0
    np.testing.assert_allclose(np.ptp((drops - logs[1:])[below]), 0, atol=1e-12)
    assert np.all(np.diff(below.astype(int)) >= 0)


def test_oracle_pools_coefficients_that_rise():
    function = Analytic(np.tanh, lambda interval: radius_through(0.5j * math.pi, interval))
    law = Oracle(4.2).for_series(function, (-1.0, 1.0))
    tails = law.survival(np.arange(60))
    assert np.all(np.diff(tails) <= 0)
    assert tails[1:].sum() == pytest.approx(4.2, rel=1e-9)
    # b_2 = b_4 = … = 0, so that t_2 = t_3 = c |b_3| / √2
    np.testing.assert_array_equal(tails[6:40:2], tails[7:41:2])


def test_oracle_refuses_a_mean_beyond_the_degree_of_a_polynomial():
    assert Oracle(1.5).for_series(Power(2.0), (1.0, 2.0)).survival([1, 2, 3])[-1] == 0
    with pytest.raises(BenchfwError, match="take the deterministic law"):
        Oracle(5).for_series(Power(2.0), (1.0, 2.0)).survival(1)


def test_only_the_deterministic_law_is_biased():
    assert [law.unbiased for law in every_law(2.0, 1.5)] == [True] * 7 + [False]


def test_a_series_that_does_not_fall_is_refused(backend):
    for decay in (1.0, 0.5, math.nan, math.inf):
        with pytest.raises(BenchfwError, match="decay of a series must be finite and above 1"):
            Optimal(5).survival(3, decay)
        with pytest.raises(BenchfwError, match="decay of a series must be finite and above 1"):
            Optimal(5).sample(backend.rng(1), decay)
