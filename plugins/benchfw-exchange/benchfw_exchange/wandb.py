"""Sends runs to Weights & Biases, by `benchfw export --format wandb`.

With `benchfw run SUITE --plugin benchfw_exchange.wandb` each is sent as it ends.

Each method on each problem is a run there, in a group for each run of benchfw. W&B's own variables, such as
WANDB_PROJECT and WANDB_MODE, say where it goes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from benchfw import Run, Unavailable, hookimpl
from benchfw.records import Result
from benchfw.summary.model import Summary
from benchfw_exchange.cells import describe_run, read_cells, summarize_stored

benchfw_api = 1


class WeightsAndBiases:
    """The estimates in Weights & Biases: a group, with a run for each method on each problem."""

    ending = ""

    def export(self, run: Run, summary: Summary, results: Iterable[Result], destination: Path | None) -> str:
        """Send the run."""
        try:
            import wandb
        except ImportError:
            raise Unavailable("wandb is not installed; pip install wandb") from None
        project, group = os.environ.get("WANDB_PROJECT", "benchfw"), f"{run.suite} run {run.id}"
        for cell in read_cells(summary):
            with wandb.init(
                project=project,
                group=group,
                name=cell.name,
                config={**cell.parameters, **describe_run(run)},
                reinit="finish_previous",
            ) as tracked:
                tracked.summary.update(cell.numbers)
        return f"run {run.id} is the group '{group}' of the project '{project}'"


@hookimpl
def run_finished(run: Run) -> None:
    """Send a run as it ends."""
    WeightsAndBiases().export(run, summarize_stored(run), (), None)
