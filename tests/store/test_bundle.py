"""A run packed for another machine comes out as it went in; what is not a bundle is one sentence."""

import contextlib
import errno
import json
import lzma
import random
import re
import sqlite3
import tempfile
import zipfile
from dataclasses import replace

import pytest

from benchfw.errors import StoreError
from benchfw.provenance import Changes, Environment
from benchfw.records import Ending, Outcome, Record, Spec, Status
from benchfw.store import Store, bundle, xz
from benchfw.store.bundle import PACKED, is_bundle, read_bundle, write_bundle
from benchfw.store.rows import digest_of, digest_of_trial
from benchfw.store.schema import SEAL_RUN, SELECT_RUNS, SELECT_TRIAL, SELECT_TRIAL_RECORDS
from benchfw.store.xz import unpack

ENVIRONMENT = Environment(
    threads=2, trials=2, changes=Changes(quick=True), plugins=("/home/anna/mine/toys.py", "module")
)


@pytest.fixture
def store(tmp_path, make_trial):
    """A store with two runs; the second takes one trial over from the first."""
    with Store(tmp_path / "store.sqlite", create=True) as opened:
        first = opened.begin("mine", "Mine", 'title = "Mine"', ENVIRONMENT)
        records = (Record("gap", 0, 0.0, 0.0, float("nan")), Record("gap", 1, 0.5, 2.0, float("inf")))
        outcome = Outcome(Status.DONE, Ending.ITERATIONS, "as told", records, seconds=1.5, cost_unit="slopes")
        number = opened.add(first, 0, make_trial(key="a"), outcome)
        opened.add(first, 1, make_trial(key="b", repetition=1), replace(outcome, records=()))
        opened.finish(first)
        second = opened.begin("mine", "Mine", 'title = "Mine"', ENVIRONMENT)
        opened.reuse(second, [(0, make_trial(key="a"), number)])
        opened.add(second, 1, make_trial(key="c", repetition=1), outcome)
        yield opened


@pytest.fixture
def packed(store, tmp_path):
    write_bundle(store.path, store.run(2), tmp_path / "run.zip")
    return tmp_path / "run.zip"


def rewritten(path, **entries):
    """Write the archive again with some entries changed; None leaves one out."""
    with zipfile.ZipFile(path) as archive:
        old = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in {**old, **entries}.items():
            if content is not None:
                archive.writestr(name, content)
    return path


def test_a_bundle_holds_one_run_as_the_store_has_it(store, packed):
    run, results = read_bundle(packed)
    there = store.run(2)
    assert run.store == packed
    assert replace(run, store=there.store, environment=there.environment) == there
    assert repr(results) == repr(store.results(2))  # repr: a NaN equals itself only there


def test_a_bundle_names_plugin_files_without_their_folders(packed):
    assert read_bundle(packed)[0].environment == replace(ENVIRONMENT, plugins=("toys.py", "module"))
    with zipfile.ZipFile(packed) as archive:
        assert all(b"anna" not in archive.read(name) for name in archive.namelist())


def test_a_bundle_names_files_without_the_folders_of_the_machine(store, make_trial, tmp_path):
    run = store.begin("mine", "Mine", "", ENVIRONMENT)
    reads = {
        "file /home/anna/a b/c.csv": "1",
        "folder /home/anna": "2",
        "file own/d.csv": "3",
        "variable X": "4",
        r"file C:\Users\anna\e.csv": "5",
        "working folder .": "6",
    }
    table = {"benchmark": "/home/anna/lasso", "inner": [r"D:\home\anna\f", "a/b", "/ c"]}
    trial = make_trial(key="d", problem=Spec("p", table, "p"))
    store.add(run, 0, trial, Outcome(Status.FAILED, Ending.FAULT, "odd", reads=reads))
    write_bundle(store.path, store.run(run), tmp_path / "run.zip")
    _, (result,) = read_bundle(tmp_path / "run.zip")
    assert result.outcome.reads == {
        "file …/c.csv": "1", "folder …/anna": "2", "file own/d.csv": "3", "variable X": "4",
        "file …/e.csv": "5", "working folder .": "6",
    }  # fmt: skip
    assert result.trial.problem.params == {"benchmark": "…/lasso", "inner": ("…/f", "a/b", "…/ c")}
    with zipfile.ZipFile(tmp_path / "run.zip") as archive:
        content = b"".join(map(archive.read, archive.namelist()))
    assert not re.findall(rb"home|anna\\", content)


