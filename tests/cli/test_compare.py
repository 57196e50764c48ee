"""`benchfw compare A B` from the outside: real runs, and stores with known numbers."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from benchfw.provenance import Burst, Environment, Machine, Noise
from benchfw.records import Budget, Ending, Outcome, Record, Spec, Status, Trial
from benchfw.store import Store

MACHINE = Machine(processor="Example 3000", cores=8, memory=2**34, governor="performance")
HERE = Environment(MACHINE, backends={"numpy": {"device": "Example 3000"}})


def trials(changes, repetitions):
    specs = {"slide": "optimizer", "noisy": "estimator"}
    for method, kind in specs.items():
        for repetition in range(repetitions):
            trial = Trial(
                kind, Spec("bowl", {"size": 5}, "bowl"), Spec(method, {}, method), "numpy", repetition, 3,
                Budget(iterations=100), {"gap": 0.1}, key=f"{method} {repetition}",
            )  # fmt: skip
            yield replace(trial, **changes)


def with_cpu_seconds(outcome, slowdown):
    records = [each._replace(cpu_seconds=each.seconds / slowdown) for each in outcome.records]
    return replace(outcome, records=tuple(records))


def outcome_of(trial, noise, pace, scale):
    """An optimizer that halves its gap in every step, or the last records of an estimator."""
    data = 1 + 0.2 * trial.repetition
    seconds = data * pace * math.exp(noise)
    if trial.kind == "estimator":
        metrics = {
            "variance": data * scale,
            "variance_std_error": 0.02 * data * scale,
            "variance_skewness": 0.0,
            "mse": data * scale,
        }
        records = [Record(name, 100, 100 * seconds, 100, value) for name, value in metrics.items()]
    else:
        records = [Record("gap", step, step * seconds, step, scale * 0.5**step) for step in range(11)]
    return Outcome(Status.DONE, Ending.ITERATIONS, "budget of 100 iterations", tuple(records))


@pytest.fixture
def write(cli):
    """Return a function that adds a run with known numbers to a store and returns its id."""
    generator = np.random.default_rng(1)

    def add(
        store="reports/benchfw.sqlite", pace=1.0, scale=1.0, repetitions=10, environment=HERE, busy=1.0,
        cpu=False, **changes,
    ):  # fmt: skip
        bursts = tuple(Burst(float(k), 0.001 * busy, 0.001, 0.001) for k in range(1, 4))
        with Store(cli.folder / store, create=True) as opened:
            run = opened.begin("made-up", "", "", environment)
            for position, trial in enumerate(trials(changes, repetitions)):
                noise = 0.02 * generator.standard_normal()
                outcome = outcome_of(trial, noise, busy * pace, scale)
                opened.add(run, position, trial, with_cpu_seconds(outcome, busy) if cpu else outcome)
            opened.finish(run, Noise(bursts))
        return run

    return add


def verdicts(done):
    rows = json.loads(done.stdout)["rows"]
    return {(row["method"], row["quantity"]): row["verdict"] for row in rows}


def test_two_real_runs_of_one_suite_have_the_same_quality(cli):
    cli("run", "bowls.toml", "--no-report")
    cli("run", "bowls.toml", "--no-report", "--fresh")
    done = cli("compare", 1, "last")
    assert done.returncode == 0, done.stderr
    assert "gap" in done.stdout
    found = verdicts(cli("compare", 1, "last", "--json"))
    assert found["noisy (scale=2)", "variance"] == "identical"
    assert found["slide (step=0.5)", "cost_to_target"] == "identical"
    # two repetitions are too few for times
    assert found["noisy (scale=2)", "cpu_seconds_per_draw"] == "within noise"


def test_a_run_that_took_its_trials_over_says_that_nothing_was_measured_again(cli):
    cli("run", "bowls.toml", "--no-report")
    cli("run", "bowls.toml", "--no-report")
    done = cli("compare", 1, 2)
    assert done.returncode == 0
    assert "8 trials in both runs, not measured again" in done.stdout


def test_a_slow_down_is_a_regression_and_exit_code_1(cli, write):
    write()
    write(pace=1.3)
    done = cli("compare", 1, 2, "--json")
    assert done.returncode == 1
    found = verdicts(done)
    assert found["slide", "seconds_to_target"] == "regressed"
    assert found["noisy", "variance_x_seconds"] == "regressed"
    assert found["noisy", "variance"] == "identical"
    row = next(row for row in json.loads(done.stdout)["rows"] if row["quantity"] == "seconds_to_target")
    assert row["low"] < 1.3 < row["high"]
    assert row["count"] == 10
    text = cli("compare", 1, 2)
    assert text.returncode == 1
    assert "regressed" in text.stdout.splitlines()[1]  # the worst news first


def test_what_few_runs_show_is_said_to_take_them_as_normal(cli, write):
    assumed = "verdicts from fewer than 6 runs assume that runs vary like normal noise"
    write(repetitions=5)
    write(repetitions=5, pace=2)
    done = cli("compare", 1, 2)
    assert done.returncode == 1, done.stdout
    assert assumed in done.stdout
    write()
    write(pace=2)
    assert assumed not in cli("compare", 3, 4).stdout


def test_times_of_a_busy_machine_are_not_called_regressed_and_the_loop_says_why(cli, write):
    write()
    write(busy=2.0)
    done = cli("compare", 1, 2, "--json")
    found = verdicts(done)
    times = ("slide", "seconds_to_target"), ("noisy", "seconds_per_draw"), ("noisy", "variance_x_seconds")
    assert {found[each] for each in times} == {"within noise"}
    assert found["slide", "cost_to_target"] == "identical"
    assert done.returncode == 0
    (sentence,) = json.loads(done.stdout)["busy"]
    assert sentence.startswith("run 2: the machine was busy: a loop of known work took 2 times as long")


def test_cpu_seconds_show_a_slow_down_through_other_work_and_none_where_there_is_none(cli, write):
    write(cpu=True, busy=1.3)
    write(cpu=True, busy=2.0)
    write(cpu=True, busy=2.0, pace=1.3)
    alike, slower = (verdicts(cli("compare", 1, other, "--json")) for other in (2, 3))
    times = [each for each in alike if "seconds" in each[1]]
    used = {"cpu_seconds_to_target", "cpu_seconds_per_draw", "variance_x_cpu_seconds"}
    assert {name for _, name in times} == {*used, "seconds_to_target", "seconds_per_draw"}
    assert not {"regressed", "improved"} & {alike[each] for each in times}
    assert {slower[each] for each in times if each[1] in used} == {"regressed"}


def test_the_other_way_round_it_is_an_improvement(cli, write):
    write()
    write(pace=1.3)
    done = cli("compare", "last", 1, "--json")
    assert done.returncode == 0
    assert verdicts(done)["slide", "seconds_to_target"] == "improved"


def test_the_floor_can_be_raised(cli, write):
    write()
    write(pace=1.3)
    assert cli("compare", 1, 2, "--floor", 0.5).returncode == 0
    refused = cli("compare", 1, 2, "--floor", -1)
    assert refused.returncode == 2
    assert "--floor" in refused.stderr


def test_runs_of_two_stores_are_compared(cli, write):
    write(store="old.sqlite")
    write(store="new.sqlite", scale=2.0)
    done = cli("compare", "old.sqlite:last", "new.sqlite:1", "--json")
    assert done.returncode == 1, done.stderr
    assert verdicts(done)["noisy", "variance"] == "regressed"
    mixed = cli("compare", "old.sqlite:1", "last", "--store", "new.sqlite", "--json")
    assert verdicts(mixed) == verdicts(done)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"threads": 4}, "threads 1 and 4"),
        ({"machine": replace(MACHINE, processor="Other")}, "processor Example 3000 and Other"),
        ({"machine": replace(MACHINE, cores=2)}, "cores 8 and 2"),
        ({"machine": replace(MACHINE, governor="powersave")}, "governor performance and powersave"),
        ({"backends": {"numpy": {"device": "GPU"}}}, "device Example 3000 and GPU"),
    ],
)
def test_times_of_unlike_machines_are_refused_and_the_rest_is_compared(cli, write, change, reason):
    write()
    write(pace=9.0, scale=2.0, environment=replace(HERE, **change))
    done = cli("compare", 1, 2, "--json")
    assert done.returncode == 1
    found = verdicts(done)
    assert found["noisy", "variance"] == found["slide", "gap"] == "regressed"
    assert not any("seconds" in quantity for _, quantity in found)
    assert any(reason in each for each in json.loads(done.stdout)["not_compared"])
    assert f"not compared: times on numpy ({reason})" in cli("compare", 1, 2).stdout


def test_a_few_bytes_of_memory_make_no_other_machine(cli, write):
    write()
    write(environment=replace(HERE, machine=replace(MACHINE, memory=2**34 - 4096)))
    assert ("slide", "seconds_to_target") in verdicts(cli("compare", 1, 2, "--json"))


def test_a_busy_machine_does_not_matter_to_cpu_seconds(cli, write):
    busy = replace(HERE, machine=replace(MACHINE, load=31.5), clock="cpu")
    write(environment=busy)
    write(environment=busy)
    assert "load" not in cli("compare", "1", "2").stdout


def test_a_method_that_no_longer_reaches_the_target_has_regressed(cli, write):
    write()
    write(scale=1e6)
    row = next(
        row for row in json.loads(cli("compare", 1, 2, "--json").stdout)["rows"]
        if row["quantity"] == "cost_to_target"
    )  # fmt: skip
    assert (row["verdict"], row["ratio"], row["after"]) == ("regressed", "inf", "inf")


def test_runs_with_other_seeds_are_compared_without_pairs(cli, write):
    write()
    write(seed=4, pace=4.0)
    done = cli("compare", 1, 2, "--json")
    row = next(row for row in json.loads(done.stdout)["rows"] if row["quantity"] == "seconds_per_draw")
    assert row["verdict"] == "regressed"
    # unpaired, the data's own spread is in the interval
    assert row["high"] / row["low"] > 1.5


def test_a_problem_that_changed_under_its_name_is_not_compared(cli, write):
    write()
    write(problem=Spec("bowl", {"size": 50}, "bowl"))
    done = cli("compare", 1, 2)
    assert done.returncode == 2
    assert "the problem is not the same" in done.stderr


def test_ends_of_unequal_budgets_are_not_compared(cli, write):
    write()
    write(budget=Budget(iterations=50))
    done = cli("compare", 1, 2, "--json")
    assert ("slide", "gap") not in verdicts(done)
    assert ("slide", "cost_to_target") in verdicts(done)
    assert any("budget or target differ" in each for each in json.loads(done.stdout)["not_compared"])


def test_what_is_in_one_run_only_is_named(cli, write):
    write()
    write(method=Spec("slide", {}, "slide"), kind="optimizer")
    done = cli("compare", 1, 2)
    assert "not compared: only in A: noisy on bowl (numpy)" in done.stdout


def test_a_label_cannot_steer_the_terminal(cli, write):
    label = "sly\x1b[2J"
    write(problem=Spec("bowl", {}, label))
    write(problem=Spec("bowl", {}, label))
    assert "\x1b" not in cli("compare", 1, 2).stdout


def test_help_explains_the_four_words_and_the_second_store(cli):
    text = " ".join(cli("compare", "--help").stdout.split())
    for said in ("regressed, improved", "no change", "identical", "within noise", "PATH:RUN", "Exit code 1"):
        assert said in text
