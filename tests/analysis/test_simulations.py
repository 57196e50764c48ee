"""The shares that docs/statistics.md prints are those that a fresh, smaller simulation finds."""

import importlib.util
import math
import re
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "suites" / "tracked" / "interval_coverage.py"
# the tables on estimators are those of test_estimator_coverage.py
TABLE = (ROOT / "docs" / "statistics.md").read_text(encoding="utf-8").split("<!-- estimator coverage")[0]


def load():
    spec = importlib.util.spec_from_file_location("coverage_simulations", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


SIMULATIONS = load()
PRINTED = {
    (group, name): float(share) / 100
    for group, name, share in re.findall(r"^\| ([^|]+) \| ([^|]+) \| ([\d.]+)% \|", TABLE, re.MULTILINE)
}
# (case, experiments of the table, experiments here)
CASES = [(case, 1000, 100) for case in SIMULATIONS.cases()]
CASES += [(case, 200, 8) for case in SIMULATIONS.comparisons()]


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
