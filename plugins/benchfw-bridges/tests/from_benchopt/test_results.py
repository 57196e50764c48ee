"""Result files of benchopt become runs that were not measured here; suites are written of benchmarks."""

from __future__ import annotations

import importlib.util
import json

import pytest
from click.testing import CliRunner

from benchfw.cli import cli
from benchfw.registry import Registry
from benchfw.store import Store
from benchfw.suite import read_suite
from benchfw.summary.summarize import summarize

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("pyarrow") is None, reason="pyarrow is not installed"
)

NOT_MEASURED = "Not measured here but imported from results.parquet, a result file of benchopt"


@pytest.fixture
def call(tmp_path, monkeypatch):
    """Return a function that calls the command line in a folder of its own, and gives its output."""
    monkeypatch.chdir(tmp_path)

    def run(*words, code=0):
        found = CliRunner().invoke(cli, list(map(str, words)), standalone_mode=False)
        if code:
            assert found.exception is not None
            return str(found.exception)
        assert found.exception is None, found.exception
        return " ".join(found.output.split())

    return run


@pytest.fixture
def results(tmp_path):
    """Return a result file as benchopt writes them: two solvers, two repetitions."""
    import pyarrow as pa
    from pyarrow import parquet

    rows = [
        {
            "dataset_name": "Simulated[n=3]",
            "objective_name": "Ridge",
            "solver_name": solver,
            "idx_rep": repetition,
            "sampling_strategy": strategy,
            "stop_val": stop,
            "time": 0.5 * place + 0.1 * repetition,
            "objective_value": 1.0 / (1 + place),
            "objective_rmse": 2.0,
            "objective_note": None,
            "objective_packed": b"\x00benchopt-pkl\x00never read",
            "system-cpus": 4,
            "system-processor": "a processor",
            "version-numpy": "2.4",
        }
        for solver, strategy, stops in (("GD", "Iteration", (0, 1, 5)), ("Glum", "Tolerance", (3e38, 1, 0.5)))
        for repetition in (0, 1)
        for place, stop in enumerate(map(float, stops))
    ]
    path = tmp_path / "results.parquet"
    parquet.write_table(pa.Table.from_pylist(rows), path)
    return path


def test_a_result_file_becomes_a_run_with_its_curves(call, results, tmp_path):
    assert "run 1: 4 trials of results.parquet" in call("import", results.name)
    with Store(tmp_path / "reports" / "benchfw.sqlite") as store:
        run, found = store.run("last"), store.results(1)
    assert run.environment.imported == "results.parquet, a result file of benchopt"
    assert run.environment.machine.cores == 4
    gd, glum = found[0].outcome.records, found[2].outcome.records
    assert [(each.iteration, each.seconds, each.value) for each in gd if each.metric == "objective"] == [
        (0, 0.0, 1.0),
        (1, 0.5, 0.5),
        (5, 1.0, 1 / 3),
    ]
    assert [each.iteration for each in glum if each.metric == "rmse"] == [0, 1, 2]


def test_every_report_says_that_an_imported_run_was_not_measured_here(call, results, tmp_path):
    call("import", results.name)
    assert NOT_MEASURED in call("report")
    assert NOT_MEASURED in call("report", "--format", "md")
    assert NOT_MEASURED in (tmp_path / "reports" / "run-1" / "index.html").read_text(encoding="utf-8")
    assert '"imported": "results.parquet, a result file of benchopt"' in call("report", "--json")
    assert "imported from results.parquet" in call("export", "--format", "json")
    rows = json.loads(call("export", "--summary", "--format", "json"))
    assert {each["imported"] for each in rows} == {"results.parquet, a result file of benchopt"}
    assert "4 done, imported" in call("runs")


def test_nothing_is_decided_about_an_imported_run(call, results, tmp_path):
    call("import", results.name)
    with Store(tmp_path / "reports" / "benchfw.sqlite") as store:
        summary = summarize(store.run("last"), store.results(1))
    (comparison,) = summary.comparisons
    assert summary.seeds == ()
    assert not comparison.decisions
    assert all(row.ratio is None for row in comparison.rows)
    assert "paired by repetition" not in call("report")


@pytest.mark.parametrize("words", [("replay", 1), ("compare", 1, 1)])
def test_verbs_that_need_measured_runs_say_so(call, results, words):
    call("import", results.name)
    said = call(*words, code=2)
    assert said.startswith("run 1 was imported from results.parquet, a result file of benchopt; ")
    assert said.endswith(f"{words[0]} needs a run that benchfw measured")


def test_what_is_not_a_result_file_is_refused(call, tmp_path):
    (tmp_path / "notes.txt").write_text("nothing", encoding="utf-8")
    assert "no file 'absent.parquet'" in call("import", "absent.parquet", code=2)
    assert "notes.txt is not a Parquet file" in call("import", "notes.txt", code=2)
    assert "nothing imports results of 'benchop'" in call("import", "notes.txt", "--from", "benchop", code=2)


def test_a_file_of_another_kind_says_what_it_lacks(call, tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.table({"a": [1]}), tmp_path / "other.parquet")
    assert "it has no dataset_name, objective_name, solver_name" in call("import", "other.parquet", code=2)
    assert not (tmp_path / "reports").exists()


def test_a_suite_of_a_benchmark_has_all_solvers_with_their_settings(call, benchmark_folder):
    call("new", "suite", "ridge", "--from-benchopt", benchmark_folder)
    suite = read_suite(benchmark_folder.parent / "ridge.toml")
    assert suite.title == "Small ridge"
    assert [each["noise"] for each in suite.tables["problem"]] == [0.1, 1.0]
    assert {each["benchmark"] for each in suite.tables["problem"]} == {"small"}
    labels = [each["label"] for each in suite.tables["optimizer"]]
    assert labels == [
        *("Absent", "Calling-GD", "CG", "Direct", "GD (relative_step=1.0)", "GD (relative_step=0.5)"),
        *("Picky", "Tolerant-GD"),
    ]
    assert "80 trials" in call("run", "ridge.toml", "--dry-run")


def test_a_parameter_with_a_name_that_the_table_has_is_written_in_parameters(call, benchmark_folder):
    file = benchmark_folder / "solvers" / "gd.py"
    text = file.read_text(encoding="utf-8").replace('"relative_step": [1.0, 0.5]', '"solver": ["a", "b"]')
    file.write_text(text, encoding="utf-8")
    call("new", "suite", "ridge", "--from-benchopt", benchmark_folder)
    tables = read_suite(benchmark_folder.parent / "ridge.toml").tables["optimizer"]
    assert [each["parameters"] for each in tables if each["solver"] == "GD"] == [
        {"solver": "a"},
        {"solver": "b"},
    ]


def test_from_benchopt_is_for_suites(call, benchmark_folder):
    said = call("new", "optimizer", "mine", "--from-benchopt", benchmark_folder, code=2)
    assert said == "--from-benchopt is for a suite, not for a new optimizer; use `benchfw new suite NAME`"


def test_the_importer_is_registered():
    assert list(Registry().entries("importer")) == ["benchopt"]
