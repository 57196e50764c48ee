"""What suites and plugins say is data: it runs nothing, steers nothing, and opens no connection."""

import ast
import contextlib
import csv
import io
import json
import re
import sqlite3
import sys
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest

import benchfw
from benchfw.api import planning
from benchfw.errors import PluginError
from benchfw.registry import Registry
from benchfw.store.bundle import read_bundle
from benchfw.store.rows import digest_of
from benchfw.store.schema import SEAL_RUN, SELECT_RUN

ROOT = Path(__file__).parents[2]
SOURCES = [
    path
    for folder in (ROOT / "benchfw", *(ROOT / "plugins").glob("*/benchfw_*"))
    for path in sorted(folder.rglob("*.py"))
]
FORBIDDEN = {
    "pickle.load", "pickle.loads", "pickle.Unpickler", "marshal.load", "marshal.loads", "shelve.open",
    "joblib.load", "pd.read_pickle", "pandas.read_pickle", "os.system", "eval", "exec",
}  # fmt: skip


GIVEN = {"allow_pickle", "shell"}
OWN = (
    "benchfw/testing/checks/general.py",  # pickles what it has at hand and reads that back
    "benchfw/harness/workers/messages.py",  # a worker reads what its parent sends
    "benchfw/harness/workers/packing.py",  # the same
)


def calls():
    """Yield place, name and telling keywords of every call in our sources."""
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                given = {each.arg: ast.unparse(each.value) for each in node.keywords if each.arg in GIVEN}
                yield f"{path.relative_to(ROOT)}, line {node.lineno}", ast.unparse(node.func), given


def test_no_source_reads_pickles_unpacks_archives_or_runs_text():
    found = list(calls())
    assert "pickle.loads" in {name for _, name, _ in found}  # by a worker: they are looked at
    for place, name, given in found:
        assert name not in FORBIDDEN or (name == "pickle.loads" and place.startswith(OWN)), place
        assert not name.endswith((".extractall", ".unpack_archive")), place
        assert given.get("allow_pickle", "False") == "False", place
        assert given.get("shell", "False") == "False", place


def test_a_python_file_beside_a_suite_is_not_run_unless_the_suite_names_it(cli):
    cli.write("trap.py", "open('sprung', 'w')\n")
    cli.write("trap.toml", cli.suite.replace('use = "bowl"', 'use = "trap"'))
    assert cli("run", "trap.toml").returncode == 2
    cli.write("trap.toml", cli.suite.replace('use = "slide"', 'use = "trap:open"'))
    assert cli("run", "trap.toml").returncode == 2
    cli.write(
        "trap.toml", cli.suite.replace('title = "Bowls"', "title = \"{__import__('trap')} {{7*7}} %s\"")
    )
    assert cli("run", "trap.toml", "--only", "step=0.5").returncode == 0
    assert not (cli.folder / "sprung").exists()
    assert "49" not in (cli.folder / "reports/run-1/index.html").read_text().split("</title>")[0]


def forge(store, **changes):
    """Change what a store says of its run's environment, with the checksum of a sound one."""
    with contextlib.closing(sqlite3.connect(store)) as base:
        (text,) = base.execute("SELECT environment FROM run").fetchone()
        base.execute("UPDATE run SET environment = ?", (json.dumps({**json.loads(text), **changes}),))
        _, *row = base.execute(SELECT_RUN, (1,)).fetchone()
        base.execute(SEAL_RUN, (digest_of(tuple(row)), 1))
        base.commit()


READING = [
    ("runs",), ("report", "--format", "md"), ("report", "--single-file"), ("compare", "last", "last"),
    ("compare", "bowls.zip", "last"), ("export",), ("export", "--summary"), ("store", "check"),
    ("store", "check", "--copy", "copy.sqlite"), ("export", "--bundle", "bowls.zip"),
]  # fmt: skip
RUNNING = [
    ("replay", "1"), ("run", "--from-bundle", "bowls.zip"), ("run", "--from-bundle", "bowls.zip", "--dry-run")
]  # fmt: skip


