"""A finished run is sent to MLflow and to Weights & Biases, each method on each problem with its numbers."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import benchfw
from benchfw_exchange import mlflow as to_mlflow
from benchfw_exchange import wandb as to_wandb


def bowl(problem, rng):
    """Halves the point for ever."""
    point = problem.start()
    while True:
        yield point
        point = point - 0.5 * problem.grad(point)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    found = benchfw.compare(
        problems=[benchfw.problem(lambda x: float(x @ x) / 2, lambda x: x, np.ones(2), optimum=np.zeros(2))],
        methods={"bowl": bowl},
        repetitions=2,
        budget={"iterations": 5},
        store=tmp_path_factory.mktemp("store") / "runs.sqlite",
        jobs=0,
    )
    return found.run


@pytest.mark.thorough
def test_mlflow_has_a_run_for_each_method_below_the_run(run, tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri(tmp_path.as_uri())
    to_mlflow.run_finished(run)
    client = mlflow.MlflowClient()
    experiment = client.get_experiment_by_name(run.suite)
    sent = {each.info.run_name: each.data for each in client.search_runs([experiment.experiment_id])}
    (name,) = (each for each in sent if "bowl" in each)
    assert sent[name].params["method"] == "bowl"
    assert sent[name].metrics["gap"] == pytest.approx(4.0**-5)
    assert sent[f"run {run.id}"].metrics["trials/done"] == 2


def test_weights_and_biases_has_a_run_for_each_method(run, monkeypatch):
    sent = []

    class Tracked(SimpleNamespace):
        def __enter__(self):
            return self

        def __exit__(self, *_):
            sent.append(self)

    monkeypatch.setitem(
        sys.modules, "wandb", SimpleNamespace(init=lambda **given: Tracked(**given, summary={}))
    )
    to_wandb.run_finished(run)
    (tracked,) = sent
    assert tracked.config["method"] == "bowl"
    assert tracked.config["benchfw.suite"] == run.suite
    assert tracked.group == f"{run.suite} run {run.id}"
    assert tracked.summary["gap"] == pytest.approx(4.0**-5)


@pytest.mark.parametrize(("hook", "name"), [(to_mlflow, "mlflow"), (to_wandb, "wandb")])
def test_a_tracker_that_is_not_installed_is_named_with_what_to_install(hook, name, run, monkeypatch):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(benchfw.Unavailable, match=f"{name} is not installed; pip install {name}"):
        hook.run_finished(run)
