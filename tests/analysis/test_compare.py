"""Two samples of one quantity: the ratio, the p-value, and the word for it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchfw.analysis.compare import (
    RUN_SPREAD,
    Difference,
    Ends,
    allow_for_runs,
    bracketed_difference,
    difference_of_intervals,
    independent_difference,
    paired_difference,
    share_difference,
    signed_difference,
)
from benchfw.analysis.intervals import Interval
from benchfw.analysis.judgement import judge
from benchfw.analysis.significance import benjamini_hochberg

inf = math.inf
EXPERIMENTS = 2000
positive = st.floats(1e-6, 1e6)


def words(*differences, floor=0.05, methods=1):
    return [change.word for change in judge(differences, floor, methods)]


def sure(ratio, width=0.001, probability=1e-9, count=40):
    interval = Interval(ratio, ratio * (1 - width), ratio * (1 + width), count)
    return Difference(interval, probability, equality=lambda margin: 1e-9)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_adjusted_values_are_those_of_the_definition(given_values):
    # the largest k with p_(k) <= k a / m rejects the k smallest: brute force over all levels
    adjusted = benjamini_hochberg(given_values)
    ordered, count = np.sort(given_values), len(given_values)
    for value, found in zip(given_values, adjusted, strict=True):
        smallest = min(ordered[k - 1] * count / k for k in range(1, count + 1) if ordered[k - 1] >= value)
        assert found == pytest.approx(min(smallest, 1))


@pytest.mark.parametrize("count", [3, 5, 10, 20])
@pytest.mark.sampled(1)
def test_p_values_of_like_pairs_are_below_5_percent_in_5_percent(count):
    rng = np.random.default_rng(1)
    data = rng.normal(0, 1, (EXPERIMENTS, 1, count))
    pairs = np.exp(data + rng.normal(0, 0.1, (EXPERIMENTS, 2, count)))
    below = np.mean([paired_difference(*pair).probability <= 0.05 for pair in pairs])
    # trimming makes the test of few a little too ready: by 1 % at ten pairs
    assert abs(below - 0.05) < 4 * math.sqrt(0.05 * 0.95 / EXPERIMENTS) + 0.01


@pytest.mark.parametrize("count", [5, 10, 20])
@pytest.mark.sampled(1)
def test_p_values_of_like_samples_are_below_5_percent_in_at_most_5_percent(count):
    rng = np.random.default_rng(2)
    samples = rng.lognormal(0, 0.3, (EXPERIMENTS, 2, count))
    below = np.mean([independent_difference(*each).probability <= 0.05 for each in samples])
    assert below < 0.05 + 4 * math.sqrt(0.05 * 0.95 / EXPERIMENTS) + 0.01


def test_pairs_take_out_what_the_data_differ_by():
    data = np.geomspace(1, 1e6, 10)
    noise = np.exp(0.01 * np.random.default_rng(4).standard_normal(10))
    found = paired_difference(data, 1.2 * data * noise)
    assert found.ratio.low == pytest.approx(1.2, rel=0.02)
    assert found.ratio.high == pytest.approx(1.2, rel=0.02)
    assert found.probability < 1e-6
    assert independent_difference(data, 1.2 * data * noise).probability > 0.5


@given(st.lists(st.tuples(positive, positive), min_size=1, max_size=12))
def test_swapping_the_runs_inverts_the_ratio_and_keeps_the_p_value(pairs):
    before, after = np.array(pairs).T
    there, back = paired_difference(before, after), paired_difference(after, before)
    assert there.probability == pytest.approx(back.probability, abs=1e-9)
    if len(pairs) % 2:
        assert there.ratio.estimate == pytest.approx(1 / back.ratio.estimate)


def test_one_outlier_in_ten_does_not_hide_a_slow_down():
    noise = np.exp(0.03 * np.random.default_rng(5).standard_normal(10))
    after = 1.15 * noise
    after[3] *= 20
    assert words(paired_difference(np.ones(10), after)) == ["regressed"]


def test_runs_with_the_same_numbers_are_identical_which_takes_no_test():
    found = paired_difference([3.0, 1.0, 2.0], [3.0, 1.0, 2.0])
    assert found.ratio == Interval(1, 1, 1, 3)
    assert words(found, independent_difference([2.0, 2.0], [2.0] * 3)) == ["identical"] * 2
    # with other data the same numbers in another order are not the same runs
    assert words(independent_difference([3.0, 1.0, 2.0], [1.0, 2.0, 3.0])) == ["within noise"]


def test_values_that_are_known_to_lie_between_the_same_ends_are_identical_too():
    ends = Ends([3.0, 1.0, 2.0], [2.0, 0.0, 1.0], [3.0, 1.0, 2.0])
    others = Ends([3.0, 1.0, 2.0], [2.0, 0.5, 1.0], [3.0, 1.0, 2.0])
    assert words(bracketed_difference(paired_difference, ends, ends)) == ["identical"]
    assert words(bracketed_difference(paired_difference, ends, others)) == ["within noise"]


def test_shares_are_identical_only_where_all_runs_are_alike():
    found = [share_difference(each, each) for each in ((6, 6), (0, 6), (3, 6))]
    assert words(*found) == ["identical", "identical", "within noise"]


@pytest.mark.parametrize("differ", [paired_difference, independent_difference])
def test_no_change_needs_as_many_runs_as_equal_in_a_report_and_all_of_them_alike(differ):
    before, after = np.exp(0.01 * np.random.default_rng(8).standard_normal((2, 44)))
    assert words(differ(before[:28], after[:28])) == ["within noise"]
    assert words(differ(before[:29], after[:29])) == ["no change"]
    # one run of ten may be slow without being seen: once for each method
    others = [sure(1.0, width=0.2, probability=0.5)] * 4
    assert words(differ(before[:43], after[:43]), *others, methods=5)[0] == "within noise"
    assert words(differ(before, after), *others, methods=5)[0] == "no change"
    slow = after.copy()
    slow[[3, 20, 30]] *= 20
    found = differ(before, slow)
    assert 0.98 < found.ratio.low <= found.ratio.high < 1.02  # of medians
    assert words(found) == ["within noise"]


def test_two_clusters_of_runs_may_make_three_pairs_alike():
    doubled = paired_difference([1.0, 3.0, 1.0], [2.0, 6.0, 2.0])
    assert words(doubled) == ["regressed"]
    assert words(doubled, *[sure(1.0, width=0.2, probability=0.5)] * 3, methods=4)[0] == "within noise"


@pytest.mark.parametrize("paired", [True, False])
def test_numbers_that_can_be_negative_have_a_difference_whose_size_decides(paired):
    before = -1.2 + 0.01 * np.arange(10)
    worse = signed_difference(before, before + 4.2 + 0.01 * (np.arange(10) % 3), 6.0, paired=paired)
    assert worse.ratio.estimate == pytest.approx(4.209)
    assert worse.ratio.low < 4.209 < worse.ratio.high
    small = signed_difference(before, before + 0.2, 6.0, paired=paired)  # 3 % of the way that A came
    same = signed_difference(before, before, 6.0, paired=paired)
    better = signed_difference(before + 1, before, 6.0, paired=paired)
    assert words(worse, small, same, better) == [
        "regressed", "within noise", "identical" if paired else "within noise", "improved",
    ]  # fmt: skip


def test_what_has_no_noise_needs_no_more_than_three_runs():
    assert words(paired_difference([10.0, 20.0, 30.0], [12.0, 24.0, 36.0])) == ["regressed"]
    assert words(paired_difference([12.0, 24.0, 36.0], [10.0, 20.0, 30.0])) == ["improved"]
    assert words(paired_difference([10.0, 20.0], [12.0, 24.0])) == ["within noise"]
    assert words(paired_difference([10.0], [12.0])) == ["within noise"]


def test_a_method_that_no_longer_arrives_has_regressed():
    found = paired_difference([1.0, 2.0, 3.0, 4.0, 5.0], [inf] * 5)
    assert found.ratio.estimate == inf
    assert words(found) == ["regressed"]
    assert words(paired_difference([inf] * 5, [1.0, 2.0, 3.0, 4.0, 5.0])) == ["improved"]
    assert words(paired_difference([1.0, 2.0, 3.0], [inf] * 3)) == ["within noise"]


def test_pairs_that_never_arrive_say_nothing():
    assert paired_difference([inf] * 5, [inf] * 5).ratio.count == 0
    assert paired_difference([inf, 1.0, 2.0], [inf, 1.0, 2.0]).ratio.count == 2


def test_zeros_are_compared_by_rank():
    found = paired_difference([0.0] * 6, [0.0] * 5 + [1.0])
    assert found.ratio.estimate == 1
    assert found.probability > 0.05
    assert paired_difference([0.0] * 6, [1.0] * 6).probability < 0.01


def test_the_trimmed_test_is_that_of_scipy_when_it_leaves_out_nothing():
    from scipy.stats import ttest_1samp, ttest_ind

    before, after = np.random.default_rng(7).lognormal(0, 0.2, (2, 9))
    expected = ttest_1samp(np.log(after / before), 0).pvalue
    assert paired_difference(before, after).probability == pytest.approx(expected)
    welch = ttest_ind(np.log(after), np.log(before), equal_var=False)
    # the degrees of freedom are rounded down, which makes the p-value larger by a little
    assert welch.pvalue <= independent_difference(before, after).probability < 1.1 * welch.pvalue


def test_the_test_of_two_trimmed_samples_is_that_of_yuen_in_scipy():
    from scipy.stats import ttest_ind

    before, after = np.random.default_rng(8).lognormal(0, 0.2, (2, 20))
    expected = ttest_ind(np.log(after), np.log(before), equal_var=False, trim=0.1).pvalue
    assert independent_difference(before, after).probability == pytest.approx(expected, rel=0.05)


def test_one_trial_with_its_own_standard_error_can_tell():
    factor = math.exp(1.959964 * 0.02)
    old, new = (Interval(value, value / factor, value * factor, 1) for value in (1.0, 1.5))
    found = difference_of_intervals(old, new)
    assert found.probability == pytest.approx(math.erfc(math.log(1.5) / 0.04), rel=1e-4)
    assert words(found) == ["regressed"]
    assert words(difference_of_intervals(old, Interval(2.0, 0.0, inf, 1))) == ["within noise"]


@pytest.mark.parametrize(
    ("difference", "word"),
    [
        (sure(1.2), "regressed"),
        (sure(0.8), "improved"),
        (sure(1.04), "no change"),
        (sure(1.0, width=0.02, probability=0.9), "no change"),
        (sure(1.2, width=0.5, probability=0.3), "within noise"),
        (sure(1.04, width=0.03), "within noise"),  # a change, but perhaps one below the floor
        (sure(1.2, count=2), "within noise"),
        (Difference(Interval(math.nan, math.nan, math.nan, 0), math.nan), "within noise"),
    ],
)
def test_the_words(difference, word):
    assert words(difference) == [word]


def test_the_floor_decides_what_is_worth_a_word():
    assert words(sure(1.2), floor=0.3) == ["no change"]
    assert words(sure(1.01), floor=0.001) == ["regressed"]


def test_one_small_p_value_among_many_rows_is_noise():
    lone = sure(1.2, probability=0.01)
    others = [sure(1.0, width=0.2, probability=0.5)] * 20
    assert words(lone, *others)[0] == "within noise"


def test_rows_without_noise_that_are_equal_do_not_dilute_the_others():
    lone = sure(1.2, probability=0.01)
    equal = [Difference(Interval(1.0, 1.0, 1.0, 10), 1.0, identical=True)] * 50
    assert words(lone, *equal)[0] == "regressed"


def test_unequal_numbers_of_pairs_are_refused():
    with pytest.raises(ValueError, match="differ in number: 2 and 1"):
        paired_difference([1.0, 2.0], [1.0])


def test_many_small_differences_however_sure_lend_no_weight_to_a_doubtful_one():
    doubtful = Difference(Interval(1.1, 1.02, 1.2, 10), 0.01)
    assert words(doubtful) == ["regressed"]
    assert words(doubtful, *[sure(1.01)] * 50)[0] == "within noise"


def test_what_all_trials_of_a_run_share_is_added_to_the_noise_of_times():
    rng = np.random.default_rng(5)
    effects = rng.normal(0, RUN_SPREAD, (2000, 2, 1))
    logs = effects + rng.normal(0, 0.01, (2000, 2, 10))
    pairs = [paired_difference(np.exp(before), np.exp(after)) for before, after in logs]
    allowed = [allow_for_runs(each) for each in pairs]
    assert np.mean([each.probability <= 0.05 for each in pairs]) > 0.5  # a run's own noise is not all
    assert 0.02 < np.mean([each.probability <= 0.05 for each in allowed]) < 0.05
    covered = np.mean([each.ratio.low <= 1 <= each.ratio.high for each in allowed])
    assert 0.94 <= covered <= 0.98
    sure = Difference(Interval(1.3, 1.3, 1.3, 10), 0.0)
    assert allow_for_runs(sure).probability < 1e-8
    assert allow_for_runs(Difference(Interval(1.0, 1.0, 1.0, 10), 1.0)).probability == 1
    never = Difference(Interval(math.inf, 0.0, math.inf, 3), 0.5)
    assert allow_for_runs(never) is never


def test_what_all_trials_of_a_run_share_is_added_to_the_noise_of_equality():
    """As many standard errors as the estimate is from the margin, of which the two runs' own are a part."""
    alone = 2 * stats.norm.sf(4.0)
    found = Difference(Interval(1.02, 1.0, 1.04, 40), 0.01, equality=lambda margin: alone)
    room = math.log(1.2 / 1.02)
    errors = room / math.hypot(room / 4.0, math.sqrt(2) * RUN_SPREAD)
    assert allow_for_runs(found).equality(1.2) == pytest.approx(2 * stats.norm.sf(errors))
    assert allow_for_runs(found).equality(1.01) == 1
    assert allow_for_runs(replace(found, equality=lambda margin: 1.0)).equality(1.2) == 1


