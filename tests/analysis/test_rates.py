from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchfw.analysis.convergence import Curve
from benchfw.analysis.rates import Fit, RunFit, Slope, find_rates, fit_law
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


def slope(steps, errors, law):
    return fit_law([curve(errors, steps)], law).slope.estimate


def rate_of(*curves, bound=None):
    """Return the rate of runs."""
    (found,) = find_rates({CELL: [Run(each, bound) for each in curves]}, ["gap"])
    return found


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


@pytest.mark.parametrize("errors", [np.zeros(80), np.full(80, math.nan), -np.ones(80)])
def test_what_has_no_logarithm_has_no_rate(errors):
    assert fit_law([curve(errors, np.arange(80.0))], "linear").slope.count == 0


LAWS = {
    "power": (STEPS**-1.0, "sublinear"),
    "linear": (0.995**STEPS, "linear"),
    "plateau": (1 / STEPS + 0.005, None),
    "faster and faster": (0.5 ** (1.002**STEPS), None),
}


@pytest.mark.parametrize("noise", [0.0, 0.05])
@pytest.mark.parametrize("runs", [1, 5])
@pytest.mark.parametrize("name", LAWS)
def test_a_curve_has_a_rate_under_the_law_that_it_follows_or_none(runs, noise, name):
    rng, (errors, law) = np.random.default_rng(3), LAWS[name]
    curves = [curve(errors * np.exp(noise * rng.standard_normal(len(STEPS)))) for _ in range(runs)]
    found = rate_of(*curves)
    assert (found.measured and found.measured.law) == law
    assert [name for name, _ in found.intervals] == ([f"gap_{law}_rate"] if law else [])


def test_each_method_has_the_law_that_it_follows():
    cells = [CELL._replace(method=name) for name in "ab"]
    found = find_rates({cells[0]: [Run(curve(1 / STEPS))], cells[1]: [Run(curve(0.99**STEPS))]}, ["gap"])
    assert [each.measured.law for each in found] == ["sublinear", "linear"]


@pytest.mark.parametrize(
    ("apart", "spread", "follows"),
    [(0.09, 0.0, True), (0.11, 0.0, False), (0.11, 0.2, True), (0.24, 1.0, True), (0.26, 1.0, False)],
)
@pytest.mark.parametrize("sign", [-1, 1])
def test_the_slopes_of_the_halves_may_differ_by_a_tenth_or_as_chance_allows_up_to_a_quarter(
    apart, spread, follows, sign
):
    """Chance is Student's interval over runs."""
    runs = [RunFit(-1.0, -1.0, -1.0 + sign * (apart + each), 5.0) for each in (-spread, 0.0, spread)]
    assert Fit("sublinear", tuple(runs)).follows == follows
    assert Fit("sublinear", (runs[1],)).follows == (apart < 0.1)  # one run knows no chance


def test_what_falls_by_less_than_tenfold_over_the_last_half_of_the_iterations_is_not_called_linear():
    for fall, follows in ((9.9, False), (10.1, True)):
        assert Fit("linear", (RunFit(-0.01, -0.01, -0.01, math.log(fall)),)).follows == follows
    errors = STEPS**-2.5  # as straight in the iterations as in their logarithms, for all that noise shows
    noisy = [
        curve(errors * np.exp(0.2 * np.random.default_rng(seed).standard_normal(len(STEPS))))
        for seed in range(3)
    ]
    assert not fit_law(noisy, "linear").follows


def test_what_falls_by_less_than_a_hundred_times_is_not_taken_for_an_error():
    for power, falls in ((-0.59, False), (-0.61, True)):  # of 2,000 steps
        assert bool(find_rates({CELL: [Run(curve(STEPS**power))]}, ["gap"])) == falls


def test_a_fall_that_ends_at_a_level_of_noise_is_not_taken_for_a_power():
    steps, rng = np.unique(np.geomspace(1, 1000, 110).round()), np.random.default_rng(6)
    curves = [curve(0.98**steps + 1e-3 * abs(rng.standard_normal(len(steps))), steps) for _ in range(5)]
    assert fit_law(curves, "sublinear").slope.high < -2
    assert rate_of(*curves).measured is None
    # all of the fitted half of the iterations is level: the slope may be 0
    assert not fit_law(curves, "linear").follows


def test_a_theorem_has_the_slope_of_its_own_law_or_none():
    bounds = {"linear": 0.99**STEPS, None: 1 / STEPS + 0.005}
    for law, bound in bounds.items():
        found = rate_of(*[curve(1 / STEPS)] * 3, bound=curve(bound))
        assert isinstance(found.measured, Slope)
        assert (found.theorem and found.theorem.law) == law
