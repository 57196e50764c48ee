"""Bad input gives one clear line, exit code 2, no traceback, and nothing is stored."""

import re
import sqlite3
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from benchfw.store import APPLICATION_ID
from benchfw.store.schema import SCHEMA_VERSION

BASE = """
plugins = ["bowls.py"]
budget = { iterations = 5 }
[[problem]]
use = "bowl"
[[optimizer]]
use = "slide"
"""

MISTAKES = {
    "unreadable TOML": ("title = \n" + BASE, ["bad.toml", "line 1"]),
    "unknown key": (
        "repetition = 3\n" + BASE,
        ["bad.toml", "unknown key 'repetition'", "did you mean 'repetitions'"],
    ),
    "unknown plugin name": (
        BASE.replace('"slide"', '"slidee"'),
        ["unknown optimizer 'slidee' in bad.toml, [[optimizer]] 1; did you mean 'slide'?"],
    ),
    "key of the suite below a table": (
        BASE + "repetitions = 3\n",
        ["'repetitions' is a key of the suite; move it above the first [[table]]"],
    ),
    "key of the suite below a claim": (
        f'{BASE}[[claim]]\nsays = "x"\nmethod = "slide"\nreaches = true\nrepetitions = 3\n',
        ["bad.toml, [[claim]] 1: 'repetitions' is a key of the suite; move it above the first [[table]]"],
    ),
    "unknown parameter": (
        BASE + "stepp = 1.0\n",
        ["bad.toml, [[optimizer]] 1", "'stepp'", "'step'", "step, nap"],
    ),
    "wrong type": (BASE + 'step = "big"\n', ["step must be float, got 'big', in ", "[[optimizer]] 1"]),
    "value that the plugin refuses": (BASE + "step = -1.0\n", ["slide", "step must be positive, got -1.0"]),
    "negative budget": (BASE.replace("= 5", "= -5"), ["budget iterations must be a positive number, got -5"]),
    "zero budget": (BASE.replace("= 5", "= 0"), ["budget iterations must be a positive number, got 0"]),
    "empty budget": (BASE.replace("{ iterations = 5 }", "{}"), ["budget is empty"]),
    "empty sweep": (BASE + "step = []\n", ["[[optimizer]] 1", "'step' is an empty list"]),
    "method without its oracles": (
        BASE.replace('"slide"', '"needy"'),
        ["optimizer 'needy' needs a Composite problem", "problem 'bowl' has no penalty, prox"],
    ),
    "no method": (
        BASE.replace("[[optimizer]]", "[[problem]]").replace('"slide"', '"bowl"\nsize = 3'),
        ["names no method"],
    ),
    "the same method twice": (
        BASE + '[[optimizer]]\nuse = "slide"\nlabel = "again"\n',
        ["'again' repeats 'slide'"],
    ),
    "a plugin file that is not there": (
        BASE.replace("bowls.py", "balls.py"),
        ["bad.toml, plugins: no file 'balls.py' in "],
    ),
}


def one_clear_line(done, *parts):
    assert done.returncode == 2, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    for part in parts:
        assert part in lines[0]


def test_a_plugin_that_a_suite_names_in_vain_is_said_with_the_suite_and_where_it_was_looked_for(cli):
    cli.write("inside/bad.toml", BASE.replace("bowls.py", "balls.py"))
    one_clear_line(
        cli("run", "inside/bad.toml"),
        f"inside/bad.toml, plugins: no file 'balls.py' in {cli.folder / 'inside'} or {cli.folder}; correct",
    )
    cli.write("bad.toml", BASE.replace("bowls.py", "no_such_module"))
    one_clear_line(cli("run", "bad.toml"), "bad.toml, plugins: no plugin module 'no_such_module'; install it")


ESTIMATOR = """
from benchfw import Smooth, hookimpl

class Guess:
    solves, estimates = Smooth, "gradient"

    def draw(self, problem, rng):
        return problem.grad

@hookimpl
def register_estimators(register):
    register("guess", Guess)
"""


@pytest.mark.parametrize(
    ("declared", "found"),
    [("", "'gradient'"), ("del Guess.estimates", "None"), ("Guess.estimates = []", "[]")],
)
def test_an_estimator_that_says_in_no_known_word_what_it_estimates_is_refused(cli, declared, found):
    cli.write("guess.py", f"{ESTIMATOR}\n{declared}\n")
    cli.write("guess.toml", BASE.replace("optimizer", "estimator").replace("slide", "guess"))
    for words in ((), ("--dry-run",)):
        one_clear_line(
            cli("run", "guess.toml", "--plugin", "guess.py", *words),
            'guess.toml: estimator \'guess\': Guess.estimates must be "value", "grad" or "auto", '
            f"not {found}",
        )


