"""Passes over data sets without loading them."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from benchfw import data
from benchfw.data.cache import write_pieces
from benchfw.errors import DataError

X = np.arange(70.0).reshape(35, 2)
Y = np.arange(35, dtype=np.int16)


@pytest.fixture(params=["npz", "npz_compressed", "npy"])
def rows(request, folder):
    """The data set "rows" in one of the forms that it may have."""
    if request.param == "npy":
        write_pieces(folder / "rows", [{"x": X[:20], "y": Y[:20]}, {"x": X[20:], "y": Y[20:]}])
    else:
        save = np.savez if request.param == "npz" else np.savez_compressed
        save(folder / "rows.npz", x=X, y=Y)


@pytest.mark.parametrize("size", [1, 8, 35, 100])
def test_batches_are_the_rows_in_order(rows, size):
    found = list(data.batches("rows", size))
    assert [len(batch["x"]) for batch in found[:-1]] == [size] * (len(found) - 1)
    np.testing.assert_array_equal(np.concatenate([batch["x"] for batch in found]), X)
    np.testing.assert_array_equal(np.concatenate([batch["y"] for batch in found]), Y)


def test_a_part_of_the_rows_and_arrays(rows):
    found = list(data.batches("rows", 4, ["y"], start=5, stop=16))
    assert [sorted(batch) for batch in found] == [["y"]] * 3
    np.testing.assert_array_equal(np.concatenate([batch["y"] for batch in found]), Y[5:16])


def test_load_gives_the_same_rows(rows):
    np.testing.assert_array_equal(data.load("rows")["x"], X)


def test_a_wrong_request_is_one_clear_error(rows):
    with pytest.raises(DataError, match="no array 'z'"):
        list(data.batches("rows", 4, ["z"]))
    with pytest.raises(DataError, match="at least one row"):
        list(data.batches("rows", 0))
    with pytest.raises(DataError, match="no data set 'rwos'"):
        list(data.batches("rwos", 4))


def test_arrays_of_different_lengths_must_be_named(folder):
    np.savez(folder / "odd.npz", x=X, z=np.ones(3))
    with pytest.raises(DataError, match="different numbers of rows"):
        list(data.batches("odd", 4))
    assert len(list(data.batches("odd", 10, ["x"]))) == 4


def test_so_must_those_of_a_synthetic_set(register):
    register(data.Dataset("odd-like", "synthetic: odd", make=lambda: {"x": X, "z": np.ones(3)}))
    with pytest.raises(DataError, match="different numbers of rows"):
        next(data.batches("odd-like", 4))
    assert len(list(data.batches("odd-like", 10, ["x"]))) == 4


@pytest.mark.parametrize(("arrays", "asked"), [({"z": np.ones(())}, None), ({"x": X}, [])])
def test_a_request_for_no_array_of_rows_is_refused(register, arrays, asked):
    register(data.Dataset("odd-like", "synthetic: odd", make=lambda: arrays))
    with pytest.raises(DataError, match="no array of rows of 'odd-like' is asked for"):
        next(data.batches("odd-like", 4, asked))


def test_pieces_that_do_not_fit_together_are_refused(tmp_path):
    with pytest.raises(DataError, match="pieces of one array differ"):
        write_pieces(tmp_path / "rows", [{"x": X}, {"x": X.astype(np.float32)}])


def test_a_written_stream_is_what_numpy_would_write(tmp_path):
    write_pieces(tmp_path / "rows", [{"x": X[:1]}, {"x": X[1:1]}, {"x": X[1:]}])
    np.testing.assert_array_equal(np.load(tmp_path / "rows" / "x.npy"), X)


def test_a_synthetic_stream_does_not_depend_on_the_batches(cache):
    name = "walk-like(rows=250)"
    found = list(data.batches(name, 70))
    assert [len(batch["y"]) for batch in found] == [70, 70, 70, 40]
    whole = data.load(name)
    np.testing.assert_array_equal(np.concatenate([batch["x"] for batch in found]), whole["x"])
    (part,) = data.batches(name, 90, ["y"], start=150, stop=210)
    np.testing.assert_array_equal(part["y"], whole["y"][150:210])


def test_a_batch_of_a_stream_names_the_set_that_lacks_an_array(cache):
    with pytest.raises(DataError, match="data set 'walk-like' has no array 'z'"):
        list(data.batches("walk-like", 10, ["z"]))


def test_a_synthetic_set_without_a_stream_comes_in_batches_too(cache):
    found = list(data.batches("flowers-like(rows=25)", 10))
    assert [len(batch["X"]) for batch in found] == [10, 10, 5]


def test_a_batch_past_the_end_is_empty_and_a_cut_file_is_an_error(folder):
    np.savez_compressed(folder / "rows.npz", x=np.random.default_rng(0).random((5000, 3)))
    assert list(data.batches("rows", 10, start=6000)) == []
    with pytest.raises(DataError, match="rows count from 0"):
        list(data.batches("rows", 10, start=-2))
    whole = (folder / "rows.npz").read_bytes()
    (folder / "rows.npz").write_bytes(whole[:300] + bytes(len(whole) - 600) + whole[-300:])
    with pytest.raises(DataError, match="replace the file"):
        list(data.batches("rows", 10))


def test_a_pass_over_a_large_file_needs_little_memory(cache):
    path = Path(__file__).parents[2] / "suites" / "tracked" / "data_memory.py"
    spec = importlib.util.spec_from_file_location("data_memory", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    # 800 MB of rows; loading them would show
    assert module.peak_of_a_pass(rows=200_000) < 300e6
