"""`benchfw store check|repair`"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchfw.cli.options import store_option
from benchfw.report.text import plural, printable

if TYPE_CHECKING:
    from benchfw.store.repair import Findings

SHOWN = 10  # lines of damage; one broken page may give thousands


@click.group(name="store")
def command() -> None:
    """Look for damage in a store, and save what can be read.

    \b
    Examples:
      benchfw store check
      benchfw store repair --store reports/old.sqlite
    """


@command.command()
@store_option
def check(store: Path) -> None:
    """Read everything and compare it with its checksums. Exit code 1: there is damage.

    \b
    Examples:
      benchfw store check
      benchfw store check --store reports/old.sqlite
    """
    from benchfw.store.repair import check as look_through

    findings = look_through(store)
    _tell(findings)
    if findings.damage:
        _say(
            f"{store} is damaged: {_sound(findings)} can be read, {_lost(findings)}; `benchfw store repair` "
            "keeps what can be read"
        )
        sys.exit(1)
    _say(f"{store} is sound: {_sound(findings)}, {findings.records:,} records")


@command.command()
@store_option
def repair(store: Path) -> None:
    """Put what can be read into a new file under the same name; the damaged one is kept next to it.

    The trials that are lost are run again by the next `benchfw run`.

    \b
    Examples:
      benchfw store repair
    """
    from benchfw.store.repair import repair as save

    findings, aside = save(store)
    _tell(findings)
    if aside is None:
        _say(f"{store} is sound: {_sound(findings)}; nothing was changed")
    else:
        _say(f"kept {_sound(findings)}, {_lost(findings)}; the damaged file is {aside}")


def _say(text: str) -> None:
    click.echo(printable(text))


def _tell(findings: Findings) -> None:
    for line in findings.damage[:SHOWN]:
        click.echo(printable(line), err=True)
    if len(findings.damage) > SHOWN:
        click.echo(f"and {len(findings.damage) - SHOWN} more of this kind", err=True)


def _sound(findings: Findings) -> str:
    return f"{plural(findings.runs, 'run')} with {plural(findings.trials, 'trial')}"


def _lost(findings: Findings) -> str:
    lost = {"run": findings.lost_runs, "trial": findings.lost_trials}
    shown = [plural(number, noun) for noun, number in lost.items() if number]
    if not shown:
        return "and how much is lost is not known"
    return f"at least {' and '.join(shown)} {'is' if sum(lost.values()) == 1 else 'are'} lost"
