"""Numbers that cannot be true, and answers unlike the start, end a trial as failed."""

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest

from benchfw.errors import BenchfwError
from benchfw.measure.audit import check_alike, check_outcome
from benchfw.records import Ending, Outcome, Record, Status

START = np.zeros(30)


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
    assert (found.status, found.ending, found.records) == (Status.FAILED, Ending.UNTRUE, given.records)
    assert sentence in found.reason


def test_a_record_without_a_time_or_a_cost_is_left_out_since_no_store_holds_it():
    found = check_outcome(outcome((0.0, 0.0, 9.0), (math.nan, 1.0, 3.0), (1.0, math.nan, 2.0)), 1.0)
    assert (found.status, [each.iteration for each in found.records]) == (Status.FAILED, [0])
    assert "seconds of iteration 1 is nan" in found.reason


def test_iterations_rise():
    one = Record("gap", 3, 0.0, 0.0, 1.0)
    assert "iteration 3 of gap comes after 3" in check_outcome(outcome(records=(one, one)), 1.0).reason


def test_several_threads_use_more_processor_time_than_passes():
    busy = outcome((0.0, 0.0, 1.0), (3.5, 1.0, 0.5))
    assert check_outcome(busy, 1.0, threads=4).status is Status.DONE
    assert check_outcome(busy, 1.0, threads=2).status is Status.FAILED
    assert check_outcome(replace(busy, prepare_seconds=2.0), 1.0, threads=4).status is Status.FAILED


@dataclass
class Predictor:
    weights: np.ndarray


class Foreign:
    """An array of another library."""

    shape, dtype = (30,), "float64"


@pytest.mark.parametrize(
    ("start", "answer", "sentence"),
    [
        (START, np.zeros((1, 30)), r"answer 12 has shape \(1, 30\), the start has \(30,\); yield answers"),
        (START, 0.0, r"answer 12 has shape \(\), the start has \(30,\)"),
        (START, START + 0j, "answer 12 has complex numbers, the start has real ones"),
        (START, START.astype(int), "answer 12 has integer numbers, the start has real ones"),
        (START, START.astype(object), "answer 12 has object numbers"),
        (START, [0.0] * 30, "answer 12 is list, the start is numpy's ndarray"),
        (START, Foreign(), "answer 12 is tests's Foreign, the start is numpy's ndarray"),
        ((START, 1.0), (START, START), r"has shape \(30,\), the start has \(\)"),
        ((START, 1.0), (START,), "has the parts 0, the start has 0, 1"),
        ({"a": START}, {"b": START}, "has the parts b, the start has a"),
        (Predictor(START), START, "is numpy's ndarray, the start is tests's Predictor"),
        (1.0, None, "is NoneType, the start is float"),
    ],
)
def test_another_shape_or_kind_is_refused(start, answer, sentence):
    with pytest.raises(BenchfwError, match=sentence):
        check_alike(start, answer, 12)


@pytest.mark.parametrize(
    ("start", "answer"),
    [
        (START, np.ones(30, np.float32)),
        (np.zeros(30, int), np.ones(30)),  # a start of whole numbers
        (0, 0.5),
        (1.0, np.float64(0.5)),
        (1.0, np.array(0.5)),
        ((START, {"a": 1.0}), (START, {"a": 2.0})),
        (Predictor(np.zeros((0, 3))), Predictor(np.zeros((5, 3)))),  # a predictor may grow
        (None, START),
    ],
)
def test_the_same_shape_and_kind_is_taken(start, answer):
    check_alike(start, answer, 1)
