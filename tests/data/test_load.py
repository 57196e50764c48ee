"""Finding, loading, making, verifying and identifying data sets."""

import importlib
import os

import numpy as np
import pytest

from benchfw import data
from benchfw.data import ArraySpec, Dataset, check_arrays, content_hash
from benchfw.errors import DataError

FLOWERS = {"X": np.zeros((50, 4)), "y": np.ones(50, np.int8)}


def test_a_folder_comes_before_the_cache(folder, cache):
    cache.mkdir()
    np.savez(cache / "flowers.npz", **FLOWERS)
    assert data.find_path("flowers") == cache / "flowers.npz"
    np.savez(folder / "flowers.npz", **FLOWERS)
    assert data.find_path("flowers") == folder / "flowers.npz"


def test_without_optional_arrays_a_file_is_taken(folder):
    np.savez(folder / "flowers.npz", **FLOWERS)
    assert sorted(data.load("flowers")) == ["X", "y"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.zeros((50, 5))}, r"array 'X' is \(50, 5\) float64, not \(50, 4\) float64"),
        ({"y": np.ones(50)}, r"array 'y' is \(50,\) float64, not \(50,\) int8"),
        ({"train_idx": np.ones(9, np.int32)}, r"array 'train_idx' is \(9,\) int32, not \(40,\) int32"),
    ],
)
def test_a_file_with_other_shapes_or_types_is_one_clear_error(folder, change, message):
    np.savez(folder / "flowers.npz", **{**FLOWERS, **change})
    with pytest.raises(DataError, match=rf"'flowers' in .*flowers\.npz: {message}; replace the file"):
        data.load("flowers")
    assert data.verify("flowers").fault


def test_a_file_without_an_array_says_which(folder):
    np.savez(folder / "flowers.npz", X=FLOWERS["X"])
    with pytest.raises(DataError, match="has no array 'y', only X; replace the file"):
        data.load("flowers")


def test_equal_words_in_shapes_are_equal_lengths():
    entry = Dataset("pair", "", {"a": ArraySpec(("n",), "float64"), "b": ArraySpec(("n", "m"), "float64")})
    check_arrays(entry, {"a": np.ones(3), "b": np.ones((3, 7))}, "here")
    with pytest.raises(DataError, match=r"'b' is \(4, 7\) float64"):
        check_arrays(entry, {"a": np.ones(3), "b": np.ones((4, 7))}, "here")


def test_another_set_under_a_name_is_noticed_by_its_lengths(folder):
    np.savez(folder / "grains.npz", x=np.ones(8))
    with pytest.raises(DataError, match="has 8 grains, not 7 or 9"):
        data.load("grains")


def test_the_fingerprint_is_the_content_whatever_the_compression(folder):
    np.savez(folder / "mine.npz", x=np.arange(100))
    before = data.fingerprint("mine")
    np.savez_compressed(folder / "mine.npz", x=np.arange(100))
    assert data.fingerprint("mine") == before == content_hash({"x": np.arange(100)})


def test_the_fingerprint_of_the_cache_is_kept_and_follows_a_change(cache, monkeypatch, tmp_path):
    np.savez(tmp_path / "songs.npz", x=np.ones(3))
    placed = data.import_files("songs", [tmp_path / "songs.npz"])
    monkeypatch.setattr(importlib.import_module("benchfw.data.load"), "hash_file", lambda *_: "computed")
    assert data.fingerprint("songs") == content_hash({"x": np.ones(3)})
    later = placed.with_suffix(".json").stat().st_mtime + 5
    os.utime(placed, (later, later))
    assert data.fingerprint("songs") == "computed"


def test_what_can_have_one_content_only_is_known_before_it_is_fetched(cache):
    assert data.fingerprint("grains") == "0" * 64
    with pytest.raises(DataError, match="'flowers' is not in"):
        data.fingerprint("flowers")


def test_a_synthetic_set_is_known_by_its_parameters_and_by_what_it_is_made_from(cache):
    assert data.fingerprint("flowers-like") == data.fingerprint("flowers-like")
    assert data.fingerprint("flowers-like") != data.fingerprint("flowers-like(seed=1)")
    walks = [f"walk-like(source='flowers-like(seed={seed})')" for seed in (0, 1)]
    assert data.fingerprint(walks[0]) != data.fingerprint(walks[1])


def test_an_absent_set_is_reported_with_all_that_helps(cache, monkeypatch):
    monkeypatch.setenv("BENCHFW_OFFLINE", "1")
    with pytest.raises(DataError) as caught:
        data.load("flowers")
    for part in ("BENCHFW_DATA", str(cache), "https://flowers.example", "data import", "flowers-like"):
        assert part in str(caught.value)
    with pytest.raises(DataError, match=r"write to the singer.*songs-like"):
        data.load("songs")


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (None, "must return arrays by name, as in {'x': x, 'y': y}, and returned NoneType"),
        ((np.ones(3), np.ones(3)), "and returned tuple"),
        ({"x": [[1.0, 2.0]], "y": np.ones(1)}, "'odd-like': 'x' must be an array, not list; give np.asarray"),
    ],
)
def test_a_function_that_returns_no_arrays_by_name_is_one_clear_error(register, made, message):
    register(Dataset("odd-like", "synthetic: odd", make=lambda: made))
    with pytest.raises(DataError, match=message.replace("(", r"\(")):
        data.load("odd-like")


def test_a_number_beside_the_arrays_is_allowed(register):
    register(Dataset("odd-like", "synthetic: odd", make=lambda: {"x": np.ones(3), "rank": 5}))
    assert data.load("odd-like")["rank"] == 5


def test_parameters_belong_to_synthetic_sets(folder):
    np.savez(folder / "mine.npz", x=np.arange(3))
    for name in ("mine", "flowers"):
        with pytest.raises(DataError, match=f"'{name}' takes no parameters, got rows"):
            data.load(name, rows=3)
    with pytest.raises(DataError, match="no parameter 'row'; did you mean 'rows'"):
        data.load("flowers-like", row=3)
    with pytest.raises(DataError, match="'flowers-like' cannot be made: rows must be at least 1"):
        data.load("flowers-like(rows=0)")


def test_what_is_to_be_loaded_can_be_made_sure_of_before(folder, monkeypatch):
    monkeypatch.setenv("BENCHFW_OFFLINE", "1")
    np.savez(folder / "mine.npz", x=np.ones(2))
    for name in ("mine", "flowers-like(rows=9)", "walk-like(source='flowers-like')"):
        data.ensure_available(name)
    deep = f"flowers-like(seed={'-' * 20_000}1)"
    for name in ("your", "flowers", "walk-like", "flowers-like(bogus=1)", "walk-like(source=5)", deep):
        with pytest.raises(DataError):
            data.ensure_available(name)


def test_a_set_in_no_catalog_is_verified_as_readable(folder):
    np.savez(folder / "mine.npz", x=np.arange(3))
    verification = data.verify("mine")
    assert not verification.fault
    assert "not in any catalog" in verification.checked


def test_a_changed_file_of_a_known_content_is_found(folder):
    np.savez(folder / "grains.npz", x=np.zeros(7))
    assert "content hash" in data.verify("grains").fault


def test_a_changed_file_of_the_cache_is_found(cache, tmp_path):
    np.savez(tmp_path / "songs.npz", x=np.ones(3))
    placed = data.import_files("songs", [tmp_path / "songs.npz"])
    assert not data.verify("songs").fault
    np.savez(placed, x=np.zeros(3))
    assert "content hash" in data.verify("songs").fault
