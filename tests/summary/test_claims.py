"""What claims are about is taken from samples and curves as a report takes it, or there is a reason."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from benchfw.analysis.claims import Part, Standing, decide_claims
from benchfw.analysis.convergence import Curve
from benchfw.claims import Range
from benchfw.summary.claims.estimates import (
    average,
    estimate_arrivals,
    estimate_bias,
    estimate_bound,
    estimate_difference,
    estimate_rate,
    estimate_ratio,
    estimate_value,
)
from benchfw.summary.quantities import Arrival, Sample

LOOKS = np.arange(1.0, 41.0)


def sample_of(values, quantity="loss", gains=(), **more):
    return Sample("optimizer", {quantity: dict(enumerate(values))}, gains=frozenset(gains), **more)


def arrivals_at(*iterations, budget=100.0):
    """A sample whose runs reach the target after so many iterations, or never do within the budget."""
    found = {
        number: Arrival(each or budget, each or budget, each or budget, None, each is not None)
        for number, each in enumerate(iterations)
    }
    values = {number: math.inf if each is None else each for number, each in enumerate(iterations)}
    return Sample("optimizer", {"cost_to_target": values}, arrivals=found)


@dataclass(frozen=True)
class OneRun:
    """A run with one curve, and a bound on it."""

    values: np.ndarray
    limits: np.ndarray | None = None
    repetition: int = 0
    finished: bool = True
    skipped: bool = False
    diverged: bool = False
    untrue: bool = False
    metrics: tuple[str, ...] = ("loss",)

    @property
    def bounded(self):
        return ("loss",) if self.limits is not None else ()

    def curve(self, _metric, role="metric"):
        return Curve(LOOKS, LOOKS, LOOKS, self.values if role == "metric" else self.limits)


def test_a_ratio_is_that_of_each_pair_of_runs():
    found = estimate_ratio(sample_of([2.0, 4.0, 8.0]), sample_of([1.0, 1.0, 2.0]), "loss")
    assert np.exp(found.middle) == pytest.approx([2, 4, 4])
    assert found.interval(0.9).estimate == pytest.approx(32 ** (1 / 3))
    assert found.repetitions == (0, 1, 2)


def test_the_ratio_to_a_run_that_never_arrives_is_known_from_one_side():
    found = estimate_ratio(arrivals_at(10.0, 20.0), arrivals_at(None, 40.0), "cost_to_target")
    assert np.exp(found.high) == pytest.approx([0.1, 0.5])
    assert found.low[0] == -math.inf


ON_DEVICE = Sample("optimizer", {"loss": {0: 1.0}}, on_device=True)


@pytest.mark.parametrize(
    ("mine", "theirs", "quantity", "reason"),
    [
        (sample_of([1.0]), sample_of([2.0]), "gap", "no run gave its gap"),
        (sample_of([-1.0]), sample_of([2.0]), "loss", "claim a difference"),
        (Sample("optimizer"), sample_of([2.0]), "loss", "no run of it gave a number"),
        (arrivals_at(None), arrivals_at(None), "cost_to_target", "either of the two"),
        (ON_DEVICE, ON_DEVICE, "cpu_seconds_to_target", "those of the host and are not compared"),
    ],
)
def test_what_has_no_ratio_has_a_reason(mine, theirs, quantity, reason):
    assert reason in estimate_ratio(mine, theirs, quantity)


def test_a_difference_of_gains_is_as_they_were_measured():
    """Gains are kept negated: 0.9 and 0.8 against 0.7 are 0.2 and 0.1 more."""
    mine, theirs = sample_of([-0.9, -0.8], gains=["loss"]), sample_of([-0.7, -0.7], gains=["loss"])
    assert estimate_difference(mine, theirs, "loss").middle == pytest.approx([0.2, 0.1])


def test_a_difference_is_as_sure_as_the_looks_between_which_runs_arrive():
    mine = sample_of([100.0] * 3, brackets={"loss": dict.fromkeys(range(3), (90.0, 104.0))})
    theirs = sample_of([50.0, 50.0, 51.0], brackets={"loss": dict.fromkeys(range(3), (48.0, 60.0))})
    found = estimate_difference(mine, theirs, "loss")
    assert found.middle == pytest.approx([50, 50, 49])
    assert (found.low == 30).all()
    assert (found.high == 56).all()


def test_a_value_is_judged_by_its_logarithm_unless_it_can_be_negative():
    assert estimate_value(sample_of([1.0, 100.0]), "loss").interval(0.5).estimate == pytest.approx(10)
    assert estimate_value(sample_of([-1.0, 3.0]), "loss").interval(0.5).estimate == pytest.approx(1)
    gain = estimate_value(sample_of([-0.25, -0.75], gains=["loss"]), "loss")
    assert gain.interval(0.5).estimate == pytest.approx(0.5)


def test_runs_that_never_arrive_take_longer_than_they_ran():
    found = estimate_value(arrivals_at(*[None] * 6, 10.0), "cost_to_target")
    assert found.interval(0.5).low == pytest.approx(100)


def test_the_share_of_runs_that_arrive_is_counted():
    found = estimate_arrivals(arrivals_at(1.0, None, 3.0), every=False, wanted=True)
    assert (found.some, found.runs) == (2, 3)


def test_a_bound_is_kept_by_runs_at_all_of_their_looks():
    kept, broken = 1 / LOOKS, np.where(LOOKS == 20, 2.0, 1 / LOOKS)
    runs = [OneRun(kept, 2 / LOOKS, number) for number in range(4)]
    found, looks = estimate_bound([*runs, OneRun(broken, 2 / LOOKS, 4)], "loss", every=True)
    assert (found.some, found.runs, found.refutes) == (4, 5, True)
    assert looks == (1, 200, pytest.approx(20))
    assert "no theorem" in estimate_bound([OneRun(kept)], "loss", every=True)[0]


def test_a_bound_in_the_mean_is_about_the_mean_of_skewed_runs_and_not_about_the_typical_one():
    ratios = [0.1, 0.1, 0.12, 0.12, 0.15, 0.2, 0.2, 0.3, 0.5, 2.5]
    runs = [OneRun(each / LOOKS, 1 / LOOKS, number) for number, each in enumerate(ratios)]
    found, looks = estimate_bound(runs, "loss", every=False)
    assert found.interval(0.9).estimate == pytest.approx(np.mean(ratios)) == looks.largest
    assert found.interval(0.9).high > 1


def test_a_mean_is_above_a_bound_of_0_if_a_single_run_is():
    """Its ratio to the bound is infinite, which the typical run does not show."""
    limits = np.where(LOOKS < 20, 10 / LOOKS, 0.0)
    kept, broken = np.where(LOOKS < 20, 1 / LOOKS, 0.0), 1 / LOOKS
    runs = [OneRun(kept if number else broken, limits, number) for number in range(20)]
    found, _ = estimate_bound(runs, "loss", every=False)
    assert found.interval(0.9).low == math.inf
    assert decide_claims([[Part("", Range(high=1.0), found)]])[0].standing is Standing.REFUTED


def test_a_run_that_is_no_longer_finite_breaks_its_bound():
    runs = [OneRun(1 / LOOKS, 2 / LOOKS, number) for number in range(5)]
    wild = OneRun(1 / LOOKS, 2 / LOOKS, 5, finished=False, diverged=True)
    found, looks = estimate_bound([*runs, wild], "loss", every=True)
    assert (found.some, found.runs, found.refutes) == (5, 6, True)
    assert looks.largest == math.inf


def test_runs_that_were_cut_short_show_neither_a_bound_nor_a_rate():
    kept = [OneRun(1 / LOOKS, 2 / LOOKS, number) for number in range(5)]
    trials = [*kept, OneRun(1 / LOOKS, 2 / LOOKS, 5, finished=False)]
    for every in (True, False):
        assert estimate_bound(trials, "loss", every=every)[0] == "1 of its 6 runs did not finish"
    assert estimate_rate(trials, "loss", "sublinear", Range(high=0.0)) == "1 of its 6 runs did not finish"
    above = OneRun(3 / LOOKS, 2 / LOOKS, 6)
    assert estimate_bound([*trials, above], "loss", every=True)[0].refutes  # which a single run may
    above = OneRun(3 / LOOKS, 2 / LOOKS, 6, finished=False, untrue=True)
    assert estimate_bound([*kept, above], "loss", every=True)[0] == "1 of its 6 runs did not finish"
    assert estimate_bound([above], "loss", every=True)[0] == "1 of its 1 runs did not finish"


def test_rounding_does_not_break_a_bound():
    values = np.maximum(1 / 4.0**LOOKS, 1e-17)
    found, _ = estimate_bound([OneRun(values, 2 / 4.0**LOOKS)], "loss", every=True)
    assert (found.some, found.runs) == (1, 1)


def test_a_bound_in_the_mean_is_about_the_mean_of_the_runs():
    runs = [OneRun(np.full(40, value), np.ones(40), number) for number, value in enumerate([0.5, 0.7, 1.2])]
    found, looks = estimate_bound(runs, "loss", every=False)
    assert found.interval(0.5).estimate == pytest.approx(0.8)
    assert looks == (0, 40, pytest.approx(0.8))


def test_a_rate_is_the_exponent_or_the_factor_of_an_iteration():
    powers = [OneRun(LOOKS**-1.0), OneRun(LOOKS**-1.2)]
    assert estimate_rate(powers, "loss", "sublinear", Range(-2, 0)).interval(0.5).estimate == pytest.approx(
        -1.1
    )
    falls = [OneRun(0.9**LOOKS), OneRun(0.9**LOOKS)]
    assert estimate_rate(falls, "loss", "linear", Range(0.8, 1)).interval(0.5).estimate == pytest.approx(0.9)


def test_a_curve_that_bends_is_known_to_fall_faster_than_a_power_but_has_no_exponent():
    falls = [OneRun(0.9**LOOKS, repetition=number) for number in range(5)]
    assert "bends" in estimate_rate(falls, "loss", "sublinear", Range(-1.2, -0.8))
    found = estimate_rate(falls, "loss", "sublinear", Range(high=-1.0)).interval(0.9)
    assert found.low < found.estimate < found.high < -1


def test_a_curve_that_does_not_fall_has_the_exponent_0():
    flat = [OneRun(np.ones(len(LOOKS)), repetition=number) for number in range(5)]
    assert estimate_rate(flat, "loss", "sublinear", Range(-1.2, -0.8)).interval(0.9).estimate == 0


def test_the_mean_over_problems_is_one_number_for_each_repetition():
    p = estimate_ratio(sample_of([2.0, 8.0]), sample_of([1.0, 1.0]), "loss")
    q = estimate_ratio(sample_of([8.0, 2.0]), sample_of([1.0, 1.0]), "loss")
    assert np.exp(average({"p": p, "q": q}).middle) == pytest.approx([4, 4])
    signed = estimate_difference(sample_of([2.0, 8.0]), sample_of([1.0, 1.0]), "loss")
    assert "cannot be averaged" in average({"p": p, "q": signed})


def test_a_rate_has_a_mean_over_problems():
    trials = [OneRun(1 / LOOKS, None, number) for number in range(3)]
    rates = [estimate_rate(trials, "loss", "sublinear", Range(high=0.0)) for _ in range(2)]
    assert average(dict(zip("pq", rates, strict=True))).middle == pytest.approx([-1, -1, -1])


def test_a_zero_is_less_than_what_is_positive():
    """How much less has no number."""
    found = estimate_ratio(sample_of([0.0] * 10), sample_of(np.linspace(0.1, 0.2, 10)), "loss").interval(0.9)
    assert (found.low, found.estimate) == (0, 0)
    assert 0.999 < found.high < 1


def test_the_bias_of_what_is_not_an_estimator_of_a_known_value_is_not_known():
    assert "not known" in estimate_bias(sample_of([1.0]))


def test_runs_that_are_too_short_for_a_slope_are_not_left_out():
    slow = [OneRun(0.8**LOOKS, repetition=number) for number in range(8)]
    fast = [OneRun(np.where(LOOKS < 4, 0.1**LOOKS, np.nan), repetition=number) for number in range(8, 10)]
    assert estimate_rate([*slow, *fast], "loss", "linear", Range(low=0.5)) == (
        "2 of its 10 curves of loss are too short for a slope"
    )
    assert estimate_rate(slow, "loss", "linear", Range(low=0.5)).interval(0.9).estimate == pytest.approx(0.8)
