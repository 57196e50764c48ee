"""Differences hold for the typical run: what Student's test finds, the median must confirm."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from benchfw.analysis.evidence import PairedDifferences, PairedLogs
from benchfw.analysis.medians import is_typical, median_ends, normality_probability
from benchfw.analysis.significance import difference_probability, log_interval


def test_the_test_of_normality_has_its_size_and_agrees_with_that_of_shapiro_and_wilk():
    rng = np.random.default_rng(1)
    for count in (6, 10, 20):
        found = normality_probability(rng.standard_normal((4000, count)))
        assert np.mean(found <= 0.1) == pytest.approx(0.1, abs=4 * math.sqrt(0.1 * 0.9 / 4000))
    values = rng.standard_exponential((20, 15))
    wilk = [stats.shapiro(each).pvalue for each in values]
    assert stats.spearmanr(normality_probability(values), wilk).statistic > 0.9
    assert normality_probability(np.ones(8)) == 0
    assert normality_probability([0.0, 1.0, 2.0, 3.0, 4.0, np.inf]) == 0


@pytest.mark.parametrize("count", [6, 10, 20])
def test_the_check_keeps_nine_tenths_of_the_power_under_normal_noise(count):
    rng = np.random.default_rng(count)
    shift = {6: 1.43, 10: 1.0, 20: 0.66}[count]  # Student's test finds four in five
    logs = rng.standard_normal((4000, count)) + shift
    plain = stats.ttest_1samp(logs, 0, axis=-1).pvalue <= 0.05
    assert np.mean(plain) == pytest.approx(0.8, abs=4 * math.sqrt(0.8 * 0.2 / 4000))
    kept = np.mean(difference_probability(logs[plain], logs[plain]) <= 0.05)
    assert kept > 0.9 + 4 * math.sqrt(0.9 * 0.1 / np.sum(plain))


@pytest.mark.parametrize("count", [6, 10, 20])
def test_runs_of_two_kinds_do_not_turn_the_typical_run_around(count):
    # 55 % of the runs take 10 % more, 45 % a third: less in the mean, more in the typical run
    rng = np.random.default_rng(count)
    logs = np.where(rng.random((4000, count)) < 0.55, 0.1, -1.0) + 0.01 * rng.standard_normal((4000, count))
    below = stats.ttest_1samp(logs, 0, axis=-1, alternative="less").pvalue <= 0.025
    error = math.sqrt(0.025 * 0.975 / 4000)
    assert np.mean(below) > 0.025 + 4 * error
    assert np.mean(below & (difference_probability(logs, logs) <= 0.05)) < 0.025 - 4 * error


def test_the_interval_of_what_is_not_typical_contains_no_difference():
    logs = np.array([0.1] * 4 + [-1.0] * 8) + np.linspace(0, 0.01, 12)
    assert stats.ttest_1samp(logs, 0).pvalue < 0.05
    assert difference_probability(logs, logs) == 1
    low, high = log_interval(logs, logs, 0.95)
    assert low < np.mean(logs) < 0 < high == median_ends(logs, logs)[1]
    assert PairedLogs(logs, logs).interval(0.95).high > 1
    assert PairedDifferences(logs, logs).interval(0.95).high > 0
    assert not PairedLogs(logs, logs).typical
    # five pairs cannot tell
    assert is_typical(logs[:5], logs[:5])
    assert PairedLogs(logs[:5], logs[:5]).assumed_normal


def test_the_near_ends_of_brackets_are_judged():
    near = np.array([0.1] * 5 + [3.0] * 3)
    assert is_typical(near, near + 1)  # all on one side
    assert not is_typical(near - 0.2, near + 1)
    assert not is_typical(-near - 1, -near + 0.2)
