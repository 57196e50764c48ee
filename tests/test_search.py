"""Search spaces: what they hold, and what is wrong with those that hold nothing."""

import math

import pytest

from benchfw.records import Spec
from benchfw.search import Choice, Integer, Linear, Log, read_spaces, settle, space_of, spaces_in

SPACES = [Log(1e-4, 10), Linear(-1, 3), Integer(2, 9), Integer(1, 1000, log=True)]


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_a_space_goes_from_end_to_end_in_order(space):
    values = [space.value(place / 50) for place in range(50)] + [space.value(1.0)]
    assert values == sorted(values)
    assert (values[0], values[-1]) == (space.low, space.high)
    assert [space.place(end) for end in (space.low, space.high)] == [0, 1]


def test_each_order_of_magnitude_of_a_log_space_has_the_same_share():
    space = Log(1e-4, 1)
    below = [sum(space.value(place / 1000) < 10**power for place in range(1000)) for power in range(-4, 1)]
    assert below == [0, 250, 500, 750, 1000]


def test_each_whole_number_has_a_stretch_of_its_own():
    space = Integer(1, 4)
    found = [space.value(place / 400) for place in range(400)]
    assert [found.count(number) for number in range(1, 5)] == [100] * 4


def test_what_is_tried_has_four_figures_and_stays_between_the_ends():
    space = Log(1.23456e-4, 1.23456)
    assert space.value(0.5) == float(f"{math.sqrt(1.23456e-4 * 1.23456):.4g}")
    assert space.low <= space.value(0) <= space.value(1) <= space.high


@pytest.mark.parametrize("space", [Linear(1000, 1000.5), Log(1, 1.001), Linear(0.999, 0.9999)], ids=str)
def test_a_narrow_space_has_many_values(space):
    assert len({space.value(place / 100) for place in range(100)}) == 100
    assert (space.value(0), space.value(1)) == (space.low, space.high)


@pytest.mark.parametrize("space", [*SPACES, Choice(["a", "b"])], ids=str)
def test_a_space_is_read_back_from_what_a_suite_writes(space):
    assert space_of(space.table, "here") == space


def test_spaces_are_found_and_settled_at_any_depth():
    table = {
        "step": {"tune": "log", "from": 0.1, "to": 1},
        "estimator": {"use": "noisy", "scale": {"tune": "choice", "values": [0.0, 1.0]}},
        "mode": "fast",
    }
    spec = Spec("slide", read_spaces(table, "here"))
    assert spaces_in(spec.params) == {"step": Log(0.1, 1), "estimator.scale": Choice([0.0, 1.0])}
    settled = settle(spec, {"step": 0.5, "estimator.scale": 0.0})
    assert settled.params == {"step": 0.5, "estimator": {"use": "noisy", "scale": 0.0}, "mode": "fast"}
