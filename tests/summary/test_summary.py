from __future__ import annotations

import gc
import math
import sys
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest

from benchfw.analysis.intervals import LEVEL, t_quantile
from benchfw.claims.read import read_claim
from benchfw.errors import BenchfwError
from benchfw.records import Budget, Cell, Counting, Ending, Status
from benchfw.report.claims import describe_claims
from benchfw.report.figures import build_figures
from benchfw.report.figures.packing import pack_figures
from benchfw.report.tables import headline_table
from benchfw.report.verdicts.phrases import caveat_sentences, fault_place, fault_sentence
from benchfw.summary.exports import SUMMARY_COLUMNS, record_rows, summary_rows
from benchfw.summary.histories import History, Reader
from benchfw.summary.summarize import summarize


def rows_of(summary, method, backend="numpy"):
    chosen = (method, backend)
    return {row.quantity: row for c in summary.comparisons for row in c.rows if row.cell[2:] == chosen}


def two_optimizers(make, factor=2):
    """Reach 0.5 at iteration r + 4 with `slow` and at half of that with `fast`."""
    results = []
    for name, speed in (("slow", 1), ("fast", factor)):
        for repetition in (0, 2, 4, 6, 8):
            hit = (repetition + 4) // speed
            values = [8.0] * hit + [0.5]
            results.append(
                make.result("optimizer", "p", name, repetition, make.curve("gap", values), target={"gap": 1})
            )
    return results


def test_time_and_cost_to_the_suites_target_are_paired_with_the_first_method(make, run):
    summary = summarize(run, two_optimizers(make))
    comparison = summary.comparisons[0]
    assert comparison.reference == Cell("p", "optimizer", "slow", "numpy")
    assert [(t.metric, t.value, t.automatic) for t in comparison.targets] == [("gap", 1, False)]
    slow, fast = rows_of(summary, "slow"), rows_of(summary, "fast")
    assert slow["seconds_to_target"].interval.estimate == pytest.approx((4 * 6 * 8 * 10 * 12) ** 0.2)
    assert (slow["cost_to_target"].interval.low, slow["cost_to_target"].interval.high) == (40, 120)
    assert slow["cost_to_target"].ratio is None
    half = slow["cost_to_target"].interval.estimate / 2
    assert fast["cost_to_target"].interval.estimate == pytest.approx(half)
    # the paired ratio is 1/2 in every repetition, though the times themselves vary threefold
    ratio = fast["cost_to_target"].ratio
    assert (ratio.estimate, ratio.low, ratio.high) == pytest.approx((0.5, 0.5, 0.5))
    assert fast["gap"].interval.estimate == 0.5


def test_without_a_target_the_worst_end_is_taken(make, run):
    results = [
        make.result("optimizer", "p", "gd", r, make.curve("gap", [9, last]))
        for r, last in enumerate((0.2, 0.31))
    ]
    target = summarize(run, results).comparisons[0].targets[0]
    assert (target.metric, target.value, target.automatic) == ("gap", 0.31, True)


def test_fewer_than_half_reaching_means_no_median(make, run):
    results = [
        make.result("optimizer", "p", "gd", r, make.curve("gap", [9, last]), target={"gap": 1})
        for r, last in enumerate((0.5, 0.5, 5, 5, 5))
    ]
    row = rows_of(summarize(run, results), "gd")["seconds_to_target"]
    assert row.interval.estimate == math.inf
    assert row.reached == (2, 5)


@pytest.mark.parametrize("status", [Status.DIVERGED, Status.TIMEOUT, Status.OUT_OF_MEMORY])
def test_a_stopped_trial_never_reached_the_target_and_ends_at_infinity(make, run, status):
    curves = [make.curve("gap", [9, 0.5]), make.curve("gap", [9, 3, math.nan])]
    results = [
        make.result("optimizer", "p", "gd", 0, curves[0], target={"gap": 1}),
        make.result("optimizer", "p", "gd", 1, curves[1], target={"gap": 1}, status=status),
    ]
    rows = rows_of(summarize(run, results), "gd")
    assert rows["seconds_to_target"].reached == (1, 2)
    assert (rows["gap"].interval.count, rows["gap"].interval.high) == (2, math.inf)


