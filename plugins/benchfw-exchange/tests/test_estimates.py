"""Estimates for Bencher and github-action-benchmark have the fields that these tools ask for."""

from __future__ import annotations

import json
import math

import pytest

from benchfw.summary.summarize import summarize
from benchfw_exchange.estimates import bencher_metrics, github_benchmarks


@pytest.fixture
def summary(make, run):
    """A method that arrives in all of its runs, and one that never does."""
    results = [
        make.result(
            "optimizer",
            "p",
            name,
            r,
            make.curve("gap", values, cost=4.0 + r),
            target={"gap": 1.0},
            backend="numpy",
        )
        for name, values in {"there": [9, 5, 0.5], "never": [9, 8, 7]}.items()
        for r in range(6)
    ]
    return summarize(run, results)


def test_bencher_gets_a_benchmark_for_each_method_and_a_measure_for_each_quantity(summary, run):
    found = json.loads(json.dumps(bencher_metrics(summary, run), allow_nan=False))
    assert f"{run.suite}/p/there/numpy" in found
    for measures in found.values():
        for name, metric in measures.items():
            assert "_" not in name
            assert len(name) <= 64
            assert {"value"} <= set(metric) <= {"value", "lower_value", "upper_value"}
            assert all(isinstance(each, float) for each in metric.values())
            assert (
                metric.get("lower_value", -math.inf) <= metric["value"] <= metric.get("upper_value", math.inf)
            )


def test_what_never_arrives_is_left_out_of_bencher(summary, run):
    found = bencher_metrics(summary, run)
    assert "cost-to-target" in found[f"{run.suite}/p/there/numpy"]
    assert "cost-to-target" not in found[f"{run.suite}/p/never/numpy"]


def test_github_gets_a_list_of_names_units_and_values_with_ranges_as_text(summary, run):
    found = github_benchmarks(summary, run)
    by_name = {each["name"]: each for each in found}
    assert len(by_name) == len(found)
    for each in found:
        assert {"name", "unit", "value", "extra"} <= set(each) <= {"name", "unit", "value", "range", "extra"}
        assert isinstance(each["value"], float)
        assert all(isinstance(value, str) for key, value in each.items() if key != "value")
    there = by_name[f"{run.suite}/p/there: seconds to target"]
    assert there["unit"] == "s"
    assert there["extra"] == "6 runs"


def test_github_gets_no_quantity_of_which_more_is_better(make, run):
    records = [each._replace(role="gain") for each in make.curve("accuracy", [0.1, 0.9])]
    results = [make.result("optimizer", "p", "a", r, records) for r in range(2)]
    assert not any("accuracy" in each["name"] for each in github_benchmarks(summarize(run, results), run))
