"""Archives are read in place, and those with members that no honest archive has are refused."""

import bz2
import io
import lzma
import tarfile
import zipfile

import pytest

from benchfw.data import open_member, open_raw, open_text
from benchfw.errors import DataError


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
