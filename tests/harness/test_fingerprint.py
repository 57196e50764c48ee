"""The fingerprint sees what the interpreter sees of a plugin, and nothing else."""

import importlib.metadata
import shutil
import sys
from pathlib import Path

import pytest

from benchfw.harness.fingerprint import core_fingerprint, fingerprint, imported_by
from benchfw.registry import Plugin, Registry

CODE = '''"""Doc."""
import helper
from package import deep

def f(x):
    """Return x."""
    return helper.g(x)  # really

class A:
    """An A."""
    b = 1
'''


@pytest.fixture
def folder(tmp_path):
    """A plugin file with a helper module and a helper package beside it, and a module it does not use."""
    root = tmp_path / "plugin"
    (root / "package").mkdir(parents=True)
    (root / "mine.py").write_text(CODE)
    (root / "helper.py").write_text("import second\ndef g(x): return x\n")
    (root / "second.py").write_text("y = 1\n")
    (root / "unrelated.py").write_text("z = 1\n")
    (root / "package" / "__init__.py").write_text("")
    (root / "package" / "deep.py").write_text("import third\nw = 1\n")
    (root / "third.py").write_text("v = 1\n")
    return root


def mark(root, module="mine", name="mine.py"):
    return fingerprint(Plugin(module, module, name, "", Path(root) / name))


def edited(root, file, old, new):
    """Return a copy of a folder with one file edited."""
    copy = Path(shutil.copytree(root, root.parent / "copy" / root.name))
    text = (copy / file).read_text()
    assert old in text
    (copy / file).write_text(text.replace(old, new))
    return copy


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("mine.py", "b = 1", "b = 2"),
        ("helper.py", "return x", "return x + 1"),
        ("second.py", "y = 1", "y = 2"),
        ("package/deep.py", "w = 1", "w = 2"),
        ("third.py", "v = 1", "v = 2"),
    ],
)
def test_an_edit_of_a_plugin_or_of_what_it_imports_beside_it_is_noticed(folder, file, old, new):
    assert mark(edited(folder, file, old, new)) != mark(folder)


def test_a_helper_in_a_folder_without_init_is_noticed(folder):
    (folder / "package" / "__init__.py").unlink()  # a namespace package: Python imports it all the same
    assert mark(edited(folder, "package/deep.py", "w = 1", "w = 2")) != mark(folder)


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("mine.py", "  # really", "  # in truth"),
        ("mine.py", '"""Doc."""\n', ""),
        ("mine.py", '"""Return x."""', '"""Give x back."""'),
        ("mine.py", '    """An A."""\n', ""),
        ("helper.py", "def g(x): return x", "def g(x):\n\n    return (x)"),
        ("unrelated.py", "z = 1", "z = 2"),
    ],
)
def test_comments_docstrings_layout_and_other_files_are_not_noticed(folder, file, old, new):
    assert mark(edited(folder, file, old, new)) == mark(folder)


def test_moving_the_folder_is_not_noticed(folder):
    before = mark(folder)
    moved = folder.rename(folder.parent / "elsewhere")
    assert mark(moved) == before


@pytest.fixture
def package(tmp_path):
    root = tmp_path / "site" / "family"
    (root / "methods").mkdir(parents=True)
    (root / "__init__.py").write_text("")
    (root / "methods" / "__init__.py").write_text("import other_family.parts\nfrom . import steps\n")
    (root / "methods" / "steps.py").write_text("a = 1\n")
    (root / "table.csv").write_text("1,2\n")
    return root


@pytest.mark.parametrize(("file", "old", "new"), [("methods/steps.py", "1", "2"), ("table.csv", "1", "3")])
def test_the_whole_package_is_the_unit(package, file, old, new):
    before = mark(package, "family", "__init__.py")
    assert mark(package, "family.methods", "methods/__init__.py") == before
    assert mark(edited(package, file, old, new), "family", "__init__.py") != before


def test_compiled_files_are_not_noticed(package):
    before = mark(package, "family", "__init__.py")
    (package / "__pycache__").mkdir()
    (package / "__pycache__" / "steps.pyc").write_bytes(b"x")
    moved = package.parent.rename(package.parent.parent / "moved") / "family"
    assert mark(moved, "family", "__init__.py") == before


def test_a_file_that_python_cannot_read_is_hashed_as_it_is(package):
    (package / "template.py").write_text("class {{ name }}: ...\n")
    before = mark(package, "family", "__init__.py")
    assert mark(edited(package, "template.py", "name", "title"), "family", "__init__.py") != before


def test_what_a_plugin_imports_is_known_by_its_top_level_name(package):
    plugin = Plugin("family", "family.methods", "", "", package / "methods" / "__init__.py")
    assert imported_by(plugin) == {"other_family"}


def test_the_core_has_a_fingerprint_and_its_plugins_no_other():
    assert core_fingerprint()
    plugin = Registry().get("kernel", "lanczos").plugin
    assert fingerprint(plugin) == ""


OBJECT = """from benchfw import hookimpl

class Plugin:
    @hookimpl
    def register_optimizers(self, register):
        register("mine", Plugin)

plugin = Plugin()
"""


def test_a_plugin_that_is_an_object_is_known_by_the_module_that_it_comes_from(plugin_file, monkeypatch):
    sys.path.insert(0, str(plugin_file(OBJECT, "objects.py").parent))

    class Point:
        name, value, module, dist = "mine", "objects:plugin", "objects", None

        def load(self):
            import objects

            return objects.plugin

    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [Point()])
    plugin = Registry().get("optimizer", "mine").plugin
    assert fingerprint(plugin) != ""
