"""Metrics of which higher is better: from the target to the verdict, in figures, exports and `compare`."""

import json
import re
import shutil
from pathlib import Path

import pytest

from benchfw.records import Status
from benchfw.report.figures.chosen import find_view
from benchfw.store import Store
from benchfw.summary.summarize import summarize

SUITE = """
repetitions = 8
plugins = ["hills.py"]
budget = {{ iterations = 40 }}
{}

[[problem]]
use = "{}"
{}

[[optimizer]]
use = "climb"
label = "first"
{}

[[optimizer]]
use = "climb"
label = "second"
{}
"""


@pytest.fixture
def climb(cli):
    """Return a function that runs two climbers on a hill, and returns what was said."""
    shutil.copy(Path(__file__).parents[1] / "plugins" / "hills.py", cli.folder)

    def run(first="", second="rate = 0.6", head="", use="hill", table="", exit_code=0):
        cli.write("hills.toml", SUITE.format(head, use, table, first, second))
        done = cli("run", "hills.toml", "--no-report")
        assert done.returncode == exit_code, done.stderr
        return " ".join(done.stdout.split())

    return run


def read(cli):
    with Store(cli.folder / "reports/benchfw.sqlite") as store:
        run = store.run("last")
        return run, store.results(run.id)


def test_a_target_is_reached_from_below_and_values_stay_as_measured(cli, climb):
    said = climb(head="target = { accuracy = 0.8, evidence = -80 }")
    assert "to reach accuracy 0.8 and evidence -80" in said
    assert "(8 paired runs)" in said
    run, results = read(cli)
    for each in results:
        assert each.outcome.status is Status.REACHED
        assert each.outcome.reason.startswith("accuracy ≥ 0.8, evidence ≥ -80 at iteration ")
        values = [record.value for record in each.outcome.records if record.metric == "accuracy"]
        assert min(values) == values[0]
        assert values[-2] < 0.8 <= values[-1]
    roles = {(row["metric"], row["role"]) for row in cli.records()}
    assert roles >= {("accuracy", "gain"), ("evidence", "gain"), ("error", "metric")}
    summary = summarize(run, results)
    title, view = find_view(summary, "accuracy", "cost", None)
    drawn = [each for each in view.data if each["meta"]["part"] == "line"]
    assert all(each["y"][0] < 0.2 and each["y"][-1] >= 0.8 for each in drawn), title
    assert view.layout["yaxis"]["type"] == "linear"
    ends = {row.quantity: row.interval for row in summary.comparisons[0].rows if row.cell.method == "first"}
    assert 0.8 <= ends["accuracy"].low <= ends["accuracy"].estimate <= ends["accuracy"].high < 0.9
    assert -80 <= ends["evidence"].low <= ends["evidence"].high < -70


@pytest.mark.parametrize("first", ["accuracy", "evidence"])
def test_the_method_with_the_higher_end_is_called_better_and_the_lower_one_never(climb, first):
    table = f'first = "{first}"'
    high, low = "level = 0.95\nrate = 0.1", "level = 0.92\nrate = 0.12"
    said = climb(low, high, table=table)
    size = r"0\.0\d+" if first == "accuracy" else r"\d\.\d+|0\.\d+"
    assert re.search(rf"At the end, second has {first} ({size}) \[[\d., ]+\] higher than first", said), said
    assert f"{first} at the end" in said
    said = climb(high, low, table=table)
    assert f"second has {first}" not in said or "lower than first" in said
    assert "higher than first" not in said
    assert "The method second needs" not in said


def test_a_lower_accuracy_is_a_regression_between_two_runs_and_a_higher_one_is_not(cli, climb):
    for level in (0.7, 0.9):
        climb(f"level = {level}", head="seed = 1")
    for runs, word, sign in (("1", "2"), "improved", 1), (("2", "1"), "regressed", -1):
        done = cli("compare", *runs, "--json")
        rows = [row for row in json.loads(done.stdout)["rows"] if row["method"] == "first"]
        found = {row["quantity"]: row for row in rows}
        assert {found[name]["verdict"] for name in ("accuracy", "evidence", "error")} == {word}
        assert sign * found["accuracy"]["difference"] == pytest.approx(0.2, abs=0.01)
        assert sign * (found["accuracy"]["after"] - found["accuracy"]["before"]) > 0.1
        assert found["accuracy"]["low"] < found["accuracy"]["difference"] < found["accuracy"]["high"]
        assert found["evidence"]["before"] < 0
        assert done.returncode == (word == "regressed")


def test_the_gap_of_an_objective_that_rises_is_the_distance_to_the_highest(cli, climb):
    said = climb(head="target = { gap = 0.05 }", table='first = "objective"')
    assert "distance to the highest objective of the repetition in this run" in said
    assert "The method second needs" in said
    assert "to reach gap 0.05" in said
    said = climb("steps = 5", "steps = 5\nrate = 0.6", "target = { gap = 0.05 }", table='first = "objective"')
    assert "distance to the highest objective of the repetition in this store" in said
    head = "target = { gap = 0.2 }"
    assert "to reach gap 0.2" in climb(head=head, table="best = 0.9")
    said = climb(head=head, table="best = 0.3", exit_code=1)
    assert "better than best = 0.3" in said.replace("0.29999999999999999", "0.3")


def test_what_is_declared_wrong_is_one_sentence(cli, climb):
    said = climb(use="misspelt", exit_code=1)
    assert "higher_is_better of Misspelt names acuracy, and its metrics are accuracy, evidence" in said
    said = climb(use="text", exit_code=1)
    assert "higher_is_better of Text must be names of metrics, as in (\"accuracy\",), got 'accuracy'" in said
    said = climb(use="limited", exit_code=1)
    assert "and it cannot be above 0.5" in said
    checked = cli("check", "hills.py").stdout
    assert "But higher_is_better names acuracy, and the metrics are accuracy, evidence" in checked
    assert "passed: problem hill: metrics-finite" in checked


def test_show_names_the_metrics_of_which_higher_is_better(cli, climb):
    shown = cli("show", "hill", "--plugin", "hills.py").stdout
    assert "higher is better in accuracy, evidence, objective" in shown
