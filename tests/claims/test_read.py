"""Reading [[claim]] tables: what each says, and one sentence for each mistake."""

import math
from dataclasses import replace

import pytest

from benchfw.claims import Claim, Range
from benchfw.claims.read import read_claim
from benchfw.errors import SuiteError

PLACE = "my.toml, [[claim]] 2"
PAIR = {"says": "a is fast", "method": "a", "than": "b", "quantity": "cost to target"}
ONE = {"says": "a is fast", "method": "a"}


def test_a_claim_has_what_its_table_says():
    table = {**PAIR, "source": "Figure 2", "problem": "p", "across": "problems", "ratio": {"below": 0.5}}
    assert read_claim(table, PLACE) == Claim(
        says="a is fast",
        test="ratio",
        methods=("a",),
        than="b",
        quantity="cost to target",
        inside=Range(high=0.5),
        problems=("p",),
        across=True,
        source="Figure 2",
        table=table,
    )


@pytest.mark.parametrize(
    ("keys", "inside"),
    [
        ({"ratio": {"above": 2}}, "above 2"),
        ({"difference": {"within": [-1, 1]}}, "within -1 to 1"),
        ({"ratio": {"within": [0.9, 1.1]}}, "within 0.9 to 1.1"),
    ],
)
def test_a_range_is_written_as_it_is_said(keys, inside):
    assert str(read_claim({**PAIR, **keys}, PLACE).inside) == inside


@pytest.mark.parametrize(
    ("keys", "every", "inside"),
    [
        ({"reaches": True}, True, Range(low=0.5)),
        ({"reaches": False}, True, Range(high=0.5)),
        ({"reaches": {"above": 0.9}}, False, Range(low=0.9)),
        ({"reaches": {"within": [0, 0.2]}}, False, Range(0, 0.2)),
        ({"bound": True}, True, Range(low=0.5)),
        ({"unbiased": True, "margin": 0.2}, True, Range(-0.2, 0.2)),
    ],
)
def test_what_is_claimed_of_every_run_is_a_share_of_runs_that_one_refutes(keys, every, inside):
    claim = read_claim({**ONE, **keys}, PLACE)
    assert (claim.every, claim.inside) == (every, inside)


def test_a_mean_may_be_at_its_bound():
    inside = read_claim({**ONE, "bound": "mean"}, PLACE).inside
    assert 1 < inside.high < 1 + 1e-9


def test_every_change_of_a_claim_changes_its_digest_and_the_order_of_keys_does_not():
    table = {**PAIR, "ratio": {"below": 0.5}}
    digest = read_claim(table, PLACE).digest
    assert read_claim(dict(reversed(table.items())), PLACE).digest == digest
    others = [{"says": "b"}, {"source": "c"}, {"ratio": {"below": 0.6}}, {"problem": "p"}, {"quick": False}]
    assert len({digest, *(read_claim({**table, **each}, PLACE).digest for each in others)}) == 6


@pytest.mark.parametrize(
    ("keys", "other", "same"),
    [
        ({"method": "a"}, {"method": ["a"]}, True),
        ({"problem": "p"}, {"problem": ["p"]}, True),
        ({"ratio": {"below": 1}}, {"ratio": {"below": 1.0}}, True),
        ({}, {"quick": True}, True),
        ({}, {"says": "other words", "source": "elsewhere"}, True),
        ({}, {"quick": False}, False),
        ({}, {"than": "c"}, False),
        ({"ratio": {"below": 1}}, {"ratio": {"above": 1}}, False),
        ({"method": ["a", "c"]}, {"method": "a"}, False),
    ],
)
def test_two_claims_have_the_same_test_in_whatever_words_and_spelling(keys, other, same):
    table = {**PAIR, "ratio": {"below": 0.5}, **keys}
    one, two = read_claim(table, PLACE), read_claim({**table, **other}, PLACE)
    assert one.has_same_test(replace(two, registered="2026-01-01")) is same


