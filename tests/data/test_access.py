"""Finding, loading, checking and identifying data sets."""

import numpy as np
import pytest

from benchfw import data
from benchfw.data import ArraySpec, Dataset, content_hash, known
from benchfw.data.content import check
from benchfw.errors import DataError

SONAR = {"X": np.zeros((208, 60)), "y": np.ones(208, np.int8)}


@pytest.fixture
def folder(cache, tmp_path, monkeypatch):
    path = tmp_path / "folder"
    path.mkdir()
    monkeypatch.setenv("BENCHFW_DATA", str(path))
    return path


def test_a_folder_comes_before_the_cache(folder, cache):
    cache.mkdir()
    np.savez(cache / "sonar.npz", **SONAR)
    assert data.find("sonar") == cache / "sonar.npz"
    np.savez(folder / "sonar.npz", **SONAR)
    assert data.find("sonar") == folder / "sonar.npz"


def test_without_optional_arrays_a_file_is_taken(folder):
    np.savez(folder / "sonar.npz", **SONAR)
    assert sorted(data.load("sonar")) == ["X", "y"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.zeros((208, 61))}, r"array 'X' is \(208, 61\) float64, not \(208, 60\) float64"),
        ({"y": np.ones(208)}, r"array 'y' is \(208,\) float64, not \(208,\) int8"),
        ({"train_idx": np.ones(9, np.int32)}, r"array 'train_idx' is \(9,\) int32, not \(165,\) int32"),
    ],
)
def test_a_file_with_other_shapes_or_types_is_one_clear_error(folder, change, message):
    np.savez(folder / "sonar.npz", **{**SONAR, **change})
    with pytest.raises(DataError, match=rf"'sonar' in .*sonar\.npz: {message}; replace the file"):
        data.load("sonar")
    assert data.verify("sonar").fault


def test_a_file_without_an_array_says_which(folder):
    np.savez(folder / "sonar.npz", X=SONAR["X"])
    with pytest.raises(DataError, match="has no array 'y', only X; replace the file"):
        data.load("sonar")


def test_equal_words_in_shapes_are_equal_lengths():
    entry = Dataset("pair", "", {"a": ArraySpec(("n",), "float64"), "b": ArraySpec(("n", "m"), "float64")})
    check(entry, {"a": np.ones(3), "b": np.ones((3, 7))}, "here")
    with pytest.raises(DataError, match=r"'b' is \(4, 7\) float64"):
        check(entry, {"a": np.ones(3), "b": np.ones((4, 7))}, "here")


def test_the_content_hash_is_of_names_types_shapes_and_elements_only(tmp_path):
    arrays = {"b": np.arange(6.0).reshape(2, 3), "a": np.array(5, np.int64)}
    digest = content_hash(arrays)
    assert digest == content_hash({"a": arrays["a"], "b": np.asfortranarray(arrays["b"])})
    assert digest == content_hash({**arrays, "b": arrays["b"].astype(">f8")})
    for change in ({"b": arrays["b"].T.copy()}, {"b": arrays["b"].astype("f4")}, {"c": np.ones(1)}):
        assert content_hash({**arrays, **change}) != digest
    # the definition in the documentation, spelled out by hand
    import hashlib

    text = b"a\0<i8\0[]\0" + (5).to_bytes(8, "little") + b"b\0<f8\0[2, 3]\0" + arrays["b"].tobytes()
    assert digest == hashlib.sha256(text).hexdigest()


def test_the_content_hash_reads_large_arrays_in_pieces(monkeypatch):
    arrays = {"a": np.arange(1000), "empty": np.ones((0, 3))}
    whole = content_hash(arrays)
    monkeypatch.setattr("benchfw.data.content.PIECE", 24)
    assert content_hash(arrays) == whole


def test_the_fingerprint_is_the_content_whatever_the_compression(folder):
    np.savez(folder / "mine.npz", x=np.arange(100))
    before = data.fingerprint("mine")
    np.savez_compressed(folder / "mine.npz", x=np.arange(100))
    assert data.fingerprint("mine") == before == content_hash({"x": np.arange(100)})