def test_samples_are_equal_only_if_the_outermost_value_may_come_once_more():
    """A few slow values in one sample: Welch's interval reaches too little to their side."""
    before, after = np.linspace(-0.01, 0.01, 30), np.append(np.linspace(-0.01, 0.01, 29), 0.5)
    more, edge = np.append(after, 0.5), math.log(1.1)
    alone, both = (
        2 * stats.ttest_ind(each, other + edge, equal_var=False, alternative="less").pvalue
        for each, other in ((after, before), (more, np.append(before, -0.01)))
    )
    assert both > 2 * alone
    for first, second in ((before, after), (after, before)):
        found = independent_difference(np.exp(first), np.exp(second)).equality(1.1)
        # the degrees of freedom are rounded down, which makes the p-value larger by a little
        assert both <= found < 1.1 * both


def test_ranks_that_contradict_the_median_say_nothing():
    # the ranks are lower after, and yet the median is higher
    before, after = np.repeat([1.0, 9.0], [20, 15]), np.repeat([0.0, 1.1], [15, 20])
    assert stats.mannwhitneyu(after, before).pvalue < 0.05
    found = independent_difference(before, after)
    assert found.ratio.estimate == pytest.approx(1.1)
    assert (found.probability, found.exact) == (1, True)


def test_a_bracketed_difference_holds_wherever_the_values_lie():
    before = Ends([1.0, 2.0, 3.0], [0.8, 1.6, 2.4], [1.0, 2.0, 3.0])
    after = Ends([1.2, 2.5, 3.5], [1.2, 2.5, 3.5], [1.2, 2.5, 3.5])
    plain = paired_difference(before.values, after.values)
    found = bracketed_difference(paired_difference, before, after)
    most = paired_difference(before.low, after.high)
    assert found.ratio.estimate == plain.ratio.estimate
    assert (found.ratio.low, found.ratio.high) == (plain.ratio.low, most.ratio.high)
    assert found.probability == max(plain.probability, most.probability)
    wide = Ends([1.0] * 3, [0.5] * 3, [4.0] * 3)
    assert bracketed_difference(paired_difference, wide, after).probability == 1
    exact = Ends([1.0] * 3, [1.0] * 3, [1.0] * 3)
    assert bracketed_difference(paired_difference, exact, after) == paired_difference(
        exact.values, after.values
    )


