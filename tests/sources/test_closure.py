"""A closure has the modules that one imports, in turn, and hashes what the interpreter sees of them."""

import shutil
import sys
from pathlib import Path

import pytest

import benchfw
from benchfw.harness.identity import core_closure
from benchfw.registry import Registry
from benchfw.sources import Closure, Modules
from benchfw.sources.parse import Import, parse_file

CODE = '''"""Doc."""
import helper
from package import deep

def f(x):
    """Return x."""
    return helper.g(x)  # really

class A:
    """An A."""
    b = 1
    """What b is."""
'''


@pytest.fixture
def folder(tmp_path):
    """A plugin file with a helper module and a helper package beside it, and modules it does not use."""
    root = tmp_path / "plugin"
    (root / "package").mkdir(parents=True)
    (root / "mine.py").write_text(CODE)
    (root / "helper.py").write_text("import second\ndef g(x): return x\n")
    (root / "second.py").write_text("y = 1\n")
    (root / "unrelated.py").write_text("z = 1\n")
    (root / "package" / "__init__.py").write_text("p = 1\n")
    (root / "package" / "deep.py").write_text("import third\nw = 1\n")
    (root / "package" / "aside.py").write_text("u = 1\n")
    (root / "third.py").write_text("v = 1\n")
    return root


def digest(root, module="mine.py"):
    return Modules([root]).closure([root / module]).digest


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
        ("package/__init__.py", "p = 1", "p = 2"),
        ("third.py", "v = 1", "v = 2"),
    ],
)
def test_an_edit_of_a_module_or_of_what_it_imports_is_noticed(folder, file, old, new):
    assert digest(edited(folder, file, old, new)) != digest(folder)


def test_a_helper_in_a_folder_without_init_is_noticed(folder):
    (folder / "package" / "__init__.py").unlink()  # a namespace package: Python imports it all the same
    assert digest(edited(folder, "package/deep.py", "w = 1", "w = 2")) != digest(folder)


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("mine.py", "  # really", "  # in truth"),
        ("mine.py", '"""Doc."""\n', ""),
        ("mine.py", '"""Return x."""', '"""Give x back."""'),
        ("mine.py", '    """An A."""\n', ""),
        ("mine.py", "What b is", "That is b"),
        ("helper.py", "def g(x): return x", "def g(x):\n\n    return (x)"),
        ("unrelated.py", "z = 1", "z = 2"),
        ("package/aside.py", "u = 1", "u = 2"),
    ],
)
def test_comments_docstrings_layout_and_other_modules_are_not_noticed(folder, file, old, new):
    assert digest(edited(folder, file, old, new)) == digest(folder)


def test_docstrings_are_noticed_in_a_file_whose_code_may_read_them(folder):
    (folder / "helper.py").write_text('def g(x):\n    """1"""\n    return float(g.__doc__)\n')
    assert digest(edited(folder, "helper.py", '"""1"""', '"""2"""')) != digest(folder)


def test_moving_the_folder_is_not_noticed(folder):
    before = digest(folder)
    assert digest(folder.rename(folder.parent / "elsewhere")) == before


def modules(root, text, **files):
    """Return the names in the closure of a module `mine` with this text; `files` lie beside it."""
    for name, content in {"mine": text, **files}.items():
        path = root / f"{name.replace('__in', '/__in')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return set(Modules([root]).closure([root / "mine.py"]).modules) - {"mine"}


def test_imports_in_a_text_that_is_executed_are_followed(tmp_path):
    text = """exec("import one; from two import x")\nexec("import " + "three")\nexec("import (")\n"""
    assert modules(tmp_path, text, one="", two="x = 1\n", three="") == {"one", "two"}


