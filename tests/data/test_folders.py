"""Data sets by name, from the folders of BENCHFW_DATA."""

import os

import numpy as np
import pytest

from benchfw import data
from benchfw.errors import DataError


@pytest.fixture
def folders(tmp_path, monkeypatch, cache):
    found = tmp_path / "one", tmp_path / "two"
    for number, folder in enumerate(found):
        folder.mkdir()
        np.savez(folder / "iris.npz", x=np.full(3, number))
    np.savez(found[1] / "wine.npz", x=np.arange(4.0), y=np.ones(2))
    monkeypatch.setenv("BENCHFW_DATA", f"{found[0]}{os.pathsep}{found[1]}{os.pathsep}{tmp_path / 'none'}")
    return found


def test_a_data_set_is_loaded_by_name(folders):
    arrays = data.load("wine")
    assert sorted(arrays) == ["x", "y"]
    np.testing.assert_array_equal(arrays["x"], np.arange(4.0))


def test_the_first_folder_that_has_a_name_wins(folders):
    assert data.find("iris") == folders[0] / "iris.npz"
    assert list(data.here()) == ["iris", "wine"]
    assert data.names()["iris"] == str(folders[0] / "iris.npz")


def test_odd_names_are_looked_for_in_vain(folders):
    for name in ("../one/iris", "x" * 5000, "a\0b", ".."):
        with pytest.raises(DataError, match="no data set"):
            data.find(name)


def test_an_unknown_data_set_is_named_with_the_nearest_one(folders):
    with pytest.raises(DataError, match=r"no data set 'wien'.*did you mean 'wine'"):
        data.load("wien")


def test_without_folders_the_variable_is_named(cache):
    assert data.here() == {}
    with pytest.raises(DataError, match=r"no data set 'iris'.*BENCHFW_DATA.*iris\.npz"):
        data.find("iris")


def nothing(path):
    path.write_bytes(b"")


def no_archive(path):
    path.write_bytes(b"sepal,petal\n1,2\n")


def one_array(path):
    with path.open("wb") as file:
        np.save(file, np.ones(3))


def pickled_objects(path):
    np.savez(path, x=np.array([{"a": 1}], dtype=object))


def damaged(path):
    np.savez_compressed(path, x=np.arange(1000.0))
    content = bytearray(path.read_bytes())
    content[100:200] = bytes(100)
    path.write_bytes(content)


@pytest.mark.parametrize("write", [nothing, no_archive, one_array, pickled_objects, damaged])
def test_a_file_that_is_no_data_set_is_a_data_error_that_names_it(folders, write):
    write(folders[0] / "bad.npz")
    with pytest.raises(DataError, match=r"'bad' in .*bad\.npz cannot be read"):
        data.load("bad")


def test_the_fingerprint_follows_the_content_not_the_folder(folders):
    before = data.fingerprint("iris")
    content = (folders[0] / "iris.npz").read_bytes()
    (folders[0] / "iris.npz").unlink()
    (folders[1] / "iris.npz").write_bytes(content)
    assert data.fingerprint("iris") == before
    np.savez(folders[1] / "iris.npz", x=np.arange(9))
    assert data.fingerprint("iris") != before
