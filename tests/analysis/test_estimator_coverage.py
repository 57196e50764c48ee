"""The shares of docs/statistics.md about estimators are those that a fresh, smaller simulation finds."""

import importlib.util
import math
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from benchfw.analysis.variance import DrawStatistics

ROOT = Path(__file__).parents[2]
REPORTS = 60


def load():
    script = ROOT / "suites" / "tracked" / "estimator_coverage.py"
    spec = importlib.util.spec_from_file_location("estimator_coverage", script)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


AUDIT = load()
TABLES = list(AUDIT.tables())
# what the rules were made for: a cell each of a law that is easy, skewed, heavy, rare, and of whole reports
FEW = [
    (0, "exponential", 5), (0, "t, 3 degrees", 10), (0, "event of 1 %", 20), (1, "normal", 100),
    (2, "log-normal", 3), (3, "event of 0.1 %, 1 of them", 3), (3, "Pareto 1.2, 1 of them", 5),
    (4, "log-normal / normal", 10), (4, "exponential / normal", 3), (5, "normal, 5 methods", 3),
    (5, "event of 10 %, 5 methods", 5),
]  # fmt: skip


def printed():
    """Return table title -> row -> the shares."""
    start, end = AUDIT.MARKERS
    text = AUDIT.DOCUMENT.read_text(encoding="utf-8").split(start)[1].split(end)[0]
    found = {}
    for line in text.splitlines():
        if line.startswith("**"):
            found[title := line.strip("*")] = {}
        elif "%" in line:
            name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
            found[title][name] = [float(cell.split("%")[0]) / 100 for cell in cells[:-1]]
    return found


def test_the_manual_has_a_number_for_every_cell_and_none_is_outside_its_limits():
    shown = printed()
    assert {table.title: [row.name for row in table.rows] for table in TABLES} == {
        title: list(rows) for title, rows in shown.items()
    }
    text = AUDIT.DOCUMENT.read_text(encoding="utf-8")
    assert not re.search(r"% !|\) !", text)


@pytest.mark.parametrize(("table", "name", "runs"), FEW)
def test_a_fresh_simulation_finds_the_share_that_the_manual_prints(table, name, runs):
    row = next(each for each in TABLES[table].rows if each.name == name)
    share, _ = AUDIT.judge(row, runs, REPORTS, seed=21)
    expected = printed()[TABLES[table].title][name][row.runs.index(runs)]
    # Laplace's rule: a share of 0 or 1 has a standard error, too
    likely = (expected * 2000 + share * REPORTS + 1) / (2000 + REPORTS + 2)
    assert abs(share - expected) < 4 * math.sqrt(likely * (1 - likely) * (1 / 2000 + 1 / REPORTS))


def test_the_audit_records_what_a_trial_does():
    draws = np.random.default_rng(3).exponential(size=(2, 3, 50))
    found = AUDIT.record(draws, 1.0)
    for report, run in np.ndindex(2, 3):
        statistics = DrawStatistics(1.0)
        for draw in draws[report, run]:
            statistics.add(draw)
        assert found.bias[report, run] == pytest.approx(statistics.bias)
        assert found.variance[report, run] == pytest.approx(statistics.variance)
        assert found.std_error[report, run] == pytest.approx(statistics.variance_std_error)