@pytest.mark.parametrize("status", [Status.FAILED, Status.CRASHED, Status.SKIPPED])
def test_a_broken_trial_never_arrives_and_a_skipped_one_was_never_started(make, run, status):
    results = [
        make.result("optimizer", "p", "gd", 0, make.curve("gap", [9, 0.5]), target={"gap": 1}),
        make.result(
            "optimizer", "p", "gd", 1, [], target={"gap": 1}, status=status, reason="broke", number=12
        ),
    ]
    summary = summarize(run, results)
    skipped = status is Status.SKIPPED
    rows = rows_of(summary, "gd")
    assert rows["seconds_to_target"].reached == (1, 1 if skipped else 2)
    assert rows["gap"].interval.count == (1 if skipped else 2)
    (fault,) = summary.faults
    assert (fault.trials, fault.total, fault.reason) == ((12,), 2, "broke")
    verb = "was skipped" if skipped else status.value
    assert fault_sentence(fault) == f"1 of 2 trials {verb}: broke"


def test_a_run_that_passed_the_target_and_overflowed_later_has_arrived(make, run):
    curve = make.curve("gap", [9, 0.5, math.inf])
    result = make.result("optimizer", "p", "gd", 0, curve, target={"gap": 1}, status=Status.DIVERGED)
    rows = rows_of(summarize(run, [result]), "gd")
    assert rows["seconds_to_target"].reached == (1, 1)
    assert rows["gap"].interval.estimate == math.inf


def test_a_run_whose_records_are_untrue_neither_arrives_nor_ends_and_sets_no_best_objective(make, run):
    def runs(name, values, **outcome):
        return [
            make.result(
                "optimizer", "p", name, r, make.curve("objective", values), target={"gap": 1}, **outcome
            )
            for r in range(3)
        ]

    untrue = {"status": Status.FAILED, "ending": Ending.UNTRUE}
    results = runs("gd", [9, 6, 5, 4.5, 4.4]) + runs("cheat", [9, 4.5, -1], **untrue)
    summary = summarize(run, results)
    gd, cheat = rows_of(summary, "gd"), rows_of(summary, "cheat")
    assert (gd["seconds_to_target"].reached, gd["seconds_to_target"].interval.estimate) == ((3, 3), 2)
    assert cheat["seconds_to_target"].reached == (0, 3)
    assert cheat["objective"].interval.estimate == math.inf
    failed = runs("cheat", [9, 4.5, -1], status=Status.FAILED)
    assert rows_of(summarize(run, failed), "cheat")["seconds_to_target"].reached == (3, 3)


def test_an_end_is_the_last_look_within_the_budget(make, run):
    result = make.result("optimizer", "p", "gd", 0, make.curve("gap", [9, 3, 1], cost=10.0))
    trial = replace(result.trial, budget=Budget(cost=15.0))
    assert rows_of(summarize(run, [replace(result, trial=trial)]), "gd")["gap"].interval.estimate == 3


def test_trials_of_a_method_that_diverge_are_reported_once_with_the_first_reason(make, run):
    results = [
        make.result(
            "optimizer",
            "p",
            "gd",
            r,
            [],
            status=Status.DIVERGED,
            reason=f"loss became inf at iteration {40 + r}",
        )
        for r in range(3)
    ]
    (fault,) = summarize(run, results).faults
    assert fault_sentence(fault) == ("3 of 3 trials diverged: loss became inf at iteration 40 (one of them)")
    (alone,) = summarize(run, results[:1]).faults
    assert fault_sentence(alone) == "1 of 1 trial diverged: loss became inf at iteration 40"


