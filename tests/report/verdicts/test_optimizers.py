"""Sentences on optimizers that no reader may find false: directions, bounds, budgets and starts."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import pytest

from benchfw.provenance import Burst, Noise
from benchfw.records import Budget, Status
from benchfw.report.captions import caption
from benchfw.report.tables import headline_table
from benchfw.report.verdicts import verdict
from benchfw.report.verdicts.phrases import fault_advice
from benchfw.summary.summarize import summarize

WOBBLE = (0.97, 1.0, 1.01, 1.03, 0.99)
TARGET = {"gap": 1.0}


def runs(make, name, cost=100.0, seconds=1.0, end=0.5, start=9.0, target=TARGET, share=None, budget=None):
    """Five runs of one step; CPU seconds are a share of the seconds."""
    found = []
    for r, pace in enumerate(WOBBLE):
        records = make.curve("gap", [start, end], cost=cost, seconds=seconds * pace)
        if share is not None:
            records = [each._replace(cpu_seconds=share * each.seconds) for each in records]
        result = make.result("optimizer", "p", name, r, records, target=target)
        trial = replace(result.trial, budget=budget) if budget else result.trial
        found.append(replace(result, trial=trial))
    return found


def compared(run, results):
    (comparison,) = summarize(run, results).comparisons
    return comparison


def busy(run, factor=2.0):
    noise = Noise(tuple(Burst(k, 0.001 * factor, 0.001, 0.001) for k in (1.0, 2.0, 3.0)))
    return replace(run, noise=noise)


@pytest.mark.parametrize("late", [0, 1, 2, 3, 4])
def test_a_method_is_ahead_only_by_a_factor_above_one(make, run, late):
    # two runs of `a` break, the others end without the target, `late` of them before `b` arrives
    results = []
    for r in range(10):
        end = 9.0 if r < 10 - late else 8.5
        curve = make.curve("gap", [9, 5], cost=end, seconds=end)
        broken = {"status": Status.FAILED, "reason": "boom"} if r < 2 else {}
        results.append(make.result("optimizer", "p", "a", r, curve, target=TARGET, **broken))
    for r in range(10):
        curve = make.curve("gap", [9, 0.5], cost=8.8, seconds=8.8)
        results.append(make.result("optimizer", "p", "b", r, curve, target=TARGET))
    text = verdict(compared(run, results))
    assert all(float(bound) > 1 for bound in re.findall(r"at least ([\d.]+) times", text)), text
    assert ("at least" in text) == (late <= 1), text


def test_the_reference_that_is_faster_is_said_to_be(make, run):
    quick, slow = runs(make, "quick"), runs(make, "slow", seconds=15.0)
    text = "quick is ahead of slow: 15 times less (5 paired runs, assuming normal noise)."
    for results in (quick + slow, slow + quick):
        assert f"In time, {text}" in verdict(compared(run, results))


def test_cpu_seconds_do_not_decide_for_a_method_that_waits(make, run):
    results = runs(make, "a", seconds=20.0, share=0.01) + runs(make, "b", share=0.4)
    comparison = compared(busy(run), results)
    assert "In time, b is ahead of a: 20 [" in verdict(comparison)
    assert {"time to target, s", "CPU time to target, s"} <= {*headline_table(comparison).header}
    # in half of its time a method of a busy machine does not wait, but is kept waiting
    assert "CPU" in verdict(compared(busy(run), runs(make, "a", share=0.5) + runs(make, "b", 50, share=0.4)))


def test_the_ratio_of_a_verdict_on_cpu_time_stands_in_the_table(make, run):
    comparison = compared(busy(run), runs(make, "a", share=0.97) + runs(make, "b", 50, 15.0, share=0.97))
    assert "15 times more CPU time" in verdict(comparison)
    table = headline_table(comparison)
    place = table.header.index("CPU time to target, s")
    assert table.header[place - 1 : place + 2] == ("time to target, s", "CPU time to target, s", "ratio")
    assert table.rows[1][place + 1] == "15"


def test_a_target_that_is_met_beyond_the_budget_is_not_reached(make, run):
    late = runs(make, "a", cost=500.0, budget=Budget(cost=100.0))
    comparison = compared(run, late + runs(make, "b", cost=90.0, budget=Budget(cost=100.0)))
    often = "The method b reaches gap 1 more often than a, beyond chance: b in 5 of 5 runs"
    assert verdict(comparison).startswith(often)
    row = headline_table(comparison).rows[0]
    assert row[1] == "9"
    assert row.count("never") == 2
    just = runs(make, "a", cost=100.5, budget=Budget(cost=100.0))
    assert compared(run, just).row(just[0].trial.cell, "cost_to_target").reached == (5, 5)


def test_a_target_is_explained_by_the_starts_where_no_method_improves(make, run):
    for ends in ((10.0, 5.0), (9.0, 9.0)):
        results = [
            each
            for name, end in zip("ab", ends, strict=True)
            for each in runs(make, name, end=end, target={}, start=5.0 if end < 9 else 9.0)
        ]
        comparison = compared(run, results)
        text = verdict(comparison)
        assert text.startswith("No method ends below the lowest start in all of its runs; "), text
        assert "set by the methods' starts and ends" in caption(comparison)
        assert "nine tenths" not in caption(comparison)


def test_runs_that_start_at_the_target_are_counted(make, run):
    some = [*runs(make, "a", start=0.9)[:2], *runs(make, "a")[2:]]
    text = verdict(compared(run, some + runs(make, "b")))
    assert text == "Not comparable in gradients, because some runs start at gap 1: a in 2 of 5 runs."


def test_all_who_share_the_lowest_end_are_named(make, run):
    results = runs(make, "a", end=2.0) + runs(make, "b", end=3.0) + runs(make, "c", end=2.0)
    assert verdict(compared(run, results)).endswith("; the lowest median end is 2.00, of a and c.")


@pytest.mark.parametrize("shift", [-4.0, 0.0, 4.0])
def test_the_interval_of_a_median_is_on_the_plain_scale_where_a_metric_has_a_sign(make, run, shift):
    ends = [shift + value for value in (-0.9, -0.4, -0.3, -0.2, -0.1, -0.6)]
    results = [
        make.result("optimizer", "p", "a", r, make.curve("loss", [9, end])) for r, end in enumerate(ends)
    ]
    comparison = compared(run, results)
    interval = comparison.row(comparison.reference, "loss").interval
    assert min(ends) <= interval.low < interval.estimate < interval.high <= max(ends)
    assert math.isclose(interval.estimate, shift - 0.35)


def test_a_difference_of_a_hundredth_of_a_per_cent_is_not_called_one(make, run):
    text = verdict(compared(run, runs(make, "a") + runs(make, "b", cost=100.01)))
    found = "Within 10 % in each of 5 paired runs in gradients to gap 1 between a and b (ratio 1.0001)."
    assert text == found


def test_methods_that_are_equal_to_the_reference_in_the_same_words_are_named_together(make, run):
    text = verdict(compared(run, [each for name in "abc" for each in runs(make, name)]))
    found = (
        "Within 10 % in each of 5 paired runs in gradients to gap 1 between a and each of b and c (ratio 1)."
    )
    assert text == found


def test_a_skipped_trial_says_why_and_gets_no_further_advice(make, run):
    reason = "cd does not handle an intercept"
    skipped = make.result("optimizer", "p", "a", 0, [], status=Status.SKIPPED, reason=reason)
    (fault,) = summarize(run, [skipped]).faults
    assert not fault_advice(fault)


@pytest.mark.parametrize(
    ("store", "command"),
    [
        ("reports/benchfw.sqlite", "`benchfw replay 3 --plugin a.py` runs it alone"),
        ("my runs/x.sqlite", "`benchfw replay 3 --plugin a.py --store 'my runs/x.sqlite'` runs it alone"),
        ("run.zip", ""),
    ],
)
def test_the_advice_on_a_trial_that_crashed_is_a_command_that_finds_it(make, run, store, command):
    crashed = make.result("optimizer", "p", "a", 0, [], status=Status.CRASHED, number=3)
    there = replace(run, store=Path(store), environment=replace(run.environment, plugins=("a.py",)))
    (fault,) = summarize(there, [crashed]).faults
    assert fault_advice(fault) == command


@pytest.mark.parametrize(
    ("device", "first"),
    [("", "raise --memory"), ("NVIDIA H200", "raise --memory, or end what else uses the GPU,")],
)
def test_a_trial_on_a_gpu_may_lack_the_memory_of_either(make, run, device, first):
    starved = make.result("optimizer", "p", "a", 0, [], status=Status.OUT_OF_MEMORY)
    starved = replace(starved, outcome=replace(starved.outcome, device=device))
    (fault,) = summarize(run, [starved]).faults
    assert fault_advice(fault) == f"{first} and give --retry-failed, or use a smaller problem"


@pytest.mark.parametrize(
    ("plugins", "more"),
    [
        ((), ""),
        (
            ("my code/a.py",),
            "; if no step helps, `benchfw check p --plugin 'my code/a.py'` compares the gradient",
        ),
    ],
)
def test_the_advice_to_take_a_smaller_step_names_what_finds_a_wrong_gradient(make, run, plugins, more):
    diverged = make.result("optimizer", "p", "a", 0, make.curve("gap", [1, 99]), status=Status.DIVERGED)
    there = replace(run, environment=replace(run.environment, plugins=plugins))
    (fault,) = summarize(there, [diverged]).faults
    assert fault_advice(fault) == f"use a smaller step{more}" + " with the value" * bool(more)


def test_a_trial_with_an_object_of_a_session_runs_again_in_that_session_alone(make, run):
    failed = make.result("optimizer", "p", "a", 0, [], status=Status.FAILED, number=3, use="object:a")
    (fault,) = summarize(run, [failed]).faults
    advice = "in the session that ran it, `result.trial(3)` runs it alone and shows the traceback"
    assert fault_advice(fault) == advice


def test_an_equal_on_the_way_to_the_target_that_ends_worse_is_said_to(make, run):
    results = [
        make.result("optimizer", "p", name, r, make.curve("gap", [9, 0.4, end * pace]))
        for name, end in (("a", 0.3), ("b", 0.5))
        for r, pace in enumerate((*WOBBLE, 1.02))
    ]
    told = verdict(compared(run, results))
    assert told.startswith("Within 10 % in each of 6 paired runs in gradients")
    assert "At the end, b has gap 1.7 times larger than a" in told


def test_of_methods_with_equal_costs_the_one_that_takes_least_time_leads(make, run):
    results = runs(make, "gd", cost=300.0)
    results += [*runs(make, "slow", cost=100.0, seconds=3.0), *runs(make, "fast", cost=100.0, seconds=0.5)]
    told = verdict(compared(run, results))
    assert told.startswith("The method fast needs 3 times fewer gradients than gd")