@pytest.mark.parametrize("named", ["trap.py", "./trap.py", "FOLDER/trap.py", "trap"])
@pytest.mark.sampled(2)
def test_nothing_that_a_store_or_a_bundle_names_is_imported(cli, named, monkeypatch):
    cli("run", "bowls.toml", "--no-report", "--only", "step=0.5")
    cli.write("trap.py", "open('sprung', 'w')\n")
    named, store = named.replace("FOLDER", str(cli.folder)), cli.folder / "reports/benchfw.sqlite"
    forge(store, plugins=[named])
    cli("export", "--bundle", "bowls.zip")
    for words in READING:
        assert cli(*words).returncode == 0, words
    reported = cli("report")
    advice = f"neither installed nor given, are left out; if you trust it, pass --plugin {named}"
    assert reported.stderr == f"benchfw: figures of {named}, {advice}\n"
    for words in RUNNING:
        done, shown = cli(*words), named if words[0] == "replay" else Path(named).name
        assert (done.returncode, done.stdout) == (2, ""), words
        advice = f"neither installed nor given; if you trust it, pass --plugin {shown}\n"
        assert done.stderr.endswith(f" was made with {shown}, {advice}"), done.stderr
    monkeypatch.chdir(cli.folder)
    assert len(benchfw.load(store=store).frame)
    assert not (cli.folder / "sprung").exists()


def test_a_plugin_name_that_a_store_makes_up_is_one_line_and_no_command(cli):
    cli("run", "bowls.toml", "--no-report", "--only", "step=0.5")
    forge(
        cli.folder / "reports/benchfw.sqlite",
        plugins=["x.py\nbenchfw: all is well; rm *" + 999 * "x", "y z.py"],
    )
    for words in (("report",), ("replay", "1")):
        told = cli(*words).stderr
        assert told.count("\n") == 1
        assert len(told) < 1000
        assert "--plugin 'x.py benchfw: all is well; rm *xxx" in told
        assert told.endswith("x' --plugin 'y z.py'\n")


def test_what_a_store_names_runs_when_it_is_given_by_hand(cli):
    cli("run", "bowls.toml", "--no-report", "--only", "step=0.5")
    cli("export", "--bundle", "bowls.zip")
    cli.write("elsewhere/bowls.py", (cli.folder / "bowls.py").read_text())
    given = ("--plugin", "elsewhere/bowls.py")
    assert cli("report", *given).stderr == ""
    assert "the same " in cli("replay", "1", *given).stdout
    assert "2 of them in the store" in cli("run", "--from-bundle", "bowls.zip", "--dry-run", *given).stdout


LOADER = """
from dataclasses import dataclass
from typing import Annotated, Any
from bowls import Bowl, Slide
from benchfw import Smooth, hookimpl
from benchfw.parameters import CodeFolder, CodePlace, Trusted
from benchfw.loading import load_attributes

class Loaded(Bowl):
    def __init__(
        self, backend, rng, code: Annotated[CodePlace, Trusted("math:[a-z]+")] | float = "shlex:quote",
        folder: CodeFolder = "",
    ):
        super().__init__(backend, rng)
        load_attributes(code)
        folder and load_attributes(f"{folder}/trap.py:TRAP")

@dataclass(frozen=True)
class Inner:
    code: CodePlace = "math:pi"
    solves, estimates = Smooth, "grad"
    def __post_init__(self):
        load_attributes(self.code)
    def draw(self, problem, rng):
        return problem.grad

@dataclass(frozen=True)
class Sliding(Slide):
    estimator: Any = None
    inner_estimator: Any = None
    code: CodePlace | tuple = "math:pi"

@hookimpl
def register_problems(register):
    register("loaded", Loaded)

@hookimpl
def register_estimators(register):
    register("inner", Inner)

@hookimpl
def register_optimizers(register):
    register("sliding", Sliding)
"""


@pytest.fixture
def loading(cli, monkeypatch):
    """Give the command line beside a plugin that loads what its parameters name, and traps to be named."""
    cli.write("loader.py", LOADER)
    for place in ("trap.py", "traps/trap.py", "more/trap.py"):
        cli.write(place, f"open({str(cli.folder / 'sprung')!r}, 'w').close()\nTRAP = 1\n")
    monkeypatch.syspath_prepend(cli.folder)
    yield cli
    for name in ("bowls", "loader", "trap"):
        sys.modules.pop(name, None)