READER = """
from bowls import Bowl
from benchfw import LocalPath, hookimpl

class Read(Bowl):
    def __init__(self, backend, rng, file: LocalPath = ""):
        super().__init__(backend, rng)
        open(file).close()

@hookimpl
def register_problems(register):
    register("read", Read)
"""


def test_a_file_that_is_not_here_is_said_before_anything_runs(cli):
    cli.write("read.py", READER)
    suite = BASE.replace("bowls.py", 'bowls.py", "read.py').replace('"bowl"', '"read"\nfile = "data.txt"')
    cli.write("read.toml", suite)
    said = "which does not exist; put it there, or change the suite"
    for words in ((), ("--dry-run",)):
        one_clear_line(
            cli("run", "read.toml", *words),
            f"read.toml: file of problem 'read' is {cli.folder / 'data.txt'}, {said}",
        )
    cli.write("data.txt", "")
    assert cli("run", "read.toml", "--no-report").returncode == 0
    assert cli("export", "--bundle", "read.zip").returncode == 0
    other = cli.elsewhere(cli.folder / "other")
    for name in ("bowls.py", "read.py", "read.zip"):
        other.write(name, "")
        (other.folder / name).write_bytes((cli.folder / name).read_bytes())
    one_clear_line(
        other("run", "--from-bundle", "read.zip", "--plugin", "bowls.py", "--plugin", "read.py"),
        f"read.zip: file of problem 'read' is {other.folder / 'data.txt'}, {said}",
    )


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_a_suite_is_one_line_and_nothing_is_stored(cli, mistake):
    text, parts = MISTAKES[mistake]
    cli.write("bad.toml", text)
    one_clear_line(cli("run", "bad.toml"), *parts)
    assert not (cli.folder / "reports").exists()


def test_an_unknown_suite_names_the_nearest(cli):
    cli.write("suites/bowling.toml", BASE)
    one_clear_line(cli("run", "bowlin"), "no suite 'bowlin'", "did you mean 'bowling'")


def test_two_plugins_with_one_name_are_both_named(cli):
    cli.write("more_bowls.py", (cli.folder / "bowls.py").read_text())
    done = cli("run", "bowls.toml", "--plugin", "more_bowls.py")
    one_clear_line(done, "two plugins register the problem 'bowl'", "more_bowls.py", "bowls.py")


def test_a_file_that_is_not_a_store_is_refused_and_left_as_it_was(cli):
    path = cli.write("notes.txt", "these are my notes, all of them\n" * 50)
    one_clear_line(cli("run", "bowls.toml", "--store", "notes.txt"), "notes.txt", "--store")
    assert path.read_text().startswith("these are my notes")


def test_a_foreign_database_is_refused_and_left_as_it_was(cli):
    with sqlite3.connect(cli.folder / "mine.sqlite") as base:
        base.execute("CREATE TABLE mine (x)")
    base.close()
    before = (cli.folder / "mine.sqlite").read_bytes()
    one_clear_line(cli("run", "bowls.toml", "--store", "mine.sqlite"), "not a benchfw store")
    assert (cli.folder / "mine.sqlite").read_bytes() == before


def test_a_store_from_a_newer_schema_is_refused(cli):
    with sqlite3.connect(cli.folder / "new.sqlite") as base:
        base.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        base.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
        base.execute("CREATE TABLE trial (id)")
    base.close()
    one_clear_line(
        cli("run", "bowls.toml", "--store", "new.sqlite"),
        f"schema {SCHEMA_VERSION + 1}",
        "use the benchfw",
    )


@pytest.mark.parametrize("store", ["reports/benchfw.sqlite", "reports/mine/benchfw.sqlite"])
def test_a_file_where_the_folder_of_the_store_would_be_is_named(cli, store):
    cli.write("reports", "not a folder")
    one_clear_line(
        cli("run", "bowls.toml", "--store", store), f"no store can be at {store}: reports is a file; move it"
    )


def test_a_python_file_in_the_place_of_a_suite_is_called_a_plugin(cli):
    one_clear_line(cli("run", "bowls.py"), "bowls.py is a Python file", "with --plugin bowls.py")


@pytest.mark.parametrize("folder", [".", "./", "suites/"])
def test_a_folder_in_the_place_of_a_plugin_is_called_one(cli, folder):
    (cli.folder / "suites").mkdir()
    one_clear_line(cli("run", "bowls.toml", "--plugin", folder), f"plugin '{folder}' is a folder")


@pytest.mark.parametrize(
    "words", [("run", "bowls.toml", "--plugin"), ("check",), ("time", "--plugin"), ("new", "optimizer")]
)
def test_a_name_too_long_for_a_file_is_one_line(cli, words):
    one_clear_line(cli(*words, "x" * 300 + ("" if "new" in words else ".py")), "invalid file name xxx")


