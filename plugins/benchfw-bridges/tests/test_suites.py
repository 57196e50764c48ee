"""The standing comparisons: every method of theirs is known, and what a machine lacks is skipped."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

import benchfw
from benchfw.plan import plan
from benchfw.registry import Registry
from benchfw.suite import read_suite

SUITES = sorted(Path(str(files("benchfw_bridges"))).glob("suites/**/*.toml"))


@pytest.mark.parametrize("path", [path for path in SUITES if path.stem != "adam"], ids=lambda path: path.stem)
@pytest.mark.parametrize("quick", [False, True], ids=["full", "quick"])
def test_a_suite_has_methods_of_ours_and_of_other_libraries_on_every_problem(path, quick):
    trials = plan(read_suite(path, quick=quick), Registry())
    methods = {trial.method.label for trial in trials}
    assert any("sklearn" in each for each in methods)
    assert {"lbfgs", "fista"} & methods
    assert len({trial.problem.label for trial in trials}) == 2


def test_the_adams_of_all_libraries_have_one_step_length():
    trials = plan(read_suite(next(path for path in SUITES if path.stem == "adam")), Registry())
    lengths = {
        trial.method.use: trial.method.params.keys() & {"step", "lr", "learning_rate"} for trial in trials
    }
    assert lengths == {"adam": {"step"}, "torch-optim": {"lr"}, "optax": {"learning_rate"}}
    assert {trial.method.params[next(iter(lengths[trial.method.use]))] for trial in trials} == {0.05}


@pytest.mark.thorough
def test_a_quick_run_ends_well(tmp_path):
    result = benchfw.run(
        "bridges/lasso", quick=True, jobs=0, replay=False, progress=False, store=tmp_path / "store.sqlite"
    )
    assert set(result.frame["status"]) == {"reached"}
