"""`benchfw run` from the outside: what it runs, keeps, prints and returns."""

import json
import sqlite3

import pytest

from benchfw.provenance import Run
from benchfw.report.terminal import describe_counts


def test_a_run_prints_verdicts_tables_and_where_the_report_is(cli):
    done = cli("run", "bowls.toml")
    assert done.returncode == 0, done.stderr
    assert "bowl, optimizers (slide): The methods step=0.5 and step=0.1 reach gap" in done.stdout
    assert "variance" in done.stdout
    assert "report: reports/run-1/index.html" in done.stdout
    assert (cli.folder / "reports/run-1/index.html").is_file()


def test_a_second_run_runs_no_trial_again_and_says_so(cli):
    cli("run", "bowls.toml", "--no-report")
    again = cli("run", "bowls.toml", "--no-report")
    assert again.returncode == 0
    assert "nothing was run, all 8 trials are in reports/benchfw.sqlite already" in again.stdout
    assert cli.timeless("1") == cli.timeless("2")


def test_fresh_runs_what_is_stored_and_gives_the_same_records(cli):
    cli("run", "bowls.toml", "--no-report")
    cli("run", "bowls.toml", "--no-report", "--fresh")
    assert cli.last_run()["reused"] == 0
    assert cli.timeless("1") == cli.timeless("2")


def test_one_job_and_two_jobs_give_identical_records_but_for_the_times(cli):
    cli("run", "bowls.toml", "--no-report", "--jobs", 1, "--store", "one.sqlite")
    cli("run", "bowls.toml", "--no-report", "--jobs", 2, "--store", "two.sqlite")
    assert cli.timeless(store="one.sqlite") == cli.timeless(store="two.sqlite")


def test_a_run_in_two_parts_gives_the_records_of_one(cli):
    cli("run", "bowls.toml", "--no-report", "--store", "whole.sqlite")
    cli("run", "bowls.toml", "--no-report", "--store", "parts.sqlite", "--only", "noisy")
    cli("run", "bowls.toml", "--no-report", "--store", "parts.sqlite")
    assert cli.timeless(store="parts.sqlite") == cli.timeless(store="whole.sqlite")


def test_a_dry_run_tells_how_small_a_difference_can_be_found(cli):
    words = ("run", "bowls.toml", "--repetitions", "4")
    two = cli("run", "bowls.toml", "--dry-run").stdout
    assert "2 repetitions can find no difference; 3 are the fewest that can" in two
    assert (
        "4 repetitions can find is not known before a pilot: run it with --repetitions 6"
        in cli(*words, "--dry-run").stdout
    )
    cli("run", "bowls.toml", "--repetitions", "3", "--no-report")
    told = cli(*words, "--dry-run").stdout
    assert (
        "the smallest ratios that 4 repetitions find with 90 % chance, "
        "by the largest normal noise that run 1 allows for ("
    ) in told
    safer = "run 1 has 3 paired runs, too few to show whether data are of two kinds: a pilot of 6 is safer"
    assert safer in told
    assert any(line.split()[:2] == ["bowl", "gradients"] for line in told.splitlines())
    assert "bowls: " not in cli(*words, "--only", "slide*0.5", "--dry-run").stdout  # no other method


def test_a_dry_run_lists_trials_and_writes_nothing(cli):
    done = cli("run", "bowls.toml", "--dry-run", "--json")
    assert done.returncode == 0, done.stderr
    assert [each["stored"] for each in json.loads(done.stdout)] == [False] * 8
    assert not (cli.folder / "reports").exists()
    cli("run", "bowls.toml", "--no-report", "--only", "slide")
    listed = json.loads(cli("run", "bowls.toml", "--dry-run", "--json").stdout)
    assert {each["method"]: each["stored"] for each in listed} == {
        "slide (step=0.5)": True,
        "slide (step=0.1)": True,
        "noisy (scale=1)": False,
        "noisy (scale=2)": False,
    }


def test_the_command_line_overrides_repetitions_and_quick_shrinks_the_suite(cli):
    cli("run", "bowls.toml", "--no-report", "--repetitions", 3, "--only", "step=0.5")
    assert cli.last_run()["trials"] == 3
    cli.write("quick.toml", cli.suite + "\n[quick]\nrepetitions = 1\nbudget = { iterations = 4 }\n")
    cli("run", "quick.toml", "--no-report", "--quick", "--only", "slide")
    assert {row["repetition"] for row in cli.records()} == {"0"}
    assert max(int(row["iteration"]) for row in cli.records()) == 4


