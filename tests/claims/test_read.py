"""Reading [[claim]] tables: what each says."""

from dataclasses import replace

import pytest

from benchfw.claims import Claim, Range
from benchfw.claims.read import read_claim

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
