"""Faults that hide: children that keep pipes open, deaths in mid-message, slow starts, signals, races."""

import json
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.workers

SUITE = """
repetitions = 1
plugins = ["hard.py"]
budget = {{ {budget} }}
[[problem]]
use = "point"
[[optimizer]]
use = "hard"
how = {how}
"""


@pytest.fixture
def hard(cli):
    shutil.copy(Path(__file__).parents[1] / "plugins" / "hard.py", cli.folder)

    def run(how, *words, budget="iterations = 5", **variables):
        hows = json.dumps([how, "nothing"] if isinstance(how, str) else how)
        cli.write(
            "hard.toml", SUITE.format(how=hows, budget=budget).replace('["nothing", "nothing"]', '"nothing"')
        )
        done = cli("run", "hard.toml", "--no-report", *words, **variables)
        assert "Traceback" not in done.stderr, done.stderr
        return (
            {row["method"]: (row["status"], row["reason"]) for row in cli.records()}
            if cli.run_count()
            else done
        )

    run.cli = cli
    return run


FAULTS = {
    "child": ("crashed", "the worker process ended with exit code 3"),
    "kill": ("crashed", "was killed by SIGKILL, perhaps because the system ran out of memory"),
    "unknown signal": ("crashed", "was killed by"),
    "exit": ("failed", "SystemExit: enough (hard.py"),
    "interrupt": ("failed", "KeyboardInterrupt"),
    "number": ("failed", "run() of Hard returned int"),
    "falling cost": ("failed", "problem.cost is read-only: the oracles of Point count their calls"),
    "long words": ("failed", "ValueError: xxx"),
    "base": ("failed", "Odd: beyond Exception"),
}


def test_faults_that_hide_are_found_and_the_next_trial_runs(hard):
    ends = hard([*FAULTS, "nothing"])
    assert ends.pop("hard (how=nothing)")[0] == "done"
    assert {name: status for name, (status, _) in ends.items()} == {
        f"hard (how={how})": status for how, (status, _) in FAULTS.items()
    }
    for how, (_, reason) in FAULTS.items():
        assert reason in ends[f"hard (how={how})"][1]
        assert len(ends[f"hard (how={how})"][1]) < 700


def test_what_a_trial_starts_ends_with_the_run_and_all_that_it_does_is_on_the_clock(hard):
    ends = hard(["fork", "orphan", "work", "limit"])
    assert hard.cli.last_run()["trials"] == 4  # a child that a trial forked does not become a worker
    assert ends["hard (how=fork)"][0] in {"done", "failed"}
    listed = subprocess.run(["ps", "-wweo", "args="], capture_output=True, text=True, check=True).stdout
    assert "import time; time.sleep(60)" not in listed
    seconds = [float(row["seconds"]) for row in hard.cli.records() if row["method"] == "hard (how=work)"]
    assert min(seconds) >= 0.2  # before the first answer
    assert "the pool's limit is None" in ends["hard (how=limit)"][1]


def test_a_limit_of_memory_is_the_limit_on_the_gpu_too_and_a_timeout_may_be_very_long(hard):
    ends = hard("limit", "--memory", "2GB", "--timeout", "1e9")
    assert "the pool's limit is 2000000000" in ends["hard (how=limit)"][1]
    assert ends["hard (how=nothing)"][0] == "done"


def test_a_slow_import_is_not_charged_to_a_trial(hard):
    assert hard("nothing", "--timeout", 1.0, SLOW_IMPORT="1.5")["hard"][0] == "done"


def test_a_budget_of_cost_alone_ends_also_for_a_method_that_asks_no_more(hard):
    ends = hard("one call", budget="cost = 5")
    assert len(ends) == 2
    for status, reason in ends.values():
        assert status == "failed"
        assert "add iterations or seconds" in reason


@pytest.mark.thorough
def test_thousands_of_metrics_arrive(hard):
    hard.cli.write(
        "many.toml",
        SUITE.format(how='"nothing"', budget="iterations = 1").replace('"point"', '"point"\nmetrics = 3000'),
    )
    assert hard.cli("run", "many.toml", "--no-report").returncode == 0
    assert len(hard.cli.records()) == 2 * 3000


