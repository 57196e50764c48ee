"""Modules in memory, and the bytecode kept of them, are compared with their files."""

import importlib
import os
import sys

import pytest

from benchfw.sources import Modules, find_outdated

NAME = "module_to_edit"


@pytest.fixture
def path(tmp_path, monkeypatch):
    """A module that has been imported, and whose bytecode is kept."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    path = tmp_path / f"{NAME}.py"
    path.write_text("x = 1\n")
    importlib.import_module(NAME)
    yield path
    del sys.modules[NAME]


def test_an_edit_between_the_import_and_the_first_look_is_seen(path):
    path.write_text("x = 1 + 1\n")
    assert find_outdated([str(path)]) == [str(path)]
    assert find_outdated([]) == []


def test_a_comment_is_no_edit_and_a_reload_ends_one(path):
    assert find_outdated([str(path)]) == []
    path.write_text("x = 1  # one\n")
    assert find_outdated([str(path)]) == []
    path.write_text("x = 22\n")
    assert find_outdated([str(path)]) == [str(path)]
    importlib.reload(sys.modules[NAME])
    assert find_outdated([str(path)]) == []


def test_an_edit_in_the_second_of_the_import_is_imported(path):
    edited = path.stat().st_mtime_ns // 10**9 * 10**9 + 900_000_000  # in the same second
    kept = importlib.util.cache_from_source(str(path))
    os.utime(kept, ns=(edited - 1, edited - 1))
    path.write_text("x = 2\n")
    os.utime(path, ns=(edited, edited))
    Modules([path.parent]).closure([path])
    assert importlib.reload(sys.modules[NAME]).x == 2
