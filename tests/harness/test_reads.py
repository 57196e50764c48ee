"""What plugins read is noted, what others read is not."""

import importlib.util
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from benchfw.harness.inputs import ABSENT, CHANGED, Inputs, hash_variable, name_path
from benchfw.harness.workers.reading.caches import Caches
from benchfw.sources import Modules

SCRIPT = """
import json, sys
from pathlib import Path
import benchfw
from benchfw.harness.workers.reading.watch import stop_watching, watch
from benchfw.records import Budget, Spec, Trial
from benchfw.registry import Registry

sys.path.insert(0, "libraries")
reads = watch()
names = sys.argv[1:]
registry = Registry(["flat.py", *(f"{name}.py" for name in names)])
registry.activate()
answers = {}
for name in names:
    trial = Trial("optimizer", Spec("flat"), Spec(name, label=name), "numpy", 0, 0, Budget())
    reads.look_ahead(trial, registry)
    reads.begin_trial()
    registry.build("optimizer", {"use": name}).act()
    answers[name] = reads.of_trial(trial, registry)
stop_watching()
registry.build("optimizer", {"use": "one"}).act()
answers["later"] = reads.of_trial(trial, registry)
print(json.dumps(answers))
"""

ONE = """
import helper
from acting import *
IMPORTED = os.environ.get("AT_IMPORT_OF_ONE")

class Method:
    def act(self):
        Path("read.txt").read_text()
        Path("updated.txt").open("r+").close()
        Path("written.txt").write_text("x")
        Path("written.txt").read_text()
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "a").write_text("a")
            os.listdir(folder)
            subprocess.run(["/bin/cp", "read.txt", folder + "/copied.txt"], check=True)
            Path(folder, "copied.txt").read_text()
            os.rename(Path(folder, "a"), "renamed.txt")
        Path("renamed.txt").read_text()
        Path("log.txt").open("a").close()
        Path("anew.txt").open("w+").close()
        Path("anew.txt").read_text()
        Path(__file__).with_name("beside.txt").read_text()
        inside = os.open("folder", os.O_RDONLY)
        os.listdir(inside)
        os.close(os.open("inner.txt", os.O_RDONLY, dir_fd=inside))
        os.close(inside)
        os.close(os.open("opened.txt", os.O_RDONLY))
        os.path.abspath("nothing")
        os.environ["SET"] = "1"
        os.environ["SET"], "IN" in os.environ, os.environb.get(b"BYTES"), os.getenv("SECRET")
        warnings.warn("a line of source is shown")
        json.loads(Path("/proc/self/stat").read_text().split()[0])
        Path("folder").open if Path("folder").is_dir() else None
        with contextlib.suppress(OSError):
            Path("folder").open().close()
        numpy.loadtxt("compiled/kernel.cubin")
        importlib.metadata.version("numpy")
        platform.platform(), platform.architecture(), ZoneInfo("UTC")
        import package.part

@hookimpl
def register_optimizers(register): register("one", Method)
"""

FLAT = """
from benchfw import hookimpl

class Flat:
    def __init__(self, backend, rng): ...

@hookimpl
def register_problems(register): register("flat", Flat)
"""

TWO = """
from acting import *
Path("two.txt").read_text()

class Method:
    def act(self):
        importlib.import_module("help" + "er")

@hookimpl
def register_optimizers(register): register("two", Method)
"""

COMPILING = """
import numba
from acting import *

@numba.njit(cache=True)
def double(x):
    return 2 * x

class Method:
    def act(self):
        double(1.0)

@hookimpl
def register_optimizers(register): register("compiling", Method)
"""

ACTING = """
import contextlib, importlib, importlib.metadata, json, os, platform, subprocess, tempfile, warnings
from pathlib import Path
from zoneinfo import ZoneInfo
import numpy
from benchfw import hookimpl
"""


@pytest.fixture(scope="module")
def noted(tmp_path_factory):
    """What methods read: by themselves, by modules that they import, and after the watch has ended."""
    names = ["one", *(["compiling"] if importlib.util.find_spec("numba") else []), "two"]
    root = tmp_path_factory.mktemp("reads")
    texts = {
        "flat.py": FLAT,
        "one.py": ONE,
        "two.py": TWO,
        "compiling.py": COMPILING,
        "acting.py": ACTING,
        "read.txt": "r",
        "updated.txt": "u",
        "two.txt": "2",
        "log.txt": "l",
        "opened.txt": "o",
        "anew.txt": "a",
        "beside.txt": "b",
        "folder/inner.txt": "i",
        "package/__init__.py": "",
        "package/part.py": "",
        "compiled/kernel.cubin": "1",
    }
    texts |= {"helper.py": 'import os\nos.environ.get("AT_IMPORT_OF_HELPER")\n'}
    for name, text in texts.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(textwrap.dedent(text))
    variables = {"SECRET": "abracadabra", "BYTES": "b", "AT_IMPORT_OF_ONE": "1", "CUPY_CACHE_DIR": "compiled"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *names],
        cwd=root,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "abracadabra" not in done.stdout
    return json.loads(done.stdout)


