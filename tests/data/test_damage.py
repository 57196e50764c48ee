"""Files that are damaged, wrong or in the way: one sentence each, and nothing good is lost."""

import os
import subprocess
import sys

import numpy as np
import pytest

from benchfw import data
from benchfw.data import placing
from benchfw.data.entry import ArraySpec, Dataset, RawFile
from benchfw.data.fetching import fetch_entry
from benchfw.errors import DataError


@pytest.mark.parametrize(
    "name", ["ap", "nips", "movielens-1m", "sound", "usps-2vs4", "mnist-8m", "szeged-weather"]
)
def test_an_empty_file_is_no_data_set(cache, tmp_path, name):
    files = [tmp_path / each.name for each in data.dataset(name).files]
    for path in files:
        path.write_bytes(b"")
    with pytest.raises(DataError):
        data.import_files(name, files)
    assert name not in data.here()


def test_another_set_under_a_name_is_noticed_by_its_lengths(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("BENCHFW_DATA", str(tmp_path))
    ratings = np.ones(100_000, np.int16)
    np.savez(tmp_path / "movielens-1m.npz", user=ratings, item=ratings, rating=ratings.astype(np.int8))
    with pytest.raises(DataError, match="100,000 ratings, not 1,000,209 or 1,000,203"):
        data.load("movielens-1m")


@pytest.fixture
def placed(cache):
    """A set of two numbers in the cache."""
    entry = Dataset("two", "Two numbers", {"x": ArraySpec((2,), "float64")})
    with placing.locked("two"):
        return placing.place(entry, {"x": np.arange(2.0)}, {})


def test_a_placed_set_holds_its_arrays_and_nothing_else(placed):
    assert list(np.load(placed).files) == ["x"]
    np.testing.assert_array_equal(data.load("two")["x"], [0.0, 1.0])


def test_the_identity_of_a_file_that_was_replaced_by_an_older_one_is_its_own(placed, tmp_path):
    before = data.fingerprint("two")
    np.savez(tmp_path / "other.npz", x=np.ones(2))
    os.utime(tmp_path / "other.npz", ns=(1, 1))
    (tmp_path / "other.npz").replace(placed)
    assert data.fingerprint("two") != before


def test_a_damaged_note_beside_a_file_is_not_believed(placed):
    placed.with_suffix(".json").write_text('{"content": "x"}')
    assert len(data.fingerprint("two")) == 64


def test_a_set_has_one_form_in_the_cache(placed, cache):
    entry = Dataset("two", "Two numbers", {"x": ArraySpec(("rows",), "float64")}, streamed=True)
    with placing.locked("two"):
        placing.place(entry, iter([{"x": np.arange(3.0)}]), {})
    assert not placed.exists()
    assert len(data.load("two")["x"]) == 3


def test_a_download_that_did_not_fit_when_parsed_is_kept(cache, host, monkeypatch):
    host.files["two.bin"] = np.arange(2.0).tobytes()
    entry = Dataset(
        "two",
        "Two numbers",
        {"x": ArraySpec((2,), "float64")},
        files=(RawFile("two.bin", f"{host.url}/two.bin"),),
        loader=lambda files: {"x": np.fromfile(files["two.bin"])},
    )

    def full(path, arrays):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(placing, "_save", full)
        with pytest.raises(DataError, match="make room"):
            fetch_entry(entry)
    fetch_entry(entry)
    assert len(host.requests) == 1


def test_a_slow_line_that_is_often_cut_gets_there(cache, host):
    content = np.arange(2e5)
    host.files["many.bin"] = content.tobytes()
    host.cuts = 6  # more than the attempts that bring nothing
    entry = Dataset(
        "many",
        "Many numbers",
        {"x": ArraySpec((len(content),), "float64")},
        files=(RawFile("many.bin", f"{host.url}/many.bin"),),
        loader=lambda files: {"x": np.fromfile(files["many.bin"])},
    )
    fetch_entry(entry)
    np.testing.assert_array_equal(data.load("many")["x"], content)


@pytest.fixture
def folder(cache, tmp_path, monkeypatch):
    path = tmp_path / "folder"
    path.mkdir()
    monkeypatch.setenv("BENCHFW_DATA", str(path))
    return path


def test_odd_things_in_a_folder_are_passed_over(folder):
    (folder / "gone.npz").symlink_to(folder / "nowhere")
    (folder / "a-folder.npz").mkdir()
    np.savez(folder / "good.npz", x=np.ones(2))
    assert list(data.here()) == ["good"]
    words = [sys.executable, "-m", "benchfw", "data", "verify"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_batch_past_the_end_is_no_batch_and_a_cut_file_is_told(folder):
    np.savez_compressed(folder / "rows.npz", x=np.random.default_rng(0).random((5000, 3)))
    assert list(data.batches("rows", 10, start=6000)) == []
    with pytest.raises(DataError, match="rows count from 0"):
        list(data.batches("rows", 10, start=-2))
    whole = (folder / "rows.npz").read_bytes()
    (folder / "rows.npz").write_bytes(whole[:300] + bytes(len(whole) - 600) + whole[-300:])
    with pytest.raises(DataError, match="replace the file"):
        list(data.batches("rows", 10))


@pytest.mark.parametrize(
    "name", ["sonar-like(bogus=1)", "mnist-8m-like(source=5)", f"sonar-like(seed={'-' * 20_000}1)"]
)
def test_wrong_parameters_of_a_stand_in_are_one_sentence(cache, name):
    def use():
        data.ensure(name)
        return data.load(name)

    with pytest.raises(DataError):
        use()


def test_fetching_says_when_what_is_here_is_not_right(folder):
    np.savez(folder / "sonar.npz", X=np.ones((3, 3)), y=np.ones(3))
    words = [sys.executable, "-m", "benchfw", "data", "fetch", "sonar"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "replace the file" in done.stdout