def test_faults_that_differ_in_their_numbers_alone_are_reported_once_with_the_first_of_them(make, run):
    reasons = [
        "gap is -3.2e-05 at iteration 40, and it cannot be below 0",
        "gap is -0.7 at iteration 1,200, and it cannot be below 0",
        "gap is nan at iteration 7, and it cannot be below 0",
        "float32 is not float64",
        "float16 is not float64",
    ]
    results = [
        make.result("optimizer", "p", "gd", r, [], status=Status.FAILED, reason=reason)
        for r, reason in enumerate(reasons)
    ]
    same, *others = summarize(run, results).faults
    assert fault_sentence(same) == f"3 of 5 trials failed: {reasons[0]} (one of them)"
    assert [each.reason for each in others] == reasons[3:]


def test_what_a_missing_backend_skips_is_reported_once_for_all(make, run):
    results = [
        make.result(
            "optimizer", problem, name, 0, [], status=Status.SKIPPED, reason="no device", backend="cupy"
        )
        for problem in ("p", "q")
        for name in ("gd", "sgd")
    ]
    (fault,) = summarize(run, results).faults
    assert fault_place(fault) == "gd and sgd on p and q (cupy)"
    assert fault_sentence(fault) == "4 of 4 trials were skipped: no device"


def test_methods_without_a_number_have_no_row_in_the_table(make, run):
    results = [make.result("optimizer", "p", "gd", 0, make.curve("gap", [9, 0.5]))]
    skipped = make.result("optimizer", "p", "gd", 0, [], status=Status.SKIPPED, backend="cupy")
    comparison = summarize(run, [*results, skipped]).comparisons[0]
    assert [row[0] for row in headline_table(comparison).rows] == ["gd"]


def test_an_estimators_variance_is_the_mean_and_its_ratio_is_paired(make, run):
    results = []
    for repetition, variance in enumerate((1.0, 4.0)):
        results += [
            make.result("estimator", "p", "small", repetition, make.draws(variance, seconds=0.5, bias=0.1)),
            make.result(
                "estimator", "p", "large", repetition, make.draws(variance / 4, seconds=1.0, bias=-0.1)
            ),
        ]
    results.sort(key=lambda result: result.trial.method.label != "small")
    summary = summarize(run, results)
    small, large = rows_of(summary, "small"), rows_of(summary, "large")
    assert small["variance"].interval.estimate == pytest.approx(2.5)
    assert small["seconds_per_draw"].interval.estimate == pytest.approx(0.5)
    assert small["cost_per_draw"].interval.estimate == pytest.approx(2)
    assert small["variance_x_seconds"].interval.estimate == pytest.approx(1.25)
    assert large["variance"].ratio.estimate == pytest.approx(0.25)
    assert large["variance_x_seconds"].ratio.estimate == pytest.approx(0.5)
    assert large["bias"].ratio is None
    assert "variance_std_error" not in large


def test_one_repetition_knows_its_variance_but_not_the_noise_of_its_time(make, run):
    results = [
        make.result("estimator", "p", name, 0, make.draws(variance))
        for name, variance in (("a", 2.0), ("b", 1.0))
    ]
    found = rows_of(summarize(run, results), "a")
    assert found["variance"].interval.high == pytest.approx(2 * (1 + 0.05 * t_quantile(LEVEL, 98)), rel=0.002)
    for product in ("variance_x_seconds", "mse_x_seconds"):
        assert (found[product].interval.low, found[product].interval.high) == (0, math.inf)


def test_an_estimator_that_knows_its_variance_to_be_infinite_is_never_shown_to_vary_less(make, run):
    results = [
        make.result("estimator", "p", name, r, make.draws(variance * (1 + r / 50)), facts=facts)
        for name, variance, facts in (("plain", 9.0, {}), ("endless", 1.0, {"infinite_variance": 1.0}))
        for r in range(6)
    ]
    found = rows_of(summarize(run, results), "endless")["variance"]
    assert 0 < found.interval.low < 1.1 < found.interval.high == math.inf
    assert found.ratio.high == math.inf