MISTAKES = [
    ({"says": "a"}, "says nothing that can be decided; give one of ratio, difference, value"),
    ({"method": "a", "reaches": True}, "'says' is missing; write the claim as a sentence"),
    ({**ONE, "says": " ", "reaches": True}, "'says' must be a text, got ' '"),
    ({**ONE, "reaches": True, "bound": True}, "has bound and reaches; give one of"),
    ({**ONE, "reachs": True}, "unknown key 'reachs'; did you mean 'reaches'?"),
    ({**ONE, "ratio": {"below": 1}}, "'ratio' needs 'than'"),
    ({**ONE, "than": "b", "ratio": {"below": 1}}, "'ratio' needs 'quantity'"),
    ({"says": "a", "reaches": True}, "'reaches' needs 'method'"),
    ({**ONE, "reaches": True, "quantity": "variance"}, "'quantity' does not go with 'reaches'; remove it"),
    ({**ONE, "reaches": True, "law": "linear"}, "'law' does not go with 'reaches'; remove it"),
    ({**PAIR, "than": "a", "ratio": {"below": 1}}, "'a' is compared with itself"),
    ({**PAIR, "quantity": "cost to targt", "ratio": {"below": 1}}, "did you mean 'cost to target'?"),
    ({**PAIR, "quantity": "bias", "ratio": {"below": 1}}, "a bias has no ratio; claim its 'value'"),
    ({**PAIR, "ratio": {"below": 0}}, "a ratio is never below 0; it is positive"),
    ({**PAIR, "ratio": {"below": -1}}, "a ratio is never below -1; it is positive"),
    ({**PAIR, "ratio": {"above": 0}}, "every ratio is above 0; the claim says nothing"),
    ({**PAIR, "ratio": {"within": [-1, 2]}}, "the range within -1 to 2 begins below 0"),
    ({**PAIR, "ratio": {"within": [2, 1]}}, "nothing is within 2 to 1; the lower end comes first"),
    ({**PAIR, "ratio": {"within": [1]}}, "within must be two numbers, as in [0.9, 1.1], got [1]"),
    ({**PAIR, "ratio": {"below": math.nan}}, "below must be a finite number, got nan"),
    ({**PAIR, "ratio": {"above": math.inf}}, "above must be a finite number, got inf"),
    ({**PAIR, "ratio": {"above": 10**400}}, "above must be a finite number"),
    ({**PAIR, "ratio": {"within": [0.5, math.inf]}}, "within must be two numbers"),
    ({**PAIR, "ratio": {"below": True}}, "below must be a finite number, got True"),
    ({**PAIR, "ratio": 0.5}, "must be { below = … }, { above = … } or { within = [from, to] }, got 0.5"),
    ({**PAIR, "ratio": {"below": 1, "above": 0.5}}, "must be { below = … }"),
    ({**ONE, "reaches": {"above": 1.5}}, "a share of the runs lies between 0 and 1"),
    ({**ONE, "reaches": {"above": 1}}, "a share of the runs lies between 0 and 1"),
    ({**ONE, "reaches": {"within": [-1, 0.5]}}, "a share of the runs lies between 0 and 1"),
    ({**ONE, "reaches": "always"}, "reaches must be true, false or a share of the runs, as in { above"),
    (
        {**ONE, "bound": False},
        'bound must be true (in every run) or "mean" (the mean of the runs), got False',
    ),
    ({**ONE, "unbiased": 1}, "unbiased must be true or false, got 1"),
    ({**ONE, "unbiased": True, "margin": 0}, "margin must be a positive number, got 0"),
    ({**ONE, "rate": {"below": -1}, "law": "linear"}, "a rate is never below -1; it is positive"),
    ({**ONE, "rate": {"below": -1}, "law": "cubic"}, 'law must be "sublinear" or "linear", got \'cubic\''),
    (
        {"says": "a", "order": ["a"], "quantity": "variance"},
        "order must be a list of methods, the best first",
    ),
    ({"says": "a", "order": ["a", "a"], "quantity": "variance"}, "order must name each method once"),
    (
        {**ONE, "reaches": True, "problem": 3},
        "'problem' must be a label of a problem or a list of them, got 3",
    ),
    ({**ONE, "reaches": True, "quick": "no"}, "quick must be true or false, got 'no'"),
    ({**PAIR, "ratio": {"below": 1}, "across": "all"}, "across must be \"problems\", got 'all'"),
    ({**ONE, "untestable": True}, "'untestable' must be a text, got True"),
    ({**ONE, "says": "x" * 1001, "reaches": True}, "'says' is too long; write at most 1000 characters"),
    ({**ONE, "reaches": "x" * 10**6}, "got 'xxx"),
]


@pytest.mark.parametrize(("table", "said"), MISTAKES)
def test_a_mistake_is_one_sentence_that_names_the_table(table, said):
    with pytest.raises(SuiteError) as fault:
        read_claim(table, PLACE)
    assert str(fault.value).startswith(PLACE)
    assert said in str(fault.value)
    assert "\n" not in str(fault.value)
    assert len(str(fault.value)) < 400
