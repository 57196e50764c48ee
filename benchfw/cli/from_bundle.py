"""What `benchfw run --from-bundle` runs, and what it says before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from benchfw.api import Planned, look_up
from benchfw.harness.run import Options
from benchfw.records import Run
from benchfw.report.text import flat_facts, plural, printable

TOLD = ("python", "packages.", "sources.", "data.", "backends.", "threads", "jobs")
"""The facts, by the start of their names, that may make a difference to records or times."""


def tell_differences(run: Run, planned: Planned, store: Path, options: Options) -> None:
    """Say what a bundle holds, what is different here, and how to compare."""
    here = look_up(planned, store, options).environment
    trials = plural(sum(run.counts.values()), "trial")
    click.echo(
        f"{run.store}: {trials} of suite {printable(run.suite)}, started {printable(run.started)}", err=True
    )
    for line in list(differences(run.environment, here)) or ["the same versions, sources and devices here"]:
        click.echo(f"  {printable(line)}", err=True)
    click.echo(f"afterwards `benchfw compare {run.store} last` says what changed", err=True)


def differences(then: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Yield the facts that two environments do not share."""
    before, here = dict(flat_facts(then)), dict(flat_facts(now))
    said = set()
    for name in {**before, **here}:
        values = before.get(name, "none"), here.get(name, "none")
        short = name.rpartition(".")[2]  # NumPy is a package, and part of what a backend says too
        if name.startswith(TOLD) and values[0] != values[1] and (short, values) not in said:
            said.add((short, values))
            yield f"{name}: {values[0]} in the bundle, {values[1]} here"
