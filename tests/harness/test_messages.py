"""What a worker says about a trial arrives as it was said."""

import json
import os
from dataclasses import replace

import pytest

from benchfw.harness.workers.messages import (
    NEW,
    BadMessage,
    outcome_of,
    pack_whole,
    plain_outcome,
    receive_whole,
)
from benchfw.records import Counting, Ending, Outcome, Status

WHOLE = Outcome(
    Status.DONE,
    Ending.COST,
    "budget",
    facts={"rank": 3.0},
    caveats=("made up",),
    claims_unbiased=True,
    peak_memory=12,
    seconds=0.5,
    cost_unit="rows",
    device="Fake 9000",
    counting=Counting.DECLARED,
    prepare_seconds=0.25,
    prepare_cost=7.5,
)


@pytest.mark.parametrize("outcome", [WHOLE, Outcome(Status.FAILED, Ending.FAULT)])
def test_every_field_of_an_outcome_travels(outcome):
    assert outcome_of(json.loads(json.dumps(plain_outcome(outcome)))) == replace(outcome, records=())


@pytest.mark.parametrize("wrong", [{"counting": "guessed"}, {"prepare_seconds": "1"}, {"peak_memory": [1]}])
def test_a_field_of_another_type_is_not_an_outcome(wrong):
    with pytest.raises(BadMessage, match="not an outcome"):
        outcome_of({**plain_outcome(WHOLE), **wrong})


def test_a_message_may_come_through_the_pipe_in_pieces(monkeypatch):
    read = os.read
    monkeypatch.setattr(os, "read", lambda file, size: read(file, min(size, 3)))
    ends = os.pipe()
    try:
        os.write(ends[1], pack_whole(WHOLE).removeprefix(NEW))
        assert receive_whole(ends[0]) == WHOLE
        os.write(ends[1], pack_whole(WHOLE).removeprefix(NEW)[:-1])
        os.close(ends[1])
        with pytest.raises(EOFError):
            receive_whole(ends[0])
    finally:
        os.close(ends[0])
