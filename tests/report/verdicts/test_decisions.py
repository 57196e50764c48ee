"""What a verdict may claim: nothing by chance, nothing from two pairs, the near end of what was not seen."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from benchfw.records import Counting, Status
from benchfw.report.captions import caption
from benchfw.report.verdicts import verdict
from benchfw.summary.summarize import summarize

inf = math.inf
WOBBLE = (0.97, 1.0, 1.01, 1.03, 0.99)
EVEN = (100, 101, 99, 98, 103)
# by the number of methods; tests/analysis/test_simulations.py has more reports of many methods
SIMULATIONS = {2: 80, 9: 40}


def said(run, results):
    text = " | ".join(map(verdict, summarize(run, results).comparisons))
    assert not re.search(r"None|nan|at least 0 |fewest of all", text), text
    return text


def optimizer(make, name, costs, seconds=None, spent=1000.0):
    """Runs that meet the target at these costs (inf: not at all), in as many seconds unless told."""
    seconds = [min(cost, spent) for cost in costs] if seconds is None else seconds
    return [
        make.result(
            "optimizer", "p", name, repetition,
            make.curve("gap", [9, 5 if math.isinf(cost) else 0.5], cost=min(cost, spent), seconds=time),
            target={"gap": 1.0},
        )
        for repetition, (cost, time) in enumerate(zip(costs, seconds, strict=True))
    ]  # fmt: skip


def ending(make, name, ends, cost=10.0, diverged=0):
    """Runs without a target in the suite, which end at these gaps; the first few of them diverge."""
    return [
        make.result(
            "optimizer", "p", name, r, make.curve("gap", [9, 1, end], cost=cost * WOBBLE[r]),
            status=Status.DIVERGED if r < diverged else Status.DONE,
        )
        for r, end in enumerate(ends)
    ]  # fmt: skip


def test_a_reference_that_arrives_at_times_gives_the_near_end_of_the_ratio(make, run):
    # a run that ended at 1,000 would have needed more than that
    results = optimizer(make, "gd", [900, 910, 899, *[inf] * 4]) + optimizer(make, "svrg", (*EVEN, 100, 101))
    assert said(run, results) == (
        "The method svrg needs at least 9.0 times fewer gradients than gd to reach gap 1 (7 paired runs) "
        "and at least 9.0 times less time. The target is reached by gd in 3 of 7 runs."
    )


@pytest.mark.parametrize("runs", [1, 2, 3, 5, 6])
def test_every_number_of_arrivals_gives_a_sentence(make, run, runs):
    def some(count, scale):
        return [scale * cost if r < count else inf for r, cost in enumerate((*EVEN, 97)[:runs])]

    for arrivals, rival in product(range(runs + 1), repeat=2):
        results = optimizer(make, "gd", some(arrivals, 2)) + optimizer(make, "svrg", some(rival, 1))
        assert said(run, results).endswith(".")


def test_a_reference_that_never_arrives_needs_more_than_its_budget(make, run):
    results = optimizer(make, "gd", [inf] * 5) + optimizer(make, "svrg", EVEN)
    assert said(run, results) == (
        "The method svrg needs at least 9.7 times fewer gradients than gd to reach gap 1 (5 paired runs, "
        "assuming normal noise) and at least 9.7 times less time. Within the budget, the target is never "
        "reached by gd."
    )


def test_where_the_reference_never_arrives_ratios_are_to_the_first_of_several_that_do(make, run):
    results = (
        optimizer(make, "gd", [inf] * 5)
        + optimizer(make, "late", [inf, *(3 * cost for cost in EVEN[1:])])
        + optimizer(make, "saga", [2 * cost for cost in EVEN])
        + optimizer(make, "svrg", EVEN)
    )
    (comparison,) = summarize(run, results).comparisons
    assert verdict(comparison) == (
        "The method svrg needs 2 times fewer gradients than saga to reach gap 1 (5 paired runs, assuming "
        "normal noise) and 2 times less time. Within the budget, the target is never reached by gd. It is "
        "reached by late in 4 of 5 runs."
    )
    assert "ratios to saga (gd never reaches the target), paired by repetition" in caption(comparison)


def test_ratios_are_relative_to_the_reference_that_the_suite_names(make, run):
    results = optimizer(make, "gd", [2 * cost for cost in EVEN]) + optimizer(make, "svrg", EVEN)
    asked = replace(run, environment=replace(run.environment, reference="svrg"))
    assert said(asked, results).startswith(
        "No method reaches gap 1 with fewer gradients than svrg. The next, gd, needs 2 times more"
    )


def test_methods_that_arrive_more_often_than_by_chance_are_named_with_all_counts(make, run):
    # gd is stopped before the others arrive: no factor is known
    results = optimizer(make, "gd", [inf] * 5, spent=10) + optimizer(make, "svrg", EVEN)
    counts = "svrg in 5 of 5 runs and gd in 0 of 5 runs."
    assert said(run, results) == f"The method svrg reaches gap 1 more often than gd, beyond chance: {counts}"


def test_the_count_of_the_one_that_arrives_more_often_is_not_among_those_left_out(make, run):
    others = [each for name in "abcde" for each in optimizer(make, name, [inf] * 8, spent=10)]
    told = said(run, others + optimizer(make, "svrg", [*EVEN, *EVEN[:3]]))
    assert "beyond chance: svrg in 8 of 8 runs, a in 0 of 8 runs" in told


def test_a_method_that_arrives_less_often_beyond_chance_is_not_said_to_be_within_it(make, run):
    mostly = optimizer(make, "gd", [*EVEN, *EVEN[:3], inf, inf], spent=10)
    as_often = optimizer(make, "adam", [*EVEN, EVEN[0], inf, inf, inf, inf], spent=10)
    never = optimizer(make, "delta", [inf] * 10, spent=10)
    told = said(run, mostly + as_often + never)
    assert (
        "No difference beyond chance in who reaches gap 1: gd in 8 of 10 runs and adam in 6 of 10 runs"
        in told
    )


def test_pairs_of_which_neither_arrives_count_against_a_difference(make, run):
    """Seven pairs on one side are beyond chance, and seven of ten, three of them unknown, are not."""
    fast, slow = (
        optimizer(make, "gd", [2.0] * 7 + [inf] * 3, spent=9),
        optimizer(make, "sgd", [inf] * 10, spent=9),
    )
    told = said(run, [*slow, *fast])
    assert "times fewer" not in told


def test_three_runs_are_too_few_to_say_who_arrives(make, run):
    results = optimizer(make, "gd", [inf] * 3, spent=10) + optimizer(make, "svrg", EVEN[:3])
    assert said(run, results) == (
        "No difference beyond chance in who reaches gap 1: gd in 0 of 3 runs and svrg in 3 of 3 runs."
    )


def test_a_method_that_raises_in_most_runs_is_not_praised_for_the_rest(make, run):
    raised = [
        make.result(
            "optimizer", "p", "lucky", r, [], target={"gap": 1.0}, status=Status.FAILED, reason="oops"
        )
        for r in range(1, 10)
    ]
    results = optimizer(make, "gd", [*EVEN, *EVEN]) + optimizer(make, "lucky", [1.0]) + raised
    assert said(run, results) == (
        "The method gd reaches gap 1 more often than lucky, beyond chance: "
        "gd in 10 of 10 runs and lucky in 1 of 10 runs (9 did not finish)."
    )


def test_a_reference_that_starts_at_the_target_is_not_comparable(make, run):
    there = [
        make.result("optimizer", "p", "gd", r, make.curve("gap", [0.5, 0.4]), target={"gap": 1.0})
        for r in range(5)
    ]
    assert said(run, there + optimizer(make, "svrg", EVEN)) == (
        "Not comparable in gradients, because some runs start at gap 1: gd in 5 of 5 runs."
    )


def test_time_is_never_called_the_same_where_its_interval_is_wide(make, run):
    slow = optimizer(make, "gd", [2 * cost for cost in EVEN], seconds=[1.0, 9.0, 2.0, 4.0, 1.0])
    text = said(run, slow + optimizer(make, "svrg", EVEN, seconds=[2.0, 1.0, 3.0, 1.0, 2.0]))
    assert "In time: no difference beyond noise (ratio 0.70 [0.08, 5.72], 5 paired runs; " in text
    assert "5 paired runs; too few runs to plan from)" in text
    assert "same" not in text


def changed(results, **outcome):
    return [replace(each, outcome=replace(each.outcome, **outcome)) for each in results]


def test_a_method_whose_cost_was_not_counted_is_compared_in_time_alone(make, run):
    def rivals(first, second):
        slow = optimizer(make, "gd", [2 * cost for cost in EVEN])
        return changed(slow, counting=first) + changed(optimizer(make, "svrg", EVEN), counting=second)

    counted, free = Counting.COUNTED, Counting.UNCOUNTED
    runs = "(5 paired runs, assuming normal noise)"
    time = f"The method svrg needs 2 times less time than gd to reach gap 1 {runs}."
    for pair in ((free, counted), (counted, free), (free, free)):
        assert said(run, rivals(*pair)) == time


def test_a_method_whose_cost_is_not_known_does_not_keep_others_from_being_compared_in_cost(make, run):
    fast = changed(
        optimizer(make, "direct", EVEN, seconds=[cost / 5 for cost in EVEN]), counting=Counting.UNKNOWN
    )
    never = optimizer(make, "svrg", [inf] * 5, spent=10)
    slower = optimizer(make, "svrg", [2 * cost for cost in EVEN])
    gd = optimizer(make, "gd", EVEN)
    in_time = "In time, direct is ahead of gd: 5 times less (5 paired runs, assuming normal noise)."
    counts = "gd in 5 of 5 runs, svrg in 0 of 5 runs and direct in 5 of 5 runs"
    assert said(run, gd + never + fast) == (
        f"The method gd reaches gap 1 more often than svrg, beyond chance: {counts}. {in_time}"
    )
    assert said(run, gd + slower + fast) == (
        "No method whose cost is known reaches gap 1 with fewer gradients than gd. The next, svrg, needs "
        f"2 times more gradients (5 paired runs, assuming normal noise). {in_time}"
    )


def test_time_to_prepare_is_said_beside_a_ratio_of_times(make, run):
    fast = changed(optimizer(make, "svrg", EVEN), prepare_seconds=0.25)
    text = said(run, optimizer(make, "gd", [2 * cost for cost in EVEN]) + fast)
    clause = "and 2 times less time, not counting preparation (svrg 0.25 s)."
    assert f"(5 paired runs, assuming normal noise) {clause}" in text


def test_two_pairs_never_make_a_claim(make, run):
    results = optimizer(make, "gd", [200, 200.1]) + optimizer(make, "svrg", [100, 100.1])
    assert said(run, results) == (
        "The methods gd and svrg reach gap 1 with 200 and 100 gradients (2 runs): not comparable, "
        "three paired runs are needed."
    )
    draws = [
        make.result("estimator", "p", name, r, make.draws(variance * (1 + 1e-6 * r), bias=None))
        for name, variance in (("a", 9.0), ("b", 1.0))
        for r in range(2)
    ]
    assert (
        said(run, draws)
        == "Not comparable in variance x time between a and b (2 paired runs; three are needed)."
    )


def test_where_the_ends_set_the_target_the_smallest_end_is_named_too(make, run):
    results = (
        ending(make, "gd", [1e-2 * w for w in WOBBLE])
        + ending(make, "svrg", [5e-3 * w for w in WOBBLE], cost=5)
        + ending(make, "lbfgs", [1e-4 * w for w in WOBBLE], cost=8)
    )
    first, last = re.split(r"(?<=\.) (?=At)", said(run, results))
    assert first.startswith(
        "The method svrg needs 2 times fewer gradients than gd to reach gap 0.011 (set by"
    )
    assert last == (
        "At the end, lbfgs has gap 100 times smaller than gd after 1.2 times fewer gradients (5 paired runs, "
        "assuming normal noise)."
    )


def test_the_rounding_floor_does_not_hide_who_ends_lower(make, run):
    ends = {"sgd": [0.0146, 0.014, 0.015, 0.0146, 0.0145], "saga": [0.0, 1e-16, 0.0, 0.0, 0.0]}
    results = [
        make.result("optimizer", "p", name, r, make.curve("gap", [0.7, 0.1, end], cost=cost))
        for name, values in ends.items()
        for r, (end, cost) in enumerate(zip(values, [10.0, 11.0, 9.0, 10.0, 12.0], strict=True))
    ]
    assert said(run, results).endswith("At the end, saga is at gap 0 in 5 of 5 runs, sgd at 0.0146 (median).")


@pytest.mark.parametrize(("runs", "diverged"), [(1, 0), (5, 0), (5, 1)])
def test_an_end_of_exactly_zero_gives_a_sentence(make, run, runs, diverged):
    results = (
        ending(make, "gd", [1e-2 * w for w in WOBBLE[:runs]], diverged=diverged)
        + ending(make, "svrg", [5e-3] * runs, cost=5)
        + ending(make, "lbfgs", [0.0] * runs, cost=8)
    )
    text = said(run, results)
    if runs == 1:
        assert "(1 run): not comparable, three paired runs are needed." in text
        assert text.endswith("At the end, lbfgs is at gap 0 in 1 of 1 run, gd at 0.00970 (median).")
    else:
        assert text.startswith("The method svrg needs")
        # it had passed the target before
        assert ("reached by gd in 5 of 5 runs (1 diverged)" in text) == bool(diverged)


def claims(run, results):
    return bool(re.search(r"\btimes\b|more often|biased", said(run, results)))


def are_seldom(wrong, methods):
    """Return whether so many false claims are within 5 %, and three standard errors of that share."""
    many = SIMULATIONS[methods]
    return wrong / many <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / many)


@pytest.mark.parametrize("methods", [2, pytest.param(9, marks=pytest.mark.thorough)])
def test_equal_methods_are_seldom_told_apart(make, run, methods):
    rng = np.random.default_rng(15)
    wrong = sum(
        claims(run, [r for m in range(methods) for r in optimizer(make, f"m{m}", rng.lognormal(5, 0.3, 5))])
        for _ in range(SIMULATIONS[methods])
    )
    assert are_seldom(wrong, methods)


@pytest.mark.thorough
def test_equal_methods_that_sometimes_do_not_arrive_are_seldom_told_apart(make, run):
    rng = np.random.default_rng(16)

    def method(name):
        costs = rng.lognormal(5, 0.3, 5)
        return optimizer(make, name, np.where(rng.random(5) < 0.1, inf, costs))

    wrong = sum(claims(run, [r for m in range(9) for r in method(f"m{m}")]) for _ in range(SIMULATIONS[9]))
    assert are_seldom(wrong, 9)


@pytest.mark.parametrize("repetitions", [1, 5])
@pytest.mark.thorough
def test_equal_estimators_are_seldom_told_apart(make, run, repetitions):
    rng = np.random.default_rng(17)

    def method(name):
        # the standard error that each trial states is 5 % of its variance, and true
        variances = np.exp(0.05 * rng.standard_normal(repetitions))
        return [
            make.result("estimator", "p", name, r, make.draws(v, bias=None)) for r, v in enumerate(variances)
        ]

    wrong = sum(claims(run, [r for m in range(9) for r in method(f"m{m}")]) for _ in range(SIMULATIONS[9]))
    assert are_seldom(wrong, 9)


@pytest.mark.thorough
def test_unbiased_estimators_are_seldom_called_biased(make, run):
    rng = np.random.default_rng(18)
    wrong = 0
    for _ in range(SIMULATIONS[9]):
        results = [
            make.result("estimator", "p", f"m{m}", r, make.draws(1.0 + r / 1000, bias=bias))
            for m in range(9)
            for r, bias in enumerate(rng.standard_normal(5))
        ]
        wrong += bool(summarize(run, results).comparisons[0].biased)
    assert are_seldom(wrong, 9)


def test_a_huge_start_does_not_make_ends_rounding(make, run):
    results = [
        make.result("optimizer", "p", name, r, make.curve("gap", [7e15, 1e9, end * (1 + r / 10)]))
        for name, end in (("a", 2e4), ("b", 300.0))
        for r in range(5)
    ]
    (comparison,) = summarize(run, results).comparisons
    assert comparison.targets[0].value == 28000  # the worst end, not a share of the start
    assert verdict(comparison).endswith(
        "At the end, b has gap 67 times smaller than a (5 paired runs, assuming normal noise)."
    )


@pytest.mark.parametrize(
    ("share", "said"), [(3e-7, "At the end, b has objective 3.0 × 10⁻⁵ % smaller than a"), (1e-14, "")]
)
def test_ends_that_read_alike_differ_by_a_percentage_and_those_that_agree_up_to_rounding_not_at_all(
    make, run, share, said
):
    results = [
        make.result("optimizer", "p", name, r, make.curve("objective", [9, 2, (1 + r / 10) * (1 + apart)]))
        for name, apart in (("a", share), ("b", 0.0))
        for r in range(5)
    ]
    (comparison,) = summarize(run, results).comparisons
    text = verdict(comparison).replace("\N{NO-BREAK SPACE}", " ")
    assert said in text
    assert ("At the end" in text) is bool(said)


def test_rounding_of_the_objective_is_the_rounding_of_its_gap(make, run):
    results = [
        make.result(
            "optimizer", "p", name, r,
            make.curve("gap", [9, 1, end]) + make.curve("objective", [1e9 + 9, 1e9 + 1, 1e9]),
        )
        for name, end in (("a", 1e-3), ("b", 1e-7))
        for r in range(9)
    ]  # fmt: skip
    (comparison,) = summarize(run, results).comparisons
    assert verdict(comparison).endswith(
        "At the end, b is lower in gap than a (9 paired runs): b is at gap 0 in 9 of 9 runs, a at "
        "0.00100 (median)."
    )


def test_runs_of_two_kinds_are_no_difference_from_six_pairs_on(make, run):
    def suite(slow):
        costs = {
            "a": [100.0] * len(slow),
            "b": [250.0 + r if each else 80.0 + r for r, each in enumerate(slow)],
        }
        return [each for name, found in costs.items() for each in optimizer(make, name, found)]

    assert "(5 paired runs, assuming normal noise)" in said(run, suite([False] * 5))
    assert "times fewer gradients than a to reach gap 1 (9 paired runs)" in said(run, suite([False] * 9))
    # Student's test alone would call the mean higher
    mixed = said(run, suite([True] * 7 + [False] * 3))
    assert mixed.startswith("No difference beyond noise")


def test_time_that_is_undecided_does_not_hide_what_preparing_took(make, run):
    slow = optimizer(make, "gd", [2 * cost for cost in EVEN])
    found = changed(optimizer(make, "svrg", EVEN), prepare_seconds=0.25, prepare_cost=5000.0)
    text = said(run, [replace_seconds(each, 1.0) for each in slow + found])
    assert "In time: within 10 % in each of 5 paired runs" in text
    assert ", not counting preparation (svrg 5000 gradients and 0.25 s; with it, " in text


def replace_seconds(result, seconds):
    records = tuple(each._replace(seconds=seconds * each.iteration) for each in result.outcome.records)
    return replace(result, outcome=replace(result.outcome, records=records))
