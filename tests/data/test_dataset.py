"""Data with NaN or infinity are refused wherever they come from."""

import importlib

import numpy as np
import pytest

from benchfw import data
from benchfw.data import Dataset, check_finite, dataset
from benchfw.data.cache import write_pieces
from benchfw.errors import DataError

WRONG = np.ones((50, 4))
WRONG[17, 3] = np.nan


@pytest.mark.parametrize("form", ["npz", "npy"])
def test_a_file_with_a_nan_is_refused_with_row_and_column(folder, form):
    arrays = {"X": WRONG, "y": np.ones(50, np.int8)}
    if form == "npz":
        np.savez(folder / "flowers.npz", **arrays)
        np.savez(folder / "mine.npz", **arrays)
    else:
        write_pieces(folder / "flowers", [arrays])
        write_pieces(folder / "mine", [arrays])
    for name in ("flowers", "mine"):  # in a catalog, and in none
        sentence = rf"data set '{name}' in .*{name}.*: array 'X' has nan in row 17, column 3 \(counted"
        with pytest.raises(DataError, match=sentence):
            data.load(name)
        with pytest.raises(DataError, match=sentence):
            list(data.batches(name, 8))
        assert "has nan in row 17, column 3" in data.verify(name).fault
    if form == "npz":
        with pytest.raises(DataError, match="row 17, column 3"):
            data.import_files("flowers", [folder / "flowers.npz"])


def test_what_a_plugin_makes_is_checked_whole_and_in_pieces(folder, monkeypatch):
    def make():
        return {"x": np.array([[0.0, np.inf]]), "y": np.zeros(1)}

    def stream():
        yield {"x": np.zeros((5, 1)), "y": np.zeros(5)}
        yield {"x": np.zeros((5, 1)), "y": np.array([0, 0, -np.inf, 0, 0])}

    entry = Dataset("made", "", make=make, stream=stream)
    for module in ("load", "stream"):
        monkeypatch.setattr(
            importlib.import_module(f"benchfw.data.{module}"), "find_dataset", lambda _: entry
        )
    with pytest.raises(DataError, match="data set 'made': array 'x' has inf in row 0, column 1"):
        data.load("made")
    with pytest.raises(DataError, match=r"array 'y' has -inf in row 7 \(counted from 0\)"):
        list(data.batches("made", 4))


def test_every_kind_of_number_and_shape_is_read_in_pieces(monkeypatch):
    monkeypatch.setattr(dataset, "CHUNK_BYTES", 64)
    images = np.zeros((9, 3, 3), np.float32)
    images[8, 1, 2] = np.inf
    with pytest.raises(DataError, match="has inf in row 8, index 1 1, index 2 2"):
        check_finite("pictures", {"x": images})
    with pytest.raises(DataError, match=r"nan.* in row 3"):
        check_finite("waves", {"x": np.array([1, 1j, 0, np.nan])})
    with pytest.raises(DataError, match="its only element"):
        check_finite("one", {"scale": np.array(np.nan)})
    large = np.full(10, np.finfo(np.float64).max)  # their sum overflows, they do not
    check_finite("large", {"x": large, "words": np.array(["nan"]), "y": np.arange(3), "empty": np.empty(0)})
