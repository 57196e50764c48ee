"""Sends runs to MLflow, by `benchfw export --format mlflow`.

With `benchfw run SUITE --plugin benchfw_exchange.mlflow` each is sent as it ends.

The suite is the experiment. A run of benchfw is a run there, with one below it for each method on each
problem. MLflow's own variables, such as MLFLOW_TRACKING_URI, say where it goes.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from benchfw import Run, Unavailable, hookimpl
from benchfw.records import Result
from benchfw.summary.model import Summary
from benchfw_exchange.cells import describe_run, read_cells, safe_name, summarize_stored

benchfw_api = 1


class MLflow:
    """The estimates in MLflow: a run, with one below it for each method on each problem."""

    ending = ""

    def export(self, run: Run, summary: Summary, results: Iterable[Result], destination: Path | None) -> str:
        """Send the run."""
        try:
            import mlflow
        except ImportError:
            raise Unavailable("mlflow is not installed; pip install mlflow-skinny") from None
        mlflow.set_experiment(safe_name(run.suite))
        with mlflow.start_run(run_name=f"run {run.id}", tags=describe_run(run)):
            mlflow.log_metrics({f"trials/{status}": float(count) for status, count in run.counts.items()})
            for cell in read_cells(summary):
                with mlflow.start_run(run_name=cell.name, nested=True):
                    mlflow.log_params({safe_name(name): value for name, value in cell.parameters.items()})
                    mlflow.log_metrics({safe_name(name): value for name, value in cell.numbers.items()})
        return f"run {run.id} is in MLflow's experiment {safe_name(run.suite)}"


@hookimpl
def run_finished(run: Run) -> None:
    """Send a run as it ends."""
    MLflow().export(run, summarize_stored(run), (), None)
