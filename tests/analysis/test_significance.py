"""Tests of one comparison and of a family: what differs, what is equal, at which level intervals are."""

import math

import numpy as np
import pytest
from scipy import stats

from benchfw.analysis.decisions import Contrast, Family, Verdict, decide, decide_family, decide_part
from benchfw.analysis.evidence import Arrivals, PairedLogs, PairedSigns
from benchfw.analysis.medians import sign_depth, sign_probability
from benchfw.analysis.pairing import pair, pair_brackets, pair_differences
from benchfw.analysis.significance import (
    difference_probability,
    equality_probability,
    log_interval,
    moments,
    share_probability,
)
from benchfw.records import Cell

inf = math.inf


def test_the_interval_of_a_decision_leaves_out_one_or_lies_within_the_margin_or_does_neither():
    rng = np.random.default_rng(3)
    logs = rng.normal(
        [[0.0], [0.4], [0.0], [0.05], [1.0], [0.0]], [[0.3], [0.3], [0.02], [0.02], [0.5], [2]], (50, 6, 8)
    )
    found = decide(difference_probability(logs, logs), equality_probability(logs, logs))
    low, high = log_interval(logs, logs, found.level)
    edge = math.log(1.1)
    assert not np.any(found.different & found.equal)
    assert np.array_equal(found.different, (low > 0) | (high < 0))
    inside = (low >= -edge) & (high <= edge)
    assert np.all(inside[found.equal])
    assert not np.any(inside & ~found.equal & ~found.different)
    assert np.any(found.different)
    assert np.any(found.equal)


def test_levels_are_those_of_benjamini_and_yekutieli():
    found = decide([0.001, 0.02, 0.2, 0.9], [1.0, 1.0, 0.04, 0.01])
    assert found.different.tolist() == [True, True, False, False]
    assert found.equal.tolist() == [False, False, False, True]
    assert found.level == pytest.approx([1 - 2 * 0.05 / 4] * 2 + [1 - 2 * 0.05 / 4, 1 - 0.05 / 4])
    assert decide([], []).level.shape == (0,)


def test_the_paired_test_is_students_and_equality_is_twice_schuirmanns():
    logs = np.array([0.03, -0.01, 0.05, 0.02])
    assert difference_probability(logs, logs) == pytest.approx(stats.ttest_1samp(logs, 0).pvalue)
    above = stats.ttest_1samp(logs, math.log(1.1), alternative="less").pvalue
    below = stats.ttest_1samp(logs, -math.log(1.1), alternative="greater").pvalue
    assert equality_probability(logs, logs) == pytest.approx(2 * max(above, below))


@pytest.mark.parametrize("side", [1, -1])
def test_equality_is_asked_as_if_the_outermost_pair_had_come_once_more(side):
    """One pair in ten takes 8 % more: Student's interval of the ten reaches too little to that side."""
    logs = side * np.append(np.linspace(-0.005, 0.005, 9), 0.08)
    more, edge = np.append(logs, side * 0.08), math.log(1.1)
    alone, both = (
        2 * stats.ttest_1samp(side * each, edge, alternative="less").pvalue for each in (logs, more)
    )
    assert both > 2 * alone
    assert equality_probability(logs, logs) == pytest.approx(both)


@pytest.mark.parametrize(("apart", "equal"), [(0.08, True), (0.12, False)])
def test_methods_are_equal_only_if_the_typical_run_is_within_the_margin(apart, equal):
    """In every other pair one of the two takes longer: the mean is 0, and the median at either end."""
    logs = np.resize([apart, -apart], 60) + 0.001 * np.random.default_rng(5).standard_normal(60)
    assert stats.ttest_1samp(logs, math.log(1.1), alternative="less").pvalue < 1e-6
    assert (equality_probability(logs, logs) <= 0.05) == equal


def test_the_rounding_of_equal_numbers_is_not_a_spread():
    assert moments([0.1 + 0.2, 0.3, 0.3])[1] == 0
    assert moments([0.3 + 1e-12, 0.3, 0.3])[1] == pytest.approx(1e-12 / 3, rel=1e-3)


