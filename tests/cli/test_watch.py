"""A report of a run that has not finished: made once, or watched."""

import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.workers

HANGS = """
title = "Hangs"
seed = 3
repetitions = 1
plugins = ["bowls.py"]
budget = { iterations = 20 }

[[problem]]
use = "bowl"

[[optimizer]]
use = "slide"

[[optimizer]]
use = "faulty"
how = "hang"
"""


def wait_for(condition):
    ends = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.1)


@pytest.fixture
def begin(cli):
    """Return a function that starts a verb and does not wait for it."""
    started = []

    def start(*words):
        process = subprocess.Popen(
            [sys.executable, "-m", "benchfw", *words],
            cwd=cli.folder,
            env=cli.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.thorough
def test_a_going_run_is_shown_as_far_as_it_is_and_watched_until_it_ends(cli, begin):
    cli.write("hangs.toml", HANGS)
    page = cli.folder / "reports/run-1/index.html"
    run = begin("run", "hangs.toml", "--no-report", "--jobs", "2", "--events", "events.jsonl")
    events = cli.folder / "events.jsonl"
    wait_for(lambda: events.exists() and '"finished"' in events.read_text(encoding="utf-8"))
    sentence = "run 1 is still going: 1 of 2 trials"

    shown = cli("report")
    assert shown.returncode == 0, shown.stderr
    assert sentence in shown.stdout
    assert sentence.capitalize() in page.read_text(encoding="utf-8")
    assert 'http-equiv="refresh"' not in page.read_text(encoding="utf-8")
    assert sentence in cli("report", "--format", "md").stdout
    assert "1 done, still going" in cli("runs").stdout

    patient, impatient = begin("report", "--watch"), begin("report", "1", "--watch")
    first = impatient.stdout.readline()
    assert first.startswith(f"{sentence}; its page, rewritten every 5 s: reports/run-1/index")
    wait_for(lambda: 'http-equiv="refresh"' in page.read_text(encoding="utf-8"))
    impatient.send_signal(signal.SIGINT)
    assert impatient.communicate(timeout=60)[0].endswith(f"{sentence}\nreport: reports/run-1/index.html\n")
    assert impatient.returncode == 0
    assert patient.poll() is None

    run.kill()  # as the system would: the run itself has no say in it
    told = patient.communicate(timeout=60)[0]
    assert patient.returncode == 0
    assert "run 1 was stopped: 1 of 2 trials; the same command continues from there" in told
    assert "Run 1 was stopped" in page.read_text(encoding="utf-8")
    assert 'http-equiv="refresh"' not in page.read_text(encoding="utf-8")


def test_watching_a_run_that_has_ended_writes_its_page_once(cli):
    cli("run", "bowls.toml", "--no-report", "--only", "step=0.5")
    done = cli("report", "--watch")
    assert done.returncode == 0, done.stderr
    assert "going" not in done.stdout
    assert 'http-equiv="refresh"' not in (cli.folder / "reports/run-1/index.html").read_text(encoding="utf-8")


def test_only_a_page_can_be_watched(cli):
    done = cli("report", "--watch", "--format", "md")
    assert done.returncode == 2
    assert "--watch is for the page" in done.stderr