def test_a_bundle_has_texts_for_people_and_a_store_for_every_verb(packed, tmp_path):
    with zipfile.ZipFile(packed) as archive:
        assert archive.namelist() == ["README.txt", "suite.toml", "environment.json", PACKED]
        assert archive.read("suite.toml") == b'title = "Mine"'
        assert json.loads(archive.read("environment.json"))["changes"]["quick"] is True
        (tmp_path / "out.sqlite").write_bytes(lzma.decompress(archive.read(PACKED)))
    with Store(tmp_path / "out.sqlite") as opened:
        assert [run.id for run in opened.runs()] == [2]


def test_the_same_run_gives_the_same_file(store, packed, tmp_path):
    write_bundle(store.path, store.run(2), tmp_path / "again.zip")
    assert packed.read_bytes() == (tmp_path / "again.zip").read_bytes()


def test_a_bundle_that_cannot_be_written_leaves_nothing(store, tmp_path):
    (tmp_path / "folder.zip").mkdir()
    with pytest.raises(StoreError, match="cannot be written"):
        write_bundle(store.path, store.run(2), tmp_path / "folder.zip")
    assert not (tmp_path / "folder.zip.new").exists()


def test_a_row_that_cannot_be_read_is_named_before_it_is_packed(store, tmp_path):
    with contextlib.closing(sqlite3.connect(store.path)) as base:
        base.execute("UPDATE trial SET problem = ?", ["[" * 10_000 + "]" * 10_000])
        base.commit()
    with pytest.raises(StoreError, match=r"has a row that is not benchfw's \(a table is nested too deeply\)"):
        write_bundle(store.path, store.run(2), tmp_path / "run.zip")
    assert not list(tmp_path.glob("run.zip*"))


def test_nothing_else_of_an_archive_is_unpacked(packed, tmp_path):
    rewritten(packed, **{"../evil.py": b"boom", "/tmp/evil.py": b"boom", "suite.toml": None})
    before = set(tmp_path.rglob("*"))
    assert len(read_bundle(packed)[1]) == 2
    assert set(tmp_path.rglob("*")) == before


def test_a_store_that_grows_too_large_is_not_unpacked(packed, monkeypatch):
    monkeypatch.setattr(bundle, "MOST_BYTES", 1000)
    with pytest.raises(StoreError, match="too large"):
        read_bundle(packed)


def test_a_small_archive_that_becomes_large_is_unpacked_no_further_than_a_store_may_be(packed, monkeypatch):
    written = []

    def noting(source, target, most):
        try:
            unpack(source, target, most)
        finally:
            written.append(target.tell())

    monkeypatch.setattr(bundle, "unpack", noting)
    rewritten(packed, **{PACKED: lzma.compress(bytes(20_000_000))})
    with pytest.raises(
        StoreError, match=f"{PACKED} in it is too large: it becomes more than 10,000,000 bytes"
    ):
        read_bundle(packed)
    content = bytearray(packed.read_bytes())
    for place in (20, 24):  # where the list of entries says how much is packed, and what it becomes
        start = content.rindex(b"PK\1\2") + place
        content[start : start + 4] = (10**9).to_bytes(4, "little")
    packed.write_bytes(content)
    with pytest.raises(StoreError, match="is not a bundle that"):
        read_bundle(packed)
    assert max(written) <= 10_000_000


def test_a_store_that_is_packed_by_the_archive_itself_is_refused(packed):
    with zipfile.ZipFile(packed) as archive:
        content = archive.read(PACKED)
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(PACKED, content)
    with pytest.raises(StoreError, match="packed in another way"):
        read_bundle(packed)


def test_a_bundle_that_takes_much_memory_to_unpack_is_refused(packed, monkeypatch):
    monkeypatch.setattr(xz, "MOST_MEMORY", 2**16)
    with pytest.raises(StoreError, match="Memory usage limit"):
        read_bundle(packed)


def test_what_is_packed_can_be_read_again_or_is_not_packed(store, tmp_path, monkeypatch):
    monkeypatch.setattr(bundle, "SMALL_BYTES", 1000)
    monkeypatch.setattr(bundle, "MOST_RATIO", 1.5)
    with pytest.raises(StoreError, match=r"run 2 does not fit into a bundle: it becomes more than"):
        write_bundle(store.path, store.run(2), tmp_path / "run.zip")
    assert not list(tmp_path.glob("run.zip*"))


def test_a_bundle_is_not_written_through_a_link_that_lies_in_wait(store, tmp_path):
    (tmp_path / "mine").write_text("kept")
    (tmp_path / "run.zip.new").symlink_to(tmp_path / "mine")
    write_bundle(store.path, store.run(2), tmp_path / "run.zip")
    assert (tmp_path / "mine").read_text() == "kept"
    assert len(read_bundle(tmp_path / "run.zip")[1]) == 2