@pytest.mark.thorough
def test_a_random_module_in_the_users_folder_does_not_stop_the_workers(cli):
    cli.write("random.py", "raise RuntimeError('mine')\n")
    script = Path(sys.executable).parent / "benchfw"
    if not script.exists():
        pytest.skip("the console script is not installed")
    words = [str(script), "run", "bowls.toml", "--no-report", "--only", "step=0.5"]
    done = subprocess.run(words, cwd=cli.folder, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.thorough
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_before_anything_ran_claims_nothing(cli, number):
    cli("run", "bowls.toml", "--no-report", "--only", "noisy")
    cli.write("slow.py", "import os, time\ntime.sleep(1 if 'WAIT' in os.environ else 0)\n")
    words = [sys.executable, "-m", "benchfw", "run", "bowls.toml", "--no-report", "--plugin", "slow.py"]
    environment = {**cli.environment, "WAIT": "1"}
    process = subprocess.Popen(words, cwd=cli.folder, env=environment, stderr=subprocess.PIPE, text=True)
    time.sleep(0.7)
    process.send_signal(number)
    _, told = process.communicate(timeout=30)
    assert process.returncode in {130, -number}
    assert "kept" not in told


def test_a_terminated_run_keeps_what_it_finished(cli):
    cli.write("naps.toml", cli.suite.replace("step = [0.5, 0.1]", "step = [0.5, 0.1, 0.2]\nnap = 0.02"))
    words = [sys.executable, "-m", "benchfw", "run", "naps.toml", "--only", "slide", "--events", "events"]
    process = subprocess.Popen(
        words, cwd=cli.folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    events, deadline = cli.folder / "events", time.monotonic() + 60
    while time.monotonic() < deadline and not (events.exists() and '"finished"' in events.read_text()):
        time.sleep(0.02)
    process.terminate()
    _, told = process.communicate(timeout=30)
    assert process.returncode == 130
    assert re.search(r"\b(1 finished trial is|\d+ finished trials are) kept", told)
    assert 1 <= cli.last_run()["trials"] < 6


@pytest.mark.thorough
def test_many_first_runs_on_one_new_store_all_succeed(cli):
    words = [
        sys.executable,
        "-m",
        "benchfw",
        "run",
        "bowls.toml",
        "--no-report",
        "--jobs",
        "0",
        "--store",
        "new/store.sqlite",
    ]
    runs = [
        subprocess.Popen([*words, "--only", "step=0.5"], cwd=cli.folder, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    told = [process.communicate(timeout=60)[1] for process in runs]
    assert [process.returncode for process in runs] == [0, 0, 0], told
    assert cli.run_count("new/store.sqlite") == 3


def test_a_good_result_is_not_hidden_by_a_later_bad_one(cli):
    cli("run", "bowls.toml", "--no-report", "--only", "step=0.5")
    cli("run", "bowls.toml", "--no-report", "--only", "step=0.5", "--fresh", "--timeout", "1e-9")
    cli("run", "bowls.toml", "--no-report", "--only", "step=0.5")
    assert cli.last_run()["counts"] == {"done": 2}


HOOKS = """
from benchfw import hookimpl
@hookimpl
def trial_finished(trial, status):
    raise RuntimeError("not my day")
@hookimpl
def register_figures(register):
    register("broken", lambda summary: 1 / 0)
    register("number", lambda summary: 5)
    register("dots", lambda summary: {"data": ["dots"]})
    register("listed", lambda summary: {"data": [{"type": ["bar"], "y": [1]}]})
@hookimpl
def register_backends(register):
    register("odd", lambda: 1 / 0)
"""


def test_a_plugin_whose_hooks_raise_loses_nothing_but_its_own_work(cli):
    cli.write("hooks.py", HOOKS)
    done = cli("run", "bowls.toml", "--plugin", "hooks.py", "--only", "step=0.5")
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    for part in ("not my day", "figure 'broken'", "figure 'number'"):
        assert part in done.stderr
    assert (cli.folder / "reports/run-1/index.html").is_file()
    listed = cli("list", "backends", "--plugin", "hooks.py")
    assert "odd is not available: ZeroDivisionError" in listed.stdout


def test_two_stores_in_one_folder_have_pages_of_their_own(cli):
    for name in ("one", "two"):
        cli("run", "bowls.toml", "--store", f"pages/{name}.sqlite", "--only", "step=0.5")
    assert {path.parent.name for path in (cli.folder / "pages").glob("*/index.html")} == {
        "one-run-1",
        "two-run-1",
    }


def test_whole_numbers_and_decimals_are_the_same_parameter(cli):
    cli.write("whole.toml", cli.suite.replace("step = [0.5, 0.1]", "step = 1"))
    cli.write("decimal.toml", cli.suite.replace("step = [0.5, 0.1]", "step = 1.0"))
    cli("run", "whole.toml", "--no-report", "--only", "slide")
    cli("run", "decimal.toml", "--no-report", "--only", "slide")
    assert json.loads(cli("runs", "--json").stdout)[-1]["reused"] == 2


WRITER = """
from dataclasses import dataclass
from benchfw import Claims, Smooth, hookimpl

@dataclass(frozen=True)
class Writer:
    solves, estimates, claims = Smooth, "grad", Claims(unbiased=True)

    def draw(self, problem, rng):
        def gradient(x):
            x += 1
            return problem.grad(x)
        return gradient

@hookimpl
def register_estimators(register):
    register("writer", Writer)
"""


def test_an_estimator_that_writes_into_its_parameters_fails(cli):
    cli.write("writer.py", WRITER)
    cli.write(
        "writer.toml",
        'plugins = ["bowls.py", "writer.py"]\nbudget = { iterations = 50 }\nrepetitions = 2\n'
        '[[problem]]\nuse = "bowl"\n[[estimator]]\nuse = "writer"\n',
    )
    done = cli("run", "writer.toml", "--no-report", "--jobs", "0")
    assert done.returncode == 1
    assert "Writer, or an oracle of the problem, writes into the parameters that it gets, and all later" in (
        " ".join(done.stdout.split())
    )
