"""Damage is found and named, and what can be read is kept."""

import sqlite3
from pathlib import Path

import pytest

from benchfw.errors import StoreError
from benchfw.provenance import Environment
from benchfw.records import Ending, Outcome, Record, Status
from benchfw.store import Store
from benchfw.store import damage as module
from benchfw.store.damage import check

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


def read_all(path):
    with Store(path) as store:
        return [store.results(run.id) for run in store.runs()]


@pytest.fixture
def saved(tmp_path):
    """A place for a copy."""
    return tmp_path / "saved.sqlite"


def test_a_sound_store_passes_and_is_copied_whole(path, saved):
    before = path.read_bytes()
    found = check(path)
    assert (found.runs, found.trials, found.records, found.damage) == (2, 2 * TRIALS, 40 * TRIALS, [])
    assert list(path.parent.iterdir()) == [path]
    assert check(path, saved) == found
    assert path.read_bytes() == before
    assert check(saved) == found
    assert read_all(saved) == read_all(path)


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
    with pytest.raises(StoreError, match=r"store\.sqlite.*benchfw store check --copy") as caught:
        read_all(path)
    assert part.strip() in str(caught.value) or "a row that is not benchfw's" in str(caught.value)


def test_a_copy_has_all_but_the_damaged_trial(path, saved):
    rewrite(path, "UPDATE record SET value = 5.0 WHERE trial = 7 AND number = 3")
    damaged = path.read_bytes()
    found = check(path, saved)
    assert (found.trials, found.lost_trials, found.runs, found.lost_runs) == (2 * TRIALS - 1, 1, 2, 0)
    assert path.read_bytes() == damaged
    assert not check(saved).damage
    with Store(saved) as store:
        assert 7 not in {each.id for each in store.results(1)}
        assert len(store.results(2)) == TRIALS
        assert set(store.known(["one 6", "one 7"])) == {"one 7"}


def test_a_store_that_was_cut_short_gives_what_is_left(path, saved):
    content = path.read_bytes()
    path.write_bytes(content[: len(content) * 4 // 5])
    with pytest.raises(StoreError, match="it is damaged; `benchfw store check --copy"):
        Store(path)
    found = check(path, saved)
    assert 0 < found.trials < 2 * TRIALS
    assert found.trials + found.lost_trials == 2 * TRIALS
    assert not check(saved).damage


def test_a_store_of_which_nothing_is_left_gives_no_copy(path, saved):
    path.write_bytes(path.read_bytes()[:4096])
    with pytest.raises(StoreError, match="nothing in it can be read"):
        check(path, saved)
    assert list(path.parent.iterdir()) == [path]


def test_a_file_that_never_was_a_store_is_an_error_and_gives_no_copy(tmp_path, saved):
    path = tmp_path / "notes.txt"
    path.write_text("my notes\n" * 1000)
    with pytest.raises(StoreError, match=r"notes\.txt cannot be used as a store"):
        check(path, saved)
    assert list(tmp_path.iterdir()) == [path]


def test_a_store_to_which_a_run_writes_while_it_is_checked_is_sound(path, make_trial, monkeypatch):
    read = module.result_of
    with Store(path, create=True) as store:
        run = store.begin("three", "three", "", Environment())

        def add_and_read(*arguments):
            position = len(store.results(run))
            trial = make_trial(repetition=position, key=f"three {position}")
            store.add(run, position, trial, Outcome(Status.DONE, Ending.ITERATIONS, ""))
            return read(*arguments)

        monkeypatch.setattr(module, "result_of", add_and_read)
        found = check(path)
    assert (found.runs, found.trials, found.damage) == (3, 2 * TRIALS, [])


@pytest.mark.parametrize("name", ["none.sqlite", "folder", "x" * 300])
def test_a_place_where_no_store_can_be_is_an_error_that_names_it(tmp_path, name):
    (tmp_path / "folder").mkdir()
    with pytest.raises(StoreError, match=name):
        check(tmp_path / name)


@pytest.mark.parametrize("name", ["none", "x" * 300])
def test_a_place_where_no_copy_can_be_is_an_error_that_names_it(tmp_path, path, name):
    with pytest.raises(StoreError, match=f"{name}.* cannot be written"):
        check(path, tmp_path / name / "copy.sqlite")


def test_a_place_without_a_name_is_not_a_store():
    with pytest.raises(StoreError, match="--store"):
        check(Path())


def test_a_store_whose_name_is_no_text_is_looked_through(path):
    odd = path.rename(path.with_name("caf\udce9.sqlite"))
    assert check(odd).damage == []


@pytest.mark.parametrize("name", ["store.sqlite", "link.sqlite"])
def test_a_copy_takes_the_place_of_nothing(path, tmp_path, name):
    (tmp_path / "link.sqlite").symlink_to(tmp_path / "nowhere")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="is there already; give --copy a new file"):
        check(path, tmp_path / name)
    assert path.read_bytes() == before


def test_a_copy_that_cannot_be_finished_leaves_no_file(path, saved, monkeypatch):
    monkeypatch.setattr(module, "INSERT_LINK", "no statement")
    with pytest.raises(StoreError, match=r"the copy .*saved\.sqlite cannot be written"):
        check(path, saved)
    assert list(path.parent.iterdir()) == [path]
