"""Damage is found and named, and what can be read is kept."""

import shutil
import sqlite3
from pathlib import Path

import pytest

from benchfw.errors import StoreError
from benchfw.provenance import Environment
from benchfw.records import Ending, Outcome, Record, Status
from benchfw.store import Store
from benchfw.store import repair as module
from benchfw.store.repair import check, repair

TRIALS = 30


@pytest.fixture
def path(tmp_path, make_trial):
    """A sound store of two runs."""
    path = tmp_path / "store.sqlite"
    with Store(path, create=True) as store:
        for suite in ("one", "two"):
            run = store.begin(suite, suite, "text", Environment())
            for position in range(TRIALS):
                rows = tuple(Record("gap", k, 0.1 * k, float(k), 1.0 / (k + 1)) for k in range(20))
                trial = make_trial(repetition=position, key=f"{suite} {position}")
                outcome = Outcome(Status.DONE, Ending.ITERATIONS, "budget", rows, cost_unit="gradients")
                store.add(run, position, trial, outcome)
            store.finish(run)
    return path


def rewrite(path, statement, *values):
    base = sqlite3.connect(path)
    with base:
        base.execute(statement, values)
    base.close()


def damage(path, place, length=20):
    content = bytearray(path.read_bytes())
    for k in range(place, place + length):
        content[k] ^= 0xFF
    path.write_bytes(content)


def read_all(path):
    with Store(path) as store:
        return [store.results(run.id) for run in store.runs()]


def test_a_sound_store_passes_and_a_repair_leaves_it_alone(path):
    before = path.read_bytes()
    found = check(path)
    assert (found.runs, found.trials, found.records, found.damage) == (2, 2 * TRIALS, 40 * TRIALS, ())
    assert repair(path) == (found, None)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(
    ("statement", "part"),
    [
        ("UPDATE record SET value = value + 1e-9 WHERE trial = 7 AND number = 3", "trial 7 "),
        ("DELETE FROM record WHERE trial = 7 AND number = 3", "trial 7 "),
        ("UPDATE trial SET status = 'dune' WHERE id = 7", "trial 7 "),
        ("UPDATE trial SET settings = '{}' WHERE id = 7", "trial 7 "),
        ("DELETE FROM trial WHERE id = 7", "trial 7"),
        ("UPDATE link SET method = 'other' WHERE trial = 7", "position 6 of run 1"),
        ("UPDATE run SET environment = '[]' WHERE id = 1", "run 1 "),
    ],
)
def test_a_changed_value_is_named_when_it_is_read_and_by_the_check(path, statement, part):
    rewrite(path, statement)
    assert any(part in line for line in check(path).damage)
    with pytest.raises(StoreError, match=r"store\.sqlite.*benchfw store repair") as caught:
        read_all(path)
    assert part.strip() in str(caught.value) or "a row that is not benchfw's" in str(caught.value)


def test_a_repair_keeps_all_but_the_damaged_trial_and_the_damaged_file(path):
    rewrite(path, "UPDATE record SET value = 5.0 WHERE trial = 7 AND number = 3")
    damaged = path.read_bytes()
    found, aside = repair(path)
    assert (found.trials, found.lost_trials, found.runs, found.lost_runs) == (2 * TRIALS - 1, 1, 2, 0)
    assert aside.read_bytes() == damaged
    assert not check(path).damage
    with Store(path) as store:
        assert 7 not in {each.id for each in store.results(1)}
        assert len(store.results(2)) == TRIALS
        assert set(store.known(["one 6", "one 7"])) == {"one 7"}


@pytest.mark.parametrize("place", [0, 30, 60, 3800])
def test_a_store_whose_first_page_is_damaged_is_repaired_whole(path, place):
    damage(path, place)
    if place == 3800:  # the names of the tables
        with pytest.raises(StoreError, match="benchfw store repair"):
            read_all(path)
    found, aside = repair(path)
    assert (found.trials, found.lost_trials) == (2 * TRIALS, 0)
    assert aside is not None
    assert not check(path).damage