LAZY = {
    "fam__init__": "from typing import TYPE_CHECKING\n"
    "if TYPE_CHECKING:\n    from fam.typed import T\n"
    'HOMES = {"a": "one:A", "b": "two:B"}\n'
    "def __getattr__(name): ...\n",
    "fam/one": "",
    "fam/two": "",
    "fam/typed": "",
}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from fam import A", {"fam", "fam.one"}),
        ("from fam import T", {"fam", "fam.typed"}),
        ("import fam\nfam.B()", {"fam", "fam.two"}),
        ("import fam as f\nf.one.A()\nprint(fam)", {"fam", "fam.one"}),
        ("from fam import HOMES", {"fam"}),
        ("from fam import Unknown", {"fam", "fam.one", "fam.two", "fam.typed"}),
        ("import fam\nprint(fam)", {"fam", "fam.one", "fam.two", "fam.typed"}),
        ("from fam import *", {"fam", "fam.one", "fam.two", "fam.typed"}),
        ("import fam.one", {"fam", "fam.one"}),
        ("def f():\n    import importlib\n    importlib.import_module('fam.two')", {"fam", "fam.two"}),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import fam", set()),
    ],
)
def test_modules_that_a_package_imports_when_asked_are_followed_one_by_one(tmp_path, text, found):
    assert modules(tmp_path, text, **LAZY) == found


def test_relative_imports_are_followed(tmp_path):
    files = {"p__init__": "", "p/q__init__": "from . import r\n", "p/q/r": "from ..s import t\n", "p/s": ""}
    assert modules(tmp_path, "import p.q", **files) == {"p", "p.q", "p.q.r", "p.s"}


def install(folder, version="1.0", source="", text="x = 1\n"):
    """Put a library into a folder as pip does; `source` says where from if not from an index."""
    info = folder / f"some_lib-{version}.dist-info"
    info.mkdir(parents=True)
    (folder / "lib").mkdir()
    (folder / "lib" / "__init__.py").write_text(text)
    (info / "RECORD").write_text(
        f"lib/__init__.py,sha256={hash(text)},6\nsome_lib-{version}.dist-info/RECORD,,\n"
    )
    if source:
        (info / "direct_url.json").write_text(source)


def libraries(folder, monkeypatch):
    monkeypatch.syspath_prepend(folder)
    (folder / "mine.py").write_text("import lib\nimport json\n")
    return Modules().closure([folder / "mine.py"])


def test_a_library_is_known_by_its_version_and_pythons_own_modules_are_not_known(tmp_path, monkeypatch):
    install(tmp_path)
    found = libraries(tmp_path, monkeypatch)
    assert found.libraries == {"some-lib": "1.0"}
    assert set(found.modules) == {"mine"}


def test_a_library_that_was_not_released_is_known_by_its_files_too(tmp_path, monkeypatch):
    versions = set()
    for number in (1, 2):
        folder = tmp_path / str(number)
        install(folder, source='{"url": "file:///here"}', text=f"x = {number}\n")
        versions |= set(libraries(folder, monkeypatch).libraries.values())
        monkeypatch.undo()
    assert len(versions) == 2


def test_the_files_of_an_editable_library_are_followed(tmp_path, monkeypatch):
    install(tmp_path)
    shutil.move(tmp_path / "lib", tmp_path / "project" / "lib")
    monkeypatch.syspath_prepend(tmp_path / "project")
    found = libraries(tmp_path, monkeypatch)
    assert not found.libraries
    assert set(found.modules) == {"mine", "lib"}


CONSTANT = "\n_edited = 1\n"


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """A copy of benchfw, of a plugin file and of a helper beside it."""
    root = tmp_path_factory.mktemp("copy")
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(benchfw.__file__).parent, root / "benchfw", ignore=ignored)
    plugins = Path(__file__).parents[1] / "plugins"
    shutil.copy(plugins / "toys.py", root)
    (root / "toy_helper.py").write_text("FACTOR = 1.0\n")
    return root


