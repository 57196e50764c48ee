"""The cache: what enters it is whole, and nothing good is lost."""

import os

import numpy as np
import pytest

from benchfw import data
from benchfw.data import ArraySpec, Dataset, RawFile
from benchfw.data.cache import lock_dataset, place
from benchfw.data.fetch import fetch_entry
from benchfw.errors import DataError


@pytest.fixture
def placed(cache):
    """A set of two numbers in the cache."""
    entry = Dataset("two", "Two numbers", {"x": ArraySpec((2,), "float64")})
    with lock_dataset("two"):
        return place(entry, {"x": np.arange(2.0)}, {})


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
    with lock_dataset("two"):
        place(entry, iter([{"x": np.arange(3.0)}]), {})
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
        patch.setattr("benchfw.data.cache._write_npz", full)
        with pytest.raises(DataError, match="free some space"):
            fetch_entry(entry)
    fetch_entry(entry)
    assert len(host.requests) == 1
