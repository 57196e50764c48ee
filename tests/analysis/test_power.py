"""How many repetitions show a factor, from the spread of a few."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchfw.analysis.decisions import Contrast, Verdict, decide_family
from benchfw.analysis.pairing import pair, pair_brackets
from benchfw.analysis.power import largest_spread, repetitions_needed, smallest_ratio
from benchfw.analysis.significance import difference_probability
from benchfw.records import Cell

CELLS = [Cell("p", "optimizer", name, "numpy") for name in "ab"]
EXPERIMENTS = 400


def test_so_many_repetitions_find_a_factor_of_1_25_nine_times_in_ten():
    needed = repetitions_needed(0.3, 0.95)
    assert needed is not None
    rng = np.random.default_rng(8)
    logs = rng.normal(math.log(1.25), 0.3, (4000, needed))
    power = np.mean(difference_probability(logs, logs) <= 0.05)
    assert 0.9 - 3 * math.sqrt(0.09 / 4000) <= power <= 0.93
    assert repetitions_needed(1000.0, 0.95) is None


@pytest.mark.parametrize(("count", "level"), [(3, 0.95), (5, 0.997), (10, 0.997), (20, 0.95)])
def test_the_smallest_ratio_is_found_nine_times_in_ten(count, level):
    ratio = smallest_ratio(0.2, count, level)
    logs = np.random.default_rng(9).normal(math.log(ratio), 0.2, (20_000, count))
    power = np.mean(difference_probability(logs, logs) <= 1 - level)
    # the part that the check of the typical run costs is a round number
    assert 0.9 - 3 * math.sqrt(0.09 / 20_000) <= power <= 0.94
    assert smallest_ratio(0.2, 2, level) == math.inf


def test_no_spread_needs_the_fewest_pairs():
    assert repetitions_needed(0.0, 0.95) == 3


def planned(logs):
    """The decision on one comparison."""
    (found,) = decide_family([Contrast(*CELLS, "cost_to_target", pair(np.exp(logs), np.ones(len(logs))))])
    return found


@pytest.mark.parametrize("runs", [3, 5, 10])
@pytest.mark.sampled(1)
def test_a_plan_keeps_its_promise_in_four_of_five_cases_though_few_runs_may_show_little_noise(runs):
    rng = np.random.default_rng(4)
    enough, small = repetitions_needed(0.3, 0.95), []
    for _ in range(EXPERIMENTS):
        found = planned(rng.normal(0, 0.3, runs))
        if found.verdict is Verdict.UNDECIDED and not found.unplanned and found.needed > runs:
            small.append(found.needed < enough)
    assert len(small) > EXPERIMENTS / 2
    assert np.mean(small) <= 0.2
    ratio = smallest_ratio(0.3, 10, 0.95)
    spreads = np.std(rng.normal(0, 0.3, (EXPERIMENTS, runs)), axis=1, ddof=1)
    kept = [smallest_ratio(largest_spread(each, runs), 10, 0.95) >= ratio for each in spreads]
    assert np.mean(kept) >= 0.8


def test_brackets_are_a_part_of_the_factor_that_no_number_of_runs_makes_smaller():
    logs, ones = np.random.default_rng(6).normal(0, 0.3, 12), np.ones(12)
    for half, factor in ((0.0, 1.25), (0.1, 1.25 * math.exp(-0.1)), (0.3, None)):
        evidence = pair_brackets(np.exp(logs - half), np.exp(logs + half), ones, ones)
        (found,) = decide_family([Contrast(*CELLS, "cost_to_target", evidence)])
        assert found.verdict is Verdict.UNDECIDED
        spread = largest_spread(np.std(logs, ddof=1), 12)
        assert found.needed == (None if factor is None else repetitions_needed(spread, 0.95, factor))


def test_a_few_wild_runs_are_too_few_to_plan_from():
    few = planned([-3.0, 0.1, 2.5])
    assert few.unplanned
    assert few.needed is None
    many = planned(np.resize([-3.0, 0.1, 2.5], 30))
    assert not many.unplanned
    assert many.needed > 1000