def test_equal_numbers_are_equal_and_unlike_constants_differ():
    same, other = pair([3.0] * 4, [3.0] * 4), pair([0.3] * 4, [0.1] * 4)
    assert (same.difference, same.equality) == (1, 0)
    assert (other.difference, other.equality) == (0, 1)
    assert other.interval(0.99).low == pytest.approx(3)


def test_a_bracket_widens_the_interval_and_what_lies_inside_it_is_not_claimed():
    sharp = pair([1050.0] * 5, [1000.0] * 5)
    wide = pair_brackets([1000.0] * 5, [1050.0] * 5, [990.0] * 5, [1000.0] * 5)
    assert sharp.difference == 0
    assert wide.difference == 1
    found = wide.interval(0.95)
    assert (found.low, found.high) == pytest.approx((1.0, 1050 / 990))
    assert wide.equality == 0


def test_values_at_zero_have_a_side_and_no_factor_whatever_the_rounding_floor_is():
    others = [0.01] * 6
    for floor in (1e-10, 1e-3):
        found = pair_brackets([0.0] * 6, [floor] * 6, others, others)
        assert isinstance(found, PairedSigns)
        assert found.difference == 2 / 64
        ends = found.interval(0.95)
        assert (ends.estimate, ends.low, ends.high) == (0, 0, 1)
        worse = pair_brackets(others, others, [0.0] * 6, [floor] * 6)
        assert worse.interval(0.95).estimate == inf
    # 7 of 10 at 0, the others far above: no side is typical; five pairs cannot tell
    mixed = pair([0.0] * 7 + [40.0] * 3, [1.0] * 10)
    assert mixed.difference == pytest.approx(0.34375)
    assert not pair([0.0] * 5, [2.0] * 5).testable
    # both at 0 counts against either side
    assert pair([0.0] * 10, [0.0] * 4 + [1.0] * 6).difference > 0.5


def test_runs_that_ended_early_are_known_from_one_side_and_judged_by_students_test_of_that_end():
    found = pair_brackets([30.0] * 4 + [90.0], [30.0] * 4 + [inf], [10.0, 9.0, 11.0, 10.0, 10.0], [10.0] * 5)
    assert isinstance(found, PairedLogs)
    assert found.difference < 0.01
    assert found.interval(0.95).low > 1
    assert found.interval(0.95).high == inf


def test_runs_that_broke_or_ended_on_both_sides_are_judged_by_signs():
    found = pair([inf] * 3 + [30.0] * 4, [10.0] * 7)
    assert isinstance(found, PairedSigns)
    assert found.difference == pytest.approx(2 / 2**7)
    assert found.equality == 1
    assert (found.interval(0.98).low, found.interval(0.98).high) == (pytest.approx(3), inf)
    assert (found.interval(0.99).low, found.interval(0.99).high) == (0, inf)
    # one that ended at 5 may have needed more or less than 10
    unknown = pair_brackets([5.0, 20.0, 20.0], [inf, 20.0, 20.0], [10.0, 10.0, 8.0], [10.0, 10.0, inf])
    assert isinstance(unknown, PairedSigns)
    assert unknown.difference == 1
    assert pair([inf], [inf]) is None
    assert not pair([inf] * 5, [1.0] * 5).testable


def decide_costs(evidence, budget=0.05):
    """What is decided about comparisons of one quantity, each of another method."""
    cells = [Cell("p", "optimizer", str(number), "numpy") for number in range(len(evidence) + 1)]
    contrasts = [
        Contrast(cell, cells[0], "cost", each) for cell, each in zip(cells[1:], evidence, strict=True)
    ]
    return decide_family(contrasts, budget)


def verdicts(evidence, budget=0.05):
    return [each.verdict for each in decide_costs(evidence, budget)]


def test_few_pairs_are_never_surer_than_two_clusters_allow():
    certain = pair([2.0, 2.0001, 2.0], [1.0] * 3)
    unsure = pair([2.0, 0.5, 1.0], [1.0] * 3)
    assert certain.difference < 1e-6
    assert verdicts([certain]) == [Verdict.WORSE]
    assert verdicts([certain, unsure]) == [Verdict.UNDECIDED] * 2
    assert verdicts([certain, certain, unsure]) == [Verdict.WORSE, Verdict.WORSE, Verdict.UNDECIDED]
    assert (pair([2.0, 2.0], [1.0] * 2).interval(0.95).high) == inf


