"""Claims about several methods at once, and claims of a bias."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchfw.analysis.variance import DrawStatistics
from benchfw.claims.check import check_claims
from benchfw.claims.read import read_claim
from benchfw.errors import SuiteError
from benchfw.records import Cell, Record
from benchfw.report.claims import describe_claims
from benchfw.summary.summarize import summarize


@pytest.fixture
def decide(run):
    """Return the words for one claim about some results."""

    def decided(results, **table):
        claim = read_claim({"says": "so", **table}, "claim")
        claim = {"table": claim.table, "registered": "", "hash": claim.digest}
        claiming = replace(run, environment=replace(run.environment, claims=(claim,)))
        (text,) = describe_claims(summarize(claiming, results).claims)
        return text

    return decided


def reaching(make, arrivals):
    """Make six runs of each method on problem p, that reach the target at the iteration that it names."""
    return [
        make.result(
            "optimizer", "p", name, each, make.curve("gap", [8.0] * (at + each) + [0.5]), target={"gap": 1}
        )
        for name, at in arrivals.items()
        for each in range(6)
    ]


def drawing(make, means, runs=8, draws=400):
    """Make runs of estimators whose draws have these means, and should have 0, with a variance of 1."""
    rng, found = np.random.default_rng(3), []
    for name, mean in means.items():
        for repetition in range(runs):
            statistics = DrawStatistics(0.0)
            for value in rng.normal(mean, 1.0, draws):
                statistics.add(value)
            records = [
                Record(metric, draws, 1.0, float(draws), value)
                for metric, value in statistics.metrics().items()
            ]
            found.append(make.result("estimator", "p", name, repetition, records))
    return found


def test_a_claim_about_a_list_of_methods_must_hold_of_each(make, decide):
    results = reaching(make, {"slow": 60, "fast": 10, "faster": 5, "slower": 80})
    claim = {"than": "slow", "quantity": "cost to target", "ratio": {"below": 0.5}}
    held = decide(results, method=["fast", "faster"], **claim)
    assert held.standing == "holds"
    assert held.found.startswith("for both methods; closest: the cost of fast to the target is 0.2")
    assert held.found.endswith("times that of slow")
    refuted = decide(results, method=["fast", "slower"], **claim)
    assert refuted.standing == "refuted"
    assert refuted.found.startswith("for slower, 1 of 2 methods: the cost of slower to the target is 1.")
    all_arrive = decide(results, method=["fast", "slow"], reaches=True)
    assert all_arrive.found.startswith(
        "for both methods: fast reaches the target in 6 of 6 runs (a share of "
    )


def test_a_claim_about_something_that_was_left_out_is_not_decided_on_the_rest(make, decide):
    results = reaching(make, {"slow": 60, "fast": 10})
    part = decide(results, method=["fast", "absent"], reaches=True)
    assert (part.standing, part.found) == ("not testable", "'absent' did not run")
    part = decide(results, method="fast", problem=["p", "q"], reaches=True)
    assert (part.standing, part.found) == ("not testable", "nothing was run on 'q'")


def test_a_claimed_bias_holds_where_one_is_seen_and_is_refuted_where_it_is_small(make, decide):
    results = drawing(make, {"off": 0.3, "off below": -0.3, "right": 0.0})
    held = decide(results, method=["off", "off below"], unbiased=False)
    assert held.standing == "holds"
    assert held.found.endswith("standard deviations of a draw")
    assert held.claimed == "not 0"
    refuted = decide(results, method=["off", "right"], unbiased=False)
    assert refuted.standing == "refuted"
    assert refuted.found.startswith("for right, 1 of 2 methods: the bias of right is ")
    few = decide(drawing(make, {"right": 0.0}, draws=20), method="right", unbiased=False)
    assert few.standing == "undecided"
    assert decide(results, method=["off", "right"], unbiased=True).standing == "refuted"


def test_of_several_estimators_the_one_is_shown_that_is_known_least(make, decide):
    results = [*drawing(make, {"tight": 0.0}, draws=900), *drawing(make, {"loose": 0.0}, draws=200)]
    held = decide(results, method=["tight", "loose"], unbiased=True, margin=0.3)
    assert held.standing == "holds"
    assert "closest: the bias of loose is " in held.found


@pytest.mark.parametrize(
    ("table", "mistake"),
    [
        ({"method": []}, r"'method' must be a label of a method or a list of them, got \[\]"),
        ({"method": ["a", "a"]}, r"'method' must name each method once"),
        ({"method": ["a", 1]}, r"'method' must be a label of a method or a list of them"),
        ({"method": ["a", "b"], "than": "b"}, "'b' is compared with itself"),
        ({"method": "a", "problem": 3}, "'problem' must be a label of a problem or a list of them"),
    ],
)
def test_a_list_of_methods_is_checked(table, mistake):
    with pytest.raises(SuiteError, match=mistake):
        read_claim(
            {"says": "so", "quantity": "cost to target", "ratio": {"below": 1}, "than": "c", **table}, ""
        )


def test_each_method_of_a_list_must_run_with_the_other():
    claim = read_claim({"says": "so", "method": ["a", "b"], "bound": True, "problem": "p"}, "")
    cells = [Cell("p", "optimizer", "a", ""), Cell("q", "optimizer", "b", "")]
    with pytest.raises(SuiteError, match=r"\[\[claim\]\] 1: b is never run on p"):
        check_claims([claim], cells, (), targets=False, quick=False, where="s")


def test_a_claim_that_quick_runs_do_not_decide_may_name_what_only_the_full_run_has():
    claim = read_claim({"says": "so", "method": "full", "bound": True, "quick": False}, "")
    cells = [Cell("p", "optimizer", "short", "")]
    check_claims([claim], cells, (), targets=False, quick=True, where="s")
    with pytest.raises(SuiteError, match="no method is labelled 'full'"):
        check_claims([claim], cells, (), targets=False, quick=False, where="s")