def test_an_estimator_without_variance_is_not_the_reference(make, run):
    results = [
        make.result("estimator", "p", name, r, make.draws(v))
        for name, v in (("exact", 0), ("mb", 1))
        for r in range(2)
    ]
    summary = summarize(run, results)
    assert summary.comparisons[0].reference.method == "mb"
    assert rows_of(summary, "exact")["variance"].interval.estimate == 0


def test_bias_beyond_noise_is_found_and_noise_is_not(make, run):
    noise = (0.1, -0.12, 0.05, -0.02, 0.03)
    results = [
        make.result("estimator", "p", name, r, make.draws(1 + wiggle / 10, bias=shift + wiggle))
        for name, shift in (("fair", 0.0), ("skewed", 1.0))
        for r, wiggle in enumerate(noise)
    ]
    assert [cell.method for cell in summarize(run, results).comparisons[0].biased] == ["skewed"]


def test_export_rows_have_the_promised_columns(realistic, run):
    exported = summary_rows(summarize(run, realistic()))
    rows = [dict(zip(SUMMARY_COLUMNS, row, strict=True)) for row in exported]
    promised = {"gap", "seconds_to_target", "cost_to_target", "bias", "variance", "mse", "variance_x_seconds"}
    assert promised <= {row["quantity"] for row in rows}
    assert not [row for row in rows if str(row["quantity"]).startswith("bound")]


def test_a_first_method_that_broke_is_not_the_reference(make, run):
    results = [
        make.result("optimizer", "p", "broken", 0, [], status=Status.FAILED),
        make.result("optimizer", "p", "gd", 0, make.curve("gap", [9, 1])),
    ]
    assert summarize(run, results).comparisons[0].reference.method == "gd"


def test_summary_imports_neither_plotly_nor_jinja_nor_scipy():
    import subprocess

    code = "import sys, benchfw.report.page, benchfw.report.terminal, benchfw.analysis.variance;"
    code += "print(sorted({'plotly','jinja2','rich','scipy','pandas'} & set(sys.modules)))"
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    assert done.stdout.strip() == "[]"


def test_cost_is_named_as_the_problem_names_it(make, run):
    from dataclasses import replace

    result = make.result("optimizer", "p", "lanczos", 0, make.curve("gap", [9, 1]))
    counted = replace(result, outcome=replace(result.outcome, cost_unit="products with A"))
    assert summarize(run, [counted]).comparisons[0].cost_unit == "products with A"


def test_a_fact_is_a_row_without_a_ratio_and_no_metric_to_rank_by(make, run):
    results = [
        make.result("optimizer", "p", name, r, make.curve("gap", [9, 0.2]), facts={"decay": 1.6})
        for name in ("gd", "sgd")
        for r in range(3)
    ]
    summary = summarize(run, results)
    assert summary.comparisons[0].metrics == ("gap",)
    row = rows_of(summary, "sgd")["decay"]
    assert row.interval.estimate == pytest.approx(1.6)
    assert row.ratio is None


def test_caveats_are_reported_once_with_all_whom_they_concern(make, run):
    results = [
        make.result("optimizer", "p", name, r, make.curve("gap", [9, 0.2]), caveats=("made up",))
        for name in ("gd", "sgd")
        for r in range(3)
    ]
    summary = summarize(run, results)
    assert caveat_sentences(summary) == ["gd and sgd on p: made up"]
    assert not summary.faults


