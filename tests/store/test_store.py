"""What goes into the store comes out of it; what is not a store is left alone."""

import contextlib
import json
import math
import sqlite3
import tempfile
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchfw.errors import StoreError
from benchfw.provenance import Environment, Machine
from benchfw.records import Budget, Ending, Outcome, Record, Spec, Status, Stored
from benchfw.store import APPLICATION_ID, Store
from benchfw.store.rows import digest_of_trial
from benchfw.store.schema import SCHEMA_VERSION


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "deep" / "store.sqlite", create=True) as opened:
        yield opened


def begin(store):
    return store.begin("quick", "Quick", "title = 1", Environment(threads=3))


def same(one, other):
    return one == other or (math.isnan(one) and math.isnan(other))


numbers = st.floats(allow_nan=True, allow_infinity=True)
counts = st.floats(min_value=0, allow_nan=False, allow_infinity=True)
records = st.builds(
    Record,
    st.text(),
    st.integers(0, 2**40),
    counts,
    counts,
    numbers,
    st.sampled_from(["metric", "bound"]),
    st.none() | st.floats(min_value=0, allow_infinity=False),
)
facts = st.dictionaries(st.text(), st.floats(allow_nan=False, allow_infinity=False), max_size=3)
params = st.dictionaries(
    st.text().filter(lambda key: key != "use"),
    st.integers() | st.floats(allow_nan=False) | st.text() | st.booleans(),
    max_size=3,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    st.lists(records, max_size=5),
    st.sampled_from(Status),
    st.sampled_from(Ending),
    st.text(),
    facts,
    st.lists(st.text()),
    params,
    st.text(),
)
def test_a_trial_comes_back_as_it_went_in(
    store, make_trial, rows, status, ending, reason, told, caveats, given_params, label
):
    trial = make_trial(
        method=Spec("slide", given_params, label),
        budget=Budget(seconds=math.inf, cost=1.5),
        target={"gap": 1e-3},
        precision=0.1,
        at="optimum",
        key="k",
    )
    run = begin(store)
    outcome = Outcome(
        status, ending, reason, tuple(rows), told, tuple(caveats), claims_unbiased=True, peak_memory=10**9,
        seconds=1.5, cost_unit="products", device="GPU #1",
    )  # fmt: skip
    number = store.add(run, 0, trial, outcome)
    for result in (store.result(number), *store.results(run)):
        assert result.id == number
        assert result.trial == trial
        assert not result.reused
        found = result.outcome
        assert replace(found, records=()) == replace(outcome, records=())
        assert len(found.records) == len(rows)
        for before, after in zip(rows, found.records, strict=True):
            assert before._replace(value=0.0) == after._replace(value=0.0)
            assert same(before.value, after.value)


def test_a_tuple_in_a_spec_comes_back_as_one(store, make_trial):
    trial = make_trial(method=Spec("slide", {"layers": (8, (4, 2))}, "slide"))
    number = store.add(begin(store), 0, trial, Outcome(Status.DONE, Ending.ITERATIONS, ""))
    assert store.result(number).trial == trial


def test_a_cost_that_is_not_a_number_does_not_end_the_run(store, make_trial):
    run = begin(store)
    outcome = Outcome(Status.DONE, Ending.ITERATIONS, "", (Record("gap", 0, 0.0, math.nan, 1.0),))
    store.add(run, 0, make_trial(), outcome)
    assert math.isnan(store.results(run)[0].outcome.records[0].cost)


def test_what_a_method_says_is_kept_without_the_folders_of_whoever_runs_it(
    store, make_trial, tmp_path, monkeypatch
):
    work, temporary = tmp_path / "work", tmp_path / "temporary"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("HOME", "/home/anna")
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    said = (
        f"FileNotFoundError: '{work}/a b.csv', '{temporary}/b.npy', '/home/anna/c.csv', '/home/anna' "
        f"(toys.py, line 3); 1/2 of https://a.org/b/c and {work}house/own/d.csv"
    )
    kept = (
        "FileNotFoundError: './a b.csv', '$TMPDIR/b.npy', '~/c.csv', '~' "
        f"(toys.py, line 3); 1/2 of https://a.org/b/c and {work}house/own/d.csv"
    )
    outcome = Outcome(Status.FAILED, Ending.FAULT, said, caveats=(said, "slow"))
    number = store.add(begin(store), 0, make_trial(), outcome)
    found = store.result(number).outcome
    assert (found.reason, found.caveats) == (kept, (kept, "slow"))


