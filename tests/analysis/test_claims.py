"""Claims are decided by intervals that share one error budget."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtri

from benchfw.analysis.claims import Part, Standing, decide_claims
from benchfw.analysis.estimates import Largest, Mean, Measured, Runs, Share, lies_inside
from benchfw.analysis.intervals import Interval, mean_interval, t_quantile
from benchfw.analysis.medians import normality_probability, sign_depth
from benchfw.analysis.power import largest_spread
from benchfw.claims import Range

BELOW_HALF = Range(high=0.5)


def runs_at(mean, spread=0.1, count=10, seed=0):
    """Runs whose mean is just this, and whose deviations look normal."""
    noise = np.random.default_rng(seed).standard_normal(count)
    noise = (noise - np.mean(noise)) / np.std(noise, ddof=1)
    values = mean + spread * noise
    return Runs(values, values, values, logs=False)


def decide_one(inside, estimate, **more):
    return decide_claims([[Part("", inside, estimate, **more)]])[0]


@pytest.mark.parametrize(
    ("mean", "standing"),
    [(0.3, Standing.HOLDS), (0.7, Standing.REFUTED), (0.49, Standing.UNDECIDED)],
)
def test_a_claim_is_decided_by_the_side_of_its_end_on_which_the_interval_lies(mean, standing):
    decided = decide_one(BELOW_HALF, runs_at(mean))
    assert decided.standing is standing
    shown = decided.parts[0].interval
    assert (shown.high < 0.5, shown.low > 0.5) == (standing is Standing.HOLDS, standing is Standing.REFUTED)


def test_an_undecided_claim_says_how_many_runs_would_decide_it():
    needed = [decide_one(BELOW_HALF, runs_at(0.5 - distance)).needed for distance in (0.05, 0.025)]
    assert 10 < needed[0] < needed[1]
    spread = 0.1 * math.sqrt(9 / 4.817)  # in 85 % of samples of ten runs the true spread is at most this
    # the textbook's number for a one-sided test at 5 %: 90 % power where 97 % pass the check for normality
    assert needed[1] == pytest.approx(((1.645 + 1.460) * spread / 0.025) ** 2, rel=0.03)


@pytest.mark.parametrize("mean", [0.0, 0.03])
@pytest.mark.parametrize("kind", ["runs", "measured"])
def test_with_so_many_runs_it_is_decided_with_a_chance_of_nine_in_ten(kind, mean):
    """The spread is at the end of its interval that the plan allows for."""
    within, ran, spread, samples = Range(-0.05, 0.05), 10, 0.1, 1000

    def estimate(values):
        if kind == "runs":
            return Runs(values, values, values, logs=False)
        error = np.std(values, ddof=1) / math.sqrt(len(values))
        middle = float(np.mean(values))

        def find(level):
            half = t_quantile(level, len(values) - 1) * error
            return Interval(middle, middle - half, middle + half, len(values))

        return Measured(find, len(values))

    needed = decide_one(within, estimate(runs_at(mean, spread, ran).middle)).needed
    draws = np.random.default_rng(5).normal(mean, largest_spread(spread, ran), (samples, needed))
    share = np.mean([decide_one(within, estimate(each)).standing is Standing.HOLDS for each in draws])
    error = math.sqrt(0.9 * 0.1 / samples)
    # both ends are allowed for, though the far one may be out of reach
    assert 0.9 - 3 * error < share < 0.95 + 3 * error


@pytest.mark.parametrize(("some", "inside"), [(7, Range(low=0.5)), (3, Range(low=0.5)), (5, Range(0.3, 0.7))])
def test_so_many_runs_decide_a_share_with_a_chance_of_nine_in_ten(some, inside):
    needed = decide_one(inside, Share(some, 10)).needed
    samples = 2000
    shares = np.random.default_rng(5).binomial(needed, some / 10, samples)
    found = [decide_one(inside, Share(int(each), needed)).standing for each in shares]
    share = np.mean([each is not Standing.UNDECIDED for each in found])
    error = math.sqrt(0.9 * 0.1 / samples)
    assert 0.9 - 3 * error < share < 0.93 + 3 * error  # a step of the plan is 2 % of the runs


def test_runs_just_at_the_end_can_never_decide():
    assert decide_one(BELOW_HALF, runs_at(0.5)).needed is None


def test_claims_share_one_budget():
    """The same runs decide a single claim, and leave it open beside nineteen that are as doubtful."""
    doubtful = [Part("", BELOW_HALF, runs_at(0.5 - 0.07))]
    assert decide_claims([doubtful])[0].standing is Standing.HOLDS
    assert {each.standing for each in decide_claims([doubtful] * 20)} == {Standing.UNDECIDED}


def test_claims_that_are_decided_leave_their_share_to_the_others():
    doubtful, sure = ([Part("", BELOW_HALF, runs_at(mean))] for mean in (0.43, 0.1))
    among_sure = decide_claims([doubtful, *[sure] * 19])
    assert {each.standing for each in among_sure} == {Standing.HOLDS}
    assert among_sure[0].level > among_sure[1].level


def test_claims_that_cannot_be_tested_cost_nothing():
    doubtful = [Part("", BELOW_HALF, runs_at(0.43))]
    nothing = [Part("", BELOW_HALF, reason="it did not run")]
    decided = decide_claims([doubtful, *[nothing] * 19])
    assert [each.standing for each in decided[:2]] == [Standing.HOLDS, Standing.NOT_TESTABLE]
    assert decided[1].reason == "it did not run"


def test_a_claim_that_is_tested_in_part_keeps_its_share():
    """It might have been refuted: as many as are tried so would refute true claims more often than 5 %."""
    doubtful = Part("", BELOW_HALF, runs_at(0.5 - 0.07))
    half = [doubtful, Part("", BELOW_HALF, reason="did not run")]
    assert decide_claims([[doubtful]])[0].standing is Standing.HOLDS
    *tried, last = decide_claims([*[half] * 19, [doubtful]])
    assert {each.standing for each in tried} == {Standing.NOT_TESTABLE}
    assert last.standing is Standing.UNDECIDED


def test_a_claim_about_several_problems_holds_on_all_of_them_and_is_refuted_by_one():
    good, bad, open_ = (Part(name, BELOW_HALF, runs_at(mean)) for name, mean in
                        [("p", 0.3), ("q", 0.7), ("r", 0.49)])  # fmt: skip
    missing = Part("s", BELOW_HALF, reason="it did not run")
    claims = [[good, good], [good, bad, missing], [good, open_], [good, missing]]
    standings = [decide_claims([claim])[0].standing for claim in claims]
    assert standings == [Standing.HOLDS, Standing.REFUTED, Standing.UNDECIDED, Standing.NOT_TESTABLE]


def test_one_problem_of_many_refutes_at_its_share_of_the_budget():
    above = Part("q", BELOW_HALF, runs_at(0.5 + 0.07))
    assert decide_claims([[above]])[0].standing is Standing.REFUTED
    assert (
        decide_claims([[above, *[Part("p", BELOW_HALF, runs_at(0.3))] * 19]])[0].standing
        is Standing.UNDECIDED
    )


def test_one_problem_that_cannot_refute_at_its_share_has_no_interval_that_seems_to():
    """Six runs are enough for one claim about one number, and too few to refute one about six of them."""
    doubtful, outside = (Part("", BELOW_HALF, runs_at(mean, count=6)) for mean in (0.5, 0.9))
    assert decide_claims([[outside]])[0].standing is Standing.REFUTED
    decided = decide_claims([[doubtful] * 5 + [outside]])[0]
    assert decided.standing is Standing.UNDECIDED
    assert not any(each.interval.low > 0.5 for each in decided.parts)
    assert decided.parts[-1].level > decided.parts[0].level


@pytest.mark.parametrize(
    ("inside", "disproof", "tail"),
    [(BELOW_HALF, None, 0.05), (Range(0.0, 0.5), None, 0.025), (BELOW_HALF, Range(0.5, 0.5), 0.025)],
)
def test_each_part_may_refute_on_each_side_at_its_share_of_the_error(inside, disproof, tail):
    """What is refuted by one side has all of the share there, and what either side refutes a half."""
    for parts in (1, 2, 5):
        edge = t_quantile(1 - 2 * tail / parts, 9) * 0.1 / math.sqrt(10)
        others = [Part("", inside, runs_at(0.5 if disproof else 0.3), disproof=disproof)] * (parts - 1)
        for far, refuted in ((0.999, False), (1.001, True)):
            last = Part("", inside, runs_at(0.5 + far * edge), disproof=disproof)
            decided = decide_claims([[*others, last]])[0]
            assert (decided.standing is Standing.REFUTED) is refuted


def test_what_is_claimed_not_to_be_0_holds_on_either_side():
    """Half of the error is on each, so that a claim of nothing is taken for a difference in 5 %."""
    zero, edge = Range(0.0, 0.0), t_quantile(0.95, 9) * 0.1 / math.sqrt(10)
    for side in (-1, 1):
        for far, standing in ((0.999, Standing.UNDECIDED), (1.001, Standing.HOLDS)):
            estimate = runs_at(side * far * edge)
            assert decide_one(Range(-0.01, 0.01), estimate, disproof=zero, denied=True).standing is standing


def test_a_range_with_two_ends_holds_inside_and_is_refuted_on_either_side():
    inside = Range(0.4, 0.6)
    means = {0.5: Standing.HOLDS, 0.3: Standing.REFUTED, 0.7: Standing.REFUTED, 0.42: Standing.UNDECIDED}
    for mean, standing in means.items():
        assert decide_one(inside, runs_at(mean, spread=0.05)).standing is standing


@pytest.mark.parametrize(("count", "standing"), [(2, "not testable"), (4, "undecided"), (5, "holds")])
def test_a_claim_needs_so_many_runs_that_clusters_are_seen(count, standing):
    """Of runs in two clusters n are on one side with a chance of 1/2^n: four say nothing at 5 %."""
    decided = decide_one(BELOW_HALF, runs_at(0.1, spread=0.001, count=count))
    assert decided.standing == standing


def test_runs_that_do_not_look_normal_must_show_it_in_the_typical_run():
    """One run in five is far below: their mean is below the end, their median is not."""
    values = np.array([0.52, 0.51, 0.53, 0.5, 0.54, 0.505, 0.515, 0.525, -3.0, -3.1])
    runs = Runs(values, values, values, logs=False)
    assert np.mean(values) < 0
    assert runs.interval(0.9).high > 0.5


@pytest.mark.parametrize(
    ("count", "bend", "skewed"), [(10, 0.15, False), (10, 0.25, True), (5, 0.3, False), (5, 0.35, True)]
)
def test_runs_that_are_skewed_towards_the_claim_must_show_it_in_the_typical_run(count, bend, skewed):
    """They pass for normal but for their skewness, which 15 % of normal samples have."""
    scores = ndtri((np.arange(count) + 0.625) / (count + 0.25))
    values = scores + bend * scores**2
    assert normality_probability(values) > 0.5
    student, median = mean_interval(values, 0.9), np.sort(values)[sign_depth(count, 0.9) - 1]
    assert median < student.low
    above, below = (Runs(each, each, each, logs=False).interval(0.9) for each in (values, -values))
    assert above.low == -below.high == pytest.approx(median if skewed else student.low)
    # nothing flatters on the other side
    assert above.high == -below.low == pytest.approx(student.high)


def test_runs_in_two_clusters_are_not_normal_though_they_are_not_skewed():
    values = np.append(np.linspace(-1.02, -0.98, 5), np.linspace(0.98, 1.02, 5))
    found, student = Runs(values, values, values, logs=False).interval(0.9), mean_interval(values, 0.9)
    assert -0.7 < student.low < student.high < 0.7
    assert (found.low, found.high) == (values[1], values[-2])


def test_a_plan_allows_for_brackets_that_more_runs_do_not_make_narrower():
    values = runs_at(0.45).middle
    wide = Runs(values - 0.02, values + 0.02, values, logs=False)
    assert decide_one(BELOW_HALF, wide).needed == decide_one(Range(high=0.48), runs_at(0.45)).needed > 10


def test_a_run_that_was_never_there_is_known_from_one_side():
    """Nine of ten never arrive and had spent 1,000: the typical run takes more than that."""
    low = np.log(np.array([50.0, *[1000.0] * 9]))
    high = np.array([math.log(50.0), *[math.inf] * 9])
    runs = Runs(low, high, low)
    found = runs.interval(0.9)
    assert (found.low, found.high) == (pytest.approx(1000), math.inf)
    assert decide_one(Range(low=900.0), runs).standing is Standing.HOLDS
    assert decide_one(Range(high=900.0), runs).standing is Standing.REFUTED


def test_what_is_claimed_of_every_run_is_refuted_by_one_and_holds_from_five_on():
    def standing(some, runs, wanted=True):
        inside = Range(low=0.5) if wanted else Range(high=0.5)
        return decide_one(inside, Share(some, runs, every=True, wanted=wanted))

    assert standing(99, 100).standing is Standing.REFUTED
    assert standing(1, 100, wanted=False).standing is Standing.REFUTED
    assert standing(5, 5).standing is standing(0, 5, wanted=False).standing is Standing.HOLDS
    assert (standing(4, 4).standing, standing(4, 4).needed) == (Standing.UNDECIDED, 5)


def test_what_is_not_known_of_some_runs_neither_refutes_nor_holds():
    arriving, failing = Range(low=0.5), Range(high=0.5)
    assert decide_one(arriving, Share(9, 10, every=True, unsure=1)).standing is Standing.UNDECIDED
    assert decide_one(arriving, Share(8, 10, every=True, unsure=1)).standing is Standing.REFUTED
    assert (
        decide_one(failing, Share(0, 10, every=True, wanted=False, unsure=1)).standing is Standing.UNDECIDED
    )
    assert decide_one(failing, Share(1, 10, every=True, wanted=False, unsure=1)).standing is Standing.REFUTED
    found, least, most = Share(7, 12, unsure=2).interval(0.9), Share(7, 12), Share(9, 12)
    assert (found.low, found.high) == (least.interval(0.9).low, most.interval(0.9).high)
    assert decide_one(arriving, Share(9, 10, every=True, unsure=1)).needed is None


def test_a_share_has_the_exact_binomial_interval():
    from scipy.stats import binomtest

    exact = binomtest(7, 12).proportion_ci(0.9, method="exact")
    found = Share(7, 12).interval(0.9)
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high))


@pytest.mark.parametrize(("some", "inside"), [(0, Range(0.0, 0.5)), (20, Range(0.5, 1.0))])
def test_a_range_may_end_where_all_numbers_do(some, inside):
    assert decide_one(inside, Share(some, 20)).standing is Standing.HOLDS
    gone = np.full(10, -math.inf)  # the logarithm of 0
    below = Runs(gone, np.full(10, -5.0), gone)
    assert decide_one(Range(0.0, 0.5), below).standing is Standing.HOLDS
    assert decide_one(Range(0.1, 0.5), below).standing is Standing.REFUTED


def test_the_largest_of_many_is_below_a_limit_only_if_all_are_and_above_it_with_an_allowance():
    low, high = runs_at(0.3), runs_at(0.57)
    assert decide_one(BELOW_HALF, Largest((low,) * 50)).standing is Standing.HOLDS
    assert decide_one(BELOW_HALF, Largest((high,))).standing is Standing.REFUTED
    assert decide_one(BELOW_HALF, Largest((high, *[low] * 49))).standing is Standing.UNDECIDED
    far = runs_at(0.9)
    assert decide_one(BELOW_HALF, Largest((far, *[low] * 49))).standing is Standing.REFUTED


def test_a_small_bias_is_shown_to_be_small_and_any_bias_beyond_noise_refutes():
    def standing(low, high):
        estimate = Measured(lambda _: Interval((low + high) / 2, low, high, 10), 10)
        return decide_one(Range(-0.1, 0.1), estimate, disproof=Range(0.0, 0.0)).standing

    assert standing(-0.05, 0.05) is Standing.HOLDS
    assert standing(0.01, 0.05) is Standing.REFUTED
    assert standing(-0.2, 0.05) is Standing.UNDECIDED


def test_an_end_that_the_range_does_not_have_may_be_unknown():
    assert lies_inside(Interval(0.1, -math.inf, 0.2, 10), Range(high=1.0))
    assert not lies_inside(Interval(0.1, -math.inf, 0.2, 10), Range(-1.0, 1.0))
    assert lies_inside(Interval(3.0, 2.0, math.inf, 10), Range(low=1.0))
    assert not lies_inside(Interval(3.0, 2.0, math.inf, 10), Range(high=4.0))


def test_ten_runs_show_that_a_long_curve_stays_below_its_bound():
    """One of 40 looks has too small a share of the error for a lower end of its own."""
    curves = np.random.default_rng(0).uniform(0.1, 0.2, (40, 10))
    parts = tuple(Runs(each, each, each, logs=False) for each in curves)
    (found,) = decide_claims([[Part("", Range(high=1.0), Largest(parts))]])
    assert found.standing is Standing.HOLDS


def test_the_mean_of_skewed_runs_is_not_taken_for_that_of_the_typical_one():
    """One run of ten is far above the bound, and the median is far below."""
    values = np.array([0.1, 0.1, 0.12, 0.12, 0.15, 0.2, 0.2, 0.3, 0.5, 2.5])
    typical, mean = Runs(values, values, values, logs=False), Mean(values, values, values, logs=False)
    assert decide_one(Range(high=1.0), typical).standing is Standing.HOLDS
    assert decide_one(Range(high=1.0), Largest((mean,))).standing is Standing.UNDECIDED


@pytest.mark.parametrize(
    ("claims", "reports"), [(1, 600), (5, 150), pytest.param(20, 150, marks=pytest.mark.thorough)]
)
def test_false_claims_hold_in_at_most_5_percent_of_reports(claims, reports):
    rng = np.random.default_rng(7)
    false = 0
    for _ in range(reports):
        drawn = rng.standard_normal((claims, 10))
        said = decide_claims(
            [[Part("", Range(high=0.0), Runs(each, each, each, logs=False))] for each in drawn]
        )
        false += any(each.standing is Standing.HOLDS for each in said)
    assert false / reports <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / reports)


def test_a_true_claim_three_standard_errors_inside_is_decided_by_ten_runs_in_four_of_five():
    rng, reports = np.random.default_rng(8), 500
    drawn = rng.standard_normal((reports, 10)) - 3 / math.sqrt(10)
    said = [decide_one(Range(high=0.0), Runs(each, each, each, logs=False)).standing for each in drawn]
    share = said.count(Standing.HOLDS) / reports
    assert share >= 0.8 - 3 * math.sqrt(0.8 * 0.2 / reports)