ABSENT = """
from benchfw import BenchfwError, hookimpl
from benchfw.errors import BackendUnavailable

def absent():
    raise BackendUnavailable("the abacus is not available: no beads")

@hookimpl
def register_backends(register):
    register("abacus", absent)
"""


def test_a_backend_that_is_absent_is_skipped_with_its_reason_and_is_no_failure(cli):
    cli.write("abacus.py", ABSENT)
    words = (
        "run",
        "bowls.toml",
        "--no-report",
        "--plugin",
        "abacus.py",
        "--backend",
        "numpy",
        "--backend",
        "abacus",
    )
    planned = cli(*words, "--dry-run").stdout
    assert "bowls: trials on abacus would be skipped here: the abacus is not available: no beads" in planned
    assert "trials on numpy" not in planned
    done = cli(*words)
    assert done.returncode == 0, done.stderr
    assert cli.last_run()["counts"] == {"done": 8, "skipped": 8}
    reasons = {row["reason"] for row in cli.records() if row["status"] == "skipped"}
    assert reasons == {"the abacus is not available: no beads"}
    cli(*words)
    assert cli.last_run()["reused"] == 8  # what was skipped is tried again


def test_a_run_all_of_whose_trials_were_skipped_exits_with_1_and_says_so(cli):
    cli.write("abacus.py", ABSENT)
    done = cli("run", "bowls.toml", "--no-report", "--plugin", "abacus.py", "--backend", "abacus")
    assert done.returncode == 1
    assert done.stderr.endswith("benchfw: run 1 measured nothing: all 8 trials were skipped\n")
    assert "the abacus is not available: no beads" in done.stdout


@pytest.mark.usefixtures("slept")
def test_seconds_hold_none_of_the_time_that_metrics_take(cli):
    cli.write("slow.toml", cli.suite.replace('use = "bowl"', 'use = "bowl"\npause = 0.05'))
    cli("run", "slow.toml", "--no-report", "--only", "slide", "--repetitions", 1)
    assert {row["seconds"] for row in cli.records() if row["iteration"] == "20"} == {"0.0"}


@pytest.mark.usefixtures("slept")
def test_a_step_that_sleeps_ten_milliseconds_is_charged_ten_milliseconds(cli):
    cli.write("nap.toml", cli.suite.replace("step = [0.5, 0.1]", "nap = 0.01"))
    cli("run", "nap.toml", "--no-report", "--only", "slide", "--repetitions", 1)
    seconds = next(float(row["seconds"]) for row in cli.records() if row["iteration"] == "20")
    assert seconds == pytest.approx(20 * 0.01)


def test_events_are_json_lines(cli):
    cli("run", "bowls.toml", "--no-report", "--events", "events.jsonl", "--only", "step=0.5")
    events = [json.loads(line) for line in (cli.folder / "events.jsonl").read_text().splitlines()]
    assert [each["event"] for each in events] == ["planned", "started", "finished", "started", "finished"]
    assert events[-1]["status"] == "done"
    assert {each["run"] for each in events} == {1}
    assert [each["time"] for each in events] == sorted(each["time"] for each in events)


def test_the_store_is_an_ordinary_sqlite_file(cli):
    cli("run", "bowls.toml", "--no-report")
    with sqlite3.connect(cli.folder / "reports/benchfw.sqlite") as base:
        assert base.execute("SELECT COUNT(*) FROM trial").fetchone() == (8,)
        assert base.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    base.close()


def test_several_suites_run_one_after_the_other(cli):
    cli.write("other.toml", cli.suite.replace("seed = 3", "seed = 4"))
    done = cli("run", "bowls.toml", "other.toml", "--no-report", "--only", "step=0.5")
    assert done.returncode == 0
    assert cli.run_count() == 2


@pytest.mark.parametrize(("trials", "said"), [(1, "its one trial is in"), (3, "all 3 trials are in")])
def test_a_run_that_found_everything_says_so_of_one_trial_and_of_many(tmp_path, trials, said):
    run = Run(1, "s", "", tmp_path, "now", counts={"done": trials}, reused=trials)
    assert f"nothing was run, {said} {tmp_path} already" in describe_counts(run)
