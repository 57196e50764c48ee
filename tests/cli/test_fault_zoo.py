"""One suite with every fault and four healthy methods, which notice nothing of the others."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.workers

PLUGINS = Path(__file__).parents[1] / "plugins"

SUITE = """
repetitions = 1
seed = 5
plugins = ["zoo.py"]
budget = {{ iterations = 1_000_000, cost = 500 }}
[[problem]]
use = "bowl"
[[optimizer]]
use = "slide"
step = [0.5, 0.25, 0.1]
[[optimizer]]
use = "aware"
{faults}
"""

NICKNAME = f"a-child-of-the-zoo-{os.getpid()}"  # tells the children of this test from any other process

ENDINGS = {
    "raises": ("failed", "RuntimeError: I give up (zoo.py, line"),
    "gives-nan": ("diverged", "gap became nan at iteration 1"),
    "gives-infinity": ("diverged", "gap became inf at iteration 1"),
    "diverges": ("diverged", "gap became inf at iteration"),
    "hangs": ("timeout", "still running after 2 s"),
    "hangs-in-native-code": ("timeout", "still running after 2 s"),
    "never-yields": ("timeout", "still running after 2 s"),
    "yields-nothing": ("failed", "the method yielded no answer; run() must yield the start first"),
    "segfaults": ("crashed", "the worker process was killed by SIGSEGV in "),
    "exits": ("crashed", "the worker process ended with exit code 3"),
    "eats-memory": ("out-of-memory", "memory"),
    "crashes-with-children": ("crashed", "the worker process ended with exit code 4"),
    "prints-much": ("done", "method ended by itself"),
    "leaves-children": ("done", "method ended by itself"),
    "disturbs": ("done", "method ended by itself"),
    "yields-fast": ("done", "budget of 1,000,000 iterations"),
}


@pytest.fixture(scope="module")
def zoo(tmp_path_factory):
    """Run the suite once; give its result, its events, its records, and how large its largest process was."""
    folder = tmp_path_factory.mktemp("zoo")
    for name in ("bowls.py", "zoo.py"):
        shutil.copy(PLUGINS / name, folder)
    tables = [f'[[optimizer]]\nuse = "{name}"\n' for name in ENDINGS if name != "diverges"]
    tables = [table + f'nickname = "{NICKNAME}"\n' if "children" in table else table for table in tables] + [
        '[[optimizer]]\nuse = "slide"\nlabel = "diverges"\nstep = 3.0\n'
    ]
    (folder / "zoo.toml").write_text(SUITE.format(faults="\n".join(tables)))
    # the parent's own peak, at its end: its children are larger
    wrapper = (
        "import atexit; from benchfw.backends import get_backend; from benchfw.cli import main\n"
        "told = lambda: open('peak', 'w').write(str(get_backend('numpy').memory()))\n"
        "atexit.register(told); main()\n"
    )
    words = ["run", "zoo.toml", "--no-report", "--timeout", "2", "--memory", "400MB", "--events", "events"]
    done = subprocess.run(
        [sys.executable, "-c", wrapper, *words, "--threads", "1"],
        cwd=folder, capture_output=True, text=True, timeout=180, check=False,
    )  # fmt: skip
    return folder, done, [json.loads(line) for line in (folder / "events").read_text().splitlines()]


def finished(zoo):
    return {
        each["method"]: (each["status"], each["reason"]) for each in zoo[2] if each["event"] == "finished"
    }


def test_the_run_ends_with_code_1_and_no_traceback(zoo):
    _, done, _ = zoo
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert len(finished(zoo)) == 4 + len(ENDINGS)


@pytest.mark.parametrize("name", ENDINGS)
def test_a_fault_has_the_right_word_and_a_reason(zoo, name):
    status, reason = ENDINGS[name]
    assert finished(zoo)[name][0] == status
    assert reason in finished(zoo)[name][1]


def test_healthy_methods_are_done(zoo):
    healthy = {name: end for name, end in finished(zoo).items() if name not in ENDINGS}
    assert healthy == dict.fromkeys(healthy, ("done", "budget of 500 gradients"))
    assert len(healthy) == 4


def test_a_hang_in_native_code_ends_at_its_limit(zoo):
    (seconds,) = (
        each["seconds"]
        for each in zoo[2]
        if each["event"] == "finished" and each["method"] == "hangs-in-native-code"
    )
    assert 2 <= seconds < 300  # it would sleep for so long


def test_no_process_is_left(zoo):
    listed = subprocess.run(["ps", "-wweo", "args="], capture_output=True, text=True, check=True).stdout
    assert NICKNAME not in listed


def test_the_parent_stays_small(zoo):
    # half of this, and not the 100 MB that a trial prints
    assert int((zoo[0] / "peak").read_text()) < 160e6


def test_records_of_a_million_answers_are_few(zoo, cli):
    rows = [row for row in cli.elsewhere(zoo[0]).records() if row["method"] == "yields-fast"]
    assert rows[-1]["iteration"] == "1000000"
    assert len(rows) < 400


PAIR = """
repetitions = 4
plugins = ["zoo.py"]
budget = { iterations = 10 }
[[problem]]
use = "bowl"
[[optimizer]]
use = ["disturbs", "aware"]
"""


def test_what_a_trial_changes_around_itself_is_put_back_before_the_next(cli):
    shutil.copy(PLUGINS / "zoo.py", cli.folder)
    cli.write("zoo.toml", PAIR)
    for more in ((), ("--only", "aware", "--store", "alone.sqlite")):
        done = cli("run", "zoo.toml", "--no-report", "--threads", 1, *more)
        assert done.returncode == 0, done.stderr
    together = [row for row in cli.timeless() if row["method"] == "aware"]
    assert together == cli.timeless(store="alone.sqlite")