def test_a_store_whose_name_is_no_text_is_one_like_any_other(cli):
    store = ("--store", "caf\udce9.sqlite")
    for words in (("run", "bowls.toml"), ("report", "--single-file"), ("export", "--bundle", "bundle.zip")):
        done = cli(*words, *store)
        assert done.returncode == 0, done.stderr
    assert (cli.folder / "caf\udce9-run-1" / "index.html").is_file()


def test_a_page_that_could_not_be_written_is_named_before_anything_runs(cli):
    cli.write("reports/run-1", "a file where the report's folder would be")
    one_clear_line(cli("run", "bowls.toml", "--events", "no/such/folder/events"), "--events")


@pytest.mark.parametrize("verb", [["runs"], ["report"], ["export"], ["replay", "1"]])
def test_a_verb_that_reads_a_store_says_where_it_looked(cli, verb):
    one_clear_line(cli(*verb), "no store at reports/benchfw.sqlite")


@pytest.mark.parametrize("verb", [["report", "7"], ["export", "x"], ["replay", "99"]])
def test_an_unknown_run_or_trial_is_named(cli, verb):
    cli("run", "bowls.toml", "--no-report", "--only", "step=0.5")
    one_clear_line(cli(*verb), f"'{verb[1]}'" if verb[0] != "replay" else "no trial 99")


@pytest.mark.parametrize("size", ["0", "-1", "many", "1.2.3G"])
def test_a_size_that_is_none_is_explained(cli, size):
    done = cli("run", "bowls.toml", f"--memory={size}")
    assert done.returncode == 2
    assert "write 500MB or 2G" in done.stderr


def test_an_unknown_verb_names_the_nearest(cli):
    done = cli("rnu")
    assert done.returncode == 2
    assert "did you mean 'run'" in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a file that is always full is a thing of Linux")
@pytest.mark.parametrize("words", [("runs",), ("export", "last"), ("export", "last", "--format", "bmf")])
def test_output_that_cannot_be_written_is_one_clear_line(cli, words):
    assert cli("run", "bowls.toml", "--no-report").returncode == 0
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "benchfw", *words], cwd=cli.folder, env=cli.environment, check=False,
            stdout=full, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
    assert done.returncode == 2
    assert re.fullmatch(r"benchfw: standard output cannot be written \(.*No space left.*\n", done.stderr)


def test_a_run_number_may_have_any_length(cli):
    assert cli("run", "bowls.toml", "--no-report").returncode == 0
    done = cli("report", "9" * 5000)
    assert done.returncode == 2
    assert done.stderr.startswith("benchfw: no run '999")
    assert "Traceback" not in done.stderr
    assert cli("compare", "9" * 5000, "last").stderr.startswith("benchfw: no run '999")


def test_a_damaged_archive_is_not_a_bundle(cli):
    path = cli.folder / "damaged.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("run.sqlite.xz", "x" * 100)
    content = path.read_bytes()
    path.write_bytes(content.replace(b"PK\x01\x02", b"XXXX"))
    done = cli("import", "damaged.zip")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_a_generator_function_is_not_a_factory(cli):
    cli.write(
        "walks.py",
        "from benchfw import hookimpl\ndef walk(problem, rng):\n    yield problem.start()\n"
        "@hookimpl\ndef register_optimizers(register):\n    register('walk', walk)\n",
    )
    cli.write(
        "walks.toml", BASE.replace('"slide"', '"walk"').replace('["bowls.py"]', '["bowls.py", "walks.py"]')
    )
    done = cli("run", "walks.toml")
    assert done.returncode == 2
    assert "optimizer 'walk' is a generator function; register what makes an object with run" in done.stderr


def test_an_answer_that_is_none_is_named(cli):
    cli.write(
        "nothing.py",
        "from dataclasses import dataclass\nfrom benchfw import Smooth, hookimpl\n"
        "@dataclass(frozen=True)\nclass Nothing:\n    solves = Smooth\n"
        "    def run(self, problem, rng):\n        while True:\n            yield\n"
        "@hookimpl\ndef register_optimizers(register):\n    register('nothing', Nothing)\n",
    )
    suite = BASE.replace('"slide"', '"nothing"').replace('["bowls.py"]', '["bowls.py", "nothing.py"]')
    cli.write("nothing.toml", suite)
    done = cli("run", "nothing.toml", "--no-report", "--jobs", "0", "--repetitions", "1")
    assert done.returncode == 1
    assert "an answer is None; yield the parameters, as in `yield x`" in " ".join(done.stdout.split())
