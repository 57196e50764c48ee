"""Who may import whom: each layer only those below it, and nothing heavy at start-up."""

import ast
import functools
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import benchfw

ROOT = Path(benchfw.__file__).parent

LAYERS = [
    {"errors", "names", "packages", "sources", "system"},
    {"backends", "records"},
    {"provenance", "trials", "claims", "kernels"},
    {"sweep", "search", "parameters", "loading", "hookspecs", "contract", "counting"},
    {"registry", "core_plugin", "callbacks", "vectors", "adapters"},
    {"data"},
    {"suite", "tables", "analysis"},
    {"store", "plan"},
    {"summary", "measure"},
    {"harness"},
    {"report", "testing", "tuning"},
    {"gate", "api"},
    {"cli"},
    {"__main__"},
]
"""From the lowest to the highest; neighbours do not import each other."""

HEIGHT = {part: number for number, layer in enumerate(LAYERS) for part in layer}


def name_of(path):
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


# the package's own __init__ is left out: it is the face of all parts, each imported when it is first used
MODULES = {name_of(path): path for path in sorted(ROOT.rglob("*.py")) if path != ROOT / "__init__.py"}


def imports_of(module):
    """Yield the modules of benchfw that one imports, at any depth of its code, for types too."""
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        found = [each.name for each in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            found = [f"{node.module}.{each.name}" for each in node.names]
            found = [each if each in MODULES else str(node.module) for each in found]
        yield from (each for each in found if each in MODULES)


@functools.cache
def all_imports():
    return {module: sorted({*imports_of(module)} - {module}) for module in MODULES}


@pytest.mark.parametrize("part", sorted({module.split(".")[1] for module in MODULES}))
def test_a_part_imports_only_itself_and_lower_layers(part):
    found = [
        f"{module} imports {each}"
        for module, imported in all_imports().items()
        for each in imported
        if module.split(".")[1] == part != each.split(".")[1] and HEIGHT[each.split(".")[1]] >= HEIGHT[part]
    ]
    assert not found


def test_no_module_imports_itself_through_others():
    """Take away, again and again, what imports nothing that is left or is not imported: circles stay."""
    left, before = {module: set(imported) for module, imported in all_imports().items()}, {}
    while left != before:
        before, used = left, set().union(*left.values())
        left = {module: each & left.keys() for module, each in left.items() if each and module in used}
    assert not left


PLUGINS = ROOT.parent / "plugins"
FOR_PLUGINS = {
    "backends", "data", "errors", "hookspecs", "kernels", "loading", "parameters", "provenance", "records",
    "testing", "tuning",
}  # fmt: skip
FOR_PRODUCTS = {
    "benchfw-cluster": {"harness", "registry", "sources", "system"},
    "benchfw-exchange": {
        "analysis", "measure", "names", "plan", "registry", "report", "store", "suite", "summary",
    },
    "benchfw-site": {
        "analysis", "api", "claims", "cli", "harness", "names", "registry", "report", "store", "suite",
        "summary",
    },
}  # fmt: skip
"""What packages import that add no methods, but show, move or place what was measured."""


def imported_by(path):
    """Yield all modules that a file imports, at any depth of its code."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield str(node.module)
        elif isinstance(node, ast.Import):
            yield from (each.name for each in node.names)


@pytest.mark.parametrize("package", sorted(path.name for path in PLUGINS.iterdir()))
def test_a_plugin_imports_what_the_manual_lists_and_plugins_that_it_requires(package):
    home = PLUGINS / package
    required = tomllib.loads((home / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    own = package.replace("-", "_")
    known = {own, *(re.split(r"[\[><=]", each)[0].replace("-", "_") for each in required)}
    parts = {"", *FOR_PLUGINS, *FOR_PRODUCTS.get(package, ())}
    found = {each for path in (home / own).rglob("*.py") for each in imported_by(path)}
    assert own in {each.partition(".")[0] for each in found}
    for each in found:
        first, _, rest = each.partition(".")
        assert not first.startswith("benchfw") or first in known, each
        assert first != "benchfw" or rest.partition(".")[0] in parts, each


def test_the_drawing_in_the_manual_has_the_same_layers():
    drawing = ET.parse(ROOT.parent / "docs" / "assets" / "layers.svg")
    drawn = {}
    for text in drawing.iterfind(".//{*}text[@class='part']"):
        drawn.setdefault(float(text.get("y")), set()).add(text.text)
    assert [drawn[height] for height in sorted(drawn, reverse=True)] == LAYERS


def all_loaded_by(statement):
    code = f"{statement}\nimport sys\nsys.stderr.write('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


def loaded_by(statement):
    return {name.partition(".")[0] for name in all_loaded_by(statement)}


HEAVY = {
    "cupy", "pandas", "plotly", "dask", "distributed", "rich", "scipy", "jinja2", "matplotlib", "sklearn",
    "pooch", "requests",
}  # fmt: skip


def test_importing_benchfw_brings_in_nothing_heavy():
    assert not loaded_by("import benchfw") & HEAVY


def test_help_which_lists_the_verbs_of_plugins_brings_in_nothing_heavy():
    statement = "import sys; sys.argv = ['benchfw', '--help']\nfrom benchfw.cli import cli\n"
    call = "cli.main(['--help'], standalone_mode=False)"
    assert not loaded_by(statement + call) & (HEAVY | {"numpy"})


# each of the first three would take a tenth of what importing NumPy does
NOT_TO_LOOK = HEAVY | {
    "benchfw.records", "benchfw.provenance", "importlib.metadata",
    "benchfw.store", "email", "html.entities", "shutil", "tempfile", "zipfile",
}  # fmt: skip


@pytest.mark.families
@pytest.mark.parametrize(
    "words",
    [["list", "optimizers"], ["show", "chebyshev"], ["show", "kernel-regression"], ["show", "movielens-1m"]],
)
def test_verbs_that_only_look_bring_in_nothing_that_runs_or_stores(words):
    call = f"from benchfw.cli import cli\ncli.main({words}, standalone_mode=False)"
    assert not all_loaded_by(call) & NOT_TO_LOOK


def test_loading_all_plugins_brings_in_nothing_heavy():
    assert not loaded_by("from benchfw.registry import Registry; Registry()") & HEAVY


def test_the_public_names_are_few_and_all_there():
    assert len(benchfw.__all__) <= 49
    for name in benchfw.__all__:
        assert getattr(benchfw, name) is not None
