"""Runs on one store share the work, and a run is going while its process lives."""

import os

import pytest

from benchfw.errors import StoreError
from benchfw.provenance import Environment
from benchfw.records import Ending, Outcome, Status
from benchfw.store import Store, reservations


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


def test_a_look_at_any_moment_leaves_the_lock_alone(path, monkeypatch):
    lock = reservations.try_lock

    def look_first(handle, *, shared=False):
        if not shared and not looks:  # the file is made, and not locked yet
            looks.append(reservations.is_running(path, 1))
            reservations.remove_dead_locks(path)
        return lock(handle, shared=shared)

    looks = []
    with Store(path, create=True) as one, Store(path, create=True) as two:
        first, second = begin(one), begin(two)
        monkeypatch.setattr(reservations, "try_lock", look_first)
        with one.hold_run_lock(first):
            assert looks == [False]
            assert all(reservations.is_running(path, first) for _ in range(3))
            one.reserve(first, ["a"])
            assert two.reserve(second, ["a"]) == {"a": first}
            assert [run.going for run in two.runs()] == [True, False]


def test_a_lock_file_that_was_removed_by_hand_is_made_again(path, monkeypatch):
    monkeypatch.setattr("benchfw.store.store.LOOK_SECONDS", 0.0)
    with Store(path, create=True) as one, Store(path, create=True) as two:
        first, second = begin(one), begin(two)
        with one.hold_run_lock(first):
            path.with_name(f"{path.name}-run-{first}").unlink()
            one.reserve(first, ["a"])
            assert two.reserve(second, ["a"]) == {"a": first}


def test_runs_that_know_the_store_by_different_names_share_the_work(path, tmp_path):
    link = tmp_path / "elsewhere" / "link.sqlite"
    link.parent.mkdir()
    link.symlink_to(path)
    with Store(path, create=True) as one, Store(link, create=True) as two:
        first, second = begin(one), begin(two)
        with one.hold_run_lock(first), two.hold_run_lock(second):
            one.reserve(first, ["a"])
            assert two.reserve(second, ["a"]) == {"a": first}
    assert list(link.parent.iterdir()) == [link]


@pytest.mark.parametrize("kind", ["link", pytest.param("pipe", marks=pytest.mark.posix), "folder"])
def test_nothing_but_a_file_is_taken_for_a_lock(path, tmp_path, kind):
    lock, other = path.with_name(f"{path.name}-run-1"), tmp_path / "other"
    other.write_text("mine")
    {"link": lambda: lock.symlink_to(other), "pipe": lambda: os.mkfifo(lock), "folder": lock.mkdir}[kind]()
    with Store(path, create=True) as store:
        run = begin(store)
        with pytest.raises(StoreError, match=f"{lock.name}.*remove it"), store.hold_run_lock(run):
            pass
        with pytest.raises(StoreError, match=f"{lock.name}.*remove it"):
            store.runs()
    assert other.read_text() == "mine"


def test_two_runs_of_one_number_do_not_wait_for_each_other_for_ever(path, monkeypatch):
    monkeypatch.setattr(reservations, "PATIENCE_SECONDS", 0.05)
    lock = reservations.RunLock(path, 1)
    with Store(path, create=True) as store:
        run = begin(store)
        with pytest.raises(StoreError, match="locked by another run"), store.hold_run_lock(run):
            pass
    lock.release()
