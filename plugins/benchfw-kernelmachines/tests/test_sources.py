"""Training rows from memory, from a mapped file and from a stream."""

from __future__ import annotations

import importlib.util
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from benchfw import BenchfwError
from benchfw.backends import get_backend
from benchfw.data import Table, batches
from benchfw_kernelmachines.sources import opening
from benchfw_kernelmachines.sources.opening import open_rows
from benchfw_kernelmachines.sources.row_source import SAMPLED, sample_numbers
from benchfw_kernelmachines.sources.rows_in_memory import RowsInMemory
from benchfw_kernelmachines.sources.rows_mapped import RowsMapped
from benchfw_kernelmachines.sources.rows_streamed import RowsStreamed
from benchfw_kernelmachines.sources.rows_warped import RowsWarped

BACKEND = get_backend("numpy")
FEATURES = np.arange(1500 * 3, dtype=np.float32).reshape(1500, 3)
LABELS = np.arange(1500) % 7


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The same rows as an archive, as mapped files, and as mapped files in two parts."""
    monkeypatch.setenv("BENCHFW_DATA", str(tmp_path))
    np.savez(tmp_path / "archive.npz", x=FEATURES, y=LABELS)
    parts = {
        "mapped": {"x": FEATURES, "y": LABELS},
        "parts": {
            "x_train": FEATURES[:1400],
            "y_train": LABELS[:1400],
            "x_test": FEATURES[1400:],
            "y_test": LABELS[1400:],
        },
        "columns": {"x": np.asfortranarray(FEATURES), "y": LABELS},
    }
    for name, arrays in parts.items():
        (tmp_path / name).mkdir()
        for key, values in arrays.items():
            np.save(tmp_path / name / f"{key}.npy", values)
    return tmp_path


def same(left, right):
    return all(np.array_equal(*pair) for pair in zip(left, right, strict=True))


@pytest.mark.parametrize("name", ["archive", "mapped", "parts", "columns"])
@pytest.mark.usefixtures("folder")
def test_training_and_test_rows_are_all_rows_each_once(name):
    source, test = open_rows(BACKEND, name, None)
    train = source.some(10_000)
    assert type(source) is (RowsInMemory if name == "archive" else RowsMapped)
    found = np.concatenate([train.features[:, 0], test.features[:, 0]])
    assert same([np.sort(found)], [FEATURES[:, 0]])
    for table in (train, test):
        assert same([table.targets], [table.features[:, 0] // 3 % 7])


@pytest.mark.usefixtures("folder")
def test_a_mapped_file_gives_the_batches_of_memory_in_the_order_of_the_file():
    stored, mapped = (open_rows(BACKEND, name, 700)[0] for name in ("archive", "mapped"))
    assert stored.num_samples == mapped.num_samples == 700
    assert same(stored.some(20), mapped.some(20))
    numbers = np.array([5, 600, 5])
    assert same(stored.take(numbers), mapped.take(numbers))
    pairs = zip(stored.batches(BACKEND.rng(3), 64), mapped.batches(BACKEND.rng(3), 64), strict=True)
    for _, (one, other) in zip(range(3), pairs, strict=False):
        order = np.argsort(one.features[:, 0])
        assert same(Table(one.features[order], one.targets[order]), other)
        assert len(set(other.features[:, 0])) == 64


def test_every_row_is_as_probable_as_every_other():
    source = RowsInMemory(Table(FEATURES[:20], LABELS[:20]))
    draws = source.batches(BACKEND.rng(0), 5)
    counts = np.bincount([int(row) // 3 for _ in range(2000) for row in next(draws).features[:, 0]])
    # each count is binomial of 2,000 and 1/4
    assert np.abs(counts - 500).max() < 4 * np.sqrt(2000 * 0.25 * 0.75)


def test_memory_is_prepared_once_and_the_rest_as_it_is_read(folder):
    asked = []

    def prepare(table):
        asked.append(len(table.targets))
        return Table(table.features * 2, table.targets)

    stored, mapped = (open_rows(BACKEND, name, 1000)[0].prepared(prepare) for name in ("archive", "mapped"))
    assert asked == [1000]
    assert same(stored.some(3), mapped.some(3))
    assert asked == [1000, 3]


def test_a_stream_gives_its_rows_in_order_and_begins_again():
    source = RowsStreamed.opened("stream-like(rows=2500, features=3)", 100, 2400)
    whole = next(batches("stream-like", 2500, rows=2500, features=3))["x"]
    first = 100 + BACKEND.rng(0).integers(2300)
    starts = [*range(first, 1401, 1000), 100, 1100, 100, 1100]  # the last 300 of a pass are no batch
    for start, batch in zip(starts, source.batches(BACKEND.rng(0), 1000), strict=False):
        np.testing.assert_array_equal(batch.features, whole[start : start + 1000])
    np.testing.assert_array_equal(source.some(7).features, whole[100:107])
    assert source.num_samples == 2300


def test_every_seed_reads_a_stream_from_another_row_on():
    source = RowsStreamed.opened("stream-like(rows=60000, features=3)", 100, 60_000)
    first, again, other = (next(source.batches(BACKEND.rng(seed), 8)).features for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not set(first[:, 0]) & set(other[:, 0])


@pytest.mark.parametrize("name", ["archive", "mapped"])
@pytest.mark.usefixtures("folder")
def test_some_rows_are_not_the_first_but_from_all_over_the_set(name):
    source, _ = open_rows(BACKEND, name, 1000)
    assert same(source.some(100), source.take(sample_numbers(1000, 100)))


def test_a_stream_keeps_nothing_but_its_head():
    source, test = open_rows(BACKEND, "stream-like(rows=8000000)", None)
    assert isinstance(source, RowsStreamed)
    assert source.num_samples == 8_000_000 - len(test.targets) == 7_990_000
    assert len(source.sample().targets) == SAMPLED
    rows = source.batches(BACKEND.rng(0), 1000)
    next(rows)
    tracemalloc.start()
    for _ in range(5):
        next(rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3e6  # a few blocks of 1,000 rows


def test_few_rows_of_a_stream_are_held_in_memory():
    source, test = open_rows(BACKEND, "stream-like(rows=3000)", 2000)
    assert isinstance(source, RowsInMemory)
    assert source.num_samples == 2000
    assert len(test.targets) == 300
    whole = next(batches("stream-like", 3000, rows=3000))["x"]
    np.testing.assert_array_equal(np.concatenate([test.features, source.some(2000).features]), whole[:2300])


def test_pictures_that_are_deformed_to_train_are_not_deformed_to_test():
    name = "mnist-8m-like(rows=200, source='mnist-like(rows=50, test_rows=30)')"
    source, test = open_rows(BACKEND, name, None)
    assert source.num_samples == 200
    assert test.features.shape == (30, 28, 28)


def test_many_warped_pictures_are_made_as_they_are_read_from_any_row_on(monkeypatch):
    monkeypatch.setattr(opening, "STORED", 100)
    name = "mnist-8m-like(rows=1000, source='mnist-like(rows=50, test_rows=30)')"
    source, _ = open_rows(BACKEND, name, None)
    assert isinstance(source, RowsWarped)
    whole = next(batches(name, 1000))
    np.testing.assert_array_equal(source.some(70).features, whole["x"][:70])
    np.testing.assert_array_equal(source.sample().targets, whole["y"])
    places = {row.tobytes(): number for number, row in enumerate(whole["x"])}
    starts = []
    for seed in range(6):
        drawn = [table for table, _ in zip(source.batches(BACKEND.rng(seed), 300), range(5), strict=False)]
        firsts = [places[table.features[0].tobytes()] for table in drawn]
        for first, table in zip(firsts, drawn, strict=True):
            np.testing.assert_array_equal(table.features, whole["x"][first : first + 300])
            np.testing.assert_array_equal(table.targets, whole["y"][first : first + 300])
        assert firsts[firsts.index(0) :][:2] == [0, 300]  # whole batches of the next pass
        starts.append(firsts[0])
    assert len(set(starts)) > 2
    with pytest.raises(BenchfwError, match="warped pictures are made as they are read"):
        source.take(np.arange(3))


def test_at_most_so_many_test_rows_are_kept(monkeypatch, folder):
    monkeypatch.setattr(opening, "TESTED", 40)
    for name in ("archive", "mapped", "parts"):
        assert len(open_rows(BACKEND, name, None)[1].targets) == 40


def test_a_sample_is_always_the_same_and_has_no_row_twice():
    numbers = sample_numbers(10**7, 2000)
    np.testing.assert_array_equal(numbers, sample_numbers(10**7, 2000))
    assert len(set(numbers)) == 2000
    assert (np.diff(numbers) > 0).all()
    np.testing.assert_array_equal(sample_numbers(3, 2000), [0, 1, 2])


def test_a_stream_has_no_row_by_its_number():
    with pytest.raises(BenchfwError, match="are a stream, which gives no row by its number; take fewer"):
        RowsStreamed.opened("stream-like(rows=50)", 0, 50).take(np.array([1]))


@pytest.mark.parametrize("size", [0, 1001])
@pytest.mark.parametrize("name", ["archive", "mapped"])
@pytest.mark.usefixtures("folder")
def test_a_batch_that_there_is_not_is_refused(name, size):
    source, _ = open_rows(BACKEND, name, 1000)
    with pytest.raises(
        BenchfwError, match=f"batch must be 1 to 1000, the number of training rows, got {size}"
    ):
        next(source.batches(BACKEND.rng(0), size))


@pytest.mark.usefixtures("folder")
def test_rows_that_there_are_not_are_refused():
    with pytest.raises(
        BenchfwError, match="data set 'archive' has 1350 training rows; it takes 1351 or more"
    ):
        open_rows(BACKEND, "archive", 1351)
    with pytest.raises(BenchfwError, match="no data set 'archiv'"):
        open_rows(BACKEND, "archiv", None)


@pytest.mark.thorough
def test_training_on_a_mapped_file_needs_no_memory_for_it():
    """The tracked measurement, with a file of 0.8 GB."""
    path = Path(__file__).parents[3] / "suites" / "tracked" / "kernelmachines_memory.py"
    spec = importlib.util.spec_from_file_location("kernelmachines_memory", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.peak_of_training(rows=1_000_000, block=64, steps=2) < 300e6
