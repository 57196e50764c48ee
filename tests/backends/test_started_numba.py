"""What is compiled comes from a numba that has been started."""

import ast
from pathlib import Path

import pytest

import benchfw

ROOT = Path(benchfw.__file__).parents[1]


def test_its_import_makes_the_first_call():
    pytest.importorskip("numba")
    from benchfw.backends.started_numba import start

    assert len(start.signatures) == 1


def test_nothing_else_of_benchfw_imports_numba():
    files = [*ROOT.glob("benchfw/**/*.py"), *ROOT.glob("plugins/*/benchfw_*/**/*.py")]
    found = {
        path.name
        for path in files
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import) and any(name.name.split(".")[0] == "numba" for name in node.names)
    }
    assert found == {"started_numba.py"}