PLUGINS = ("--plugin", "bowls.py", "--plugin", "loader.py")
LOADED = 'plugins = ["bowls.py", "loader.py"]'


@pytest.mark.parametrize(
    ("key", "named", "given"),
    [
        ("code", "trap.py:TRAP", "trap.py"),
        ("code", "trap:TRAP", "trap"),
        ("folder", "traps", "traps"),
        ("code", "numpy:pi", "numpy"),  # that it is installed is no reason to trust it
        ("code", "os.path:sep", "os"),
    ],
)
def test_code_that_a_parameter_of_a_store_names_is_run_only_if_it_is_given(loading, key, named, given):
    cli, own = loading, f'use = "loaded"\n{key} = "{named}"'
    suite = cli.suite.replace('plugins = ["bowls.py"]', LOADED)
    cli.write("loaded.toml", suite.replace('use = "bowl"', own))
    done = cli("run", "loaded.toml", "--no-report", "--only", "step=0.5")
    assert done.returncode == 0, done.stdout + done.stderr  # a suite of one's own may name anything
    cli("export", "--bundle", "bowls.zip")
    (cli.folder / "sprung").unlink(missing_ok=True)
    for words in RUNNING:
        done = cli(*words, *PLUGINS)
        assert (done.returncode, done.stdout) == (2, ""), words
        said = rf" names code in its parameter {key}: (.*); if you trust it, pass --plugin (.*)\n"
        found = re.search(said, done.stderr)
        assert found, done.stderr
        assert found[1] == found[2]
        assert not (cli.folder / "sprung").exists()
    for words in RUNNING:
        done = cli(*words, *PLUGINS, "--plugin", given)
        assert done.returncode == 0, done.stdout + done.stderr
    assert (cli.folder / "sprung").exists() == (given not in {"os", "numpy"})


@pytest.mark.parametrize(
    ("tables", "names"),
    [
        ('[[problem]]\nuse = ["loaded"]\ncode = "trap.py:TRAP"', {"trap.py"}),
        ('[[problem]]\nuse = "loaded"\ncode = ["math:e", "trap.py:TRAP"]', {"trap.py"}),
        ('[[problem]]\nuse = "loaded"\nfolder = ["traps", "more"]', {"FOLDER/traps", "FOLDER/more"}),
        ('[[optimizer]]\nuse = "sliding"\nestimator = { use = "inner", code = "trap:TRAP" }', {"trap"}),
        ('[[optimizer]]\nuse = "sliding"\nestimator = [{ use = "inner", code = "trap:TRAP" }]', {"trap"}),
        ('[[optimizer]]\nuse = "sliding"\nestimator = { use = ["inner"], code = "trap:TRAP" }', {"trap"}),
        ('[[optimizer]]\nuse = "sliding"\ncode = [["os:sep", "re:A"]]', {"os", "re"}),
        (
            """[[optimizer]]
use = "sliding"
estimator = { tune = "choice", values = [{ use = "inner" }, { use = "inner", code = "trap:TRAP" }] }""",
            {"trap"},
        ),
        ('[[problem]]\nuse = "loaded"\ncode = "math:e"\n[[optimizer]]\nuse = "sliding"', set()),
        ('[[problem]]\nuse = "loaded"\ncode = "shlex:quote"', set()),
    ],
)
def test_code_is_found_in_a_bundle_wherever_its_suite_names_it(loading, monkeypatch, tables, names):
    loading("run", "bowls.toml", "--no-report", "--repetitions", 1)
    loading("export", "--bundle", "bowls.zip")
    run, _ = read_bundle(loading.folder / "bowls.zip")
    problem, optimizer = '[[problem]]\nuse = "bowl"\n', '\n[[optimizer]]\nuse = "slide"'
    text = "repetitions = 1\nbudget = { iterations = 3 }\n" + (problem if "[[problem]]" not in tables else "")
    text += tables + (optimizer if "[[optimizer]]" not in tables else "")
    monkeypatch.chdir(loading.folder)
    forged, given = replace(run, text=text), ["bowls.py", "loader.py"]
    if not names:
        assert planning.plan_bundle(forged, given).trials
        return
    with pytest.raises(PluginError, match="if you trust") as refused:
        planning.plan_bundle(forged, given)
    _, *advised = str(refused.value).split(" --plugin ")
    assert set(advised) == {each.replace("FOLDER", str(loading.folder)) for each in names}
    assert not (loading.folder / "sprung").exists()
    assert planning.plan_bundle(forged, [*given, *advised]).trials