def test_a_reason_with_bytes_that_are_no_text_does_not_end_the_run(store, make_trial):
    run = begin(store)
    store.add(run, 0, make_trial(), Outcome(Status.FAILED, Ending.FAULT, "no file 'caf\udce9.npz'"))
    assert "no file" in store.results(run)[0].outcome.reason


GOOD = Outcome(Status.DONE, Ending.ITERATIONS, "", (Record("gap", 1, 0.5, 2.0, 1.0),), replay="")
RECORD = GOOD.records[0]
AS_IT_COMES = [
    ({"prepare_seconds": 1}, {"prepare_seconds": 1.0}),
    ({"prepare_seconds": np.float64(0.5)}, {"prepare_seconds": 0.5}),
    ({"prepare_cost": np.float32(0.5)}, {"prepare_cost": 0.5}),
    ({"prepare_cost": -0.0}, {"prepare_cost": 0.0}),
    ({"prepare_cost": math.nan}, {"prepare_cost": None}),
    ({"prepare_cost": 10**20}, {"prepare_cost": 1e20}),
    ({"peak_memory": 1e9}, {"peak_memory": 10**9}),
    ({"seconds": -0.0}, {"seconds": 0.0}),
    ({"claims_unbiased": np.True_}, {"claims_unbiased": True}),
    ({"facts": {"rank": np.int64(3), "shift": np.float32(0.5)}}, {"facts": {"rank": 3.0, "shift": 0.5}}),
    ({"reason": np.str_("because")}, {"reason": "because"}),
    ({"replay": "caf\udce9", "caveats": ("caf\udce9",)}, {"replay": "caf?", "caveats": ("caf?",)}),
    ({"facts": {"caf\udce9": 1.0}}, {"facts": {"caf?": 1.0}}),
    ({"records": (RECORD._replace(iteration=np.int64(1), cost=np.int64(2)),)}, {}),
    ({"records": (RECORD._replace(iteration=1.0, metric=np.str_("gap"), role=np.str_("metric")),)}, {}),
]  # fmt: skip


@pytest.mark.parametrize(("given", "kept"), AS_IT_COMES)
def test_numbers_and_texts_of_other_libraries_come_back_as_those_of_python(store, make_trial, given, kept):
    run = begin(store)
    store.add(run, 0, make_trial(repetition=np.int64(1)), replace(GOOD, **given))
    (result,) = store.results(run)
    assert result.outcome == replace(GOOD, **kept)
    assert type(result.trial.repetition) is int


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"peak_memory": 0.5}, r"peak_memory is 0\.5, which is not a whole number"),
        ({"peak_memory": 2**63}, "peak_memory is 9223372036854775808"),
        ({"peak_memory": math.inf}, "infinity"),
        ({"prepare_cost": "much"}, "must be real number, not str"),
        ({"seconds": math.nan}, "None is not a number"),
        ({"facts": {"rank": "high"}}, "'high'"),
        ({"reason": b"because"}, "b'because' is not text"),
        ({"records": (RECORD._replace(iteration=1.5),)}, r"iteration is 1\.5"),
        ({"records": (RECORD._replace(iteration=None),)}, "NoneType"),
        ({"records": (RECORD._replace(seconds=math.nan),)}, "a record has NoneType"),
        ({"records": (RECORD._replace(role="peer"),)}, "unknown role"),
    ],
)
def test_a_trial_that_could_not_be_read_back_is_refused_in_words(store, make_trial, given, words):
    run = begin(store)
    with pytest.raises(StoreError, match=f"repetition 0.* cannot be stored: .*{words}"):
        store.add(run, 0, make_trial(), replace(GOOD, **given))
    assert store.results(run) == []


def test_a_trial_that_cannot_be_kept_leaves_nothing_of_itself(store, make_trial):
    run = begin(store)
    store.add(run, 0, make_trial(key="first"), GOOD)
    with pytest.raises(StoreError):
        store.add(run, 0, make_trial(key="k"), GOOD)  # its place is taken: noticed when all else is written
    assert store.known(["k"]) == {}
    assert len(store.results(run)) == 1
    store.add(run, 1, make_trial(key="k"), GOOD)
    assert len(store.results(run)) == 2