def test_a_cost_that_was_declared_or_not_counted_is_said_beside_it(make, run):
    def results(name, counting, cost, steps=(3,), **outcome):
        return [
            make.result(
                "optimizer", "p", name, r, make.curve("gap", [9, *steps, 0.2 + r], cost=cost),
                counting=counting, target={"gap": 1.5}, **outcome,
            )
            for r in range(2)
        ]  # fmt: skip

    told = results("gd", Counting.COUNTED, 1)
    told += results("peer", Counting.DECLARED, 2, prepare_seconds=0.25, prepare_cost=7.0)
    told_not = results("free", Counting.UNCOUNTED, 0) + results("direct", Counting.UNCOUNTED, 0, steps=())
    summary = summarize(run, told + told_not)
    assert caveat_sentences(summary) == [
        "peer on p: its cost is declared by the method, not counted by the problem",
        "free on p: most of 2 answers came without a counted oracle call: cost does not measure its work",
        "direct on p: its only answer came without a counted oracle call: cost does not measure its work",
    ]
    assert not {"cost_to_target", "expected_cost_to_target"} & set(rows_of(summary, "free"))
    table = headline_table(summary.comparisons[0])
    columns = dict(zip(table.header, zip(*table.rows, strict=True), strict=False))
    assert columns["gradients to target"] == ("2", "4 declared", "—", "—")
    assert columns["time to prepare, s"] == ("—", "0.250", "—", "—")
    assert columns["gradients to prepare"] == ("—", "7", "—", "—")
    exported = [row for row in record_rows(run, told) if row[4] == "peer"]
    assert {row[-2] for row in exported} == {"declared"}
    facts = {row[12]: row[17] for row in exported if row[11] == "fact"}
    assert facts == {"prepare_seconds": 0.25, "prepare_cost": 7.0}


def test_a_method_that_ends_by_itself_before_the_target_is_a_caveat(make, run):
    reached = {"status": Status.REACHED, "ending": Ending.TARGET}
    ends = {"gd": (0.5, reached), "tired": (5, {"ending": Ending.BY_ITSELF})}
    results = [
        make.result("optimizer", "p", name, 0, make.curve("gap", [9, end]), target={"gap": 1.0}, **how)
        for name, (end, how) in ends.items()
    ]
    (caveat,) = caveat_sentences(summarize(run, results))
    assert caveat.startswith("tired on p: it ended by itself, before the target")


def caveats_of(make, run, curves, **more):
    """The caveats on one trial with these curves, after the names."""
    records = [record for name, values in curves.items() for record in make.curve(name, values)]
    found = caveat_sentences(summarize(run, [make.result("optimizer", "p", "gd", 0, records, **more)]))
    return [each.removeprefix("gd on p: ") for each in found]


@pytest.mark.parametrize(
    "how",
    [
        {"target": {"error": 1.0}, "status": Status.REACHED, "ending": Ending.TARGET},
        {"target": {"error": 0.1}},
        {},
        {"status": Status.TIMEOUT, "ending": Ending.SECONDS},
    ],
    ids=["reached", "target not reached", "no target", "timeout"],
)
def test_an_error_that_falls_although_the_objective_does_not_is_a_caveat_whatever_ended_it(make, run, how):
    raised = {"error": [9, 3, 2, 1, 0.5], "objective": [10, 11, 12, 13, 14]}
    (caveat,) = caveats_of(make, run, raised, **how)
    assert caveat.startswith("its error fell although the objective was ")
    assert caveat.endswith("that may be noise")
    assert not caveats_of(make, run, {**raised, "objective": [10, 11, 9, 8, 4]}, **how)


TWO_TARGETS = {"target": {"error": 0.1, "loss": 0.1}}