def test_the_fingerprint_of_the_cache_is_kept_and_follows_a_change(cache, monkeypatch, tmp_path):
    import os

    entry = Dataset("small", "", {"x": ArraySpec(("n",), "float64")})
    monkeypatch.setattr(known, "core", lambda: {"small": entry})
    np.savez(tmp_path / "small.npz", x=np.ones(3))
    placed = data.import_files("small", [tmp_path / "small.npz"])
    monkeypatch.setattr("benchfw.data.access.content_of", lambda *_: "computed")
    assert data.fingerprint("small") == content_hash({"x": np.ones(3)})
    later = placed.with_suffix(".json").stat().st_mtime + 5
    os.utime(placed, (later, later))
    assert data.fingerprint("small") == "computed"


def test_what_can_have_one_content_only_is_known_before_it_is_fetched(cache):
    assert data.fingerprint("mnist") == next(iter(data.dataset("mnist").contents))
    with pytest.raises(DataError, match="'movielens-1m' is not in"):
        data.fingerprint("movielens-1m")


def test_a_synthetic_set_is_known_by_its_parameters(cache):
    assert data.fingerprint("sonar-like") == data.fingerprint("sonar-like")
    assert data.fingerprint("sonar-like") != data.fingerprint("sonar-like(seed=1)")
    assert data.fingerprint("mnist-8m-like(source='mnist-like')") != data.fingerprint("mnist-8m-like")


def test_an_absent_set_is_told_with_all_that_helps(cache, monkeypatch):
    monkeypatch.setenv("BENCHFW_OFFLINE", "1")
    with pytest.raises(DataError) as caught:
        data.load("sonar")
    for part in (
        "BENCHFW_DATA",
        str(cache),
        "https://archive.ics.uci.edu",
        "sonar.npz",
        "data import",
        "sonar-like",
    ):
        assert part in str(caught.value)
    with pytest.raises(DataError, match=r"Kaggle asks for an account.*szeged-weather-like"):
        data.load("szeged-weather")


def test_parameters_belong_to_synthetic_sets(folder):
    np.savez(folder / "mine.npz", x=np.arange(3))
    for name in ("mine", "sonar"):
        with pytest.raises(DataError, match=f"'{name}' takes no parameters, got rows"):
            data.load(name, rows=3)
    with pytest.raises(DataError, match="no parameter 'row'; did you mean 'rows'"):
        data.load("sonar-like", row=3)
    with pytest.raises(DataError, match="'sonar-like' cannot be made: rows must be a whole number from 1"):
        data.load("sonar-like(rows=0)")


def test_a_set_in_no_catalog_is_verified_as_readable(folder):
    np.savez(folder / "mine.npz", x=np.arange(3))
    verdict = data.verify("mine")
    assert not verdict.fault
    assert "no catalog" in verdict.checked


def test_a_changed_file_of_a_known_content_is_found(folder):
    wrong = {"beta": np.zeros((10_473, 10), np.float32), "mu": np.zeros(10), "Sigma": np.eye(10)}
    np.savez(folder / "ap-theta-k10.npz", **wrong)
    assert "content hash" in data.verify("ap-theta-k10").fault


def test_a_changed_file_of_the_cache_is_found(cache, monkeypatch, tmp_path):
    entry = Dataset("small", "", {"x": ArraySpec(("n",), "float64")})
    monkeypatch.setattr(known, "core", lambda: {"small": entry})
    np.savez(tmp_path / "small.npz", x=np.ones(3))
    placed = data.import_files("small", [tmp_path / "small.npz"])
    assert not data.verify("small").fault
    np.savez(placed, x=np.zeros(3))
    assert "content hash" in data.verify("small").fault


def test_pickled_arrays_are_never_read(folder):
    np.savez(folder / "sonar.npz", X=np.array([{"a": 1}], dtype=object), y=SONAR["y"])
    with pytest.raises(DataError, match="cannot be read"):
        data.load("sonar")


def test_no_source_of_the_package_reads_pickles():
    import inspect
    from pathlib import Path

    for path in Path(inspect.getfile(data)).parent.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert "import pickle" not in text
        assert "allow_pickle=True" not in text