def test_a_run_that_is_added_whole_leaves_nothing_where_one_of_its_trials_cannot_be_kept(store, make_trial):
    good, bad = (make_trial(key="good"), GOOD), (make_trial(key="bad"), replace(GOOD, seconds=math.nan))
    with pytest.raises(StoreError, match="cannot be stored"):
        store.add_run("suite", "", Environment(Machine()), [good, bad])
    assert (store.runs(), store.known(["good"])) == ([], {})
    run = store.add_run("suite", "", Environment(Machine()), [good])
    assert store.run(run).finished
    assert len(store.results(run)) == 1


def test_what_was_added_is_there_when_the_file_is_opened_again(tmp_path, make_trial):
    path = tmp_path / "store.sqlite"
    with Store(path, create=True) as opened:
        run = begin(opened)
        opened.add(run, 0, make_trial(), Outcome(Status.DONE, Ending.ITERATIONS, ""))
        with Store(path) as other:  # also while a run is going on
            assert len(other.results(run)) == 1
    with Store(path) as again:
        assert len(again.results(run)) == 1


def test_a_known_key_gives_its_trials_that_were_not_skipped_and_what_they_read(store, make_trial):
    run = begin(store)
    endings = (Status.FAILED, Status.DONE, Status.SKIPPED)
    reads = {"variable X": "absent", "file a.txt": "12"}
    ids = [
        store.add(run, i, make_trial(key="k"), Outcome(each, Ending.ITERATIONS, "because", reads=reads))
        for i, each in enumerate(endings)
    ]
    assert store.results(run)[0].outcome.reads == reads
    store.add(run, 9, make_trial(key="skipped"), Outcome(Status.SKIPPED, Ending.ABSENT, "no gpu"))
    assert store.known(["k", "skipped", "other"]) == {
        "k": [Stored(ids[0], Status.FAILED, reads), Stored(ids[1], Status.DONE, reads)]
    }


def test_any_number_of_keys_is_looked_up_in_a_store_that_has_none_of_them(store, monkeypatch):
    monkeypatch.setattr("benchfw.store.connection.FREE_STEPS", 0)  # fewer keys show the same
    keys = [f"{number:064x}" for number in range(100_000)]
    assert store.count_seen(keys, "2030") == 0
    assert store.known(keys) == {}


def test_a_run_that_reuses_a_trial_shows_it_under_its_own_labels(store, make_trial):
    first = begin(store)
    number = store.add(first, 0, make_trial(), Outcome(Status.DONE, Ending.ITERATIONS, ""))
    second = begin(store)
    other = make_trial(method=Spec("slide", {"step": 0.5}, "mine"))
    store.reuse(second, [(4, other, number)])
    (result,) = store.results(second)
    assert (result.id, result.reused, result.trial.method.label) == (number, True, "mine")
    assert store.results(first)[0].trial.method.label == "slide"
    assert store.run(second).reused == 1


def test_results_come_in_the_order_of_the_suite_not_of_the_clock(store, make_trial):
    run = begin(store)
    for position in (2, 0, 1):
        store.add(run, position, make_trial(repetition=position), Outcome(Status.DONE, Ending.ITERATIONS, ""))
    assert [result.trial.repetition for result in store.results(run)] == [0, 1, 2]


def test_a_run_says_how_its_trials_ended(store, make_trial):
    run = begin(store)
    for position, status in enumerate((Status.DONE, Status.DONE, Status.FAILED)):
        store.add(run, position, make_trial(), Outcome(status, Ending.ITERATIONS, ""))
    assert store.run(run).finished is None
    store.finish(run)
    found = store.run("last")
    assert found.counts == {"done": 2, "failed": 1}
    assert (found.id, found.suite, found.title, found.text) == (run, "quick", "Quick", "title = 1")
    assert found.environment == Environment(threads=3)
    assert found.finished


def test_a_store_without_runs_says_so(store):
    with pytest.raises(StoreError, match="holds no run yet"):
        store.run("last")


def test_a_trial_is_read_and_its_replay_noted_without_looking_through_the_run(store, make_trial):
    number = store.add(begin(store), 0, make_trial(), Outcome(Status.DONE, Ending.ITERATIONS, ""))
    said = []
    store._base.set_trace_callback(said.append)
    store.result(number)
    store.note_replay(number, "")
    store._base.set_trace_callback(None)
    asked = [each for each in said if each.startswith(("SELECT", "UPDATE"))]
    plans = [store._base.execute(f"EXPLAIN QUERY PLAN {each}").fetchall() for each in asked]
    steps = [words for plan in plans for *_, words in plan]
    assert len(steps) >= 6
    assert not [words for words in steps if "SCAN" in words]


