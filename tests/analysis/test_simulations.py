"""The simulations of docs/statistics.md can be run, and its table has the line of every one."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "suites" / "tracked" / "interval_coverage.py"
TABLE = (ROOT / "docs" / "statistics.md").read_text(encoding="utf-8")


def load():
    spec = importlib.util.spec_from_file_location("coverage_simulations", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


SIMULATIONS = load()
CASES = [*SIMULATIONS.cases(), *SIMULATIONS.comparisons()]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.group}: {case.name}")
def test_a_simulation_runs_and_its_result_is_in_the_manual(case):
    assert case.holds(np.random.default_rng(1)) in {True, False}
    assert f"| {case.group} | {case.name} | " in TABLE
