"""`benchfw runs`"""

from __future__ import annotations

from pathlib import Path

import click

from benchfw.cli.options import echo_json, echo_table, json_option, store_option


@click.command(name="runs")
@store_option
@json_option
def command(store: Path, as_json: bool) -> None:
    """List the runs in the store, the oldest first.

    \b
    Examples:
      benchfw runs
      benchfw runs --store elsewhere.sqlite --json
    """
    from benchfw.store import Store

    with Store(store) as opened:
        runs = opened.runs()
    if as_json:
        echo_json(
            [
                {
                    "run": run.id,
                    "suite": run.suite,
                    "title": run.title,
                    "started": run.started,
                    "finished": run.finished,
                    "going": run.going,
                    "trials": sum(run.counts.values()),
                    "tuning_trials": sum(run.tuning_counts.values()),
                    "reused": run.reused,
                    "counts": run.counts,
                    "claims": len(run.environment.claims),
                    "imported": run.environment.imported,
                }
                for run in runs
            ]
        )
        return
    echo_table(
        (
            (
                run.id,
                run.suite,
                run.started,
                sum(run.counts.values()),
                run.reused,
                ", ".join(
                    [f"{count} {status}" for status, count in sorted(run.counts.items())]
                    + (["imported"] if run.environment.imported else [])
                    + ([] if run.finished else ["still going" if run.going else "stopped"])
                ),
            )
            for run in runs
        ),
        ("run", "suite", "started", "trials", "reused", "how they ended"),
    )