def test_two_quantities_of_a_method_share_their_clusters():
    certain, unsure = pair([2.0, 2.0001, 2.0], [1.0] * 3), pair([2.0, 0.5, 1.0], [1.0] * 3)
    cell, reference = Cell("p", "optimizer", "a", "numpy"), Cell("p", "optimizer", "b", "numpy")
    contrasts = [
        Contrast(cell, reference, "cost", certain),
        Contrast(cell, reference, "seconds", unsure),
    ]
    cost, seconds = decide_family(contrasts)
    assert (cost.verdict, cost.level) == (Verdict.WORSE, 0.975)
    assert seconds.verdict is Verdict.UNDECIDED


def test_what_happens_in_one_run_of_ten_is_not_called_equal_before_it_would_show():
    for count, methods, word in ((28, 1, Verdict.ALIKE), (29, 1, Verdict.EQUAL), (29, 2, Verdict.EQUAL)):
        same = pair([1.0] * count, [1.0] * count)
        assert verdicts([same] * methods) == [word] * methods
    same, apart = pair([1.0] * 29, [1.0] * 29), pair([1.0, 2.0, 0.5, 1.0, 1.0], [1.0] * 5)
    assert verdicts([same, apart]) == [Verdict.ALIKE, Verdict.UNDECIDED]
    assert decide_part(same, 0.95).verdict is Verdict.EQUAL
    assert decide_part(same, 0.99).verdict is Verdict.ALIKE


@pytest.mark.parametrize(
    ("share", "count", "factor"), [(0.1, 10, 20.0), (0.25, 5, 20.0), (0.1, 29, 20.0), (0.1, 50, 2.6)]
)
@pytest.mark.sampled(2)
def test_methods_of_which_one_is_seldom_slow_are_seldom_called_equal(share, count, factor):
    rng, reports = np.random.default_rng(3), 200
    times = np.where(rng.random((reports, count)) < share, factor, 1.0)
    times *= np.exp(0.01 * rng.standard_normal(times.shape))
    called = [verdicts([pair(each, np.ones(count))]) == [Verdict.EQUAL] for each in times]
    assert np.mean(called) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / reports)


def test_a_difference_within_the_margin_is_called_none_where_that_is_asked_for():
    reference = Cell("p", "optimizer", "a", "numpy")
    for count, ratios, word in (
        (5, (1.0001,), Verdict.ALIKE),
        (30, (1.02, 1.03), Verdict.EQUAL),
        (5, (1.15, 1.16), Verdict.WORSE),
        (20, (1.01, 1.11), Verdict.WORSE),  # not within the margin in each pair
    ):
        evidence = pair(np.resize(ratios, count), np.ones(count))
        contrast = Contrast(reference._replace(method="b"), reference, "cost", evidence, coarse=True)
        (found,) = decide_family([contrast])
        assert found.verdict is word
        assert found.interval.low > 1  # what was seen is printed beside the word


def test_comparisons_and_other_tests_share_one_budget():
    for family in (Family(12, 7), Family(12), Family(others=7)):
        shares = family.comparisons * (1 - family.lone_level), family.others * (1 - family.others_level)
        assert sum(shares) == pytest.approx(0.05)
    assert Family(1).budget == 0.05
    assert Family(2, 3).budget == pytest.approx(0.045)
    doubtful = pair([1.02, 1.05, 1.112, 1.06, 1.01], [1.0] * 5)
    assert 0.045 < doubtful.difference < 0.05
    assert verdicts([doubtful]) == [Verdict.WORSE]
    assert verdicts([doubtful], Family(1, 1).budget) == [Verdict.UNDECIDED]


def test_numbers_with_a_sign_have_a_difference():
    found = pair_differences([-1.3, -1.1, -1.25, -1.15], [-1.0, -0.8, -0.9, -0.9])
    assert found.difference == pytest.approx(stats.ttest_1samp([-0.3, -0.3, -0.35, -0.25], 0).pvalue)
    interval = found.interval(0.95)
    assert interval.low < interval.estimate < interval.high < 0
    assert verdicts([found]) == [Verdict.BETTER]
    rounded = pair_differences([-1.0, -1 - 1e-15, -1.0], [-1.0] * 3)
    assert verdicts([rounded]) == [Verdict.UNDECIDED]
    assert pair_differences([-1.0, inf], [-1.0, 0.0]) is None


