"""`benchfw store check`"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchfw.cli.options import store_option
from benchfw.report.text import plural, printable

if TYPE_CHECKING:
    from benchfw.store.damage import Findings

SHOWN = 10  # lines of damage; one broken page may give thousands


@click.group(name="store")
def command() -> None:
    """Look for damage in a store, and save what can be read.

    \b
    Examples:
      benchfw store check
      benchfw store check --store reports/old.sqlite --copy reports/saved.sqlite
    """


@command.command()
@store_option
@click.option(
    "--copy", metavar="FILE", type=click.Path(path_type=Path), help="Put what can be read into a new store."
)
def check(store: Path, copy: Path | None) -> None:
    """Read everything and compare it with its checksums. Exit code 1: there is damage.

    \b
    Examples:
      benchfw store check
      benchfw store check --store reports/old.sqlite --copy reports/saved.sqlite
    """
    from benchfw.store.damage import check as look_through

    findings = look_through(store, copy)
    for line in findings.damage[:SHOWN]:
        click.echo(printable(line), err=True)
    if len(findings.damage) > SHOWN:
        click.echo(f"and {len(findings.damage) - SHOWN} more of this kind", err=True)
    sound = f"{plural(findings.runs, 'run')} with {plural(findings.trials, 'trial')}"
    if copy is not None:
        click.echo(printable(f"copied {sound} to {copy}"))
    if not findings.damage:
        click.echo(printable(f"{store} is sound: {sound}, {findings.records:,} records"))
        return
    advice = "" if copy else "; --copy NEW.sqlite saves what can be read"
    click.echo(printable(f"{store} is damaged: {sound} can be read, {_lost(findings)}{advice}"))
    sys.exit(1)


def _lost(findings: Findings) -> str:
    lost = {"run": findings.lost_runs, "trial": findings.lost_trials}
    shown = [plural(number, noun) for noun, number in lost.items() if number]
    if not shown:
        return "and how much is lost is not known"
    return f"at least {' and '.join(shown)} {'is' if sum(lost.values()) == 1 else 'are'} lost"