def test_the_advised_folder_of_code_is_that_beside_the_bundle(loading):
    cli = loading
    suite = cli.suite.replace('plugins = ["bowls.py"]', LOADED)
    cli.write("loaded.toml", suite.replace('use = "bowl"', 'use = "loaded"\nfolder = "traps"'))
    done = cli("run", "loaded.toml", "--no-report", "--only", "step=0.5")
    assert done.returncode == 0, done.stderr
    cli("export", "--bundle", "bowls.zip")
    (cli.folder / "down").mkdir()
    (cli.folder / "bowls.zip").rename(cli.folder / "down/bowls.zip")
    (cli.folder / "traps").rename(cli.folder / "down/traps")
    again = ("run", "--from-bundle", "down/bowls.zip", "--dry-run", *PLUGINS)
    advised = cli(*again).stderr.split(" pass --plugin ")[1].strip()
    assert cli(*again, "--plugin", advised).returncode == 0


def test_a_package_in_the_working_folder_can_be_given_as_a_plugin(loading):
    cli = loading
    (cli.folder / "mine").mkdir()
    (cli.folder / "bowls.py").rename(cli.folder / "mine/__init__.py")
    cli.write("mine.toml", cli.suite.replace('"bowls.py"', '"mine"'))
    assert cli("run", "mine.toml", "--no-report", "--only", "step=0.5").returncode == 0
    cli("export", "--bundle", "mine.zip")
    done = cli("run", "--from-bundle", "mine.zip", "--dry-run", "--plugin", "mine")
    assert done.returncode == 0, done.stderr


def test_a_name_that_is_not_a_text_is_an_error(loading):
    registry = Registry([str(loading.folder / "bowls.py")])
    tables = [("optimizer", {"use": "slide", "estimator": {"use": ["inner"]}}), ("problem", {"use": 1})]
    for kind, table in tables:
        with pytest.raises(PluginError, match="must be a text"):
            registry.inspect(kind, table)


HOSTILE = """
from dataclasses import dataclass
from benchfw import CountedProblem, Problem, hookimpl

EVIL = "=cmd|' /C calc'!A0\\x1b[2J\\x9b31m<script>alert(1)</script>\\r\\n\\u202e"

class Sly(CountedProblem):
    cost_unit = EVIL
    def __init__(self, backend, rng):
        self.backend = backend
    def metrics(self, answer):
        return {EVIL: 1.0, "=1+1": 2.0}

@dataclass(frozen=True)
class Slyer:
    how: str = ""
    solves = Problem
    def run(self, problem, rng):
        yield 0
        if self.how == "raise":
            raise type(EVIL, (Exception,), {})(EVIL)
        while True:
            yield 1

@hookimpl
def register_problems(register):
    register("sly", Sly)

@hookimpl
def register_optimizers(register):
    register("slyer", Slyer)
"""
SLY_SUITE = """
title = "=2+2 \\u001b[2J\\u009b<script>alert(2)</script>"
plugins = ["sly.py"]
repetitions = 1
budget = { iterations = 3 }
[[problem]]
use = "sly"
label = "=3+3\\u001b[31m<script>alert(3)</script>"
[[optimizer]]
use = "slyer"
label = "@SUM(A1)\\u0007<script>alert(4)</script>"
how = ["raise", "go"]
"""


