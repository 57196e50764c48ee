"""Numbers that cannot be true end a trial as failed."""

import math
from dataclasses import replace

import pytest

from benchfw.measure.audit import check_outcome
from benchfw.records import Ending, Outcome, Record, Status


def outcome(*values, **changes):
    """A trial with one record an iteration: (seconds, cost, gap)."""
    records = [Record("gap", step, *each) for step, each in enumerate(values)]
    return replace(Outcome(Status.DONE, Ending.ITERATIONS, "budget", tuple(records)), **changes)


GOOD = ((0.0, 0.0, 9.0), (0.5, 1.0, 3.0), (1.0, 1.0, -1e-12))


def test_what_can_be_true_is_returned_as_it_is():
    found = outcome(*GOOD)
    assert check_outcome(found, 1.0) is found
    assert check_outcome(outcome(), 0.0).status is Status.DONE
    bound = replace(found, records=(*found.records, Record("gap", 0, 0.0, 0.0, -5.0, "bound")))
    assert check_outcome(bound, 1.0) is bound
    copies = tuple(Record("copy", number, 0.1, 1.0, 2.0) for number in (1, 2))  # a second series of a kernel
    assert check_outcome(replace(found, records=(*found.records, *copies)), 1.0).status is Status.DONE


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ([(-2420.0, 0.0, 1.0)], "seconds of iteration 0 is -2420.0; it must be a finite number from 0"),
        ([(math.nan, 0.0, 1.0)], "seconds of iteration 0 is nan"),
        ([(0.0, math.inf, 1.0)], "cost of iteration 0 is inf"),
        ([(0.5, 1.0, 2.0), (0.25, 2.0, 1.0)], "seconds went down from 0.5 to 0.25 at iteration 1"),
        ([(0.5, 1.0, 2.0), (0.5, 0.0, 1.0)], "cost went down from 1 to 0 at iteration 1"),
        ([(0.0, 0.0, 2.0), (3.0, 1.0, 1.0)], "the trial reports 3 seconds, and only 1 passed"),
        ([(0.0, 0.0, 2.0), (0.0, 1.0, -78.0)], "gap is -78 at iteration 1, and it cannot be below 0"),
        ([(0.0, 0.0, "2")], "gap of iteration 0 is str, not a number"),
    ],
)
def test_what_cannot_be_true_fails_and_keeps_its_records(values, sentence):
    given = outcome(*values)
    found = check_outcome(given, 1.0)
    assert (found.status, found.ending, found.records) == (Status.FAILED, Ending.FAULT, given.records)
    assert sentence in found.reason


def test_iterations_rise():
    one = Record("gap", 3, 0.0, 0.0, 1.0)
    assert "iteration 3 of gap comes after 3" in check_outcome(outcome(records=(one, one)), 1.0).reason


def test_several_threads_use_more_processor_time_than_passes():
    busy = outcome((0.0, 0.0, 1.0), (3.5, 1.0, 0.5))
    assert check_outcome(busy, 1.0, threads=4).status is Status.DONE
    assert check_outcome(busy, 1.0, threads=2).status is Status.FAILED
    assert check_outcome(replace(busy, prepare_seconds=2.0), 1.0, threads=4).status is Status.FAILED
