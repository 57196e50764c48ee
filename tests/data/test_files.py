"""Data sets by name in the folders of BENCHFW_DATA, the hash of what they hold, archives read in place."""

from __future__ import annotations

import bz2
import hashlib
import io
import lzma
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest

from benchfw import data
from benchfw.data import content_hash, open_member, open_raw, open_text
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
    assert data.find_path("iris") == folders[0] / "iris.npz"
    assert list(data.local_datasets()) == ["iris", "wine"]
    assert {"iris", "wine"} <= set(data.dataset_names())


def test_odd_names_are_looked_for_in_vain(folders):
    for name in ("../one/iris", "x" * 5000, "a\0b", ".."):
        with pytest.raises(DataError, match="no data set"):
            data.find_path(name)


def test_without_folders_the_variable_is_named(cache):
    assert data.local_datasets() == {}
    with pytest.raises(DataError, match=r"no data set 'meadow'.*BENCHFW_DATA.*meadow\.npz"):
        data.find_path("meadow")


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
def test_a_file_that_is_not_a_data_set_is_a_data_error_that_names_it(folders, write):
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


def test_the_content_hash_is_of_names_types_shapes_and_elements_only():
    arrays = {"b": np.arange(6.0).reshape(2, 3), "a": np.array(5, np.int64)}
    digest = content_hash(arrays)
    assert digest == content_hash({"a": arrays["a"], "b": np.asfortranarray(arrays["b"])})
    assert digest == content_hash({**arrays, "b": arrays["b"].astype(">f8")})
    for change in ({"b": arrays["b"].T.copy()}, {"b": arrays["b"].astype("f4")}, {"c": np.ones(1)}):
        assert content_hash({**arrays, **change}) != digest
    # the definition in the documentation, spelled out by hand
    text = b"a\0<i8\0[]\0" + (5).to_bytes(8, "little") + b"b\0<f8\0[2, 3]\0" + arrays["b"].tobytes()
    assert digest == hashlib.sha256(text).hexdigest()


def test_the_content_hash_reads_large_arrays_in_pieces(monkeypatch):
    arrays = {"a": np.arange(1000), "empty": np.ones((0, 3))}
    whole = content_hash(arrays)
    monkeypatch.setattr("benchfw.data.files.HASHED_BYTES", 24)
    assert content_hash(arrays) == whole


def test_odd_things_in_a_folder_are_passed_over(folder):
    (folder / "gone.npz").symlink_to(folder / "nowhere")
    (folder / "a-folder.npz").mkdir()
    np.savez(folder / "good.npz", x=np.ones(2))
    assert list(data.local_datasets()) == ["good"]
    words = [sys.executable, "-m", "benchfw", "data", "verify"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_no_source_of_the_package_reads_pickles():
    sources = list(Path(data.__file__).parent.rglob("*.py"))
    assert Path(data.__file__) in sources
    for path in sources:
        text = path.read_text(encoding="utf-8")
        assert "import pickle" not in text
        assert "allow_pickle=True" not in text


def test_a_tar_with_a_link_is_refused(tmp_path):
    with tarfile.open(tmp_path / "words.tgz", "w:gz") as archive:
        link = tarfile.TarInfo("words/vocabulary.txt")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    with (
        pytest.raises(DataError, match="a link or device, and is refused"),
        open_member(tmp_path / "words.tgz", "vocabulary.txt"),
    ):
        pass


def test_the_first_ending_that_is_there_is_opened(tmp_path):
    with zipfile.ZipFile(tmp_path / "words.zip", "w") as archive:
        archive.writestr("words/other.txt", "no")
        archive.writestr("words/new.txt", "yes")
    with open_member(tmp_path / "words.zip", "old.txt", "new.txt") as file:
        assert file.read() == b"yes"
    with (
        pytest.raises(
            DataError, match=r"words\.zip does not hold old\.txt or older\.txt, only words/other\.txt"
        ),
        open_member(tmp_path / "words.zip", "old.txt", "older.txt"),
    ):
        pass


def test_a_folder_of_a_tar_is_not_a_file(tmp_path):
    with tarfile.open(tmp_path / "words.tar", "w") as archive:
        inside = tarfile.TarInfo("words")
        inside.type = tarfile.DIRTYPE
        archive.addfile(inside, io.BytesIO())
    with (
        pytest.raises(DataError, match="a folder where a file should be"),
        open_member(tmp_path / "words.tar", "words"),
    ):
        pass


@pytest.mark.parametrize(("ending", "pack"), [("bz2", bz2.compress), ("xz", lzma.compress), ("txt", bytes)])
def test_a_file_is_read_through_its_compression(tmp_path, ending, pack):
    path = tmp_path / f"words.{ending}"
    path.write_bytes(pack("süß\n".encode()))
    with open_raw(path) as file:
        assert file.read() == "süß\n".encode()
    with open_text(path, "words.txt") as text:
        assert text.read() == "süß\n"
