"""No result is served that code, files and variables would not give now; a comment runs nothing again."""

import contextlib
import json
import os
import shutil
import sqlite3
import tempfile
from pathlib import Path

import numpy as np
import pytest

import benchfw

METHOD = """
import importlib, importlib.util, inspect, json, linecache, os
from dataclasses import dataclass
from pathlib import Path
import numpy as np
from benchfw import Smooth, hookimpl
{top}
@dataclass(frozen=True)
class Method:
    '''0.5'''
    solves = Smooth
    def run(self, problem, rng):
        step = {step}
        x = problem.start()
        while True:
            yield x
            x = x - step * problem.grad(x)

@hookimpl
def register_optimizers(register):
    register("{name}", Method)
"""

BY_PATH = """
def load():
    spec = importlib.util.spec_from_file_location("by_path", Path(__file__).parent / "parts" / "by_path.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
"""

ABSENT = """
def read():
    try:
        return Path(__file__).with_name("maybe.txt").read_text()
    except OSError:
        return ""
"""

IN_FOLDER = """
def read():
    folder = os.open(Path(__file__).with_name("steps"), os.O_RDONLY)
    with os.fdopen(os.open("inner.txt", os.O_RDONLY, dir_fd=folder)) as file:
        return float(file.read())
"""

APPENDED = """
def read():
    with Path(__file__).with_name("appended.txt").open("a"):
        pass
    return float(Path(__file__).with_name("appended.txt").read_text())
"""

EXECUTED = """
def read():
    names = {}
    exec("import executed_helper", names)
    return names["executed_helper"].STEP
"""

RUN_BY_PATH = """
import runpy
def read():
    return runpy.run_path(str(Path(__file__).with_name("script.py")))["STEP"]
"""

DATABASE = """
import sqlite3
def read():
    database = sqlite3.connect(Path(__file__).with_name("steps.sqlite"))
    return database.execute("SELECT * FROM step").fetchone()[0]
"""

OPTIONAL = """
from parts_of_mine import base
def read():
    try:
        return importlib.import_module("parts_of_mine." + "fast").STEP
    except ImportError:
        return base.STEP
"""

LATE_PATH = """
import sys
def read():
    sys.path.insert(0, str(Path(__file__).parent / "late"))
    import late_helper
    return late_helper.STEP
"""

LATE_ABSENT = """
import sys
def read():
    sys.path.insert(0, str(Path(__file__).parent / "later"))
    try:
        from later_helper import STEP
    except ImportError:
        return 0.5
    return STEP
"""

COMPILED = """
def read():
    names, path = {}, Path(__file__).with_name("settings.txt")
    exec(compile(path.read_text(), str(path), "exec"), names)
    return names["STEP"]
"""

MADE = """
def read():
    folder = Path(__file__).with_name("made")
    folder.mkdir(exist_ok=True)
    return float((folder / "step.txt").read_text())
"""

NOT_YET = """
def read():
    folder = Path(__file__).with_name("not-yet")
    folder.mkdir(exist_ok=True)
    try:
        return float((folder / "step.txt").read_text())
    except OSError:
        return 0.5
"""

LINKED = """
import tempfile
def read():
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(Path(__file__).with_name("linked.txt"), Path(folder, "step.txt"))
        return float(Path(folder, "step.txt").read_text())
"""

FOUND = """
def read():
    return 0.5 if importlib.util.find_spec("found" + "_helper") else 0.25
"""

THREAD = """
from concurrent.futures import ThreadPoolExecutor
def read():
    with ThreadPoolExecutor(1) as pool:
        return float(*pool.map(np.loadtxt, [Path(__file__).with_name("threaded.txt")]))
"""

LIBRARY = """
import importlib
def load(name):
    return importlib.import_module(name).STEP
"""

STREAMED = """
from benchfw import data
from benchfw.data import Dataset
@hookimpl
def register_datasets(register):
    register("streamed", Dataset("streamed", "Numbers of a file", by_hand="ask"))
def read():
    return float(next(data.batches("streamed", 1))["x"][0])
"""