def test_one_edit_in_any_module_of_a_trial_is_noticed_and_a_comment_in_none(copied):
    def digests():
        modules = Modules([copied], hashed=["benchfw"])
        core, own = core_closure(modules), modules.closure([copied / "toys.py"])
        return core, own

    core, own = digests()
    files = sorted(core.files | own.files)
    names = {str(Path(each).relative_to(copied)) for each in files}
    assert {
        "toys.py", "toy_helper.py", "benchfw/contract.py", "benchfw/registry/registry.py",
        "benchfw/loading.py",
        "benchfw/parameters.py", "benchfw/records.py", "benchfw/sources/closure.py", "benchfw/__init__.py",
        "benchfw/harness/workers/worker.py", "benchfw/harness/workers/surroundings.py",
    } < names  # fmt: skip
    for package in ("measure", "data", "kernels", "backends"):
        here = {str(each.relative_to(copied)) for each in (copied / "benchfw" / package).rglob("*.py")}
        assert here <= names
    texts = {Path(file): Path(file).read_text() for file in files}
    for file, text in texts.items():
        file.write_text(f"# a comment\n{text}# another\n")
    assert [each.digest for each in digests()] == [core.digest, own.digest]
    for file, text in texts.items():
        file.write_text(text + CONSTANT)
    for before, after in zip((core, own), digests(), strict=True):
        assert [name for name, digest in before.modules.items() if after.modules[name] == digest] == []
        assert after.digest != before.digest


def test_one_module_that_differs_makes_another_digest():
    modules = {"a": "1", "b": "2"}
    digests = {Closure(each, frozenset(), {}).digest for each in (modules, modules | {"b": "3"}, {"a": "1"})}
    assert len(digests) == 3


def test_the_modules_of_one_method_are_not_those_of_another():
    registry = Registry()
    found = registry.modules().closure(registry.get("kernel", "gaussian-gram").roots)
    assert "benchfw.kernels.gram" in found.modules
    assert "benchfw.cli" not in found.modules


def test_a_file_is_parsed_once_for_each_state_of_it(tmp_path):
    path = tmp_path / "a.py"
    path.write_text("x = 1\n")
    first = parse_file(str(path))
    assert parse_file(str(path)) is first
    path.write_text("x = 22\n")
    assert parse_file(str(path)).digest != first.digest


@pytest.mark.parametrize(
    "text", ["class {{ NAME }}: ...\n", f"NAME = {'-' * 100_000}1\n", f"NAME = {'1 + ' * 100_000}1\n"]
)
def test_a_file_that_python_cannot_read_is_hashed_as_it_is(tmp_path, text):
    path = tmp_path / "template.py"
    path.write_text(text.replace("NAME", "name"))
    before = parse_file(str(path)).digest
    path.write_text(text.replace("NAME", "title"))
    assert parse_file(str(path)).digest != before


LONG_SUM = "y = x" + " + x" * 1200 + "\n"
LONG_CHOICE = "if x:\n    y = 0\n" + "elif x:\n    y = 1\n" * 1200


@pytest.mark.parametrize("text", [LONG_SUM, LONG_CHOICE], ids=["sum", "choice"])
def test_a_long_sum_or_chain_of_choices_is_read_to_its_end(tmp_path, text):
    path = tmp_path / "long.py"
    path.write_text(f"{text}import last\n")
    before = parse_file(str(path))
    assert Import(0, "last") in before.imports
    path.write_text(f"# a note\n{text}import last\n")
    assert parse_file(str(path)).digest == before.digest


def test_an_object_is_placed_in_the_module_that_it_comes_from(plugin_file):
    text = (
        "from benchfw import hookimpl\nfrom functools import partial\nclass P:\n    @hookimpl\n"
        "    def register_optimizers(self, register):\n        register('mine', P)\nplugin = P()\n"
    )
    path = plugin_file(text, "objects.py")
    sys.path.insert(0, str(path.parent))
    import objects

    from benchfw.sources import file_of

    assert file_of(objects.plugin) == file_of(objects.P) == path
