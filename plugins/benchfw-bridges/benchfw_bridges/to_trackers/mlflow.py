"""Sends finished runs to MLflow: `benchfw run SUITE --plugin benchfw_bridges.to_trackers.mlflow`.

The suite is the experiment. A run of benchfw is a run there, with one below it for each method on each
problem. MLflow's own variables, such as MLFLOW_TRACKING_URI, say where it goes.
"""

from __future__ import annotations

from benchfw import Run, Unavailable, hookimpl
from benchfw_bridges.to_trackers.cells import describe_run, read_cells, safe_name

benchfw_api = 1


@hookimpl
def run_finished(run: Run) -> None:
    """Send a run."""
    try:
        import mlflow
    except ImportError:
        raise Unavailable("mlflow is not installed; pip install mlflow-skinny") from None
    mlflow.set_experiment(safe_name(run.suite))
    with mlflow.start_run(run_name=f"run {run.id}", tags=describe_run(run)):
        mlflow.log_metrics({f"trials/{status}": float(count) for status, count in run.counts.items()})
        for cell in read_cells(run):
            with mlflow.start_run(run_name=cell.name, nested=True):
                mlflow.log_params({safe_name(name): value for name, value in cell.parameters.items()})
                mlflow.log_metrics({safe_name(name): value for name, value in cell.numbers.items()})