METHODS = {
    "plain": ("0.5", ""),
    "json": ('json.loads(Path(__file__).with_name("tables.json").read_text())["step"]', ""),
    "array": ('float(np.load(Path(__file__).with_name("step.npy")))', ""),
    "text": ("STEP", 'STEP = float((Path(__file__).parent / "step.txt").read_text())'),
    "variable": ('float(os.environ.get("STEP_SIZE", "0.5"))', ""),
    "imported-variable": ("STEP", 'STEP = float(os.getenv("STEP_AT_IMPORT", "0.5"))'),
    "computed": ('importlib.import_module("_".join(["computed", "helper"])).STEP', ""),
    "by-path": ("load().STEP", BY_PATH),
    "library": ("path_library.STEP", "import path_library"),
    "editable": ("editable_library.steps.STEP", "import editable_library.steps"),
    "folder": ('0.5 / len(list((Path(__file__).parent / "steps").glob("*.txt")))', ""),
    "data": ('float(data.load("hidden")["x"][0])', "from benchfw import data"),
    "streamed": ("read()", STREAMED),
    "absent": ("0.5 if read() else 0.25", ABSENT),
    "relative": ('float(Path("relative.txt").read_text())', ""),
    "in-memory": ('float(Path(os.environ["IN_MEMORY"]).read_text())', ""),
    "line": ('float(linecache.getline(str(Path(__file__).with_name("lines.txt")), 2))', ""),
    "in-folder": ("read()", IN_FOLDER),
    "appended": ("read()", APPENDED),
    "executed": ("read()", EXECUTED),
    "run-by-path": ("read()", RUN_BY_PATH),
    "source": ('float(Path(__file__).with_name("words.py").read_text().split()[1])', ""),
    "inspected": ("float(inspect.getsource(told).split()[-1])", "from words_inspected import told"),
    "documented": ("float(Method.__doc__)", ""),
    "database": ("read()", DATABASE),
    "hidden": ('0.5 / len(os.listdir(Path(__file__).parent / "hidden"))', ""),
    "optional": ("read()", OPTIONAL),
    "late-path": ("read()", LATE_PATH),
    "late-absent": ("read()", LATE_ABSENT),
    "compiled": ("read()", COMPILED),
    "thread": ("read()", THREAD),
    "made": ("read()", MADE),
    "not-yet": ("read()", NOT_YET),
    "linked": ("read()", LINKED),
    "found": ("read()", FOUND),
    "by-library": ('installed_library.load("loaded" + "_helper")', "import installed_library"),
    "version": (
        'importlib.metadata.version("numpy") and 0.5 / float(importlib.metadata.version("counted"))',
        "import importlib.metadata",
    ),
}

SUITE = """
seed = 1
repetitions = 2
plugins = ["bowls.py", {plugins}]
budget = {{ iterations = 2 }}
[[problem]]
use = "bowl"
"""


def install(cli, version):
    for folder in cli.folder.glob("site-packages/counted-*"):
        shutil.rmtree(folder)
    text = f"Metadata-Version: 2.1\nName: counted\nVersion: {version}\n"
    cli.write(f"site-packages/counted-{version}.dist-info/METADATA", text)


def set_step(cli, step):
    with contextlib.closing(sqlite3.connect(cli.folder / "steps.sqlite")) as database, database:
        database.execute("CREATE TABLE IF NOT EXISTS step (size REAL)")
        database.execute("DELETE FROM step")
        database.execute("INSERT INTO step VALUES (?)", (step,))


