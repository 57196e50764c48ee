"""A benchmark of benchopt runs as benchopt runs it, in the roles of benchfw."""

from __future__ import annotations

import numpy as np
import pytest

from benchfw import BenchfwError
from benchfw.backends import get_backend
from benchfw.errors import SuiteError
from benchfw.harness.agenda import check_methods
from benchfw.harness.identity import Identity
from benchfw.measure.trial import collector, run_trial
from benchfw.plan import plan
from benchfw.records import Budget, Counting, Ending, Spec, Status, Trial
from benchfw.registry import Registry
from benchfw.suite import parse_suite
from benchfw_bridges.from_benchopt.folder import load_class
from benchfw_bridges.from_benchopt.solver import tolerances_of

NUMPY = get_backend("numpy")


@pytest.fixture(scope="module")
def registry():
    return Registry()


@pytest.fixture
def measured(benchmark_folder, registry):
    """Return a function that runs a trial of a solver in this process: its outcome and its records."""

    def run(solver, dataset="Table", budget=None, repetition=0, objective=None, **parameters):
        own = {"benchmark": str(benchmark_folder)}
        problem = Spec("benchopt", {**own, "dataset": dataset, "objective": objective or {}}, "ridge")
        method = Spec("benchopt", {**own, "solver": solver, **parameters}, solver)
        limits = budget or Budget(iterations=9)
        trial = Trial("optimizer", problem, method, "numpy", repetition, 0, limits)
        records, emit = collector()
        with registry.activate():
            return run_trial(trial, registry, emit), records

    return run


def values(records, metric="objective"):
    return {each.iteration: each.value for each in records if each.metric == metric}


@pytest.fixture
def by_benchopt(benchmark_folder):
    """Return a function that gives the values that benchopt itself finds, by what the solver was given."""

    def run(solver, dataset="Table", max_runs=10):
        from benchopt.runner import run_benchmark

        run_benchmark(
            str(benchmark_folder),
            solver_names=[solver],
            dataset_names=[dataset],
            objective_filters=["Small ridge[weight=1.0]"],
            max_runs=max_runs,
            plot_result=False,
            show_progress=False,
            no_cache=True,
            output_file=str(benchmark_folder / "out" / "run.parquet"),
        )
        import pandas as pd

        frame = pd.read_parquet(benchmark_folder / "out" / "run.parquet")
        return dict(zip(frame["stop_val"].tolist(), frame["objective_value"].tolist(), strict=True))

    return run


def gradient_steps(folder, count):
    """Return the value after each of so many steps of gradient descent, by hand."""
    table = np.loadtxt(folder / "table.csv", delimiter=",")
    X, y = table[:, :2], table[:, -1]
    step, w, found = 1 / (np.linalg.norm(X, 2) ** 2 + 1.0), np.zeros(2), []
    for _ in range(count + 1):
        found.append(0.5 * np.sum((X @ w - y) ** 2) + 0.5 * (w @ w))
        w = w - step * (X.T @ (X @ w - y) + w)
    return found


@pytest.mark.parametrize("solver", ["GD", "Calling-GD"])
def test_the_values_after_so_many_iterations_are_those_by_hand(measured, benchmark_folder, solver):
    outcome, records = measured(solver)
    found, expected = values(records), gradient_steps(benchmark_folder, 9)
    assert (outcome.status, outcome.ending) == (Status.DONE, Ending.ITERATIONS)
    assert next(iter(found)) == 0
    assert list(found)[-1] == 9
    assert list(found.values()) == pytest.approx([expected[each] for each in found], rel=1e-14)


@pytest.mark.parametrize("solver", ["GD[relative_step=1.0]", "Calling-GD", "Direct", "CG"])
def test_equal_iterations_have_the_values_that_benchopt_finds(measured, by_benchopt, solver):
    _, records = measured(solver.partition("[")[0])
    found, expected = values(records), by_benchopt(solver)
    common = found.keys() & expected.keys()
    assert len(common) >= (1 if solver == "Direct" else 4)
    assert [found[each] for each in sorted(common)] == [expected[each] for each in sorted(common)]


def test_equal_tolerances_have_the_values_that_benchopt_finds(measured, by_benchopt):
    _, records = measured("Tolerant-GD", budget=Budget(iterations=8))
    found, expected = values(records), by_benchopt("Tolerant-GD", max_runs=6)
    assert list(expected) == [3e38, *(2.0**-each for each in range(6))]
    assert list(found)[:7] == list(range(7))
    assert list(found.values())[:7] == list(expected.values())


def test_tolerances_fall_as_in_benchopt_unless_the_solver_says_how(benchmark_folder):
    file = benchmark_folder / "solvers" / "tolerant.py"
    file.write_text(file.read_text(encoding="utf-8").replace("def get_next", "def unused"), "utf-8")
    found = tolerances_of(load_class(benchmark_folder, "solver", "Tolerant-GD").get_instance())
    assert found[:4] == [3e38, 1, 1 / 1.5, 1 / 1.5 / 1.5]
    assert found[-1] == 1e-15


def test_a_solver_that_runs_once_has_one_point(measured):
    outcome, records = measured("Direct")
    assert list(values(records)) == [1]
    assert outcome.ending is Ending.BY_ITSELF
    assert outcome.prepare_seconds > 0


