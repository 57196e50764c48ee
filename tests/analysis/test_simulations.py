"""The shares that docs/statistics.md prints are those that a fresh, smaller simulation finds."""

import importlib
import math
import sys
from pathlib import Path

import numpy as np
import pytest

from benchfw.analysis.decisions import decide_family
from benchfw.analysis.variance import DrawStatistics

ROOT = Path(__file__).parents[2]


def load(name):
    """Return a module of the audit, which is not a package."""
    folder = str(ROOT / "suites" / "tracked" / "audit")
    sys.path.insert(0, folder)
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(folder)


REPORTS, CENSORED, DRAWS, LINES, TABLES_OF, SURFACES, TUNING = map(
    load, ("_reports", "_censored", "_draws", "_lines", "_tables", "_surfaces", "_tuning")
)
MAKERS = {
    "reports": LINES.report_tables,
    "whole": load("_whole").whole_tables,
    "medians": load("_medians").median_tables,
    "rows": LINES.row_tables,
    "compare": LINES.compare_tables,
    "estimators": load("_estimators").estimator_tables,
    "bias": load("_bias").bias_tables,
    "rates": load("_rates").rate_tables,
    "tuning": load("_tuning").tuning_tables,
    "claims": load("_claims").claim_tables,
}
FEW = {"reports": 20, "whole": 2, "medians": 200, "rows": 50, "compare": 4, "tuning": 4, "claims": 20}
PRINTED = {part: TABLES_OF.printed_lines(part) for part in MAKERS}


@pytest.mark.parametrize("part", MAKERS)
@pytest.mark.sampled(5)
def test_a_few_experiments_of_each_table_find_about_the_share_that_the_manual_prints(part):
    few, many = FEW.get(part, 60), 400
    for table in MAKERS[part](few):
        line = table.lines[0]
        found, *_ = np.atleast_1d(line.combine([task.run() for task in line.columns[0]]))
        cells = PRINTED[part][table.title, line.name].strip("| ").split(" | ")
        printed = float(cells[line.name.count(" | ") + 1].split("%")[0]) / 100
        # Laplace's rule for both together: a share of 0 or 1 among few has a standard error, too
        share = (printed * many + found * few + 1) / (many + few + 2)
        assert abs(found - printed) < 4 * math.sqrt(share * (1 - share) / few), table.title


@pytest.mark.parametrize("part", MAKERS)
def test_the_manual_has_a_number_for_every_line_and_none_is_outside_its_limits(part):
    made = {(table.title, line.name) for table in MAKERS[part](1) for line in table.lines}
    printed = PRINTED[part]
    assert made == {key for key in printed if "asked for" not in printed[key]}
    assert not [line for line in printed.values() if "missed" in line]


@pytest.mark.posix
def test_the_number_of_jobs_changes_no_share_and_lines_that_were_not_asked_for_stay():
    (table,) = LINES.row_tables(20)
    only = "rate"
    alone, shared = (TABLES_OF.run_tasks(list(table.tasks(only)), jobs) for jobs in (1, 2))
    assert alone == shared
    lines, missed = TABLES_OF.format_table(table, alone, PRINTED["rows"], only)
    assert len(lines) == len(table.lines) + 2
    assert [line for line in lines[2:] if line not in PRINTED["rows"].values()] == [
        line for line in lines if line.startswith("| rate ") and line not in PRINTED["rows"].values()
    ]
    assert missed in (0, 1)


def test_the_audit_records_what_a_trial_does():
    draws = np.random.default_rng(3).exponential(size=(2, 3, 50))
    found = DRAWS.record(draws, 1.0)
    for report, run in np.ndindex(2, 3):
        statistics = DrawStatistics(1.0)
        for draw in draws[report, run]:
            statistics.add(draw)
        assert found.bias[report, run] == pytest.approx(statistics.bias)
        assert found.variance[report, run] == pytest.approx(statistics.variance)
        assert found.std_error[report, run] == pytest.approx(statistics.variance_std_error)


@pytest.mark.parametrize(
    ("law", "runs", "size"),
    [
        ("normal", 10, (5, 4)),
        ("exponential", 5, (2, 1)),
        ("bimodal", 3, (20, 4)),
        ("Pareto 1.2", 20, (2, 10)),
        ("deterministic, looks", 5, (5, 1)),
    ],
)
def test_reports_keep_their_error_budget(law, runs, size):
    reports = 300
    allowed = 0.05 + 3 * math.sqrt(0.05 * 0.95 / reports)
    alike, half = (
        REPORTS.audit(np.random.default_rng([7, runs]), law, runs, size, reports, effects)
        for effects in ("none", "half")
    )
    assert alike.claiming <= allowed
    assert max(half.wrong, half.uncovered, half.leaders) <= allowed


@pytest.mark.parametrize(("runs", "size"), [(3, (2, 1)), (5, (5, 4)), (10, (5, 1)), (20, (2, 4))])
def test_the_audit_of_runs_that_never_arrive_decides_as_a_report_does(runs, size):
    rng, (methods, problems) = np.random.default_rng([9, runs]), size
    truth = load("_laws").draw_effects(rng, (10, problems, methods - 1), "half")
    logs = CENSORED.draw_runs(rng, (10, problems, methods, runs), truth)
    claims, _, missed = CENSORED.judge_reports(logs, truth)
    for number, report in enumerate(logs):
        contrasts = list(CENSORED.contrasts(report))
        decided = zip(contrasts, decide_family(contrasts), strict=True)
        said = [each for each in decided if each[1].verdict.value in ("better", "worse", "equal")]
        outside = 0
        for contrast, decision in said:
            ratio = math.exp(truth[number, int(contrast.cell.problem), int(contrast.cell.method) - 1])
            within = decision.interval.low <= ratio <= decision.interval.high
            outside += contrast.quantity != "arrivals" and not within
        assert claims[number] == any(decision.differs for _, decision in said)
        assert missed[number] == outside / max(len(said), 1)


def test_a_simulated_method_is_tuned_and_judged_by_the_code_of_a_run():
    rng = np.random.default_rng(12)
    method = SURFACES.draw_surface(rng)
    world = SURFACES.World(rng, {"a": method, "b": method}, SURFACES.Noise(0.3, 0.0, 0.0))
    judged = SURFACES.judge(world, SURFACES.Tuning(trials=8), 3)
    assert judged.effects["b"] == 0  # equal spaces: the same settings, and without noise the same choice
    assert [len(each.attempts) for each in judged.summary.tuned] == [8, 8]
    assert not TUNING._differs(judged)
