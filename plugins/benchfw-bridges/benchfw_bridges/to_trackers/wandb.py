"""Sends finished runs to Weights & Biases: `benchfw run SUITE --plugin benchfw_bridges.to_trackers.wandb`.

Each method on each problem is a run there, in a group for each run of benchfw. W&B's own variables, such as
WANDB_PROJECT and WANDB_MODE, say where it goes.
"""

from __future__ import annotations

import os

from benchfw import Run, Unavailable, hookimpl
from benchfw_bridges.to_trackers.cells import describe_run, read_cells

benchfw_api = 1


@hookimpl
def run_finished(run: Run) -> None:
    """Send a run."""
    try:
        import wandb
    except ImportError:
        raise Unavailable("wandb is not installed; pip install wandb") from None
    for cell in read_cells(run):
        with wandb.init(
            project=os.environ.get("WANDB_PROJECT", "benchfw"),
            group=f"{run.suite} run {run.id}",
            name=cell.name,
            config={**cell.parameters, **describe_run(run)},
            reinit="finish_previous",
        ) as tracked:
            tracked.summary.update(cell.numbers)
