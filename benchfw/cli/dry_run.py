"""What `benchfw run --dry-run` prints."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from benchfw.api import Planned, look_up
from benchfw.cli.options import echo_json, echo_table
from benchfw.harness.run import Options

HEADER = ("problem", "method", "backend", "repetition", "stored")


def show_plans(planned: Sequence[Planned], store: Path, options: Options, *, as_json: bool) -> None:
    """Print every trial of the suites and whether the store has it."""
    agendas = [look_up(each, store, options) for each in planned]
    rows = [
        (agenda.suite.name, trial, position in agenda.known)
        for agenda in agendas
        for position, trial in enumerate(agenda.trials)
    ]
    if as_json:
        echo_json(
            [
                {
                    "suite": suite,
                    "kind": trial.kind,
                    "problem": trial.problem.label,
                    "method": trial.method.label,
                    "backend": trial.backend,
                    "repetition": trial.repetition,
                    "stored": stored,
                }
                for suite, trial, stored in rows
            ]
        )
        return
    echo_table(
        (
            (
                trial.problem.label,
                trial.method.label,
                trial.backend,
                trial.repetition,
                "yes" if stored else "no",
            )
            for _, trial, stored in rows
        ),
        HEADER,
    )
    stored = sum(each for _, _, each in rows)
    click.echo(
        f"{len(rows)} trials, {stored} of them in the store, {len(rows) - stored} to run; nothing was run"
    )