def changed_store(packed, tmp_path, *statements):
    """Change the store inside a bundle by SQL, and make its checksums anew."""
    with zipfile.ZipFile(packed) as archive:
        (tmp_path / "changed.sqlite").write_bytes(lzma.decompress(archive.read(PACKED)))
    base = sqlite3.connect(tmp_path / "changed.sqlite")
    for statement in statements:
        base.execute(statement)
    with contextlib.suppress(sqlite3.OperationalError):  # a table that was dropped
        for number, *row in base.execute(SELECT_RUNS.replace("digest", "id", 1)).fetchall():
            base.execute(SEAL_RUN, (digest_of(tuple(row)), number))
        for (number,) in base.execute("SELECT id FROM trial").fetchall():
            records = base.execute(SELECT_TRIAL_RECORDS, (number,)).fetchall()
            row = base.execute(SELECT_TRIAL, (number,)).fetchone()[1:]
            base.execute("UPDATE trial SET digest = ? WHERE id = ?", (digest_of_trial(row, records), number))
    base.commit()
    base.close()
    return rewritten(packed, **{PACKED: lzma.compress((tmp_path / "changed.sqlite").read_bytes())})


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("DELETE FROM run", "not enough values"),
        (
            "INSERT INTO run SELECT 9, suite, title, text, environment, started, '', 0, '{}', '' FROM run",
            "many",
        ),
        ("UPDATE run SET environment = '{}'", "does not say where and how it was run"),
        (
            "UPDATE run SET environment = replace(environment, 'true', '5')",
            "quick must be True or False, got 5",
        ),
        ("UPDATE run SET environment = replace(environment, 'quick', 'odd')", "odd"),
        ("UPDATE run SET text = x'00'", "is not text"),
        ("UPDATE run SET environment = '[]'", "does not say where and how it was run"),
        ("UPDATE run SET environment = 'nonsense'", "Expecting value"),
        ("UPDATE trial SET settings = '{}'", "seed"),
        ("UPDATE trial SET status = 'odd'", "odd"),
        ("DROP TABLE record", "its tables are not those of a store"),
        ("PRAGMA user_version = 99", "use the benchfw that wrote it"),
        ("PRAGMA application_id = 7", "not a benchfw store"),
    ],
)
def test_a_store_with_something_else_in_it_is_one_sentence(packed, tmp_path, statement, said):
    changed_store(packed, tmp_path, statement)
    with pytest.raises(StoreError, match=said) as fault:
        read_bundle(packed)
    assert str(fault.value).startswith(
        f"{packed} is not a bundle that `benchfw export --bundle` wrote, or it is damaged"
    )


def test_a_full_disk_is_said_to_be_where_bundles_are_unpacked(packed, monkeypatch):
    def fill(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(bundle, "unpack", fill)
    with pytest.raises(StoreError) as fault:
        read_bundle(packed)
    assert str(fault.value) == (
        f"the bundle {packed} cannot be read (No space left on device); "
        f"free some space in {tempfile.gettempdir()} or set TMPDIR"
    )


def test_a_damaged_bundle_is_one_sentence_or_still_whole(packed):
    content, results = packed.read_bytes(), repr(read_bundle(packed)[1])
    chance, refused = random.Random(5), 0
    for _ in range(40):
        damaged = bytearray(content)
        for _ in range(3):
            damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
        packed.write_bytes(damaged[: chance.choice([None, chance.randrange(len(damaged))])])
        try:
            assert repr(read_bundle(packed)[1]) == results
        except StoreError:
            refused += 1
    assert refused > 20


@pytest.mark.parametrize(
    ("place", "written"),
    [(6, b"\xf0"), (8, b"\x00\x08" + bytes(36) + b"\xff")],
    ids=["a later version of zip", "a name that is not text"],
)
def test_a_damaged_archive_is_not_taken_for_a_bundle(packed, place, written):
    content = bytearray(packed.read_bytes())
    place += content.rindex(b"PK\x01\x02")  # of the last entry in the directory
    for offset, byte in enumerate(written):
        content[place + offset] = byte or content[place + offset]
    packed.write_bytes(content)
    assert not is_bundle(packed)
    with pytest.raises(StoreError, match="is not a bundle"):
        read_bundle(packed)


def test_a_missing_file_and_an_archive_of_something_else_are_one_sentence(packed, tmp_path):
    with pytest.raises(StoreError, match="No such file or directory"):
        read_bundle(tmp_path / "nowhere.zip")
    rewritten(packed, **{PACKED: None})
    with pytest.raises(StoreError, match=f"no item named '{PACKED}'"):
        read_bundle(packed)