def test_a_store_that_was_cut_short_gives_what_is_left(path):
    content = path.read_bytes()
    path.write_bytes(content[: len(content) * 4 // 5])
    with pytest.raises(StoreError, match="it is damaged; `benchfw store repair`"):
        Store(path)
    found, _ = repair(path)
    assert 0 < found.trials < 2 * TRIALS
    assert found.trials + found.lost_trials == 2 * TRIALS
    assert not check(path).damage


def test_a_file_that_never_was_a_store_is_left_alone(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("my notes\n" * 1000)
    with pytest.raises(StoreError, match="nothing in it can be read as a store"):
        repair(path)
    assert path.read_text().startswith("my notes")
    assert list(tmp_path.iterdir()) == [path]


def test_a_store_in_use_is_not_repaired(path):
    rewrite(path, "DELETE FROM record WHERE trial = 7")
    with (
        Store(path, create=True) as store,
        store.hold_run_lock(store.begin("three", "three", "", Environment())),
        pytest.raises(StoreError, match="run 3 is going on"),
    ):
        repair(path)
    assert repair(path)[0].lost_trials == 1


@pytest.fixture
def write_between(path, make_trial, monkeypatch):
    """Return a function that lets a run write, and its journal begin anew, after so many copies of a file."""
    copy = shutil.copyfile
    with Store(path, create=True) as store:
        run = store.begin("three", "three", "", Environment())

        def add():
            position = len(store.results(run))
            trial = make_trial(repetition=position, key=f"three {position}")
            store.add(run, position, trial, Outcome(Status.DONE, Ending.ITERATIONS, ""))

        def write(times):
            turns = iter(range(times))

            def copy_and_write(old, new):
                copy(old, new)
                if next(turns, None) is not None:
                    store._base.execute("PRAGMA wal_checkpoint(RESTART)")
                    add()

            monkeypatch.setattr(module.shutil, "copyfile", copy_and_write)

        add()
        yield write


@pytest.mark.parametrize("times", [1, 2, 5])
def test_a_store_to_which_a_run_writes_while_it_is_checked_is_sound(path, write_between, times):
    write_between(times)
    found = check(path)
    assert (found.runs, found.trials, found.damage) == (3, 2 * TRIALS + 1 + times, ())


def test_a_store_that_is_written_faster_than_it_is_copied_is_not_called_damaged(path, write_between):
    write_between(1000)
    with pytest.raises(StoreError, match="when no run is going on") as caught:
        check(path)
    assert "damaged" not in str(caught.value)


@pytest.mark.parametrize("name", ["none.sqlite", "folder", "x" * 300])
def test_a_place_where_no_store_can_be_is_an_error_that_names_it(tmp_path, name):
    (tmp_path / "folder").mkdir()
    for look in (check, repair):
        with pytest.raises(StoreError, match=name):
            look(tmp_path / name)


def test_a_place_without_a_name_is_not_a_store():
    with pytest.raises(StoreError, match="--store"):
        repair(Path())


def test_a_store_whose_name_is_no_text_is_looked_through(path):
    odd = path.rename(path.with_name("caf\udce9.sqlite"))
    assert check(odd).damage == ()


@pytest.mark.parametrize("header", ["user_version", "application_id"])
def test_a_store_that_has_another_number_in_its_header_is_repaired_whole(path, header):
    rewrite(path, f"PRAGMA {header} = 99")
    with pytest.raises(StoreError, match=r"store\.sqlite"):
        read_all(path)
    found, aside = repair(path)
    assert (found.runs, found.trials, found.lost_trials) == (2, 2 * TRIALS, 0)
    assert header in found.damage[0]
    assert aside is not None
    assert len(read_all(path)) == 2


def test_a_repair_under_a_link_replaces_what_the_link_leads_to(path, tmp_path):
    link = tmp_path / "link.sqlite"
    link.symlink_to(path)
    rewrite(path, "DELETE FROM record WHERE trial = 7")
    assert repair(link)[1] == path.with_name(f"{path.name}.damaged-1")
    assert link.is_symlink()
    assert not check(path).damage


def test_a_repair_writes_through_no_link_that_lies_in_wait(path, tmp_path):
    other = tmp_path / "other"
    other.write_text("mine")
    path.with_name(f"{path.name}-repaired").symlink_to(other)
    path.with_name(f"{path.name}.damaged-1").symlink_to(other)
    rewrite(path, "DELETE FROM record WHERE trial = 7")
    assert repair(path)[1].name.endswith("damaged-2")
    assert other.read_text() == "mine"


def test_a_store_that_is_written_during_its_repair_stays_as_it_is(path, monkeypatch):
    rewrite(path, "DELETE FROM record WHERE trial = 7")
    look = module._look_through

    def look_and_write(*arguments):
        found = look(*arguments)
        with Store(path, create=True) as store:
            store.begin("three", "three", "", Environment())
        return found

    monkeypatch.setattr(module, "_look_through", look_and_write)
    with pytest.raises(StoreError, match="was written while it was being repaired"):
        repair(path)
    assert len(check(path).damage) == 1
