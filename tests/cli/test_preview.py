"""What a suite can find, from the spread of earlier trials."""

import math
from dataclasses import replace

import numpy as np
import pytest

from benchfw.analysis.decisions import Verdict
from benchfw.analysis.power import largest_spread, smallest_ratio
from benchfw.cli.preview import find_reach
from benchfw.summary.summarize import summarize


def suite(make, repetitions, ratio=1.0, spread=0.1, seed=0):
    rng = np.random.default_rng(seed)
    return [
        make.result(
            "optimizer", "p", name, r,
            make.curve("gap", [1, 0.1], cost=factor * math.exp(spread * rng.standard_normal())),
            target={"gap": 0.5},
        )
        for name, factor in (("a", 1.0), ("b", ratio))
        for r in range(repetitions)
    ]  # fmt: skip


def test_the_spread_of_earlier_pairs_tells_the_smallest_ratio(make, run):
    results = suite(make, 5, seed=1)
    planned = [replace(each.trial, repetition=r) for each in results for r in range(10)]
    reaches, comparisons = find_reach(planned, run, results)
    assert comparisons == 2  # calls and seconds
    (found,) = [each for each in reaches if each.quantity == "gradients to target"]
    logs = [each.outcome.records[-1].cost for each in results]
    spread = float(np.std(np.log(logs[5:]) - np.log(logs[:5]), ddof=1))
    assert found.ratios == {"b": pytest.approx(smallest_ratio(largest_spread(spread, 5), 10, 0.975))}


def test_a_ratio_of_that_size_is_found_nine_times_in_ten(make, run):
    ratio = smallest_ratio(0.1 * math.sqrt(2), 5, 0.975)
    found = 0
    for seed in range(50):
        (comparison,) = summarize(run, suite(make, 5, ratio, seed=seed)).comparisons
        found += comparison.verdict(comparison.cells[1], "cost_to_target") is Verdict.WORSE
    assert abs(found / 50 - 0.9) <= 3 * math.sqrt(0.09 / 50)


def test_an_earlier_run_of_two_repetitions_tells_it_too(make, run):
    results = suite(make, 2, seed=1)
    planned = [replace(each.trial, repetition=r) for each in results for r in range(5)]
    reaches, comparisons = find_reach(planned, run, results)
    assert comparisons == 2
    assert all(
        1 < ratio < math.inf for each in reaches for ratio in each.ratios.values() if "grad" in each.quantity
    )


def test_trials_of_another_setting_tell_nothing(make, run):
    results = suite(make, 5)
    other = [replace(each.trial, target={"gap": 0.01}) for each in results]
    assert find_reach(other, run, results) == ([], 0)
