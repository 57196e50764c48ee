"""The bundles in the repository are small, and name no machine, no user and no place."""

from __future__ import annotations

import contextlib
import getpass
import lzma
import re
import socket
import sqlite3
import zipfile
from pathlib import Path

import pytest

from benchfw.store.bundle import PACKED

ROOT = Path(__file__).parents[1]
BUNDLES = sorted([*(ROOT / "findings").rglob("*.zip"), *(ROOT / "gallery").glob("*.zip")])

PLACE = re.compile(r"(?<![\w.:/])/(?:home|Users|root|tmp|var|work|mnt|opt|srv|data|private)/\w|\b[A-Z]:\\\w")


def texts_in(path):
    """Yield every text in a bundle: its files, and the cells of its store."""
    with zipfile.ZipFile(path) as archive:
        yield from (archive.read(name).decode() for name in archive.namelist() if name != PACKED)
        with contextlib.closing(sqlite3.connect(":memory:")) as base:
            base.deserialize(lzma.decompress(archive.read(PACKED)))
            tables = [name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            for table in tables:
                for row in base.execute(f'SELECT * FROM "{table}"'):
                    yield from (cell for cell in row if isinstance(cell, str))


def private_words(text):
    """Return the places of a machine that a text names, and the machine's and the user's name."""
    names = [each for each in (socket.gethostname(), getpass.getuser()) if len(each) > 4]
    return [*PLACE.findall(text), *(each for each in names if re.search(rf"\b{re.escape(each)}\b", text))]


@pytest.mark.thorough
@pytest.mark.parametrize("path", BUNDLES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_bundle_names_no_machine_no_user_and_no_place(path):
    assert not [text[:200] for text in set(texts_in(path)) if private_words(text)]


def test_all_bundles_together_are_small():
    assert sum(path.stat().st_size for path in BUNDLES) < 50e6
    assert all(path.stat().st_size < 600e3 for path in (ROOT / "gallery").glob("*.zip"))


@pytest.mark.parametrize("text", ["file /home/x", '"/tmp/x"', "in /Users/me", "C:\\data"])
def test_a_place_is_found_in_a_text(text):
    assert private_words(text)
    assert not private_words("https://example.org/data/x and benchfw/data/x and 1/data")
