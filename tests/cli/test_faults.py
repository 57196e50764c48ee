"""What breaks becomes a status with a reason; the others go on."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.workers

SUITE = """
repetitions = 1
plugins = ["bowls.py"]
budget = {{ iterations = 20 }}
[[problem]]
use = "bowl"
[[optimizer]]
use = "slide"
[[optimizer]]
use = "faulty"
how = "{how}"
"""

REASONS = {
    "raise": ("failed", "RuntimeError: third time unlucky (bowls.py"),
    "exit": ("crashed", "the worker process ended with exit code 3"),
    "segfault": ("crashed", "the worker process was killed by SIGSEGV in "),
    "hang": ("timeout", "still running after 2 s"),
    "memory": ("out-of-memory", "it held more than 1 GB"),
}


@pytest.mark.parametrize(
    ("hows", "limits"),
    [
        (["hang", "raise"], ("--timeout", 2)),
        pytest.param(["exit", "segfault", "memory"], ("--memory", "1GB"), marks=pytest.mark.thorough),
    ],
)
def test_a_method_that_breaks_at_its_third_iteration_keeps_its_first_two_points(cli, hows, limits):
    cli.write("faulty.toml", SUITE.format(how="HOW").replace('"HOW"', json.dumps(hows)))
    done = cli("run", "faulty.toml", *limits, "--no-report")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    records = cli.records()
    for how in hows:
        status, reason = REASONS[how]
        rows = [row for row in records if row["method"] == f"faulty (how={how})"]
        assert [(row["iteration"], row["status"]) for row in rows] == [("0", status), ("1", status)]
        assert reason in rows[0]["reason"]
        assert reason in done.stdout.replace("\n    ", " ")
    assert {row["status"] for row in records if row["method"] == "slide"} == {"done"}


def test_a_method_that_returns_nan_has_diverged_and_the_run_is_no_failure(cli):
    cli.write("faulty.toml", SUITE.format(how="nan"))
    done = cli("run", "faulty.toml", "--no-report")
    assert done.returncode == 0
    rows = [row for row in cli.records() if row["method"] == "faulty"]
    assert [(row["iteration"], row["value"] == "nan") for row in rows] == [
        ("0", False),
        ("1", False),
        ("2", True),
    ]
    assert rows[0]["reason"] == "gap became nan at iteration 2"


def test_a_failed_trial_is_run_again_only_when_asked(cli):
    cli.write("faulty.toml", SUITE.format(how="raise"))
    cli("run", "faulty.toml", "--no-report")
    again = cli("run", "faulty.toml", "--no-report")
    assert again.returncode == 1
    assert "nothing was run" in again.stdout
    cli("run", "faulty.toml", "--no-report", "--retry-failed")
    assert cli.last_run()["reused"] == 1


def test_fail_fast_stops_at_the_first_fault(cli):
    cli.write("faulty.toml", SUITE.format(how="raise").replace("repetitions = 1", "repetitions = 10"))
    done = cli("run", "faulty.toml", "--no-report", "--fail-fast")
    assert done.returncode == 1
    assert cli.last_run()["counts"]["failed"] == 1


@pytest.mark.thorough
def test_an_interruption_keeps_finished_trials_and_the_next_run_goes_on(cli):
    suite = SUITE.format(how="hang").replace(
        'use = "slide"', 'use = "slide"\nstep = [0.1, 0.2, 0.3]\nnap = 0.01'
    )
    cli.write("long.toml", suite.replace("repetitions = 1", "repetitions = 4"))
    words = [sys.executable, "-m", "benchfw", "run", "long.toml", "--only", "slide", "--events", "events"]
    process = subprocess.Popen(
        words, cwd=cli.folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    events = cli.folder / "events"
    while time.monotonic() < deadline and not (
        events.exists() and events.read_text().count('"finished"') >= 3
    ):
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=30)
    assert process.returncode == 130
    assert re.search(r"\b(1 finished trial is|\d+ finished trials are) kept", told)
    kept = cli.last_run()["trials"]
    assert 3 <= kept < 12
    assert (cli.folder / "reports/run-1/index.html").is_file()
    cli("run", "long.toml", "--only", "slide", "--no-report")
    assert cli.last_run()["reused"] == kept
    cli("run", "long.toml", "--only", "slide", "--no-report", "--store", "undisturbed.sqlite")
    assert cli.timeless() == cli.timeless(store="undisturbed.sqlite")


def test_no_worker_outlives_a_killed_parent(cli):
    cli.write("hang.toml", SUITE.format(how="hang"))
    words = [sys.executable, "-m", "benchfw", "run", "hang.toml", "--only", "faulty", "--events", "events"]
    process = subprocess.Popen(words, cwd=cli.folder, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    try:
        while not (workers := workers_of(process.pid)) and time.monotonic() < deadline:
            time.sleep(0.02)
    finally:
        process.kill()
        process.wait()
    assert workers
    while time.monotonic() < deadline and any(alive(each) for each in workers):
        time.sleep(0.05)
    assert not any(alive(each) for each in workers)


def workers_of(parent):
    """Return the worker processes of a run with their supervisors; it may have other children, such as git.

    Without `ww` a list of processes is as wide as COLUMNS says, and long paths hide the words looked for.
    """
    listed = subprocess.run(
        ["ps", "-wweo", "pid=,ppid=,args="], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    processes = [line.split(maxsplit=2) for line in listed if "workers.supervisor" in line]
    supervisors = [number for number, above, _ in processes if int(above) == parent]
    workers = [number for number, above, _ in processes if above in supervisors]
    return [int(number) for number in (*supervisors, *workers)] if workers else []


def alive(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
