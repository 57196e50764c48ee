"""Verdicts on estimators whose truth is known: rare events, heavy tails, equal draws, bias, one run."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from benchfw.analysis.decisions import Verdict
from benchfw.analysis.variance import DrawStatistics
from benchfw.provenance import Burst, Noise
from benchfw.records import Record, Status
from benchfw.report.captions import caption
from benchfw.report.tables import headline_table
from benchfw.report.verdicts import verdict
from benchfw.summary.summarize import summarize


@pytest.fixture
def estimator(make):
    """Make the trials of an estimator from its draws (runs, draws), as a trial would record them."""

    def trials(name, draws, exact=0.0, *, seconds=None, claim=True):
        found = []
        for repetition, values in enumerate(draws):
            statistics = DrawStatistics(exact)
            for value in values:
                statistics.add(value)
            pace = 1.0 if seconds is None else seconds[repetition]
            records = [
                Record(metric, len(values), pace * len(values), float(len(values)), value)
                for metric, value in statistics.metrics().items()
            ]
            found.append(make.result("estimator", "p", name, repetition, records, claims_unbiased=claim))
        return found

    return trials


def test_an_unbiased_estimator_with_rare_events_is_not_called_biased(estimator, run):
    rng = np.random.default_rng(1)
    for runs in (3, 5, 10, 20):
        for _ in range(5):
            draws = (rng.random((runs, 100)) < 1e-3) / 1e-3
            said = verdict(summarize(run, estimator("rare", draws, exact=1.0)).comparisons[0])
            assert "mean is off" not in said
            assert (
                "Too few draws carry the variance" in said
                or "Never varied beyond rounding, but was off" in said
            )


def test_a_real_bias_is_found_and_its_size_is_sure(estimator, run):
    draws = np.random.default_rng(2).normal(0.5, 1.0, (5, 400))
    said = verdict(summarize(run, estimator("cut", draws)).comparisons[0])
    size = float(
        said.split("Claimed to be unbiased, but the mean is off: cut by at least ")[1].split(". ")[0][:5]
    )
    assert 0.3 < size < 0.5


def test_the_variance_of_a_heavy_tail_is_at_least_something(estimator, run):
    draws = 1 + np.random.default_rng(3).pareto(1.2, (5, 200))
    comparison = summarize(run, estimator("heavy", draws, exact=6.0)).comparisons[0]
    found = comparison.row(comparison.cells[0], "variance").interval
    assert found.high == math.inf
    assert found.estimate == pytest.approx(np.mean(np.var(draws, axis=1, ddof=1)))
    light = np.random.default_rng(4).normal(0, 1, (5, 200)) + 6
    both = summarize(run, estimator("light", light, 6.0) + estimator("heavy", draws * 3, 18.0)).comparisons[0]
    shown = dict(zip(headline_table(both).header, headline_table(both).rows[1], strict=False))
    assert shown["variance"].startswith("at least") or both.scarce
    assert both.verdict(both.cells[1], both.product) is not Verdict.BETTER


def test_draws_that_are_all_equal_have_no_ratio_of_errors(estimator, run):
    # the first gives the exact value up to rounding, the others always miss the same rare event
    rng = np.random.default_rng(5)
    near = np.nextafter(0.1, [0.0, 1.0])[rng.integers(0, 2, (5, 100))]
    results = estimator("exact", near, 0.1) + estimator("a", np.zeros((5, 100)), 0.1)
    results += estimator("b", np.zeros((5, 100)), 0.1) + estimator("noisy", rng.normal(0.1, 1, (5, 100)), 0.1)
    comparison = summarize(run, results).comparisons[0]
    assert comparison.reference.method == "noisy"
    for cell in comparison.cells[:3]:
        assert comparison.row(cell, "mse").ratio is None
        assert comparison.verdict(cell, "mse_x_seconds") is Verdict.NOT_COMPARABLE
    said = verdict(comparison)
    assert "exact never varied beyond rounding" in said
    assert "Never varied beyond rounding, but was off: a by 0.100 and b by 0.100" in said
    assert "mse" in headline_table(comparison).header
    assert "mean is off" not in said


def test_efficiency_counts_the_bias(estimator, run):
    rng = np.random.default_rng(6)
    results = estimator("fair", rng.normal(0, 1.0, (5, 200)))
    results += estimator("cut", rng.normal(3, 0.1, (5, 200)), claim=False)
    comparison = summarize(run, results).comparisons[0]
    # 100 times less variance, but nine times the mean squared error
    efficiency = comparison.row(comparison.cells[1], "relative_efficiency").interval
    assert efficiency.low < 1 / 9 < efficiency.high
    assert efficiency.high < 0.2
    assert verdict(comparison).startswith(
        "No method is shown to have a smaller mean squared error x time than fair. The next, cut, has one 9"
    )
    assert "mean of the same precision" not in caption(comparison)


def test_the_parts_of_an_error_that_is_mostly_bias_name_the_bias(estimator, run):
    rng = np.random.default_rng(16)
    noisy = estimator("fair", rng.normal(0, 3, (5, 400)), claim=False)
    cut = estimator("cut", rng.normal(1.4, 1.0, (5, 400)))  # 1.96 of 2.96 is the square of the bias
    said = verdict(summarize(run, noisy + cut).comparisons[0])
    share = re.search(r"In parts: .*, and (\d+) % of the squared error of cut is bias\. Claimed to be", said)
    assert 63 <= int(share[1]) <= 69
    off = estimator("off", rng.normal(9, 3, (5, 400)), claim=False)
    both = verdict(summarize(run, off + cut).comparisons[0])
    assert re.search(
        r"[89]\d % of the squared error of off and 6\d % of the squared error of cut are bias", both
    )
    fair = estimator("better", rng.normal(0, 1.0, (5, 400)))
    assert "squared error of" not in verdict(summarize(run, noisy + fair).comparisons[0])


def test_every_ratio_of_the_verdict_stands_in_the_table(estimator, run):
    rng = np.random.default_rng(15)
    results = estimator("a", rng.normal(0, 3, (5, 400)), seconds=np.linspace(1.0, 1.1, 5))
    results += estimator("b", rng.normal(0, 1, (5, 400)), seconds=np.linspace(3.0, 3.3, 5))
    comparison = summarize(run, results).comparisons[0]
    assert "times more time a draw" in verdict(comparison)
    table = headline_table(comparison)
    place = table.header.index("time a draw, s")
    assert table.header[place + 1] == "typical ratio"
    assert table.rows[1][place + 1] == "3"


def test_one_run_claims_nothing_about_variance_x_time(estimator, run):
    rng = np.random.default_rng(7)
    results = estimator("a", rng.normal(0, 1, (1, 1000))) + estimator("b", rng.normal(0, 9, (1, 1000)))
    said = verdict(summarize(run, results).comparisons[0])
    assert (
        said
        == "Not comparable in mean squared error x time between a and b (1 paired run; three are needed)."
    )


def test_a_busy_machine_widens_what_includes_a_time_and_nothing_else(estimator, run):
    rng = np.random.default_rng(9)
    results = estimator("a", rng.normal(0, 1, (5, 400))) + estimator("b", rng.normal(0, 1.5, (5, 400)))
    busy = replace(run, noise=Noise(tuple(Burst(start, 0.003, 0.001, 0.001) for start in (1.0, 2.0, 3.0))))
    (quiet,), (slow,) = (summarize(each, results).comparisons for each in (run, busy))
    cell = quiet.cells[1]
    assert quiet.verdict(cell, "mse_x_seconds") is Verdict.WORSE
    assert slow.verdict(cell, "mse_x_seconds") is Verdict.UNDECIDED
    assert slow.row(cell, "variance") == quiet.row(cell, "variance")
    before, after = (each.row(cell, "mse_x_seconds").interval for each in (quiet, slow))
    assert (after.low, after.high) == pytest.approx((before.low / 3, before.high))


def test_equal_estimators_of_unlike_laws_are_seldom_told_apart(estimator, run):
    rng = np.random.default_rng(8)
    wrong = 0
    reports = 15
    for _ in range(reports):
        results = estimator("normal", rng.normal(0, math.sqrt((math.e - 1) * math.e), (10, 100)))
        results += estimator("skewed", rng.lognormal(0, 1, (10, 100)), math.exp(0.5))
        found = summarize(run, results).comparisons[0]
        wrong += found.decision(found.cells[1], "mse_x_seconds").differs
    assert wrong <= reports * 0.05 + 3 * math.sqrt(reports * 0.05 * 0.95)


def test_a_mean_that_rarer_draws_may_make_up_for_is_called_off_with_that_exception(estimator, run):
    rng = np.random.default_rng(14)
    noise = rng.normal(0, 0.01, (8, 500))
    mean = 5.0 * 2e-4  # of draws of which 1 in 5,000 is 5, and none of these 4,000
    said = verdict(summarize(run, estimator("rare", noise, mean)).comparisons[0])
    assert "Claimed to be unbiased, but the mean is off: rare by at least" in said
    assert "unless draws rarer than 1 in 1,333 make up for it" in said


def test_the_bias_of_a_vector_is_its_length_without_what_noise_adds(estimator, run):
    rng = np.random.default_rng(12)
    draws = rng.normal(0, 1, (10, 50, 200))
    draws[:, :, 0] += 1.0  # noise alone has a mean of length 2
    results = estimator("off", draws, np.zeros(200)) + estimator(
        "fair", draws - np.eye(200)[0], np.zeros(200)
    )
    comparison = summarize(run, results).comparisons[0]
    off, fair = (comparison.row(cell, "bias").interval for cell in comparison.cells)
    assert off.low < 1 < off.high < 1.5
    assert off.low > 0.5
    assert fair.low == 0
    assert [cell.method for cell in comparison.biased] == ["off"]


def test_an_estimator_that_draws_the_same_in_every_run_has_one_run(estimator, run):
    rng = np.random.default_rng(13)
    same = np.tile(rng.normal(0, 1, 200), (5, 1))
    shifted = same + rng.normal(0, 1, (5, 1))  # the same noise about other data
    results = estimator("fair", rng.normal(0, 1, (5, 200))) + estimator("same", same)
    results += estimator("shifted", shifted)
    comparison = summarize(run, results).comparisons[0]
    said = verdict(comparison)
    assert said.startswith(
        "The methods same and shifted drew the same numbers in all 5 runs: they do not use the"
    )
    assert comparison.verdict(comparison.cells[1], "mse_x_seconds") is Verdict.NOT_COMPARABLE
    assert not {cell.method for cell in comparison.tested} - {"fair"}
    # few kinds of draws in another order, or hardly any draws, are not the same
    events = (rng.random((5, 100)) < 0.5) * 1.0
    assert not summarize(run, estimator("signs", events)).comparisons[0].repeated
    assert not summarize(run, estimator("few", [[0.0, 1.0, 1.0]] * 5)).comparisons[0].repeated


def test_a_method_that_never_finished_is_named(estimator, run, make):
    failed = [make.result("estimator", "p", "b", r, [], status=Status.FAILED) for r in range(5)]
    said = verdict(
        summarize(run, estimator("a", np.random.default_rng(14).normal(0, 1, (5, 100))) + failed).comparisons[
            0
        ]
    )
    assert "no other method finished a run. Did not finish: b in 5 of 5 runs." in said


def test_an_estimator_with_a_run_that_broke_has_no_ratio_in_the_table(make, run):
    results = [
        make.result("estimator", "p", name, r, make.draws(1.0 + 0.1 * r, seconds=1.0))
        for name in ("whole", "fragile")
        for r in range(5)
    ]
    results[-1] = make.result("estimator", "p", "fragile", 4, [], status=Status.FAILED, reason="boom")
    comparison = summarize(run, results).comparisons[0]
    _, fragile = comparison.cells
    assert "between whole and fragile (some runs did not finish)" in verdict(comparison)
    assert comparison.row(fragile, "variance").ratio is None
    assert comparison.row(fragile, "relative_efficiency") is None
