"""No result is served that code, files and variables would not give now; a comment runs nothing again."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

import benchfw

METHOD = """
import importlib, importlib.util, json, os
from dataclasses import dataclass
from pathlib import Path
import numpy as np
from benchfw import Smooth, hookimpl
{top}
@dataclass(frozen=True)
class Method:
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
    "absent": ("0.5 if read() else 0.25", ABSENT),
}

SUITE = """
seed = 1
repetitions = 2
plugins = ["bowls.py", {plugins}]
budget = {{ iterations = 2 }}
[[problem]]
use = "bowl"
"""


@pytest.fixture
def project(cli, monkeypatch):
    """A folder in which each method gets its step from somewhere else."""
    files = {name: f"{name.replace('-', '_')}_method.py" for name in METHODS}
    for name, (step, top) in METHODS.items():
        cli.write(files[name], METHOD.format(name=name, step=step, top=top))
    suite = SUITE.format(plugins=", ".join(f'"{file}"' for file in files.values()))
    cli.write("all.toml", suite + "".join(f'[[optimizer]]\nuse = "{name}"\n' for name in METHODS))
    cli.write("tables.json", '{"step": 0.5}')
    cli.write("step.txt", "0.5")
    cli.write("steps/one.txt", "")
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
    cli.environment |= {"BENCHFW_DATA": str(cli.folder / "data"), "STEP_SIZE": "0.5"}
    for folder in ("libraries", "source", "site-packages"):
        monkeypatch.syspath_prepend(cli.folder / folder)
    return cli


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


@pytest.mark.workers
def test_what_a_trial_read_must_be_unchanged(project):
    cli = project
    done = cli("run", "all.toml", "--no-report", "--store", "reports/benchfw.sqlite")
    assert done.returncode == 0, done.stderr
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
        "absent": lambda: cli.write("maybe.txt", "now"),
        "plain": lambda: replace(cli, "plain_method.py"),
    }
    said = {
        "json": ["tables.json has changed"],
        "array": ["step.npy has changed"],
        "text": ["step.txt has changed"],
        "variable": ["the environment variable STEP_SIZE has changed"],
        "imported-variable": ["the environment variable STEP_AT_IMPORT has changed"],
        "computed": ["computed_helper.py has changed"],
        "by-path": ["parts/by_path.py has changed"],
        "folder": ["the folder steps has changed"],
        "data": ["the data set 'hidden' has changed"],
        "absent": ["maybe.txt has changed"],
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
    assert "benchfw: 2 trials run again: tables.json has changed" in done.stderr
    assert "nothing was run" in cli("run", "all.toml", "--no-report").stdout
    replace(cli, "tables.json", "0.25", "0.5")
    cli.environment.update(STEP_SIZE="0.5")
    assert {"json", "variable"}.isdisjoint(again(cli)[0])  # of the results of then and now, those of then


@pytest.mark.workers
def test_a_comment_runs_nothing_again_and_a_secret_is_not_stored(project):
    cli = project
    cli.environment.update(STEP_AT_IMPORT="0.125")
    done = cli("run", "all.toml", "--no-report")
    assert done.returncode == 0, done.stderr
    for path in cli.folder.rglob("*.py"):
        path.write_text(f"# a comment\n{path.read_text()}# another\n")
    assert "nothing was run" in cli("run", "all.toml", "--no-report").stdout
    assert b"0.125" not in (cli.folder / "reports" / "benchfw.sqlite").read_bytes()


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
