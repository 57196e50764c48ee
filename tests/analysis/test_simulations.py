"""The shares that docs/statistics.md prints are those that a fresh, smaller simulation finds."""

import importlib
import math
import sys
from pathlib import Path

import numpy as np
import pytest

from benchfw.analysis.decisions import decide_family
from benchfw.analysis.variance import DrawStatistics
from benchfw.measure.meter import next_look

ROOT = Path(__file__).parents[2]


def load(name):
    """Return a module of the audit, which is not a package."""
    folder = str(ROOT / "suites" / "tracked" / "audit")
    sys.path.insert(0, folder)
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(folder)


REPORTS, CENSORED, DRAWS, LINES, TABLES_OF = map(
    load, ("_reports", "_censored", "_draws", "_lines", "_tables")
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
MANY = {"medians": 10_000, "rows": 1000, "compare": 200, "estimators": 2000, "bias": 2000, "claims": 400}
PRINTED = {part: TABLES_OF.printed_lines(part) for part in MAKERS}
# what the rules were made for: an easy law, skewed and heavy ones, rare events, whole reports, stopping
FEW = [
    ("estimators", "The variance, runs", "exponential", 1),
    ("estimators", "The variance, runs", "t, 3 degrees", 2),
    ("estimators", "The variance, one", "normal", 0),
    ("estimators", "Ratio", "log-normal / normal", 2),
    ("estimators", "Ratio", "exponential / normal", 0),
    ("estimators", "Equal methods", "normal, 5 methods", 0),
    ("bias", "Bias, of", "log-normal", 0),
    ("bias", "An unbiased estimator", "event of 0.1 %, 1 of them", 0),
    ("bias", "An unbiased estimator", "Pareto 1.2, 1 of them", 1),
    ("bias", "Single runs", "normal, at 5 %", 0),
    ("bias", "drew, an unbiased estimator: the mean", "a budget of 10 that exponential draws use up", 1),
    ("bias", "Length", "10 coordinates, 0.3", 1),
]


def printed_shares(part, title, name):
    """Return the shares of a line of the manual."""
    cells = PRINTED[part][title, name].strip("| ").split(" | ")[name.count(" | ") + 1 : -1]
    return [float(cell.split("%")[0]) / 100 if "%" in cell else math.nan for cell in cells]


def agrees(held, few, printed, many):
    """Return whether a share among few experiments may be the one that was printed."""
    # Laplace's rule for both together: a share of 0 or 1 among few has a standard error, too
    share = (printed * many + held * few + 1) / (many + few + 2)
    return abs(held - printed) < 4 * math.sqrt(share * (1 - share) * (1 / many + 1 / few))


CASES = [
    pytest.param(part, number, few, id=line.name)
    for part, few in (("rows", 100), ("compare", 16))
    for number, line in enumerate(next(MAKERS[part](few)).lines)
]


@pytest.mark.parametrize(("part", "number", "few"), CASES)
@pytest.mark.sampled(3)
def test_a_fresh_simulation_finds_the_share_that_the_manual_prints(part, number, few):
    case = list(LINES.PARTS[part]())[number]
    held = sum(case.holds(np.random.default_rng([21, experiment])) for experiment in range(few))
    (printed,) = printed_shares(part, "", f"{case.group} | {case.name}")
    assert agrees(held / few, few, printed, MANY[part])


@pytest.mark.parametrize(("part", "title", "name", "column"), FEW)
def test_a_fresh_simulation_of_estimators_finds_the_share_that_the_manual_prints(part, title, name, column):
    few = 60
    (table,) = [each for each in MAKERS[part](few) if title in each.title]
    (line,) = [each for each in table.lines if each.name == name]
    found = []
    for task in line.columns[column]:
        judge, _, runs, draws, _, *arguments = task.arguments
        found.append(task.function(judge, few, runs, draws, 21, *arguments))
    held = float(np.atleast_1d(line.combine(found))[0])
    stopping = 4 if "stop" in table.heads[0] else 1
    assert agrees(held, few, printed_shares(part, table.title, name)[column], MANY[part] / stopping)


MEDIANS = 1000


@pytest.mark.parametrize("line", next(MAKERS["medians"](MEDIANS)).lines, ids=lambda line: line.name)
def test_a_fresh_simulation_of_the_median_finds_the_shares_that_the_manual_prints(line):
    for (task,), printed in zip(line.columns, printed_shares("medians", "", line.name), strict=True):
        judge, few, pairs, draws, _, *arguments = task.arguments
        found = task.function(judge, few, pairs, draws, 21, *arguments)
        # where it is a share of what Student's test finds, of so many
        of = np.mean(found[0]) if "of these" in line.name else 1.0
        assert agrees(line.combine([found]), of * few, printed, of * MANY["medians"])


CLAIMED = [
    ("one holds", "ratio, exponential, 10 runs", 0, 100),
    ("one holds", "value, bimodal, 20 runs", 1, 40),
    ("one holds", "ratio, log-normal, 10 runs, 15 of 20 far from it", 2, 20),
    ("one is refuted", "ratio to a method that varies little, log-normal, 10 runs", 0, 100),
    ("one is refuted", "ratio within a range, normal, 20 runs", 1, 40),
    ("Other claims", "bound in the mean, at its edge: holds", 1, 20),
    ("Other claims", "rate, at its edge: refuted", 1, 100),
    ("Other claims", "unbiased, no bias: refuted", 0, 100),
    ("One true claim", "5 runs, 2 standard errors inside", 0, 100),
    ("One true claim", "10 runs, 3 standard errors inside", 2, 100),
    ("leave undecided", "normal, 0.5 standard errors of ten runs inside", 0, 100),
]


@pytest.mark.parametrize(("title", "name", "column", "few"), CLAIMED)
def test_a_fresh_simulation_of_claims_finds_the_share_that_the_manual_prints(title, name, column, few):
    many = MANY["claims"]
    (table,) = [each for each in MAKERS["claims"](many) if title in each.title]
    (line,) = [each for each in table.lines if each.name == name]
    *arguments, _, _ = line.columns[column][0].arguments
    found = line.columns[column][0].function(*arguments, many, many + few)  # of other seeds
    known = 1 - np.mean([isinstance(each, float) for each in found])  # NaN
    printed = printed_shares("claims", table.title, name)[column]
    assert agrees(line.combine([found]), known * few, printed, known * many)


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
    whole, bias = DRAWS.record(draws, 1.0), load("_bias")
    count = np.array([[50, 32, 40], [2, 20, 35]])
    squares = DRAWS.increments(draws)
    sums = tuple(np.cumsum(squares**power, axis=-1) for power in (1, 2, 3))
    stopped = bias.record_stopped(draws, 1.0, count, sums)
    for report, run in np.ndindex(2, 3):
        for found, length in ((whole, 50), (stopped, count[report, run])):
            statistics = DrawStatistics(1.0)
            for draw in draws[report, run, :length]:
                statistics.add(draw)
            assert found.bias[report, run] == pytest.approx(statistics.bias)
            assert found.variance[report, run] == pytest.approx(statistics.variance)
            if length > 2:
                assert found.std_error[report, run] == pytest.approx(statistics.variance_std_error)


def test_a_precision_stops_a_run_where_the_harness_would():
    draws, limit = np.random.default_rng(4).exponential(size=(1, 2, 1000)), 0.3
    stops, _ = load("_bias")._stops(draws, "exponential", limit)
    for run, stop in enumerate(stops[0]):
        statistics, look = DrawStatistics(), 2
        for number, draw in enumerate(draws[0, run], 1):
            statistics.add(draw)
            if number == look:
                look = next_look(number)
                if statistics.relative_half_width() <= limit:
                    break
        assert stop == number


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


def test_reports_in_which_runs_never_arrive_keep_their_error_budget():
    (alike, *_), (found, *false) = (
        CENSORED.judge(np.random.default_rng(8), 10, (20, 4), 100, effects) for effects in ("none", "half")
    )
    assert max(alike, *false) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 100)
    assert found > 0.5 + 4 * math.sqrt(0.5 * 0.5 / 100)


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