@pytest.fixture
def project(cli, monkeypatch):
    """A folder in which each method gets its step from somewhere else."""
    files = {name: f"{name.replace('-', '_')}_method.py" for name in METHODS}
    for name, (step, top) in METHODS.items():
        cli.write(files[name], METHOD.format(name=name, step=step, top=top))
    suite = SUITE.format(plugins=", ".join(f'"{file}"' for file in files.values()))
    suite = suite.replace("repetitions = 2", "repetitions = 1")
    cli.write("all.toml", suite + "".join(f'[[optimizer]]\nuse = "{name}"\n' for name in METHODS))
    cli.write("tables.json", '{"step": 0.5}')
    cli.write("step.txt", "0.5")
    cli.write("steps/one.txt", "")
    cli.write("steps/inner.txt", "0.5")
    cli.write("relative.txt", "0.5")
    cli.write("lines.txt", "first\n0.5\n")
    cli.write("appended.txt", "0.5")
    cli.write("executed_helper.py", "STEP = 0.5\n")
    cli.write("script.py", "from script_part import STEP\n")
    cli.write("script_part.py", "STEP = 0.5\n")
    cli.write("words.py", "# 0.5\n")
    cli.write("words_inspected.py", "def told():\n    pass  # 0.5\n")
    cli.write("hidden/.one", "")
    cli.write("parts_of_mine/__init__.py", "")
    cli.write("parts_of_mine/base.py", "STEP = 0.5\n")
    cli.write("late/late_helper.py", "STEP = 0.5\n")
    cli.write("settings.txt", "from of_settings import STEP\n")
    cli.write("of_settings.py", "STEP = 0.5\n")
    cli.write("threaded.txt", "0.5")
    cli.write("made/step.txt", "0.5")
    cli.write("linked.txt", "0.5")
    cli.write("found_helper.py", "")
    cli.write("loaded_helper.py", "STEP = 0.5\n")
    cli.write("site-packages/installed_library.py", LIBRARY)
    cli.write("site-packages/installed_library-1.0.dist-info/RECORD", "installed_library.py,,\n")
    install(cli, "1.0")
    set_step(cli, 0.5)
    cli.write("computed_helper.py", "from computed_part import STEP\n")
    cli.write("computed_part.py", "STEP = 0.5\n")
    cli.write("parts/by_path.py", "STEP = 0.5\n")
    cli.write("libraries/path_library.py", "STEP = 0.5\n")
    cli.write("source/editable_library/__init__.py", "")
    cli.write("source/editable_library/steps.py", "STEP = 0.5\n")
    cli.write("site-packages/editable_library-1.0.dist-info/RECORD", "editable_library.pth,,\n")
    np.save(cli.folder / "step.npy", 0.5)
    (cli.folder / "data").mkdir()
    np.savez(cli.folder / "data" / "hidden.npz", x=np.array([0.5]))
    np.savez(cli.folder / "data" / "streamed.npz", x=np.array([0.5]))
    cli.environment |= {"BENCHFW_DATA": str(cli.folder / "data"), "STEP_SIZE": "0.5"}
    for folder in ("libraries", "source", "site-packages"):
        monkeypatch.syspath_prepend(cli.folder / folder)
    with tempfile.NamedTemporaryFile("w", dir="/dev/shm") as in_memory:
        in_memory.write("0.5")
        in_memory.flush()
        cli.environment["IN_MEMORY"] = in_memory.name
        yield cli


def again(cli):
    """Return the methods that a run would run, and the sentences that say why."""
    done = cli("run", "all.toml", "--dry-run")
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    reasons = [line.partition(" again: ")[2] for line in done.stdout.splitlines() if " again: " in line]
    return {row[1] for row in rows if row[-1:] == ["no"]}, reasons


def replace(cli, file, old="0.5", new="0.25"):
    path = cli.folder / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.thorough
