"""A suite that tunes, from the command line: the plan, the phases, the same choices in any order of work."""

import json
import shutil
from pathlib import Path

import pytest

from benchfw.store import Store

SUITE = """
repetitions = 3
plugins = ["toys.py"]
budget = { iterations = 200 }
target = { gap = 1e-6 }
tune = { trials = 6, repetitions = 2 }

[[problem]]
use = "bowl"

[[optimizer]]
use = "slide"
step = { tune = "log", from = 0.01, to = 1.9 }

[[optimizer]]
use = "slide"
label = "plain"
step = 0.3
"""


@pytest.fixture
def suite(cli):
    """The name of a suite that tunes one of two methods."""
    shutil.copy(Path(__file__).parents[1] / "plugins" / "toys.py", cli.folder)
    cli.write("toy_helper.py", "FACTOR = 1.0\n")
    return cli.write("tuned.toml", SUITE)


def chosen(cli, store):
    """Return the setting of each trial of the verdict, and the trials of tuning with what they measured."""
    with Store(cli.folder / store) as opened:
        results = opened.results(opened.run("last").id)
    verdict = [each.trial.method.params["step"] for each in results if not each.trial.tuning]
    tuning = {
        each.trial.key: [(one.iteration, one.cost, one.value) for one in each.outcome.records]
        for each in results
        if each.trial.tuning
    }
    return verdict, tuning


def test_a_dry_run_counts_the_trials_of_both_phases(cli, suite):
    planned = cli("run", suite, "--dry-run")
    assert planned.returncode == 0
    assert "tuned, tuning: 12 trials, 0 of them in the store, 12 to run" in planned.stdout
    verdict = "tuned, verdict: 6 trials, at most 6 to run"
    assert verdict in planned.stdout
    assert cli("run", suite, "--jobs", "0", "--no-report").returncode == 0
    again = cli("run", suite, "--dry-run")
    assert "tuned, tuning: 12 trials, 12 of them in the store, 0 to run" in again.stdout
    assert (
        "tuned, verdict: 6 trials, at least 3 of them in the store, at most 3 to run, about" in again.stdout
    )
    rows = json.loads(cli("run", suite, "--dry-run", "--json").stdout)
    assert [(row["method"], row["phase"], row["trials"], row["stored"]) for row in rows] == [
        ("slide", "tuning", 12, 12),
        ("slide", "verdict", 3, None),
        ("plain", "verdict", 3, 3),
    ]


def test_a_dry_run_of_a_tuner_that_depends_on_the_allowance_counts_what_there_is(cli, suite):
    cli.write("grid.toml", SUITE.replace("repetitions = 2", 'repetitions = 2, tuner = "grid"'))
    planned = cli("run", "grid.toml", "--dry-run").stdout
    assert "grid, tuning: 12 trials, 0 of them in the store, 12 to run\n" in planned
    assert cli("run", "grid.toml", "--jobs", "0", "--no-report", "--no-replay").returncode == 0
    again = cli("run", "grid.toml", "--dry-run").stdout
    assert "grid, tuning: 12 trials, 12 of them in the store, 0 to run\n" in again


def test_a_dry_run_limits_the_time_of_each_phase_by_its_own_budget(cli, suite):
    text = SUITE.replace("iterations = 200", "seconds = 60")
    cli.write("timed.toml", text.replace("repetitions = 2", "repetitions = 2, budget = { seconds = 5 }"))
    planned = cli("run", "timed.toml", "--dry-run").stdout
    assert "timed, tuning: 12 trials, 0 of them in the store, 12 to run, at most 60 s by" in planned
    assert "timed, verdict: 6 trials, at most 6 to run, at most 6 min by" in planned


def test_progress_and_events_name_the_phase(cli, suite):
    done = cli("run", suite, "--jobs", "0", "--no-report", "--events", "events.jsonl")
    assert "run 1, tuning: 12 trials to run, 0 in the store already" in done.stderr
    assert "run 1: 6 trials to run, 0 in the store already" in done.stderr
    assert "run 1: 18 trials (6 reached; 12 trials of tuning)" in done.stdout
    events = [json.loads(line) for line in (cli.folder / "events.jsonl").read_text().splitlines()]
    phases = [each["phase"] for each in events if each["event"] == "planned"]
    assert phases == ["tuning", "verdict"]
    again = cli("run", suite, "--jobs", "0", "--no-report")
    assert "run 2: nothing was run, all 18 trials are in" in again.stdout


def test_exports_keep_tuning_apart(cli, suite):
    cli("run", suite, "--jobs", "0", "--no-report")
    verdict, tuning = (
        json.loads(cli("export", "last", "--format", "json", *more).stdout) for more in ((), ("--tuning",))
    )
    assert {row["tuning"] for row in verdict} == {0}
    assert {row["tuning"] for row in tuning} == {1}
    assert {row["method"] for row in tuning} == {"slide"}
    assert len({row["step"] for row in tuning}) == 6
    assert len({row["step"] for row in verdict}) == 2


@pytest.mark.parametrize(
    "options",
    [
        ("--jobs", "2"),
        pytest.param(("--dask", "local", "--jobs", "2"), marks=[pytest.mark.thorough, pytest.mark.families]),
    ],
)
def test_the_choice_does_not_depend_on_who_runs_the_trials(cli, suite, options):
    quick = ("--no-report", "--no-replay")
    assert cli("run", suite, "--jobs", "0", *quick, "--store", "one.sqlite").returncode == 0
    many = cli("run", suite, *options, "--isolation", "worker", *quick, "--store", "two.sqlite")
    assert many.returncode == 0, many.stderr
    one, two = (chosen(cli, store) for store in ("one.sqlite", "two.sqlite"))
    assert one[0] == two[0]
    assert sorted(one[1].values()) == sorted(two[1].values())


def test_what_needs_settled_methods_says_so(cli, suite):
    refused = cli("run", suite, "--against", "HEAD")
    assert refused.returncode == 2
    assert "--against needs methods whose parameters are values, and this suite tunes some" in refused.stderr


ABSENT = '''
from dataclasses import dataclass
from benchfw import Smooth, Unavailable, hookimpl

@dataclass(frozen=True)
class Absent:
    """A method of a library that is not here."""
    step: float = 0.1
    """Step length."""
    solves = Smooth

    def prepare(self, problem):
        raise Unavailable("nowhere is not installed; pip install nowhere")

    def run(self, problem, rng):
        yield problem.start()

@hookimpl
def register_optimizers(register):
    register("absent", Absent)
'''


def test_a_method_whose_library_is_missing_is_skipped_and_not_said_to_break_in_tuning(cli, suite):
    cli.write("absent.py", ABSENT)
    text = SUITE.replace('["toys.py"]', '["toys.py", "absent.py"]')
    tuned = '\n[[optimizer]]\nuse = "absent"\nstep = { tune = "log", from = 0.01, to = 1.9 }\n'
    cli.write(suite, text + tuned)
    done = cli("run", suite, "--no-replay")
    said = done.stdout + done.stderr
    assert "absent on bowl (numpy): 3 of 3 trials were skipped: nowhere is not installed" in " ".join(
        said.split()
    )
    assert "broke" not in said
