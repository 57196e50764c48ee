from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchfw.analysis.convergence import Curve
from benchfw.analysis.rates import Bend, Fit, find_rates, fit_law, likelier_law, slope
from benchfw.records import Cell

CELL = Cell("p", "optimizer", "m", "numpy")
STEPS = np.unique(np.geomspace(1, 2000, 80).round())


def curve(errors, steps=STEPS):
    return Curve(steps, steps, steps, np.asarray(errors, dtype=float))


class Run:
    """One run: its curve, and a theorem's bound on it."""

    def __init__(self, measured, bound=None):
        self._curves = {"metric": measured, "bound": bound}
        self.bounded = ["gap"] if bound else []

    def curve(self, metric, role="metric"):
        return self._curves[role] if metric == "gap" else None


@given(st.floats(-3, -0.1), st.floats(1e-3, 1e3))
def test_a_power_of_the_iterations_is_found(exponent, scale):
    assert slope(STEPS, scale * STEPS**exponent, "sublinear") == pytest.approx(exponent)


@given(st.floats(0.9, 0.999), st.floats(1e-3, 1e3))
def test_a_factor_an_iteration_is_found_above_the_rounding(factor, scale):
    with np.errstate(under="ignore"):
        errors = scale * factor**STEPS + 1e-14 * scale
    assert math.exp(slope(STEPS, errors, "linear")) == pytest.approx(factor, rel=1e-4)


def test_the_start_is_no_part_of_the_rate():
    errors = np.where(STEPS < 40, 5.0, 5.0 * (STEPS / 40) ** -2.0)
    assert slope(STEPS, errors, "sublinear") == pytest.approx(-2)


def test_one_run_has_a_slope_and_no_interval():
    found = fit_law([curve(1 / STEPS)], "sublinear").slope
    assert found.estimate == pytest.approx(-1)
    assert not found.bounded


def test_the_straighter_law_is_the_likelier_one():
    noise = np.exp(0.05 * np.random.default_rng(2).standard_normal(len(STEPS)))
    assert likelier_law([curve(noise / STEPS)]) == "sublinear"
    assert likelier_law([curve(noise * 0.995**STEPS)]) == "linear"
    assert likelier_law([]) is None


@pytest.mark.parametrize("errors", [np.zeros(80), np.full(80, math.nan), -np.ones(80)])
def test_what_has_no_logarithm_has_no_rate(errors):
    assert math.isnan(slope(np.arange(80), errors, "sublinear"))
    assert fit_law([curve(errors, np.arange(80.0))], "linear").slope.count == 0


def test_a_power_of_a_half_is_seldom_called_linear_and_disagreeing_runs_have_no_law():
    rng = np.random.default_rng(4)
    laws = [
        likelier_law([curve(np.exp(0.3 * rng.standard_normal(len(STEPS))) * STEPS**-0.5) for _ in range(5)])
        for _ in range(60)
    ]
    assert laws.count("linear") == 0
    assert laws.count("sublinear") >= 45
    assert likelier_law([curve(STEPS**-0.5), curve(0.995**STEPS), curve(STEPS**-1.0)]) is None


LAWS = {
    "power": STEPS**-1.0,
    "linear": 0.995**STEPS,
    "plateau": 1 / STEPS + 0.005,
    "logarithm": np.log(STEPS + 1) / STEPS,
    "faster and faster": 0.5 ** (1.005**STEPS),
}


@pytest.mark.parametrize("noise", [0.0, 0.01])
@pytest.mark.parametrize("runs", [1, 5])
def test_what_does_not_follow_a_law_has_no_rate(runs, noise):
    rng = np.random.default_rng(3)
    found = {
        name: find_rates(
            {
                CELL: [
                    Run(curve(errors * np.exp(noise * rng.standard_normal(len(STEPS))))) for _ in range(runs)
                ]
            },
            ["gap"],
        )
        for name, errors in LAWS.items()
    }
    given = {name for name, rates in found.items() if rates and rates[0].measured}
    assert given == {"power", "linear"}
    (bent,) = found["plateau"]
    assert bent.halves[0] < -0.4 < -0.3 < bent.halves[1] < 0
    assert not list(bent.intervals)


@pytest.mark.parametrize(
    ("apart", "error", "straight"),
    [(0.04, 0.0, True), (0.06, 0.02, False), (0.06, 0.04, True), (0.24, 1.0, True), (0.26, 1.0, False)],
)
@pytest.mark.parametrize("runs", [1, 4])
def test_halves_may_differ_by_a_twentieth_or_as_chance_allows_up_to_a_quarter(runs, apart, error, straight):
    """Chance is two standard errors of the mean over runs."""
    bends = (Bend(-1.0, -1.0 - apart, runs * error**2),) * runs
    assert Fit((-1.0,) * runs, bends).straight == straight


def test_from_three_runs_on_their_own_spread_is_chance_too():
    for runs in (2, 3):
        bends = [Bend(-1.0, -1.1 + each, 0.0) for each in (-0.08, 0.08, 0.0)[:runs]]
        assert Fit((-1.0,) * runs, tuple(bends)).straight == (runs == 3)


def test_what_falls_by_less_than_a_hundred_times_is_not_taken_for_an_error():
    for power, falls in ((-0.59, False), (-0.61, True)):  # of 2,000 steps
        assert bool(find_rates({CELL: [Run(curve(STEPS**power))]}, ["gap"])) == falls


def test_one_run_must_be_twice_as_straight_under_a_law_and_three_straighter():
    late = np.log(STEPS) >= math.log(2000) / 2
    for share in np.linspace(0, 1, 101):
        logs = -share * np.log(STEPS) / 4 - (1 - share) * STEPS / 2000
        misfits = [np.polyfit(axis[late], logs[late], 1, full=True)[1] for axis in (np.log(STEPS), STEPS)]
        power, factor = (float(each[0]) for each in misfits)
        alone, three = (likelier_law([curve(np.exp(logs))] * runs) for runs in (1, 3))
        assert three == ("sublinear" if power < factor else "linear")
        assert alone == (three if max(power, factor) > 2 * min(power, factor) else None)


def test_a_fall_that_ends_at_a_level_of_noise_is_not_taken_for_a_power():
    steps, rng = np.unique(np.geomspace(1, 1000, 110).round()), np.random.default_rng(6)
    curves = [curve(0.98**steps + 1e-3 * abs(rng.standard_normal(len(steps))), steps) for _ in range(5)]
    assert fit_law(curves, "sublinear").slope.high < -2
    (found,) = find_rates({CELL: [Run(each) for each in curves]}, ["gap"])
    assert found.measured is None
    # all of the fitted half of the iterations is level: the slope may be 0
    assert not fit_law(curves, "linear").follows


def test_the_slope_of_a_theorem_that_is_no_power_is_not_shown_beside_a_rate():
    bound = curve(3 * np.log(STEPS + 1) / STEPS)
    (found,) = find_rates({CELL: [Run(curve(1 / STEPS), bound)] * 3}, ["gap"])
    assert found.measured is not None
    assert found.theorem is None
