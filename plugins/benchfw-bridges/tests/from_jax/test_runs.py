"""Suites with JAX run whole, in whatever processes trials run; a report compares Optax with ours."""

from __future__ import annotations

import importlib.util

import pytest

import benchfw

pytestmark = [
    pytest.mark.families,
    pytest.mark.thorough,
    pytest.mark.skipif(
        not all(importlib.util.find_spec(each) for each in ("jax", "optax", "benchfw_firstorder")),
        reason="jax, optax or benchfw-firstorder is not installed",
    ),
]

EXAMPLE = "benchfw_bridges.from_jax.example"
BATCHES = {"use": "minibatch", "size": 8}
ADAM = {"use": "optax", "name": "adam", "learning_rate": 0.1}


@pytest.mark.parametrize(
    "process",
    [{"jobs": 1}, {"jobs": 2}, {"isolation": "worker", "jobs": 2}, {"jobs": 0}],
    ids=["trial", "two trials", "worker", "this process"],
)
def test_a_suite_with_jax_runs_in_any_process(process, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    line = {
        "use": "jax-function",
        "function": f"{EXAMPLE}:mean_square",
        "start": f"{EXAMPLE}:start",
        "data": f"{EXAMPLE}:data",
        "batch_size": 8,
    }
    single = f"{EXAMPLE}:single_start"
    suite = {
        "repetitions": 1,
        "budget": {"iterations": 20},
        "problem": [{**line, "label": "double"}, {**line, "label": "single", "start": single}],
        "optimizer": [{**ADAM, "on": "double"}, {"use": "sgd", "step": 0.05, "estimator": BATCHES}],
    }
    result = benchfw.run(suite, progress=False, **process)
    assert result.counts == {"done": 3}
    ends = result.frame.query("iteration == 20").groupby(["problem", "method"])["value"].max()
    assert (ends < 15).all()  # the objective is 17 at the start


def test_a_report_calls_the_gradients_of_two_adams_equal_and_shows_the_time_to_prepare(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    problem = {"use": "least-squares", "samples": 100, "features": 5, "condition": 5.0}
    ours = {"use": "adam", "step": 0.1, "estimator": {"use": "exact"}}
    result = benchfw.run(
        {"repetitions": 3, "target": {"gap": 1e-3}, "problem": [problem], "optimizer": [ours, ADAM]},
        progress=False,
    )
    assert result.counts == {"reached": 6}
    verdict = str(result.verdicts)
    assert "Within 10 % in each of 3 paired runs in gradients" in verdict
    assert "preparation (optax" in verdict
    costs = result.frame.query("metric == 'gap'").groupby("method")["cost"].max()
    assert costs["optax"] == costs["adam"]