@pytest.mark.workers
def test_what_a_trial_read_must_be_unchanged_but_for_comments(project):
    cli = project
    cli.environment.update(STEP_AT_IMPORT="0.125")
    done = cli("run", "all.toml", "--no-report", "--store", "reports/benchfw.sqlite")
    assert done.returncode == 0, done.stderr
    assert b"0.125" not in (cli.folder / "reports" / "benchfw.sqlite").read_bytes()  # it may be a secret
    for path in cli.folder.rglob("[!w]*.py"):  # words.py is text that a method reads
        path.write_text(f"# a comment\n{path.read_text()}# another\n")
    assert again(cli) == (set(), [])

    changes = {
        "json": lambda: replace(cli, "tables.json"),
        "array": lambda: np.save(cli.folder / "step.npy", 0.25),
        "text": lambda: replace(cli, "step.txt"),
        "variable": lambda: cli.environment.update(STEP_SIZE="0.25"),
        "imported-variable": lambda: cli.environment.update(STEP_AT_IMPORT="0.25"),
        "computed": lambda: replace(cli, "computed_part.py"),
        "by-path": lambda: replace(cli, "parts/by_path.py"),
        "library": lambda: replace(cli, "libraries/path_library.py"),
        "editable": lambda: replace(cli, "source/editable_library/steps.py"),
        "folder": lambda: cli.write("steps/two.txt", ""),
        "data": lambda: np.savez(cli.folder / "data" / "hidden.npz", x=np.array([0.25])),
        "streamed": lambda: np.savez(cli.folder / "data" / "streamed.npz", x=np.array([0.25])),
        "absent": lambda: cli.write("maybe.txt", "now"),
        "plain": lambda: replace(cli, "plain_method.py", "step = 0.5", "step = 0.25"),
        "relative": lambda: replace(cli, "relative.txt"),
        "in-memory": lambda: replace(cli, cli.environment["IN_MEMORY"]),
        "line": lambda: replace(cli, "lines.txt"),
        "in-folder": lambda: replace(cli, "steps/inner.txt"),
        "appended": lambda: replace(cli, "appended.txt"),
        "executed": lambda: replace(cli, "executed_helper.py"),
        "run-by-path": lambda: replace(cli, "script_part.py"),
        "source": lambda: replace(cli, "words.py"),
        "inspected": lambda: replace(cli, "words_inspected.py"),
        "documented": lambda: replace(cli, "documented_method.py"),
        "database": lambda: set_step(cli, 0.25),
        "hidden": lambda: cli.write("hidden/.two", ""),
        "optional": lambda: cli.write("parts_of_mine/fast.py", "STEP = 0.25\n"),
        "late-path": lambda: replace(cli, "late/late_helper.py"),
        "late-absent": lambda: cli.write("later/later_helper.py", "STEP = 0.25\n"),
        "compiled": lambda: replace(cli, "of_settings.py"),
        "thread": lambda: replace(cli, "threaded.txt"),
        "made": lambda: replace(cli, "made/step.txt"),
        "not-yet": lambda: cli.write("not-yet/step.txt", "0.25"),
        "linked": lambda: replace(cli, "linked.txt"),
        "found": (cli.folder / "found_helper.py").unlink,
        "by-library": lambda: replace(cli, "loaded_helper.py"),
        "version": lambda: install(cli, "2.0"),
    }
    # one reason a trial is said, and a module of another that was loaded before it may be that of some
    said = {
        "json": ["tables.json has changed"],
        "array": ["step.npy has changed"],
        "variable": ["the environment variable STEP_SIZE has changed"],
        "imported-variable": ["the environment variable STEP_AT_IMPORT has changed"],
        "computed": ["computed_helper.py has changed"],
        "by-path": ["parts/by_path.py has changed"],
        "folder": ["the folder steps has changed"],
        "data": ["the data set 'hidden' has changed"],
        "streamed": ["the data set 'streamed' has changed"],
        "absent": ["maybe.txt has changed"],
        "optional": ["parts_of_mine/fast.py has changed"],
        "version": ["the package counted has changed"],
    }
    names = list(changes)
    for batch in (names[::2], names[1::2]):
        before, _ = again(cli)
        for name in batch:
            changes[name]()
        changed, reasons = again(cli)
        assert changed - before == set(batch)
        assert set(reasons) >= {each for name in batch for each in said.get(name, ())}
    done = cli("run", "all.toml", "--no-report")
    assert "benchfw: 1 trial runs again: tables.json has changed" in done.stderr
    assert "nothing was run" in cli("run", "all.toml", "--no-report").stdout
    replace(cli, "tables.json", "0.25", "0.5")
    cli.environment.update(STEP_SIZE="0.5")
    assert {"json", "variable"}.isdisjoint(again(cli)[0])  # of the results of then and now, those of then


MAKER = '''
"""Registers a data set."""
import numpy as np
from benchfw import hookimpl

def made(scale: float = 1.0):
    """Return two rows."""
    return {"x": scale * np.ones(2)}

@hookimpl
def register_datasets(register):
    register("made", made)
'''

READER = (
    METHOD.replace("solves = Smooth", "solves = Smooth").format(name="still", step="0.5", top="")
    + """
from benchfw import DatasetName, data
from bowls import Bowl

class Bowls(Bowl):
    def __init__(self, backend, rng, dataset: DatasetName = "made"):
        super().__init__(backend, rng)
        self.shift = data.load(dataset)["x"]

@hookimpl
def register_problems(register):
    register("shifted", Bowls)
"""
)


def test_a_comment_in_the_file_that_registers_a_data_set_runs_nothing_again_and_an_edit_does(cli):
    cli.write("maker.py", MAKER)
    cli.write("reader.py", READER)
    suite = SUITE.format(plugins='"maker.py", "reader.py"').replace('"bowl"', '"shifted"')
    cli.write("all.toml", suite + '[[optimizer]]\nuse = "still"\n')
    assert cli("run", "all.toml", "--no-report").returncode == 0
    replace(cli, "maker.py", "import numpy", "# for arrays\nimport numpy")
    assert "nothing was run" in cli("run", "all.toml", "--no-report").stdout
    replace(cli, "maker.py", "np.ones(2)", "np.zeros(2)")
    assert "nothing was run" not in cli("run", "all.toml", "--no-report").stdout


def test_reads_are_kept_with_the_trial(cli):
    cli.write("one.py", METHOD.format(name="one", step='float(os.environ["STEP_SIZE"])', top=""))
    cli.write("all.toml", SUITE.format(plugins='"one.py"') + '[[optimizer]]\nuse = "one"\n')
    assert cli("run", "all.toml", "--no-report", STEP_SIZE="0.5").returncode == 0
    assert "nothing was run" in cli("run", "all.toml", "--no-report", STEP_SIZE="0.5").stdout
    done = cli("run", "all.toml", "--no-report", STEP_SIZE="0.25")
    assert "2 trials run again: the environment variable STEP_SIZE has changed" in done.stderr
    assert json.loads(cli("runs", "--json").stdout)[-1]["reused"] == 0
    assert "STEP_SIZE" not in os.environ


