"""Who may import whom: each layer only those below it, and nothing heavy at start-up."""

import ast
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import benchfw

ROOT = Path(benchfw.__file__).parent

LAYERS = [
    {"errors"},
    {"backends"},
    {"kernels"},
    {"contract", "records", "parameters"},
    {"hookspecs", "loading"},
    {"registry", "core_plugin"},
    {"analysis", "sweep", "data", "store"},
    {"suite"},
    {"plan"},
    {"summary", "measure"},
    {"harness"},
    {"report", "testing"},
    {"api"},
    {"tracking"},
    {"cli"},
    {"__main__"},
]
"""From the lowest to the highest; neighbours do not import each other."""

HEIGHT = {part: number for number, layer in enumerate(LAYERS) for part in layer}


def part_of(path):
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imports_of(path):
    """Yield the parts of benchfw that a file imports while it runs, at any depth of its code."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    ignored = {
        id(child)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for child in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in ignored:
            continue
        if isinstance(node, ast.ImportFrom) and node.module == "benchfw":
            yield from (alias.name for alias in node.names if alias.name in HEIGHT)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("benchfw."):
            yield node.module.split(".")[1]
        elif isinstance(node, ast.Import):
            yield from (alias.name.split(".")[1] for alias in node.names if alias.name.startswith("benchfw."))


FILES = sorted(path for path in ROOT.rglob("*.py") if path.relative_to(ROOT).as_posix() != "__init__.py")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_file_imports_only_its_own_part_and_lower_layers(path):
    part = part_of(path)
    for imported in imports_of(path):
        assert imported == part or HEIGHT[imported] < HEIGHT[part], f"{part} imports {imported}"


def test_the_drawing_in_the_manual_has_the_same_layers():
    drawing = ET.parse(ROOT.parent / "docs" / "assets" / "layers.svg")
    drawn = {}
    for text in drawing.iterfind(".//{*}text[@class='part']"):
        drawn.setdefault(float(text.get("y")), set()).add(text.text)
    assert [drawn[height] for height in sorted(drawn, reverse=True)] == LAYERS


def loaded_by(statement):
    code = f"{statement}\nimport sys\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in done.stdout.split()}


HEAVY = {
    "cupy",
    "pandas",
    "plotly",
    "dask",
    "distributed",
    "rich",
    "scipy",
    "jinja2",
    "matplotlib",
    "sklearn",
    "pooch",
    "requests",
}


def test_importing_benchfw_brings_in_nothing_heavy():
    assert not loaded_by("import benchfw") & HEAVY


def test_help_brings_in_neither_numpy_nor_plugins():
    statement = "import sys; sys.argv = ['benchfw', '--help']\nfrom benchfw.cli import cli\n"
    call = "cli.main(['--help'], standalone_mode=False)"
    assert not loaded_by(statement + call) & (HEAVY | {"numpy", "benchfw_firstorder"})


def test_loading_all_plugins_brings_in_nothing_heavy():
    assert not loaded_by("from benchfw.registry import Registry; Registry()") & HEAVY


def test_the_public_names_are_few_and_all_there():
    assert len(benchfw.__all__) <= 30
    for name in benchfw.__all__:
        assert getattr(benchfw, name) is not None
