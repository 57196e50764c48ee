"""A store that is taken away under a run ends the run, and what it held is saved."""

import os
import sqlite3
from pathlib import Path

import pytest

from benchfw.errors import StoreError
from benchfw.provenance import Environment
from benchfw.records import Ending, Outcome, Status
from benchfw.store import Store, connection

DONE = Outcome(Status.DONE, Ending.ITERATIONS, "budget")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "store.sqlite"


def delete(path):
    for each in path.parent.glob("*.sqlite*"):
        each.unlink()


def move(path):
    path.rename(path.with_name("moved.sqlite"))


def move_folder(path):
    path.parent.rename(path.parent.with_name("moved"))


def replace(path):
    other = path.with_name("other.sqlite")
    with Store(other, create=True) as store:
        store.begin("other", "Other", "", Environment())
    other.replace(path)


def delete_journal(path):
    path.with_name(f"{path.name}-wal").unlink()


@pytest.mark.parametrize("take_away", [delete, move, move_folder, replace, delete_journal])
@pytest.mark.parametrize("interrupted", [False, True])
def test_a_store_that_is_taken_away_is_noticed_and_all_of_it_saved(path, make_trial, take_away, interrupted):
    expected = 1 if interrupted else 2

    def run_two_trials(store):
        run = store.begin("quick", "Quick", "", Environment())
        with store.hold_run_lock(run):
            store.add(run, 0, make_trial(), DONE)
            take_away(path)
            if interrupted:
                raise KeyboardInterrupt
            store.add(run, 1, make_trial(), DONE)

    with (
        Store(path, create=True) as opened,
        pytest.raises(StoreError, match="deleted, moved or replaced while it was in use") as caught,
    ):
        run_two_trials(opened)
    (rescued,) = path.parent.glob("store.sqlite.rescued-*")
    assert str(rescued) in str(caught.value)
    with Store(rescued) as store:
        assert len(store.results(1)) == expected
    if take_away is replace:  # the journal of the old one is not applied to it
        with Store(path) as store:
            assert [each.suite for each in store.runs()] == ["other"]
    if take_away is move:
        with Store(path.with_name("moved.sqlite")) as store:
            assert len(store.results(1)) == expected


def test_what_cannot_be_saved_is_said_to_be_lost(path, make_trial, monkeypatch):
    with Store(path, create=True) as store:
        run = store.begin("quick", "Quick", "", Environment())
        delete(path)
        monkeypatch.setattr("benchfw.store.store.LOOK_SECONDS", 0.0)
        monkeypatch.setattr("tempfile.mkstemp", lambda **_: (_ for _ in ()).throw(OSError("full")))
        with pytest.raises(StoreError, match="is lost with it"):
            store.add(run, 0, make_trial(), DONE)


def test_a_store_in_memory_is_refused():
    with pytest.raises(StoreError, match=r"lost with the process.*--store"):
        Store(Path(":memory:"), create=True)


@pytest.mark.posix
@pytest.mark.parametrize("create", [True, False])
def test_what_is_not_a_file_is_not_a_store(tmp_path, create):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StoreError, match="pipe is not a file"):
        Store(tmp_path / "pipe", create=create)


def test_a_store_with_a_second_name_is_read_and_not_written(path):
    Store(path, create=True).close()
    os.link(path, path.with_name("second.sqlite"))
    Store(path).close()
    with pytest.raises(StoreError, match="another name"):
        Store(path, create=True)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM trial; END",
        "CREATE INDEX i ON record (cost)",
        "DROP TABLE record; CREATE VIEW record AS WITH n AS (SELECT 1 UNION SELECT * FROM n) SELECT * FROM n",
    ],
)
def test_nothing_that_somebody_attached_to_the_tables_is_used(path, statement):
    Store(path, create=True).close()
    base = sqlite3.connect(path)
    base.executescript(statement)
    base.close()
    for create in (True, False):
        with pytest.raises(StoreError, match="its tables are not those of a store"):
            Store(path, create=create)


def test_tables_of_somebodys_own_do_no_harm(path):
    Store(path, create=True).close()
    base = sqlite3.connect(path)
    base.executescript("CREATE TABLE notes (text); CREATE VIEW mine AS SELECT * FROM run; ANALYZE")
    base.close()
    Store(path, create=True).close()


def test_what_is_still_in_the_journal_is_not_left_out_where_nothing_can_be_written(path, monkeypatch):
    with Store(path, create=True):
        pass
    journal = path.with_name(f"{path.name}-wal")
    refusal = sqlite3.OperationalError("unable to open database file")
    refusal.sqlite_errorcode = sqlite3.SQLITE_CANTOPEN
    check, refusals, refused = connection.check_schema, [refusal] * 2, []

    def refuse(base, place):
        if refusals:
            refused.append(base)
            raise refusals.pop()
        check(base, place)

    monkeypatch.setattr(connection, "check_schema", refuse)
    journal.write_bytes(b"trials")
    with pytest.raises(StoreError, match=r"some of it is still in store\.sqlite-wal; copy both files"):
        Store(path)
    journal.unlink()
    refusals[:] = [refusal]
    with Store(path) as store:
        assert store.runs() == []
    for base in refused:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            base.execute("SELECT 1")
    refusal.sqlite_errorcode = sqlite3.SQLITE_BUSY
    refusals[:] = [refusal]
    with pytest.raises(StoreError, match="another process is using it"):
        Store(path)
