"""Claims about the value of a metric at the second at which the run of another method ended by itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchfw.claims.read import read_claim
from benchfw.records import Ending, Status
from benchfw.report.claims import describe_claims
from benchfw.summary.summarize import summarize

WOBBLE = [1.0, 1.01, 0.99, 1.02, 0.98, 1.03]
HALF = {"difference": {"below": 0.5}}


@pytest.fixture
def decide(run):
    """Return the words for a claim that method 'steps' has something, when 'exact' is done."""

    def decided(results, name="gap", reference="", **test):
        table = {"says": "so", "method": "steps", "than": "exact", **(test or HALF)}
        claim = read_claim({**table, "quantity": f"{name} when the reference is done"}, "claim")
        noted = {"table": claim.table, "registered": "", "hash": claim.digest}
        environment = replace(run.environment, claims=(noted,), reference=reference)
        (text,) = describe_claims(summarize(replace(run, environment=environment), results).claims)
        return text

    return decided


def exact(make, ending=Ending.BY_ITSELF, role="metric", seconds=3.0):
    """Runs that are done after so many seconds, at 1."""
    return [
        make.result(
            "optimizer", "p", "exact", r, make.curve("gap", [9, x], seconds=seconds, role=role), ending=ending
        )
        for r, x in enumerate(WOBBLE)
    ]


def steps(make, role="metric"):
    """Runs that go on, a second a step: at 0.1 after three of them."""
    values = [9, 4, 0.5, 0.1, 0.01]
    return [
        make.result("optimizer", "p", "steps", r, make.curve("gap", [x * each for each in values], role=role))
        for r, x in enumerate(WOBBLE)
    ]


def test_methods_are_seen_at_the_second_at_which_the_other_was_done_not_at_their_ends(make, decide):
    found = decide([*exact(make), *steps(make)], ratio={"below": 0.2})
    assert found.standing == "holds"
    assert found.found == "the gap of steps when the reference is done is 0.10 times that of exact"
    assert decide([*exact(make), *steps(make)], ratio={"below": 0.05}).standing == "refuted"


def test_it_is_the_end_of_the_method_that_the_claim_names_whatever_the_reference_of_the_suite(make, decide):
    named = [decide([*steps(make), *exact(make)], reference=each) for each in ("steps", "exact", "")]
    assert named[0] == named[1] == named[2]
    assert named[0].standing == "holds"


def test_each_run_is_seen_at_the_end_of_the_other_run_of_its_repetition(make, decide):
    ends = [3.0, 2.0, 3.0, 2.0, 3.0, 2.0]
    some = [exact(make, seconds=each)[r] for r, each in enumerate(ends)]
    found = decide([*some, *steps(make)])
    assert "minus that of exact is -0.7" in found.found  # 0.1 or 0.5 less 1


@pytest.mark.parametrize("ending", [Ending.SECONDS, Ending.TARGET])
def test_one_whose_runs_do_not_all_end_by_themselves_was_not_done(make, decide, ending):
    results = [*exact(make)[:5], *exact(make, ending)[5:], *steps(make)]
    found = decide(results)
    assert found.standing == "not testable"
    assert found.found == "the runs of 'exact' do not all end by themselves"


def test_a_run_without_a_step_by_then_does_not_count_and_one_without_a_value_is_worse_than_all(make, decide):
    early = [*exact(make, seconds=0.5)[:1], *exact(make)[1:]]
    assert decide([*early, *steps(make)]).standing == "holds"
    assert decide([*exact(make, seconds=0.5), *steps(make)]).standing == "not testable"
    broken = make.result("optimizer", "p", "steps", 5, [], status=Status.CRASHED)
    assert decide([*exact(make), *steps(make)[:5], broken]).found == "some run has no value"


def test_a_difference_of_gains_is_as_it_was_measured(make, decide):
    found = decide([*exact(make, role="gain"), *steps(make, role="gain")], difference={"below": -0.5})
    assert "minus that of exact is -0.9" in found.found
    assert found.standing == "holds"