@pytest.mark.parametrize(
    ("curves", "how"),
    [
        ({"error": [9, 3, 2, 1, 0.5], "objective": [10, 9, 11, 12, 13]}, {}),
        ({"error": [9, 3, 12, 2, 1], "objective": [10, 11, 12, 13, 14]}, {}),
        ({"error": [9, 3, 2, 1], "objective": [10, *[10 + 1e-14] * 3]}, {}),
        ({"objective": [10, 11, 12, 13], "error": [9, 3, 2, 1]}, {}),
        ({"gap": [3, 4, 5, 6], "objective": [10, 11, 12, 13], "error": [9, 3, 2, 1]}, {}),
        ({"error": [9, 3, 2, 1], "objective": [10, 11, 12, 13]}, {"target": {"objective": 1.0}}),
        ({"error": [9], "objective": [10]}, {}),
        ({"error": [9, 3, 2, 1], "objective": [10, 11, 12, 13], "loss": [4, 5, 6, 7]}, TWO_TARGETS),
    ],
    ids=["below once", "outlier", "rounding", "leads", "gap leads", "target", "start alone", "one of two"],
)
def test_an_error_beside_an_objective_that_fell_once_or_is_what_counts_is_no_caveat(make, run, curves, how):
    assert not caveats_of(make, run, curves, **how)


def test_the_look_that_met_the_target_is_enough_for_an_error_that_fell_at_a_raised_objective(make, run):
    curves = {"error": [9, 9.5, 0.5], "objective": [10, 9, 11]}
    how = {"target": {"error": 1.0}, "status": Status.REACHED, "ending": Ending.TARGET}
    (caveat,) = caveats_of(make, run, curves, **how)
    assert caveat.startswith("its error fell although the objective was above its start by then")
    assert not caveats_of(make, run, curves, target={"error": 1.0})


def test_both_metrics_of_a_target_that_fell_although_the_objective_did_not_are_named(make, run):
    curves = {"error": [9, 3, 2, 1], "objective": [10, 11, 12, 13], "loss": [7, 6, 5, 4]}
    (caveat,) = caveats_of(make, run, curves, **TWO_TARGETS)
    assert caveat.startswith("its error and loss fell although")


def curve_as(make, role, metric, values):
    return [each._replace(role=role) for each in make.curve(metric, values)]


def test_a_gain_that_rises_although_the_objective_does_not_fall_is_a_caveat(make, run):
    records = [
        *curve_as(make, "gain", "accuracy", [0.1, 0.2, 0.9]),
        *make.curve("objective", [10, 11, 12]),
        *curve_as(make, "bound", "objective", [9, 8, 7]),  # the bound of a theorem, not the objective
    ]
    (caveat,) = caveat_sentences(summarize(run, [make.result("optimizer", "p", "gd", 0, records)]))
    assert caveat.startswith("gd on p: its accuracy rose although the objective was never below its start")


def test_an_objective_that_is_to_rise_may_do_so(make, run):
    records = [*make.curve("error", [9, 3, 2]), *curve_as(make, "gain", "objective", [10, 11, 12])]
    assert not caveat_sentences(summarize(run, [make.result("optimizer", "p", "gd", 0, records)]))


PAIRED = {"method": "noise", "than": "solver", "ratio": {"below": 2}}


@pytest.mark.parametrize(
    ("test", "noted"),
    [
        ({**PAIRED, "quantity": "error at the end"}, "6 of its 12 trials error"),
        ({**PAIRED, "quantity": "objective at the end"}, ""),
        ({**PAIRED, "quantity": "cost to target"}, "6 of its 12 trials error"),
        (
            {"method": "noise", "rate": {"below": 0.9}, "law": "linear", "metric": "loss"},
            "all of its 6 trials loss",
        ),
    ],
)
def test_a_claim_about_an_error_says_in_how_many_trials_it_fell_although_the_objective_did_not(
    make, run, test, noted
):
    steps = np.arange(20)
    curves = {
        name: [
            record
            for metric, values in (
                ("error", 9 * 0.8**steps),
                ("loss", 0.8**steps),
                ("objective", 10 + slope * steps),
            )
            for record in make.curve(metric, values)
        ]
        for name, slope in {"solver": -0.1, "noise": 0.1}.items()
    }
    results = [
        make.result("optimizer", "p", name, repetition, records, target={"error": 2.5})
        for name, records in curves.items()
        for repetition in range(6)
    ]
    table = {"says": "so", **test}
    claim = {"table": table, "hash": read_claim(table, "here").digest, "registered": "2026-01-01"}
    run = replace(run, environment=replace(run.environment, claims=(claim,)))
    (found,) = summarize(run, results).claims
    (text,) = describe_claims([found])
    assert text.standing == "holds"
    said = f"in {noted} fell although the objective was never below its start"
    assert [each for each in text.notes if "objective" in each] == [said] * bool(noted)