FOUND_HERE = """
def found():
    return Path(os.getcwd()).name.count("b") / 4 + 0.25
"""


@pytest.mark.thorough
@pytest.mark.workers
def test_what_is_found_from_the_working_folder_is_looked_for_in_that_of_now(cli):
    plugins = []
    for name, step, top in (
        ("relative", 'float(Path("data/step.txt").read_text())', ""),
        ("listed", "0.5 / len(os.listdir())", ""),
        ("asked", "found()", FOUND_HERE),
        ("moved", 'os.chdir(Path(__file__).parent) or float(Path("step.txt").read_text())', ""),
        ("plain", "0.5", ""),
    ):
        cli.write(f"{name}_method.py", METHOD.format(name=name, step=step, top=top))
        plugins.append(f'"{name}_method.py"')
    cli.write("step.txt", "0.5")
    methods = ("relative", "listed", "asked", "moved", "plain")
    suite = SUITE.format(plugins=", ".join(plugins))
    cli.write("all.toml", suite + "".join(f'[[optimizer]]\nuse = "{name}"\n' for name in methods))
    there = {}
    for name, step in (("a", "0.5"), ("b", "0.25"), ("c", "0.5")):
        cli.write(f"{name}/data/step.txt", step)
        there[name] = cli.elsewhere(cli.folder / name)
    words = ("run", "../all.toml", "--no-report", "--store", "../s.sqlite")
    done = there["a"](*words)
    assert done.returncode == 0, done.stderr
    assert "nothing was run" in there["a"](*words).stdout
    cli.write("c/more.txt", "")
    for name, changed in (("b", {"relative", "asked"}), ("c", {"listed", "asked"})):
        lines = [line.split() for line in there[name](*words, "--dry-run").stdout.splitlines()]
        assert {line[1] for line in lines if line[-1:] == ["no"]} == changed
    said = there["b"](*words).stderr
    assert "2 trials run again: data/step.txt has changed" in said
    assert "2 trials run again: the working folder has changed" in said


@pytest.mark.thorough
@pytest.mark.workers
def test_a_trial_that_crashed_or_was_stopped_runs_again_once_what_it_read_has_changed(cli):
    read = 'Path(__file__).with_name("{}.txt").read_text() == "{}" and {} or 0.5'
    steps = {
        "crashing": read.format("crash", "yes", "os.abort()"),
        "waiting": read.format("wait", "yes", "time.sleep(60)"),
        "failing": read.format("fail", "yes", "1 / 0"),
    }
    for name, step in steps.items():
        cli.write(f"{name}_method.py", METHOD.format(name=name, step=step, top="import time\n"))
    for name in ("crash", "wait", "fail"):
        cli.write(f"{name}.txt", "yes")
    suite = SUITE.format(plugins=", ".join(f'"{name}_method.py"' for name in steps))
    suite = suite.replace("repetitions = 2", "repetitions = 1")
    cli.write("all.toml", suite + "".join(f'[[optimizer]]\nuse = "{name}"\n' for name in steps))
    words = ("run", "all.toml", "--no-report", "--timeout", "1")
    assert "1 crashed, 1 failed, 1 timeout" in cli(*words).stdout
    assert "nothing was run" in cli(*words).stdout
    for name in ("crash", "wait", "fail"):
        cli.write(f"{name}.txt", "no")
    done = cli(*words)
    assert "(3 done)" in done.stdout
    assert "benchfw: 1 trial runs again: crash.txt has changed" in done.stderr


@pytest.mark.thorough
def test_an_edit_of_benchfw_itself_runs_all_again_and_a_comment_does_not(cli):
    """As with a changed rule of splitting data, in a copy of benchfw."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(benchfw.__file__).parent, cli.folder / "copy" / "benchfw", ignore=ignored)
    words = ("run", "bowls.toml", "--no-report", "--only", "slide", "--jobs", "1", "--no-replay")
    here = {"PYTHONPATH": str(cli.folder / "copy")}
    assert cli(*words, **here).returncode == 0
    rule = cli.folder / "copy" / "benchfw" / "data" / "split.py"
    rule.write_text(f"# a rule\n{rule.read_text()}")
    assert "nothing was run" in cli(*words, **here).stdout
    rule.write_text(f"{rule.read_text()}\n_RULE = 2\n")
    assert "(4 done), kept in" in cli(*words, **here).stdout
