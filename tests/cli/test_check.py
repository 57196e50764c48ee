"""`benchfw check`: a line a check, and an exit code that says how it went."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
DESCENT = (TESTS / "plugins" / "descent.py").read_text("utf-8")


def test_a_broken_plugin_exits_with_1_and_says_what_to_do(cli):
    step = "x -= self.step * problem.grad(x); x[:] = problem.project(x)"
    cli.write("in_place.py", DESCENT.replace("x = problem.project(x - self.step * problem.grad(x))", step))
    done = cli("check", "in_place.py", "--seconds", "0.1")
    assert done.returncode == 1
    (failure,) = [row for row in done.stdout.splitlines() if row.startswith("failed")]
    assert "descent: inputs-kept:" in failure
    assert "To do: write x = x - step * g" in failure


def test_a_good_plugin_exits_with_0_and_json_tells_all(cli):
    done = cli("check", TESTS / "testing" / "good" / "everything.py", "--seconds", "0.1", "--json")
    assert done.returncode == 0, done.stdout
    rows = json.loads(done.stdout)
    assert {row["status"] for row in rows} == {"passed", "skipped"}
    assert {row["subject"].partition(" ")[0] for row in rows} == {
        "problem",
        "estimator",
        "optimizer",
        "distribution",
        "kernel",
    }


def test_warnings_of_the_checked_code_do_not_stand_between_the_lines(cli):
    cli.write("long_step.py", DESCENT.replace("0.1", "1e9").replace("problem.project", ""))
    done = cli("check", "long_step.py", "--only", "improves")
    assert done.returncode == 1
    assert done.stderr == ""
    assert "RuntimeWarning" not in done.stdout
    told = cli("check", "long_step.py", "--only", "improves", "--verbose").stdout.splitlines()
    assert told.count("warned: RuntimeWarning: overflow encountered in multiply (long_step.py, line 20)") == 1


@pytest.mark.thorough
def test_a_method_that_never_yields_is_stopped_in_time(cli):
    cli.write("endless.py", DESCENT.replace("yield x", "pass"))
    done = cli("check", "endless.py", "--timeout", "2")
    assert done.returncode == 1
    (failure,) = [row for row in done.stdout.splitlines() if row.startswith("failed")]
    assert "meets-a-problem: it was stopped after 2 s (endless.py, line " in failure
    assert done.stdout.endswith("endless.py: 3 passed, 1 failed, 19 skipped\n")


def test_a_plugin_that_ends_its_process_fails_and_the_rest_is_checked(cli):
    cli.write("fatal.py", DESCENT.replace("yield x", "print('hello'); __import__('os')._exit(3); yield x"))
    done = cli("check", "fatal.py")
    assert done.returncode == 1
    assert "hello" not in done.stdout
    (failure,) = [row for row in done.stdout.splitlines() if row.startswith("failed")]
    assert failure.endswith("meets-a-problem: its process ended with exit code 3")
    assert done.stdout.endswith("fatal.py: 3 passed, 1 failed, 19 skipped\n")


def test_an_interruption_ends_a_check_that_hangs(cli):
    cli.write("endless.py", DESCENT.replace("yield x", "pass"))
    words = [sys.executable, "-m", "benchfw", "check", "endless.py"]
    process = subprocess.Popen(
        words, cwd=cli.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with process:
        lines = [process.stdout.readline() for _ in range(4)]  # as they come
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
    assert lines[0].startswith("found 1: ")
    assert {line.partition(":")[0] for line in lines[1:]} == {"passed"}
    assert (process.returncode, told) == (130, "\nbenchfw: interrupted\n")
