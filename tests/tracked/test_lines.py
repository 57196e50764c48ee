"""`make lines` counts the Python of a commit and of the working tree by room."""

import importlib
import subprocess
from pathlib import Path

import pytest

FILES = {
    "benchfw/suite.py": 2,
    "benchfw/store/rows.py": 5,
    "benchfw/store/schema.py": 3,
    "benchfw/store/notes.txt": 70,
    "plugins/benchfw-mine/benchfw_mine/method.py": 4,
    "plugins/benchfw-mine/tests/test_method.py": 6,
    "tests/store/test_rows.py": 7,
    "setup.py": 50,
}


@pytest.fixture
def lines(tmp_path, monkeypatch):
    """The module of the script, for a repository with one commit."""
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "suites" / "tracked")
    module = importlib.import_module("lines")
    for name, count in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x = 'ä'\n" * count, encoding="utf-8")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], cwd=tmp_path, check=True)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    return module


def test_lines_are_counted_by_room_of_a_commit_and_of_the_working_tree(lines, tmp_path):
    files, counted = lines.count("HEAD")
    assert counted == {
        ("benchfw", "flat modules"): 2, ("benchfw", "store"): 8, ("benchfw", ""): 10,
        ("plugins", "benchfw-mine"): 4, ("plugins", ""): 4,
        ("tests", "of plugins"): 6, ("tests", "of the core"): 7, ("tests", ""): 13,
    }  # fmt: skip
    assert files["benchfw", "store"] == 2
    (tmp_path / "benchfw/suite.py").write_text("x\n" * 9)
    (tmp_path / "benchfw/store/rows.py").unlink()
    (tmp_path / "benchfw/store/new.py").write_text("x\n")
    assert lines.count(None)[1]["benchfw", ""] == 9 + 3 + 1
    assert lines.count("HEAD") == (files, counted)


def test_a_revision_that_is_not_there_is_one_sentence(lines):
    with pytest.raises(SystemExit, match="nowhere"):
        lines.count("nowhere")
