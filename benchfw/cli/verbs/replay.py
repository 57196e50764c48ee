"""`benchfw replay TRIAL`"""

from __future__ import annotations

import os
import sys
import traceback
from dataclasses import replace
from pathlib import Path

import click

from benchfw.cli.options import plugin_option, store_option
from benchfw.harness.inputs import THREAD_VARIABLES
from benchfw.report.text import printable


@click.command(name="replay")
@click.argument("trial", type=int)
@click.option("--pdb", "debug", is_flag=True, help="Open Python's debugger where the trial raises.")
@plugin_option
@store_option
def command(trial: int, debug: bool, plugins: tuple[str, ...], store: Path) -> None:
    """Run one stored trial again in this process and compare its records, except for times.

    TRIAL is a number from the `trial` column of `benchfw export`. A plugin of its run that is not installed
    is loaded only if you give it by --plugin: the store may be someone else's. Give so too the code that its
    parameters name: a file, a module or a folder. What the method prints is
    shown, and so is the traceback of a fault. Exit code 1: the records differ.

    \b
    Examples:
      benchfw replay 17
      benchfw replay 17 --plugin heavyball.py --pdb
    """
    from benchfw.store import Store

    with Store(store) as opened:
        result = opened.result(trial)
        run = opened.run_of(trial)
    run.check_measured("replay")
    # before NumPy and SciPy are imported: their thread pools are made then
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(run.environment.threads)))
    from benchfw.api.planning import check_code, trusted_registry
    from benchfw.harness.replays import count_common, find_difference
    from benchfw.measure.trial import collector, run_trial

    registry = trusted_registry(run, plugins)
    registry.inspect_trial(result.trial)
    check_code(run, [result.trial], registry, plugins)
    records, emit = collector()
    with registry.activate():
        outcome = run_trial(result.trial, registry, emit, hear=_debug if debug else traceback.print_exception)
    click.echo(printable(f"{result.trial}"))
    click.echo(printable(f"then: {result.outcome.status} ({result.outcome.reason})"))
    click.echo(printable(f"now:  {outcome.status} ({outcome.reason})"))
    again = replace(outcome, records=tuple(records))
    difference, common = find_difference(result.outcome, again), count_common(result.outcome, again)
    then, now = len(result.outcome.records), len(records)
    others = "" if common == then == now else f" that both have ({then} then, {now} now)"  # seconds ended it
    click.echo(printable(difference) or f"the same {common} records{others}")
    if difference or outcome.status is not result.outcome.status:
        sys.exit(1)


def _debug(fault: BaseException) -> None:
    """Show a fault, and let the user look around where it was raised."""
    import pdb  # noqa: T100 - it was asked for

    traceback.print_exception(fault)
    pdb.post_mortem(fault.__traceback__)
