"""What `compare` says of made-up runs in which trials fail, never arrive, wait, or work elsewhere."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchfw.cli.verbs.compare import comparison_data, print_comparison
from benchfw.errors import BenchfwError
from benchfw.provenance import Burst, Noise, Run
from benchfw.records import Budget, Ending, Outcome, Record, Result, Spec, Status, Trial
from benchfw.summary.compare import compare_runs
from benchfw.summary.histories import histories_by_cell
from benchfw.summary.sides import common_targets

RUNS = 10
QUIET = Noise(tuple(Burst(float(k), 0.001, 0.001, 0.001) for k in range(3)))
RAISED = "RuntimeError: boom"


def side(
    kind="optimizer", *, number=1, seed=1, runs=RUNS, fails=0, short=0, wall=1.0, cpu=1.0,
    noise=QUIET, budget=90, methods="a", prepare=None, ending=Ending.ITERATIONS, step=1, overshoot=1.0,
    signed=None, device="",
):  # fmt: skip
    """A run; the last of the method's runs fail, those before them stop short of the target.

    `prepare` is what preparing costs and takes, `signed` where the values end, `step` the cost of a step.
    """
    results = []
    for method in methods:
        for r in range(runs):
            broken = r >= runs - fails
            trial = Trial(
                kind, Spec("p", {}, "p"), Spec(method, {}, method), "numpy", r, seed,
                Budget(iterations=budget), {"gap": 0.1} if kind == "optimizer" else {},
            )  # fmt: skip
            pace = 1 + 0.01 * ((7 * r + 3 * number) % 10) + 0.1 * r

            def record(name, step, value, pace=pace, each=step):
                used = step * cpu * pace
                return Record(name, step, step * wall * pace, step * each, value, cpu_seconds=used)

            if kind == "estimator":
                found = {"variance": pace, "variance_std_error": 0.05, "variance_skewness": 0.0, "mse": pace}
                records = [record(name, 100, value) for name, value in found.items()]
                records = [] if broken else records
            else:
                arrives = r < runs - fails - short
                gaps = [0.5**k for k in range(6 if arrives else 3)]
                gaps[-1] *= overshoot
                if signed is not None:
                    gaps = [5.0, signed + 0.1 * pace]
                records = [record("gap", k, value) for k, value in enumerate(gaps)]
            ended = (
                Outcome(Status.FAILED, Ending.FAULT, RAISED, tuple(records))
                if broken
                else Outcome(Status.DONE, ending, "", tuple(records))
            )
            if prepare is not None:
                ended = replace(ended, prepare_cost=prepare, prepare_seconds=prepare * wall * pace)
            results.append(Result(len(results), trial, replace(ended, device=device)))
    return Run(number, "made-up", "", Path("s"), "", noise=noise), results


def compare(before, after):
    found = compare_runs(before, after, 0.05)
    for row in found.rows:  # a p-value and a word never contradict each other
        assert (row.change.adjusted <= 0.05) == (row.change.word in {"regressed", "improved"})
    return {row.quantity: row for row in found.rows}, found


@pytest.mark.parametrize("seed", [1, 2], ids=["the same seed", "another seed"])
def test_runs_of_an_optimizer_that_all_fail_are_a_regression_in_every_row_and_a_sentence(seed, capsys):
    rows, found = compare(side(), side(number=2, seed=seed, fails=RUNS))
    assert {rows[each].change.word for each in ("runs_failed", "gap", "cost_to_target")} == {"regressed"}
    # with no finite number on one side, all follow from how often runs fail
    assert rows["gap"].change.probability == pytest.approx(rows["runs_failed"].change.probability)
    assert "runs_short_of_target" not in rows  # it would say the same again
    print_comparison(found, 0.05)
    shown = capsys.readouterr().out
    assert f"regressed: a on p (numpy) fails in 10 of 10 runs, 0 of 10 before (failed: {RAISED})" in shown
    assert "10/10, 0/10" in shown
    back, _ = compare(side(seed=seed, fails=RUNS), side(number=2))
    assert back["runs_failed"].change.word == back["cost_to_target"].change.word == "improved"
    assert back["runs_failed"].sentence.startswith("a on p (numpy) fails in 0 of 10 runs, 10 of 10 before")


def test_a_few_failures_are_named_and_within_noise():
    rows, _ = compare(side(), side(number=2, fails=2))
    assert rows["runs_failed"].change.word == "within noise"
    assert rows["runs_failed"].sentence.startswith("a on p (numpy) fails in 2 of 10 runs, 0 of 10 before")
    assert rows["cost_to_target"].ended == ((10, 10), (8, 10))


def test_runs_that_no_longer_arrive_are_counted_apart_from_those_that_fail():
    rows, _ = compare(side(), side(number=2, seed=2, short=9))
    assert rows["runs_short_of_target"].change.word == rows["cost_to_target"].change.word == "regressed"
    assert rows["runs_short_of_target"].sentence == (
        "a on p (numpy) reaches the target in 1 of 10 runs, 10 of 10 before"
    )
    assert "runs_failed" not in rows
    both, _ = compare(side(), side(number=2, fails=2, short=6))
    assert both["runs_failed"].ended == ((10, 10), (8, 10))
    assert both["runs_short_of_target"].ended == ((10, 10), (2, 10))


def test_runs_that_a_shorter_budget_keeps_from_the_target_are_no_regression():
    with pytest.raises(BenchfwError, match="did not arrive and budget or target differ: a on p"):
        compare(side(), side(number=2, short=9, budget=50))


def test_an_estimator_that_raises_has_regressed_and_its_survivors_are_not_compared():
    rows, found = compare(side("estimator"), side("estimator", number=2, fails=6))
    assert list(rows) == ["runs_failed"]
    assert rows["runs_failed"].change.word == "regressed"
    assert found.refused == (
        "values of the runs that finish, since not the same ones finish in A and B: a on p (numpy)",
    )
    alike, _ = compare(side("estimator", fails=3), side("estimator", number=2, fails=3))
    assert alike["variance"].change.ratio.count == 7  # the same seeds fail in both
    nothing, refused = compare(side("estimator"), side("estimator", number=2, fails=RUNS))
    assert list(nothing) == ["runs_failed"]
    assert refused.refused == (f"no value in B (failed: {RAISED}): a on p (numpy)",)


def test_work_that_moved_to_another_process_is_a_regression_in_time_and_a_sentence(capsys):
    rows, found = compare(side(), side(number=2, wall=15.0, cpu=0.1))
    assert rows["cpu_seconds_to_target"].change.word == "improved"
    assert rows["seconds_to_target"].change.word == "regressed"
    print_comparison(found, 0.05)
    shown = capsys.readouterr().out
    assert "regressed: a on p (numpy): wall time (seconds_to_target) is 15 [" in shown
    assert "times: the work moved to other processes, or it waits" in shown
    _, back = compare(side(wall=15.0, cpu=0.1), side(number=2))
    print_comparison(back, 0.05)
    assert "times: it waits less, for other processes say, or more threads" in capsys.readouterr().out


def test_waiting_is_a_change_only_beyond_the_noise_of_both_runs():
    busy = Noise(tuple(Burst(float(k), 0.003, 0.001, 0.001) for k in range(3)))
    for kind, time in (("optimizer", "seconds_to_target"), ("estimator", "seconds_per_draw")):
        rows, found = compare(side(kind), side(kind, number=2, wall=2.0))
        assert rows[time].change.word == "regressed"
        assert [each.quantity for each, _ in found.times_apart()] == [time]
        for noise in (busy, Noise()):  # a loop took three times as long; nothing is known
            rows, found = compare(side(kind), side(kind, number=2, wall=1.9, noise=noise))
            assert rows[time].change.word == rows[f"cpu_{time}"].change.word == "within noise"
            assert not list(found.times_apart())
    rows, found = compare(side(), side(number=2, wall=2.0, cpu=2.0))
    assert rows["seconds_to_target"].change.word == rows["cpu_seconds_to_target"].change.word == "regressed"
    assert not list(found.times_apart())


def test_on_a_device_times_are_compared_and_the_noise_of_the_host_is_in_its_part_of_them():
    slow = Noise(tuple(Burst(float(k), 0.0015, 0.001, 0.0015) for k in range(3)))
    for cpu, word in ((0.1, "regressed"), (1.0, "within noise")):
        rows, _ = compare(
            side(device="GPU", cpu=cpu), side(number=2, device="GPU", cpu=cpu, wall=1.3, noise=slow)
        )
        assert rows["seconds_to_target"].change.word == word
        assert not any("cpu" in quantity for quantity in rows)


def test_a_gap_is_the_distance_to_the_best_of_both_runs_where_the_optimum_is_not_known(make, run):
    sides = [
        (
            replace(run, id=number),
            [
                make.result("optimizer", "p", "a", r, make.curve("objective", values), target={"gap": 0.5})
                for r in range(6)
            ],
        )
        for number, values in ((1, [9.0, 3.0, 1.0]), (2, [9.0, 5.0, 3.0]))
    ]
    rows = {row.quantity: row for row in compare_runs(*sides, 0.05).rows}
    assert rows["runs_short_of_target"].sentence == (
        "a on p (numpy) reaches the target in 0 of 6 runs, 6 of 6 before"
    )
    assert rows["runs_short_of_target"].change.word == "regressed"


def test_kernels_that_were_called_with_more_are_not_compared(make, run):
    def timed(held):
        return run, [make.timing("sum", 10, "numpy", 8.0, {"argument_bytes": held}, r) for r in range(5)]

    assert compare(timed(80.0), timed(80.0))[0]["seconds_per_call"].change.word == "within noise"
    with pytest.raises(
        BenchfwError, match="the arguments are not the same, 80 and 5,120 bytes: sum on size 10"
    ):
        compare(timed(80.0), timed(5120.0))


def test_rare_slow_runs_are_not_called_no_change_until_they_would_have_been_seen():
    """B takes 20 times the steps in one run of ten, and ten runs need not have one of these."""

    def costly(number, runs, slow):
        run, results = side(number=number, runs=runs)
        for r, each in enumerate(results):
            factor = (20 if r in slow else 1) * (1 + 0.001 * number * (r % 3))
            records = tuple(one._replace(cost=factor * one.cost) for one in each.outcome.records)
            results[r] = replace(each, outcome=replace(each.outcome, records=records))
        return run, results

    def word(runs, slow=()):
        return compare(costly(1, runs, ()), costly(2, runs, slow))[0]["cost_to_target"].change.word

    assert word(10) == word(10, [4]) == "within noise"
    assert word(30) == "no change"
    assert word(30, [4, 11, 25]) == "within noise"
    rows, _ = compare(side(), side(number=2))
    assert rows["cost_to_target"].change.word == rows["gap"].change.word == "identical"


def test_work_that_moved_into_prepare_is_no_improvement():
    rows, found = compare(side(step=40), side(number=2, step=1, prepare=1000.0))
    assert {name: row.change.word for name, row in rows.items() if "cost" in name} == {
        "cost_to_target_with_prepare": "regressed",
        "prepare_cost": "regressed",
    }
    total = rows["cost_to_target_with_prepare"]
    assert (total.before, total.after) == (160, 1004)
    assert not found.count("improved")
    assert not {"iterations_to_target", "cpu_seconds_to_target", "cost_to_target"} & rows.keys()
    assert "since what `prepare` does is not part of them: a on p (numpy)" in found.refused[0]
    longer, _ = compare(side(prepare=10.0), side(number=2, prepare=1000.0))
    names = ("prepare_cost", "prepare_seconds", "seconds_to_target_with_prepare")
    assert {longer[name].change.word for name in names} == {"regressed"}
    brief, _ = compare(side(prepare=0.001), side(number=2, prepare=0.002))
    assert "prepare_seconds" not in brief  # it is hardly a part of the time
    draws, _ = compare(side("estimator", prepare=10.0), side("estimator", number=2, prepare=1000.0))
    assert draws["prepare_cost"].change.word == draws["prepare_seconds"].change.word == "regressed"


def test_how_far_the_last_step_went_beyond_the_target_is_not_compared():
    arrived = Ending.TARGET
    rows, _ = compare(side(step=2, ending=arrived, overshoot=0.01), side(number=2, ending=arrived))
    assert "gap" not in rows
    assert rows["cost_to_target"].change.word == "improved"
    ended, _ = compare(side(overshoot=0.01), side(number=2))
    assert ended["gap"].change.word == "regressed"


@pytest.mark.parametrize("seed", [1, 2], ids=["the same seed", "another seed"])
def test_ends_that_can_be_negative_are_compared_by_their_difference(seed, capsys):
    rows, found = compare(side(signed=-1.2), side(number=2, seed=seed, signed=3.0))
    assert rows["gap"].change.word == "regressed"
    print_comparison(found, 0.05)
    assert "B - A 4.2" in capsys.readouterr().out
    (row,) = (each for each in comparison_data(found, 0.05)["rows"] if each["quantity"] == "gap")
    assert row["difference"] == pytest.approx(4.2, rel=0.02)
    assert row["low"] <= row["difference"] <= row["high"]
    assert "ratio" not in row
    _, broken = compare(side(signed=-1.2), side(number=2, signed=3.0, fails=2))
    assert "gap, since it has no ratio and some run has no end: a on p (numpy)" in broken.refused


@pytest.mark.parametrize(("ends", "improved"), [((5.0, 0.1), True), ((5.0, 7.0), False)])
def test_a_target_for_both_runs_is_the_easier_one_with_what_set_it(make, ends, improved):
    old, new = (
        histories_by_cell(
            [make.result("optimizer", "p", "gd", r, make.curve("gap", [1, end])) for r in (0, 1)]
        )
        for end in ends
    )
    (cell,) = old
    (target,) = common_targets(cell, old, new)
    # a run that does not get below its start sets half of it
    assert (target.value, target.improved) == (0.5, False)
    (target,) = common_targets(cell, new, new)
    assert target.improved is improved


def settled(given, step, trials=None):
    """Return a side whose method has steps, one a repetition in turn, and was tuned with so many trials."""
    run, results = given
    steps = step if isinstance(step, list) else [step]
    results = [
        replace(each, trial=replace(each.trial, method=Spec("a", {"step": steps[place % len(steps)]}, "a")))
        for place, each in enumerate(results)
    ]
    if trials is None:
        return run, results
    told = {"trials": trials, "spaces": {"a": {"step": {"tune": "log", "from": 0.1, "to": 10}}}}
    tried = [replace(each, trial=replace(each.trial, tuning=1)) for each in results]
    return replace(run, environment=replace(run.environment, tuning=told)), [*results, *tried]


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ((0.2716, 1), (9.918, 16), "step 0.2716 in A, 9.918 in B (tuned with 1 trial in A, 16 trials in B)"),
        ((0.5, 16), (0.75, 16), "step 0.5 in A, 0.75 in B (tuned with 16 trials in both)"),
        ((0.5,), ([0.1, 0.3, 0.2], 4), "step 0.5 in A, 0.1 to 0.3 in B (tuned with 4 trials in B only)"),
        ((0.5,), (0.75,), "step 0.5 in A, 0.75 in B"),
    ],
)
def test_methods_with_other_settings_are_named_before_the_rows(before, after, sentence, capsys):
    old, new = settled(side(), *before), settled(side(number=2), *after)
    _, found = compare(old, new)
    print_comparison(found, 0.05)
    wanted = f"a: {sentence}: rows compare the settings, too"
    assert capsys.readouterr().out.splitlines()[0] == wanted
    told = comparison_data(found, 0.05)
    assert told["settings_apart"] == [wanted]
    assert told["settings"][0]["before"] == {"step": [before[0]]}


def test_the_same_settings_are_not_named_and_trials_of_tuning_are_not_in_both():
    tuned = settled(side(), 0.5, 16)
    _, found = compare(tuned, tuned)
    assert found.resettings == ()
    assert found.in_both == RUNS
