"""A problem that does not know its optimum: its gap is the distance to the best objective known."""

import json
import math
import re
import shlex

import pytest

PLUGIN = '''
from dataclasses import dataclass
from benchfw import CountedProblem, Smooth, hookimpl


class Well(CountedProblem):
    """A bowl whose lowest value is 3, which it does not know."""

    def __init__(self, backend, rng):
        self.backend = backend
        self.centre = rng.standard_normal(2)

    def start(self):
        return 0 * self.centre

    def value(self, x):
        return 3.0 + float(((x - self.centre) ** 2).sum())

    def grad(self, x):
        self._count(1)
        return 2 * (x - self.centre)

    def project(self, x):
        return x

    def metrics(self, answer):
        return {"objective": self.value(answer)}


@dataclass(frozen=True)
class Halve:
    """Each step leaves this share of the distance."""

    left: float = 0.5
    solves = Smooth

    def run(self, problem, rng):
        x = problem.start()
        for _ in range(25):
            yield x
            x = x - (1 - self.left) / 2 * problem.grad(x)


@hookimpl
def register_problems(register):
    register("well", Well)


@hookimpl
def register_optimizers(register):
    register("halve", Halve)
'''
SUITE = """
plugins = ["well.py"]
repetitions = 3
budget = { iterations = 30 }
target = { gap = 1e-4 }
[[problem]]
use = "well"
[[optimizer]]
use = "halve"
left = 0.7
[[optimizer]]
use = "halve"
left = 0.5
"""


@pytest.fixture
def well(cli):
    cli.write("well.py", PLUGIN)
    cli.write("well.toml", SUITE)
    return cli


def test_a_misspelt_target_is_told_that_there_is_a_gap(well):
    well.write("well.toml", SUITE.replace("gap =", "gapp ="))
    done = well("run", "well.toml", "--no-report", "--no-replay")
    assert done.returncode == 2
    assert "target 'gapp' is not a metric of problem 'well'; did you mean 'gap'?" in done.stderr


def test_the_command_that_a_fault_proposes_works(well):
    well.write("well.py", PLUGIN.replace("x = problem.start()", "raise ValueError('bad luck')"))
    said = " ".join(well("run", "well.toml", "--no-report", "--no-replay").stdout.split())
    (command, *_) = re.findall("`benchfw (replay [^`]*)`", said)
    done = well(*shlex.split(command))
    assert "ValueError: bad luck" in done.stdout + done.stderr
    assert "Traceback" in done.stdout + done.stderr


def test_the_gap_is_the_distance_to_the_lowest_objective_of_any_method(well):
    done = well("run", "well.toml", "--no-report", "--no-replay")
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert "optimizers (halve): The method left=0.5 needs" in said
    assert "to reach gap 0.0001" in said
    assert "before the target" not in said  # it ended by itself, but could not know where the target is
    assert (
        "The gap is the distance to the lowest objective of the repetition in this run, by any method."
        in said
    )
    summary = json.loads(well("export", "last", "--summary", "--format", "json").stdout)
    records = json.loads(well("export", "last", "--format", "json").stdout)
    for method in ("halve (left=0.7)", "halve (left=0.5)"):
        (row,) = (
            each for each in summary if (each["method"], each["quantity"]) == (method, "iterations_to_target")
        )
        # 25 steps by halves end 1e-15 above the bottom: as good as knowing it
        there = [each for each in records if each["method"] == method and each["value"] <= 3 + 1e-4]
        first = [min(each["iteration"] for each in there if each["repetition"] == one) for one in range(3)]
        assert row["low"] <= min(first) <= row["high"]
        assert row["estimate"] == pytest.approx(math.prod(first) ** (1 / 3), abs=1)  # looks are one apart


def test_a_lower_objective_of_another_run_counts_unless_the_problem_has_changed(well):
    short = SUITE.replace("iterations = 30", "iterations = 4")
    well.write("short.toml", short)
    alone = " ".join(well("run", "short.toml", "--no-report", "--no-replay").stdout.split())
    assert "in this run, by any method" in alone
    assert "left=0.5 in 3 of 3 runs" in alone  # its own end is the best that is known
    well("run", "well.toml", "--no-report", "--no-replay")
    again = " ".join(well("run", "short.toml", "--no-report", "--no-replay").stdout.split())
    assert "in this store, in any run" in again
    assert "No method reaches gap 0.0001" in again
    well.write("well.py", PLUGIN.replace("3.0 +", "4.0 +"))
    changed = " ".join(well("run", "short.toml", "--no-report", "--no-replay").stdout.split())
    assert "in this run, by any method" in changed


def test_a_best_objective_that_the_suite_gives_ends_a_trial_at_the_target(well):
    well.write("well.toml", SUITE.replace('use = "well"\n', 'use = "well"\nbest = 3\n'))
    done = well("run", "well.toml", "--no-report", "--no-replay")
    assert done.returncode == 0, done.stderr
    assert "6 trials (6 reached)" in done.stdout
    assert "the objective that was given as best" in " ".join(done.stdout.split())


def test_a_best_objective_that_is_not_the_best_is_one_sentence(well):
    well.write("well.toml", SUITE.replace('use = "well"\n', 'use = "well"\nbest = 3.5\n'))
    done = well("run", "well.toml", "--no-report", "--no-replay")
    assert done.returncode == 1
    assert "better than best = 3.5; correct it" in " ".join(done.stdout.split())


def test_a_problem_that_knows_its_gap_takes_no_best_objective(well):
    well.write("well.py", PLUGIN.replace('{"objective"', '{"gap": self.value(answer) - 3.0, "objective"'))
    well.write("well.toml", SUITE.replace('use = "well"\n', 'use = "well"\nbest = 3\n'))
    done = well("run", "well.toml", "--no-report", "--no-replay")
    assert done.returncode == 1
    assert "best = 3 is for a problem with the metric objective and without gap" in " ".join(
        done.stdout.split()
    )