@pytest.mark.thorough
def test_an_iterator_gives_the_same_summary_with_the_trials_of_one_comparison_at_a_time(realistic, run):
    results = realistic(problems=("p", "q", "r"), repetitions=2)
    expected = summarize(run, results)
    held: list[int] = []

    def stream():
        before = 0
        for _, group in groupby(results, lambda each: (each.trial.problem.label, each.trial.kind)):
            now = list(group)
            # that of the first trial is what tells a reader that the group before it is whole
            held.append(sum(isinstance(each, History) for each in gc.get_objects()) - before)
            before = len(now)
            yield from now

    found = summarize(run, stream())
    assert len(held) > 3
    assert max(held) <= 0
    assert summary_rows(found) == summary_rows(expected)
    assert pack_figures(build_figures(found)) == pack_figures(build_figures(expected))
    assert not any(each.lines for each in summarize(run, results, figures=False).comparisons)


def test_trials_of_a_problem_that_come_apart_in_an_iterator_are_refused(make, run):
    results = [make.result("optimizer", p, "gd", 0, make.curve("gap", [1.0])) for p in ("p", "q", "p")]
    assert len(summarize(run, results).comparisons) == 2
    with pytest.raises(BenchfwError, match="two places"):
        summarize(run, iter(results))


def test_histories_of_a_cell_keep_once_what_their_trials_share(make):
    results = [make.result("optimizer", "p", "gd", r, make.curve("gap", [9.0, 1.0 + r])) for r in range(3)]
    other = replace(results[2].trial, budget=Budget(seconds=7))
    first, second, third = map(Reader().read, [*results[:2], replace(results[2], trial=other)])
    assert first.trial is second.trial
    assert first.outcome is second.outcome is third.outcome
    assert (first.outcome.records, first.outcome.status) == ((), Status.DONE)
    assert third.trial.budget.seconds == 7
    assert [each.repetition for each in (first, second, third)] == [0, 1, 2]
    assert [each.curves["gap"].final for each in (first, second, third)] == [1, 2, 3]


def test_a_caveat_names_the_problems_and_the_trials_that_it_is_about(make, run):
    def trials(problem, method, caveats):
        curve = make.curve("gap", [9, 5])
        return [
            make.result("optimizer", problem, method, number, curve, caveats=each)
            for number, each in enumerate(caveats)
        ]

    wild = ("it went wild",)
    results = [
        *trials("p", "gd", [wild, wild]),
        *trials("p", "sgd", [wild, ()]),
        *trials("q", "gd", [(), ()]),
    ]
    results += [*trials("q", "sgd", [wild, wild])]
    assert caveat_sentences(summarize(run, results)) == [
        "gd and sgd on p (in 3 of 4 trials): it went wild",
        "sgd on q: it went wild",
    ]


def test_trials_on_a_device_run_one_at_a_time_whatever_was_asked_for(make, run):
    asked = replace(run, environment=replace(run.environment, jobs=3))
    here, there = (
        [make.result("optimizer", "p", "gd", 0, make.curve("gap", [9, 5]), device=device)]
        for device in ("", "NVIDIA H200")
    )
    assert any("3 at a time" in each for each in caveat_sentences(summarize(asked, here)))
    assert not any("at a time" in each for each in caveat_sentences(summarize(asked, there)))