def test_a_method_has_what_it_and_the_modules_that_it_imports_have_read(noted):
    assert set(noted["one"]) == {
        "file ./read.txt", "file ./updated.txt", "file beside.txt", "folder ./folder", "working folder .",
        "file ./folder/inner.txt", "file ./opened.txt", "variable IN", "variable BYTES", "variable SECRET",
        "variable AT_IMPORT_OF_ONE", "variable AT_IMPORT_OF_HELPER", "package numpy",
    }  # fmt: skip
    assert noted["one"]["variable IN"] == ABSENT
    assert noted["one"]["variable SECRET"] == hash_variable("SECRET", "abracadabra")


def test_what_a_compiler_reads_and_keeps_does_not_count(noted):
    pytest.importorskip("numba")
    assert noted["compiling"] == {}


def test_what_libraries_keep_is_where_variables_say_or_where_it_is_by_default(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path.parent))  # there is more in it
    monkeypatch.setenv("HOME", "/home/somebody")
    monkeypatch.setenv("TRITON_CACHE_DIR", "/scratch/triton")
    for name in ("CUPY_CACHE_DIR", "JAX_COMPILATION_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    files = Caches()
    assert "/home/somebody/.cupy/kernel_cache" in files
    assert "/home/somebody/.cupy/kernel_cache/12ab.cubin" in files
    assert "/scratch/triton/one/two.json" in files
    assert "/project/__pycache__/plugin.step-6.py311.nbi" in files
    assert "/home/somebody/.triton/cache/one" not in files
    assert "/home/somebody/.cupy/kernel_cache_of_mine/data.npy" not in files
    assert "/project/data.npy" not in files
    assert f"{tmp_path}/data.npy" not in files


def test_a_module_by_a_computed_name_counts_with_what_it_read_though_it_was_loaded_before(noted):
    assert set(noted["two"]) == {"file ./two.txt", "module helper.py", "variable AT_IMPORT_OF_HELPER"}


def test_nothing_is_noted_once_the_watch_has_ended(noted):
    assert noted["later"] == noted["two"]


@pytest.fixture
def inputs(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    return lambda: Inputs(Modules)


def test_what_is_as_it_was_read_has_not_changed(inputs, tmp_path, monkeypatch):
    monkeypatch.setenv("HERE", "1")
    monkeypatch.delenv("NOWHERE", raising=False)
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "m.py").write_text("import n\n")
    (tmp_path / "n.py").write_text("x = 1\n")
    (tmp_path / "parts").mkdir()
    names = ["variable HERE", "variable NOWHERE", "variable *", "file a.txt", "file b.txt", "module m.py"]
    names += ["folder parts", "data set nowhere"]
    looked = inputs()
    before = {name: looked.state(name) for name in names}
    assert [name for name in names if before[name] == ABSENT] == [
        "variable NOWHERE", "file b.txt", "data set nowhere",
    ]  # fmt: skip
    assert inputs().describe_change(before) == ""
    (tmp_path / "n.py").write_text("# a comment\nx = 1\n")
    (tmp_path / "parts" / "__pycache__").mkdir()
    assert inputs().describe_change(before) == ""
    (tmp_path / "n.py").write_text("x = 2\n")
    assert inputs().describe_change(before) == "m.py has changed"
    assert inputs().describe_change({"file a.txt": CHANGED}) == "a.txt has changed"
    monkeypatch.setenv("HERE", "2")
    assert inputs().describe_change(before) == "the environment variable HERE has changed"


def test_a_path_is_named_from_the_folder_of_pythons_path_that_it_is_in(tmp_path, monkeypatch):
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        folder.mkdir()
        monkeypatch.syspath_prepend(folder)
    (one / "a.txt").write_text("a")
    assert name_path("file", one / "a.txt", sys.path) == "file a.txt"
    assert name_path("file", tmp_path / "b.txt", sys.path) == f"file {tmp_path}/b.txt"
    (two / "a.txt").write_text("b")  # which of the two is meant must be said
    assert name_path("file", one / "a.txt", sys.path) == f"file {one}/a.txt"
    assert Inputs(Modules).state("file a.txt") == CHANGED


def test_what_is_no_file_is_never_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert Inputs(Modules).state(f"file {tmp_path}/pipe") == ABSENT
    assert Inputs(Modules).state("file /dev/zero") == ABSENT
    assert Inputs(Modules).hash_path("file", Path(tmp_path)) == ABSENT