def test_a_small_p_value_and_a_word_always_come_together():
    torn = Difference(Interval(1.3, 0.9, 1.6, 10), 1e-6)  # the test and the interval of the median disagree
    scarce = sure(2.0, count=2)
    for change in judge([torn, scarce, sure(1.2)]):
        assert (change.adjusted <= 0.05) == (change.word != "within noise")
    never = Difference(Interval(inf, 0.0, inf, 10), 1e-6, exact=True)
    assert words(never, share_difference((10, 10), (0, 10))) == ["regressed", "improved"]


def test_shares_of_runs_are_compared_by_fishers_exact_test():
    from scipy.stats import fisher_exact

    found = share_difference((1, 10), (7, 10))
    assert found.ratio.estimate == pytest.approx(7)
    assert found.probability == pytest.approx(fisher_exact([[1, 9], [7, 3]]).pvalue)
    assert share_difference((0, 3), (3, 3)).probability == pytest.approx(0.1)


def test_ranks_are_tested_exactly_with_ties_and_only_in_the_direction_of_the_median():
    from scipy.stats import mannwhitneyu

    before, after = np.random.default_rng(9).random((2, 8))
    after[0] = before[0] = 0.0
    after[1] = inf
    found = independent_difference(before + 1, np.append(after[1:], 0.0) + 2)
    exact = mannwhitneyu(np.append(after[1:], 0.0) + 2, before + 1, method="exact").pvalue
    assert found.probability == pytest.approx(exact)
    # all that never arrive are tied: five of ten against none of ten is Fisher's 2 x 252 / 15504
    half = independent_difference([1.0] * 10, [1.0] * 5 + [inf] * 5)
    assert half.probability == pytest.approx(2 * 252 / 15504)
    many = [1.0 + 0.01 * k for k in range(60)]
    normal = independent_difference([*many, inf], [*(1.05 * each for each in many), inf])
    close = mannwhitneyu([*(1.05 * each for each in many), inf], [*many, inf], method="asymptotic").pvalue
    assert 0.01 < close < 0.5
    assert normal.probability == pytest.approx(close)
    torn = paired_difference([1.0, 1.0, 1.0, 9.0, 9.0], [1.2, 1.2, 1.2, 0.0, 0.0])
    assert torn.ratio.estimate == pytest.approx(1.2)
    assert words(torn) == ["within noise"]
