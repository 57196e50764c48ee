"""Every mistake is answered by the sentence that stands below it in mistakes.toml, before anything is stored.

A sentence that is meant to change: `make frozen`, and the diff says what changed.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from fixtures.command import run_command, working_in
from fixtures.golden import read_cases, write_again

from benchfw.errors import BenchfwError
from benchfw.plan import check_quick, plan
from benchfw.registry import Registry
from benchfw.report.text import printable
from benchfw.store import APPLICATION_ID
from benchfw.store.schema import SCHEMA_VERSION
from benchfw.suite import parse_suite

FILE = Path(__file__).with_name("mistakes.toml")
PLUGINS = ["toys.py", "paces.py", "odd.py"]
SHORTHANDS = {"LONG": "x" * 1001, "NINES": "9" * 5000}
CASES = read_cases(FILE, ["suite", "run", "command", "python", "plugin"], SHORTHANDS)


class Doors:
    """The ways in, in a folder of the files that inputs name; each returns what is said of a case."""

    def __init__(self, folder):
        self.folder, self.run_command, self.names = folder, run_command, {}
        places = {"BENCHFW_DATA": str(folder), "BENCHFW_CACHE": str(folder / "cache")}
        self.environment = {**os.environ, **places, "PYTHONDONTWRITEBYTECODE": "1"}
        make_files(folder)
        words = "run slide.toml --store kept.sqlite --jobs 0 --no-report --no-replay"
        assert run_command(words.split(), folder, self.environment).returncode == 0
        with working_in(folder, self.environment):
            self.registry = Registry(PLUGINS)
            exec((folder / "given.py").read_text("utf-8"), self.names)  # objects that no file has

    def answer(self, case):
        """Return what is said of a case, the same on every machine."""
        said = getattr(self, case.door)(case)
        for short, long in {**SHORTHANDS, "FOLDER": str(self.folder)}.items():
            said = said.replace(long, short)
        assert "\n" not in said
        return printable(said)

    def suite(self, case):
        def plan_suite():
            suite = parse_suite(case.text, "my.toml")
            check_quick(suite, self.registry, "my.toml")
            plan(suite, self.registry, "my.toml")

        return self._call(plan_suite)

    def run(self, case):
        (self.folder / "my.toml").write_text(case.text, "utf-8")
        words = ["run", "my.toml", *(word for name in PLUGINS for word in ("--plugin", name))]
        said = self._enter(words)
        assert self._enter([*words, "--dry-run"]) == said
        return said

    def command(self, case):
        return self._enter(shlex.split(case.text))

    def python(self, case):
        return self._call(lambda: eval(case.text, self.names))

    def plugin(self, case):
        (self.folder / "plugin.py").write_text(case.text, "utf-8")
        return self._call(lambda: eval(case.call, self.names))

    def _call(self, function):
        with working_in(self.folder, self.environment), pytest.raises(BenchfwError) as fault:
            function()
        return str(fault.value)

    def _enter(self, words):
        before = self._files()
        done = self.run_command(words, self.folder, self.environment)
        assert (done.returncode, done.stdout) == (2, "")
        assert self._files() == before
        return done.stderr.rstrip().rpartition("\n\n")[2]  # without the usage of a verb

    def _files(self):
        return {path: path.is_file() and path.read_bytes() for path in self.folder.rglob("*")}


def make_files(folder):
    """Write the files that inputs name."""
    for name in ("toys.py", "paces.py", "bowls.py"):
        shutil.copy(Path(__file__).parent / "plugins" / name, folder)
    for name, text in tomllib.loads(FILE.read_text("utf-8"))["files"].items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    (folder / "several" / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with zipfile.ZipFile(folder / "damaged.zip", "w") as archive:
        archive.writestr("run.sqlite.xz", "x" * 100)
    (folder / "damaged.zip").write_bytes((folder / "damaged.zip").read_bytes().replace(b"PK\1\2", b"XXXX"))
    newer = f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {SCHEMA_VERSION + 1};"
    for name, begin in {"foreign": "", "newer": newer}.items():
        with contextlib.closing(sqlite3.connect(folder / f"{name}.sqlite")) as base:
            base.executescript(f"{begin} CREATE TABLE trial (id)")


def three_of(door):
    cases = [case for case in CASES if case.door == door]
    return [cases[0], cases[len(cases) // 2], cases[-1]]


@pytest.fixture(scope="module")
def doors(tmp_path_factory):
    return Doors(tmp_path_factory.mktemp("mistakes"))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_mistake_is_answered_by_its_sentence(doors, case):
    said = doors.answer(case)
    assert case.agrees(said), f"{said}\n{__doc__}"


@pytest.mark.parametrize("case", three_of("suite"), ids=str)
def test_the_command_line_says_of_a_suite_what_planning_says(doors, case):
    assert doors.run(case) == f"benchfw: {doors.answer(case)}"


@pytest.mark.parametrize("case", three_of("command"), ids=str)
def test_a_process_of_its_own_says_what_is_said_in_this_one(doors, case, monkeypatch):
    def run_process(words, folder, environment):
        words = [sys.executable, "-m", "benchfw", *words]
        return subprocess.run(words, check=False, cwd=folder, env=environment, capture_output=True, text=True)

    monkeypatch.setattr(doors, "run_command", run_process)
    assert case.agrees(doors.answer(case))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        write_again(FILE, CASES, [*map(Doors(Path(name).resolve()).answer, CASES)])