@pytest.mark.parametrize("count", range(1, 40))
def test_order_statistics_enclose_one_just_if_the_sign_test_does_not_reject(count):
    for losses in range(count // 2 + 1):
        for level in (0.9, 0.95, 0.99):
            rejects = sign_probability(count - losses, count) <= 1 - level + 1e-12
            assert rejects == (sign_depth(count, level) > losses)


def test_the_interval_of_signs_leaves_out_one_just_if_they_differ():
    rng = np.random.default_rng(1)
    for count in (6, 7, 10, 15):
        for _ in range(200):
            low, high = np.sort(rng.normal(rng.choice([0.0, 1.0, -2.0]), 1.0, (2, count)), axis=0)
            found = PairedSigns(
                np.where(rng.random(count) < 0.5, -inf, low), np.where(rng.random(count) < 0.3, inf, high)
            )
            for level in (0.9, 0.95, 0.99):
                interval = found.interval(level)
                assert (found.difference <= 1 - level + 1e-12) == (interval.low > 1 or interval.high < 1)


def test_shares_of_arrivals_are_fishers():
    for mine, theirs in [(5, 0), (3, 1), (10, 3), (7, 7)]:
        both = [[mine, 10 - mine], [theirs, 12 - theirs]]
        tails = [stats.fisher_exact(both, alternative=side).pvalue for side in ("less", "greater")]
        assert share_probability(mine, 10, theirs, 12) == pytest.approx(min(1, 2 * min(tails)))
    assert not Arrivals(3, 3, 0, 3).testable
    assert Arrivals(5, 5, 0, 5).testable
    assert Arrivals(5, 5, 0, 5).interval(0.95).high == 1
    assert Arrivals(2, 5, 1, 5).interval(0.95).low == 0


def test_intervals_of_methods_that_differ_hold_for_all_of_them_at_once():
    logs = np.random.default_rng(5).normal(-1, 0.1, (4, 10))
    for found, ratios in zip(decide_costs([PairedLogs(each, each) for each in logs]), logs, strict=True):
        assert found.verdict is Verdict.BETTER
        low, high = log_interval(ratios, ratios, 1 - 0.05 / 4)  # all are selected: 5 % for each, over four
        assert found.interval.low == pytest.approx(math.exp(low))
        assert found.interval.high == pytest.approx(math.exp(high))
        assert found.level == 1 - 0.05 / 4  # so are those of the parts of a product
    (alone,) = decide_costs([PairedLogs(logs[0], logs[0])])
    assert alone.interval.high == pytest.approx(math.exp(log_interval(logs[0], logs[0], 0.95)[1]))


def test_an_interval_that_would_reach_1_for_all_at_once_keeps_the_end_that_decided():
    clear = np.random.default_rng(6).normal(-1, 0.1, (3, 10))
    doubtful = -0.1 + 0.12 * np.array([-1.6, -1.1, -0.7, -0.4, -0.1, 0.1, 0.4, 0.7, 1.1, 1.6])
    found = decide_costs([PairedLogs(each, each) for each in (*clear, doubtful)])[-1]
    decided, together = (log_interval(doubtful, doubtful, 1 - each) for each in (0.05, 0.05 / 4))
    assert found.verdict is Verdict.BETTER
    assert together[1] > 0 > decided[1]
    assert found.interval.high == pytest.approx(math.exp(decided[1]))
    assert found.interval.low == pytest.approx(math.exp(together[0]))


def test_arrivals_that_exclude_each_other_let_fishers_test_err_as_often_as_the_manual_says():
    """Each repetition brings just one of the two to the target, either with the same chance."""
    errors = []
    for runs in range(1, 101):
        mine = np.arange(runs + 1)
        found = share_probability(mine, np.full(runs + 1, runs), runs - mine, np.full(runs + 1, runs))
        errors.append(float(np.sum(stats.binom.pmf(mine, runs, 0.5)[found <= 0.05])))
    assert 0.16 < max(errors) < 0.17
