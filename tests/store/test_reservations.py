"""Runs on one store share the work, and a run is going while its process lives."""

import pytest

from benchfw.records import Ending, Environment, Outcome, Status
from benchfw.store import Store


@pytest.fixture
def path(tmp_path):
    Store(tmp_path / "store.sqlite", create=True).close()
    return tmp_path / "store.sqlite"


def begin(store):
    return store.begin("quick", "Quick", "", Environment())


def test_what_a_living_run_has_claimed_another_does_not_get(path):
    with Store(path, create=True) as one, Store(path, create=True) as two:
        first, second = begin(one), begin(two)
        with one.hold_run_lock(first), two.hold_run_lock(second):
            assert one.reserve(first, ["a", "b"]) == {}
            assert two.reserve(second, ["b", "c"]) == {"b": first}
            assert one.reserve(first, ["a", "b", "c"]) == {"c": second}


def test_a_finished_trial_is_claimed_no_longer(path, make_trial):
    with Store(path, create=True) as one, Store(path, create=True) as two:
        first, second = begin(one), begin(two)
        with one.hold_run_lock(first), two.hold_run_lock(second):
            one.reserve(first, ["a"])
            one.add(first, 0, make_trial(key="a"), Outcome(Status.DONE, Ending.ITERATIONS, ""))
            assert two.reserve(second, ["a"]) == {}


def test_the_claims_of_a_run_end_with_it_and_leave_no_file(path):
    with Store(path, create=True) as one, Store(path, create=True) as two:
        first, second = begin(one), begin(two)
        with one.hold_run_lock(first):
            one.reserve(first, ["a"])
        with two.hold_run_lock(second):
            assert two.reserve(second, ["a"]) == {}
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_the_claims_of_a_run_that_died_are_void(path):
    with Store(path, create=True) as store:
        first, second = begin(store), begin(store)
        store.reserve(first, ["a"])  # without its lock, as after kill -9
        path.with_name(f"{path.name}-run-{first}").touch()
        with store.hold_run_lock(second):
            assert store.reserve(second, ["a"]) == {}
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_the_store_tells_a_going_run_from_a_stopped_and_a_finished_one(path):
    with Store(path, create=True) as store:
        number = store.begin("mine", "Mine", "", Environment(trials=40))
        with store.hold_run_lock(number):
            assert store.run(number).standing == "run 1 is still going: 0 of 40 trials"
        assert store.run(number).standing == (
            "run 1 was stopped: 0 of 40 trials; the same command continues from there"
        )
        store.finish(number)
        assert store.run(number).standing == ""
