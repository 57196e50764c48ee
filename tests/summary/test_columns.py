"""Numbers by repetition behave like a dict, in any order of coming, and need a few bytes each."""

import math
import random
import tracemalloc

import pytest

from benchfw.summary.columns import numbers, pairs
from benchfw.summary.quantities import Arrival


def test_columns_are_a_mapping_in_the_order_of_repetitions():
    found, expected = numbers(), {}
    for repetition in random.Random(1).choices(range(50), k=200):
        value = math.sqrt(len(expected))
        found.add(repetition, value)
        expected[repetition] = value
    assert dict(found) == expected
    assert list(found.items()) == sorted(expected.items())
    assert list(found.values()) == [expected[each] for each in sorted(expected)]
    assert 50 not in found
    with pytest.raises(KeyError):
        found[50]


def test_two_numbers_a_repetition_are_kept_together():
    found = pairs()
    for repetition in (3, 1, 2, 1):
        found.add(repetition, repetition, -repetition)
    assert dict(found) == {each: (each, -each) for each in (1, 2, 3)}


@pytest.mark.parametrize("used", [None, 0.5])
def test_an_arrival_is_what_its_numbers_say(used):
    arrival = Arrival(1.5, 8.0, 3.0, used, True, broken=False, counted=False)
    assert Arrival.of(arrival.numbers) == arrival


def test_a_number_needs_two_words():
    tracemalloc.start()
    found = numbers()
    for repetition in range(20_000):
        found.add(repetition, 0.5 * repetition)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(found) == 20_000
    assert held < 20 * 20_000