def test_text_from_plugins_and_suites_is_harmless_wherever_it_is_shown(cli):
    cli.write("sly.py", HOSTILE)
    cli.write("sly.toml", SLY_SUITE)
    done = cli("run", "sly.toml")
    assert done.returncode == 1, done.stderr
    shown = done.stdout + done.stderr
    for verb in (["runs"], ["report"], ["report", "--format", "md"], ["replay", "1"], ["show", "slyer"]):
        again = cli(*verb, *(["--plugin", "sly.py"] if verb[0] in {"show", "replay"} else []))
        # what a replayed method prints is shown as it is, and so is the traceback of its fault
        shown += again.stdout + (again.stderr if verb[0] != "replay" else "")
    assert not [each for each in shown if not (each.isprintable() or each in "\n\t")]
    exported = cli("export").stdout
    for row in csv.reader(exported.splitlines()):
        assert not any(cell.startswith(("=", "+", "@", "\t", "\r")) for cell in row), row
    for path in (cli.folder / "reports").rglob("*.html"):
        assert "<script>alert" not in path.read_text(encoding="utf-8")
    for path in (cli.folder / "reports").rglob("*.csv"):
        for row in csv.reader(path.read_text(encoding="utf-8").splitlines()):
            assert not any(cell.startswith(("=", "@", "\t", "\r")) for cell in row), row


WATCHED = """
import os, sys
def heard(event, arguments):
    if event in {"socket.__new__", "socket.bind", "socket.connect"}:
        with open(os.environ["HEARD"], "a") as file:
            file.write(f"{os.getpid()} {event}\\n")
sys.addaudithook(heard)
with open(os.environ["HEARD"] + ".watching", "a") as file:
    file.write(f"{os.getpid()}\\n")
"""


@pytest.mark.process  # an audit hook cannot be taken back
@pytest.mark.thorough
def test_no_socket_is_opened_by_a_run(cli):
    plugin = cli.folder / "bowls.py"
    plugin.write_text(plugin.read_text(encoding="utf-8") + WATCHED, encoding="utf-8")
    heard = cli.folder / "heard"
    done = cli("run", "bowls.toml", "--jobs", 2, HEARD=str(heard))
    assert done.returncode == 0, done.stderr
    watching = set((cli.folder / "heard.watching").read_text().split())
    assert len(watching) == 4  # the parent, the process that it tries the plugin in, and two workers
    assert not heard.exists(), heard.read_text()


def test_json_that_is_printed_can_be_read_whatever_it_holds(cli):
    cli.write("sly.py", HOSTILE)
    cli.write("sly.toml", SLY_SUITE)
    cli("run", "sly.toml", "--no-report")
    printed = cli("runs", "--json").stdout
    assert not [each for each in printed if not (each.isprintable() or each == "\n")]
    assert json.loads(printed)[0]["title"].startswith("=2+2 \x1b[2J\x9b")
    assert len(json.loads(cli("export", "--format", "json").stdout)) > 2


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("form", ["csv", "json"])
def test_an_export_to_a_terminal_cannot_steer_it_and_one_to_a_file_is_exact(cli, monkeypatch, form):
    cli.write("sly.py", HOSTILE)
    cli.write("sly.toml", SLY_SUITE)
    cli("run", "sly.toml", "--no-report")
    written = cli("export", "--format", form, "-o", "records")
    assert written.returncode == 0
    assert cli("export", "--format", form).stdout == (cli.folder / "records").read_bytes().decode()
    terminal = Terminal()
    monkeypatch.setattr("benchfw.cli.verbs.export.sys", mock.Mock(stdout=terminal))
    assert cli("export", "--format", form).returncode == 0
    assert "SUM(A1)" in terminal.getvalue()
    assert all(each.isprintable() or each == "\n" for each in terminal.getvalue())


LOUD = HOSTILE.replace("=cmd|", "loud" * 500_000)


def test_a_megabyte_that_a_plugin_says_goes_nowhere(cli):
    cli.write("sly.py", LOUD + "\nSly.caveats = (EVIL,)\n")
    cli.write("sly.toml", SLY_SUITE)
    done = cli("run", "sly.toml", "--events", "events")
    assert done.returncode == 1, done.stderr
    for each in (done, cli("export"), cli("report", "--format", "md"), cli("export", "--summary")):
        assert len(each.stdout + each.stderr) < 50_000
    cli("export", "--bundle", "run.zip")
    made = [each for each in cli.folder.rglob("*") if each.is_file() and each.suffix not in {".py", ".js"}]
    assert {"index.html", "events", "benchfw.sqlite", "run.zip"} <= {each.name for each in made}
    assert max(each.stat().st_size for each in made) < 500_000
