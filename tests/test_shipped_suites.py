"""Every suite that is shipped can be planned, whole and quick: no name or parameter in it is out of date.

The same of the search spaces that methods declare.
"""

from __future__ import annotations

from dataclasses import replace
from math import log10
from pathlib import Path

import pytest

from benchfw.analysis.claims import find_fewest_runs
from benchfw.plan import missing_oracles, needs_of, plan, produced_class
from benchfw.registry import Registry
from benchfw.search import Log, spaces_in
from benchfw.suite import parse_suite, read_suite

ROOT = Path(__file__).parents[1]
SUITES = sorted([*ROOT.glob("suites/**/*.toml"), *ROOT.glob("plugins/*/*/suites/**/*.toml")])
REGISTRY = Registry()

KERNELS = {"dsg": (2, 3, 15, 17), "udsg": (2, 3, 15, 17), "cdsg": (2, 3, 15, 17), "random-features-svrg": 1}
USUAL_STEPS = {
    "spectral/figure2c": {"sgd": 0.25},
    "spectral/figure2d": {"sgd": 0.25},
    "variational/figure2_ionosphere": {"pg-svi": 1, "sgd": 0.001, "adagrad": 1, "adam": 0.03},
    "variational/figure2_sonar": {"pg-svi": 0.01, "sgd": 0.0001, "adagrad": 1, "adam": 0.03},
    "variational/figure2_usps": {"pg-svi": 0.03, "sgd": 0.0001, "adagrad": 1, "adam": 0.03},
    "kernelmachines/figure1": KERNELS,
}  # fmt: skip
"""The steps of the papers, or those that did well here, which a search has to include."""

TABLE_1 = {
    "ionosphere": {
        "pg-svi": 2 / 280, "sgd": 25 / 280, "adagrad": 4, "rmsprop": 0.04, "adadelta": 0.1, "adam": 0.25,
    },
    "sonar": {
        "pg-svi": 0.2 / 165, "sgd": 1200 / 165, "adagrad": 4.5, "rmsprop": 0.1, "adadelta": 1, "adam": 0.04,
    },
    "usps": {
        "pg-svi": 2.5 / 884, "sgd": 800 / 884, "adagrad": 8, "rmsprop": 0.1, "adadelta": 1, "adam": 2.5,
    },
}  # fmt: skip
"""Of Khan et al. 2016."""


@pytest.mark.parametrize("quick", [False, True], ids=["whole", "quick"])
@pytest.mark.parametrize("path", SUITES, ids=lambda path: f"{path.parent.name}/{path.stem}")
@pytest.mark.families
def test_a_suite_has_trials(path, quick):
    assert plan(read_suite(path, quick=quick), REGISTRY)


@pytest.mark.families
@pytest.mark.parametrize("quick", [False, True], ids=["full", "quick"])
def test_suites_run_as_often_as_their_claims_need(quick):
    for name, path in REGISTRY.suites.items():
        suite = read_suite(path, quick=quick)
        tested = [each for each in suite.claims if not each.is_excused(quick=quick)]
        assert suite.repetitions >= max(find_fewest_runs(tested), default=0), name


@pytest.mark.parametrize("name", USUAL_STEPS)
@pytest.mark.families
def test_a_suite_that_tunes_searches_around_the_usual_steps(name):
    path = next(each for each in SUITES if each.with_suffix("").as_posix().endswith(f"suites/{name}"))
    methods = [each.method for each in plan(read_suite(path), REGISTRY).firsts if each.kind == "optimizer"]
    assert {each.use for each in methods} == USUAL_STEPS[name].keys()
    for method in methods:
        usual = USUAL_STEPS[name][method.use]
        space = next(iter(spaces_in(method.params).values()), None)
        if space is None:  # the paper's own step, beside the search
            continue
        for step in usual if isinstance(usual, tuple) else [usual]:
            assert 3 * space.low <= step <= space.high / 3, method.label


@pytest.mark.parametrize("name", TABLE_1)
@pytest.mark.families
def test_the_suites_of_table_1_have_its_steps(name):
    path = next(each for each in SUITES if each.stem == f"table1_{name}")
    steps = {each.method.use: each.method.params["step"] for each in plan(read_suite(path), REGISTRY).firsts}
    assert steps == pytest.approx(TABLE_1[name], rel=0.002)


@pytest.mark.families
def test_every_method_with_a_step_declares_a_space_of_steps_that_suites_can_use():
    methods = {
        name: each for name, each in REGISTRY.entries("optimizer").items() if "step" in each.parameters
    }
    assert {"gd", "adam", "pg-svi", "cdsg"} <= methods.keys()
    for name, entry in methods.items():
        table = {"use": name, "tune": "default"}
        suite = parse_suite("repetitions = 1", name)
        tables = {
            "problem": [{"use": problem_for(name)}],
            "optimizer": [table],
            "estimator": [],
            "kernel": [],
        }
        (trial,) = plan(replace(suite, tables=tables), REGISTRY).firsts
        space = spaces_in(trial.method.params)["step"]
        assert isinstance(space, Log), name
        assert 3 <= log10(space.high / space.low) <= 5.001, name
        default = entry.parameters["step"].default
        assert default in ("auto", None) or space.low < default < space.high, name


def problem_for(name):
    """Return a problem that has all that a method of this name calls."""
    needs = [each for _, each in needs_of("optimizer", {"use": name}, REGISTRY)]
    for problem, entry in REGISTRY.entries("problem").items():
        made = produced_class(entry.factory)
        settled = not any(each.required for each in entry.parameters.values())
        if made and settled and all(any(not missing_oracles(one, made) for one in each) for each in needs):
            return problem
    raise AssertionError(f"no problem for {name}")