@pytest.mark.thorough
def test_whole_reports_are_judged_by_what_they_decide():
    whole, reports = load("_whole"), 20
    seeds = [np.random.default_rng([5, number]) for number in range(reports)]
    alike = [whole.judge_report(rng, "log-normal", 5, "none") for rng in seeds]
    assert np.mean([each.claims for each in alike]) <= 0.05 + 4 * math.sqrt(0.05 * 0.95 / reports)
    assert all(each.false == each.claims for each in alike)  # all that is said of like methods is false
    half = [whole.judge_report(rng, "quiet log-normal", 5, "half") for rng in seeds]
    assert all(each.claims for each in half)
    for shares in ([each.false for each in half], [each.uncovered for each in half]):
        assert np.mean(shares) <= 0.05 + 4 * np.std(shares, ddof=1) / math.sqrt(reports)


def test_methods_that_differ_by_the_margin_are_seldom_called_equal_and_power_is_hardly_lost():
    rng = np.random.default_rng(9)
    assert REPORTS.audit(rng, "quiet normal", 10, (2, 1), 500, "edge").equal <= 0.05
    for runs, noise in ((5, 0.05), (3, 0.1)):
        found, uncorrected = REPORTS.power(rng, "log-normal", runs, 1000, noise)
        assert found >= 0.9 * uncorrected


SURFACES, TUNING = map(load, ("_surfaces", "_tuning"))


def test_a_simulated_method_is_tuned_and_judged_by_the_code_of_a_run():
    rng = np.random.default_rng(12)
    method = SURFACES.draw_surface(rng)
    world = SURFACES.World(rng, {"a": method, "b": method}, SURFACES.Noise(0.3, 0.0, 0.0))
    judged = SURFACES.judge(world, SURFACES.Tuning(trials=8), 3)
    assert judged.effects["b"] == 0  # equal spaces: the same settings, and without noise the same choice
    assert [len(each.attempts) for each in judged.summary.tuned] == [8, 8]
    assert not TUNING._differs(judged)


def test_the_mean_of_the_largest_of_normal_numbers_is_that_of_tables():
    assert [round(TUNING.largest_normal(count), 2) for count in (4, 64)] == [1.03, 2.34]