@pytest.mark.parametrize("solver", ["GD", "Calling-GD", "Tolerant-GD", "Direct"])
def test_the_cost_of_a_solver_is_not_known_and_that_is_no_caveat(measured, solver):
    outcome, _ = measured(solver)
    assert (outcome.counting, outcome.prepare_cost) == (Counting.UNKNOWN, None)
    assert not outcome.caveats


def test_a_solver_that_says_where_it_is_evaluated_is_evaluated_there(measured):
    assert list(values(measured("CG")[1])) == [0, 2, 4, 6, 8, 9]


def test_all_numbers_of_an_evaluation_are_metrics_and_its_value_comes_first(measured):
    _, records = measured("Direct")
    assert [each.metric for each in records] == ["objective", "rmse"]


def test_what_a_solver_skips_is_skipped_with_its_reason(measured):
    outcome, _ = measured("Picky", dataset="Simulated")
    assert (outcome.status, outcome.reason) == (Status.SKIPPED, "Picky is for two columns")
    assert measured("Picky")[0].status is Status.DONE


def test_what_an_objective_skips_is_skipped_with_its_reason(measured, benchmark_folder):
    file = benchmark_folder / "datasets" / "table.py"
    file.write_text(file.read_text(encoding="utf-8").replace('"columns": [2]', '"columns": [0]'), "utf-8")
    outcome, _ = measured("GD")
    assert (outcome.status, outcome.reason) == (Status.SKIPPED, "there are no columns")


def test_missing_requirements_are_skipped_with_what_to_install(measured):
    outcome, _ = measured("Absent")
    assert outcome.status is Status.SKIPPED
    assert "No module named 'no_such_package_anywhere'" in outcome.reason
    assert "pip install no-such-package-anywhere old-package and install other-package" in outcome.reason


def test_parameters_are_those_of_the_solver_the_objective_and_the_data_set(measured):
    slow = values(measured("GD", relative_step=0.5)[1])
    heavy = values(measured("GD", objective={"weight": 0.1})[1])
    usual = values(measured("GD")[1])
    assert slow[0] == usual[0]
    assert slow[3] > usual[3]
    assert heavy[9] < usual[9]


def test_each_repetition_has_data_of_its_own_and_all_methods_the_same(measured):
    first = values(measured("GD", dataset="Simulated")[1])[0]
    assert values(measured("Calling-GD", dataset="Simulated")[1])[0] == first
    assert values(measured("GD", dataset="Simulated", repetition=1)[1])[0] != first


SUITE = """
repetitions = 1
[[problem]]
use = "benchopt"
benchmark = "small"
dataset = "{dataset}"
objective = {{ weight = 1.0 }}
{more}
[[optimizer]]
use = "benchopt"
benchmark = "small"
solver = "{solver}"
"""


def planned(folder, registry, dataset="Table", solver="GD", more=""):
    text = SUITE.format(dataset=dataset, solver=solver, more=more)
    suite = parse_suite(text, str(folder.parent / "suite.toml"))
    trials = plan(suite, registry, suite.where)
    check_methods(trials.firsts, registry, suite.where)
    return trials.firsts[0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"solver": "GDD"}, "optimizer 'benchopt': the benchmark small has no solver 'GDD'; did you mean"),
        ({"dataset": "Tabel"}, "problem 'benchopt': the benchmark small has no data set 'Tabel'; did you"),
        ({"more": "rows = 3"}, "data set 'Table' has no parameter 'rows'; choose from: columns"),
        ({"solver": 'GD"\nstep = "1'}, "solver 'GD' has no parameter 'step'; choose from: relative_step"),
    ],
)
def test_an_unknown_name_is_one_sentence_when_the_suite_is_planned(
    benchmark_folder, registry, changes, message
):
    with pytest.raises(SuiteError, match=r"suite\.toml: ") as raised:
        planned(benchmark_folder, registry, **changes)
    assert message in str(raised.value)


def test_a_folder_without_an_objective_is_refused(tmp_path, registry):
    with pytest.raises(BenchfwError, match=r"nowhere is not a benchopt benchmark: it has no objective\.py"):
        registry.source_files("problem", {"use": "benchopt", "benchmark": str(tmp_path / "nowhere")})


@pytest.mark.parametrize(
    ("edited", "changed"),
    [
        ("solvers/gd.py", ["GD"]),
        ("solvers/calling.py", ["Calling-GD"]),
        ("datasets/simulated.py", []),
        ("datasets/table.py", ["GD", "Calling-GD"]),
        ("objective.py", ["GD", "Calling-GD"]),
        ("benchmark_utils/__init__.py", ["GD", "Calling-GD"]),
    ],
)
def test_an_edit_changes_the_keys_of_the_trials_that_use_the_file(
    benchmark_folder, registry, edited, changed
):
    def keys():
        identity = Identity(registry, {"numpy": {"device": "cpu"}}, 1)
        trials = {name: planned(benchmark_folder, registry, solver=name) for name in ("GD", "Calling-GD")}
        return {name: identity.stamp(trial)[1](0) for name, trial in trials.items()}

    before = keys()
    with (benchmark_folder / edited).open("a", encoding="utf-8") as file:
        file.write("\nMORE = 1\n")
    after = keys()
    assert [name for name in before if after[name] != before[name]] == changed
