"""Files of installed distributions are told from all others."""

from __future__ import annotations

import sys

import pytest

from benchfw.sources import Installed


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Return a folder on the path in which `tool` is installed, and `old` without a list of its files."""
    for name in ("tool-1.5.dist-info", "old-0.2.egg-info"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "entry_points.txt").write_text("", "utf-8")
    (tmp_path / "tool-1.5.dist-info" / "RECORD").write_text("tool/__init__.py,,\n", "utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    return tmp_path


@pytest.mark.parametrize(
    ("file", "owner"),
    [
        ("tool/parts/wheel.py", ("tool", "1.5")),
        ("mine.py", None),
        ("tool-1.5.dist-info/entry_points.txt", ("tool", "1.5")),
        ("old-0.2.egg-info/entry_points.txt", ("old", "0.2")),
    ],
)
def test_a_file_belongs_to_the_distribution_that_lists_or_describes_it(site, file, owner):
    assert Installed().owner(str(site / file)) == owner
