"""The shares that docs/statistics.md prints are those that a fresh, smaller simulation finds."""

import importlib
import math
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from benchfw.analysis.decisions import decide_family

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "statistics.md").read_text(encoding="utf-8")
TABLES = dict(re.findall(r"<!-- audit: (\w+) -->\n(.*?)<!-- end of audit", PAGE, re.DOTALL))


def load(name):
    """Return a module of the audit, which is not a package."""
    folder = str(ROOT / "suites" / "tracked" / "audit")
    sys.path.insert(0, folder)
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(folder)


REPORTS, CENSORED = load("_reports"), load("_censored")
PRINTED = {
    (group, name): float(share) / 100
    for group, name, share in re.findall(
        r"^\| ([^|]+) \| ([^|]+) \| ([\d.]+)% \|", TABLES["rows"] + TABLES["compare"], re.MULTILINE
    )
}
# (case, experiments of the table, experiments here)
CASES = [(case, 1000, 100) for case in load("_rows").cases()]
CASES += [(case, 200, 8) for case in load("_runs").comparisons()]


@pytest.mark.parametrize(
    ("case", "many", "few"), [pytest.param(*each, id=f"{each[0].group}: {each[0].name}") for each in CASES]
)
@pytest.mark.sampled(10)
def test_a_fresh_simulation_finds_the_share_that_the_manual_prints(case, many, few):
    held = sum(case.holds(np.random.default_rng([21, number])) for number in range(few))
    printed = PRINTED[case.group, case.name]
    # Laplace's rule for both together: a share of 0 or 1 among few has a standard error, too
    share = (printed * many + held + 1) / (many + few + 2)
    error = math.sqrt(share * (1 - share) * (1 / many + 1 / few))
    assert abs(held / few - printed) < 4 * error


def test_the_manual_prints_no_simulation_that_cannot_be_run():
    assert set(PRINTED) == {(case.group, case.name) for case, *_ in CASES}


def test_the_manual_prints_a_share_for_every_law_and_none_that_was_missed():
    lines = [line for line in TABLES["reports"].splitlines() if line.startswith("| ")][1:]
    laws = [*load("_laws").LAWS, "deterministic, looks", "a third of the runs never arrives"]
    for law in laws:
        assert any(f"; {law} |" in line for line in lines if line.startswith("| all alike"))
        assert sum(f"; {law} |" in line for line in lines if line.startswith("| half differ")) >= 2
    for name, *_ in load("_whole").whole_lines(1):
        assert f"| {name} |" in TABLES["whole"]
    assert not any(": missed" in table for table in TABLES.values())


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
        CENSORED.judge(np.random.default_rng(8), 10, (20, 4), 200, effects) for effects in ("none", "half")
    )
    assert max(alike, *false) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 200)
    assert found > 0.5


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


def test_whole_reports_are_judged_by_what_they_decide():
    whole = load("_whole")
    seeds = [np.random.default_rng([5, number]) for number in range(4)]
    alike = [whole.judge_report(rng, "log-normal", 5, "none") for rng in seeds]
    assert sum(each.claims for each in alike) <= 1
    assert all(each.false == each.claims for each in alike)  # all that is said of like methods is false
    half = [whole.judge_report(rng, "quiet log-normal", 5, "half") for rng in seeds]
    assert all(each.claims for each in half)
    assert np.mean([each.false for each in half]) <= 0.15  # of four reports
    assert np.mean([each.uncovered for each in half]) <= 0.15


def test_methods_that_differ_by_the_margin_are_seldom_called_equal_and_power_is_hardly_lost():
    rng = np.random.default_rng(9)
    assert REPORTS.audit(rng, "quiet normal", 10, (2, 1), 500, "edge").equal <= 0.05
    for runs, noise in ((5, 0.05), (3, 0.1)):
        found, uncorrected = REPORTS.power(rng, "log-normal", runs, 1000, noise)
        assert found >= 0.9 * uncorrected
