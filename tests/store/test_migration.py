"""A store of an old schema is read as it is, and brought to the schema of today when it is written to."""

import shutil
import sqlite3
from pathlib import Path

import pytest

from benchfw.errors import StoreError
from benchfw.records import SCHEMA_VERSION, Outcome, Record, Status
from benchfw.store import Store, connection
from benchfw.store.schema import LAYOUTS

OLD = Path(__file__).parent / "schema1.sqlite"  # six trials, written by benchfw when its schema was 1


@pytest.fixture
def old(tmp_path):
    return Path(shutil.copy(OLD, tmp_path / "old.sqlite"))


def version_of(path):
    base = sqlite3.connect(path)
    (version,) = base.execute("PRAGMA user_version").fetchone()
    base.close()
    return version


def test_every_schema_version_has_a_layout():
    assert len(LAYOUTS) == SCHEMA_VERSION


def test_an_old_store_is_read_and_left_as_it_was(old):
    with Store(old) as store:
        (run,) = store.runs()
        results = store.results(run.id)
    assert run.counts == {"done": 4, "failed": 2}
    assert len(results) == 6
    assert sum(len(each.outcome.records) for each in results) == 270
    assert version_of(old) == 1
    assert old.read_bytes() == OLD.read_bytes()


def test_an_old_store_that_is_written_to_keeps_what_it_had(old, make_trial):
    with Store(old) as store:
        before = store.results(1)
    with Store(old, create=True) as store:
        run = store.begin("new", "New", "", {})
        store.add(run, 0, make_trial(), Outcome(Status.DONE, "", (Record("gap", 0, 0.0, 0.0, 1.0),)))
    assert version_of(old) == SCHEMA_VERSION
    with Store(old) as store:
        assert store.results(1) == before
        assert len(store.results(run)) == 1


def test_an_upgrade_that_breaks_off_leaves_the_old_store(old, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(connection, "LAYOUTS", (LAYOUTS[0], LAYOUTS[1] + "CREATE TABLE nonsense;"))
        with pytest.raises(StoreError):
            Store(old, create=True)
    assert version_of(old) == 1
    with Store(old) as store:
        assert len(store.runs()) == 1