def test_a_locked_store_is_a_store_error_not_one_of_sqlite(tmp_path):
    path = tmp_path / "store.sqlite"
    with Store(path, create=True) as opened:
        opened._base.execute("PRAGMA busy_timeout = 0")
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        try:
            with pytest.raises(StoreError):
                begin(opened)
        finally:
            other.close()


def test_a_store_is_marked_as_one(tmp_path):
    path = tmp_path / "store.sqlite"
    Store(path, create=True).close()
    base = sqlite3.connect(path)
    assert base.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
    assert base.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
    assert base.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    base.close()


FORGED = [
    ("trial", "facts", '{"rank": "many"}'), ("trial", "facts", "[]"), ("trial", "caveats", "[5]"),
    ("trial", "reason", b"\x80"), ("trial", "repetition", "first"), ("trial", "wall", "long"),
    ("trial", "settings", "[" * 100_000), ("trial", "method", '{"use": 5}'), ("trial", "kind", "trap"),
    ("trial", "backend", "x" * 10**6), ("record", "value", "much"), ("record", "role", "odd"),
    ("record", "iteration", 1.5), ("link", "method", b"\x80"), ("run", "finished", b"\x80"),
    ("trial", "status", "x" * 10**6), ("run", "environment", Environment(plugins=("x" * 10**6,))),
    ("run", "environment", Environment(packages={"a": 5})),
    ("run", "environment", Environment(machine=Machine(load="high"))),
]  # fmt: skip


@pytest.mark.parametrize(("table", "column", "value"), FORGED)
def test_a_value_of_another_type_is_refused_though_its_checksum_is_right(
    tmp_path, make_trial, monkeypatch, table, column, value
):
    path = tmp_path / "store.sqlite"
    with Store(path, create=True) as opened:
        records = (Record("gap", 0, 0.0, 0.0, 1.0),)
        opened.add(begin(opened), 0, make_trial(), Outcome(Status.DONE, Ending.ITERATIONS, "", records))
    value = json.dumps(value.to_json()) if isinstance(value, Environment) else value
    with contextlib.closing(sqlite3.connect(path)) as base:
        base.execute(f"UPDATE {table} SET {column} = ?", (value,))
        base.commit()
    monkeypatch.setattr("benchfw.store.rows.check_digest", lambda *_: None)
    monkeypatch.setattr("benchfw.store.store.check_digest", lambda *_: None)
    with Store(path) as opened, pytest.raises(StoreError, match="not benchfw's") as caught:
        opened.results(opened.run(1).id)
    assert len(str(caught.value)) < 500


def test_a_run_that_could_not_be_read_back_is_not_written(store):
    before = len(store.runs())
    with pytest.raises(StoreError, match="the run cannot be stored: jobs is True"):
        store.begin("suite", "", "", replace(Environment(Machine()), jobs=True))
    with pytest.raises(StoreError, match="the run cannot be stored: None is not text"):
        store.begin(None, "", "", Environment(Machine()))
    assert len(store.runs()) == before


def test_the_checksum_of_a_trial_notices_every_change_of_a_record():
    row = ("key", 1, None)
    records = [
        ("gap", 2**60, 0.5, 1.0, None, "metric", 0.25),
        ("gap", 2**60 + 1, 0.75, 2.0, 1.0, "metric", None),
    ]
    sealed = digest_of_trial(row, records)
    others = ("loss", 2**60 + 2, math.nextafter(0.75, 1), None, math.inf, "bound", 0.75)
    changed = [(*records[1][:k], other, *records[1][k + 1 :]) for k, other in enumerate(others)]
    found = {digest_of_trial(row, [records[0], each]) for each in changed}
    found |= {
        digest_of_trial(row, records[::-1]),
        digest_of_trial(row, records[:1]),
        digest_of_trial(row, []),
    }
    found.add(digest_of_trial(("key", 2, None), records))
    assert len(found) == len(others) + 4
    assert sealed not in found
    assert sealed == digest_of_trial(row, [tuple(each) for each in records])
