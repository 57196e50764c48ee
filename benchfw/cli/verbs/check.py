"""`benchfw check TARGET`"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import click

from benchfw.cli import completing
from benchfw.cli.options import echo_json, json_option, plugin_option, printable


@click.command(name="check")
@click.argument("target", shell_complete=completing.targets)
@click.option("--only", metavar="CHECK", help="Run the checks of this name alone.")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=3.0,
    metavar="SECONDS",
    show_default=True,
    help="Processor time for testing a claim about chance, on each problem.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=60.0,
    metavar="SECONDS",
    show_default=True,
    help="Stop a check that takes longer on one problem: it has failed.",
)
@click.option(
    "--verbose", "-v", is_flag=True, help="Also print what does not apply, with the reason, and warnings."
)
@plugin_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    target: str,
    only: str | None,
    seconds: float,
    timeout: float,
    verbose: bool,
    plugins: tuple[str, ...],
    as_json: bool,
) -> None:
    """Check a plugin: whether it does what its role promises, and what to do where it does not.

    TARGET is a file, a folder with a pyproject.toml, a module, an installed plugin, or a name that
    `benchfw list` shows. The first line names what was found, then every check is a line. Exits with 1 when
    one fails, with 2 when there is nothing to check.

    \b
    Examples:
      benchfw check heavyball.py
      benchfw check sgd --only improves
      benchfw check benchfw-spectral --json
    """
    from benchfw.errors import BenchfwError, nearest
    from benchfw.testing import Effort, Ending, Outcome, checks_for, run_checks, subjects_of

    subjects = subjects_of(target, plugins, Effort(seconds=seconds, timeout=timeout))
    names = {each.name for subject in subjects for each in checks_for(subject.kind)}
    if only is not None and only not in names:
        raise BenchfwError(f"no check '{only}' is for '{target}'{nearest(only, names)}")
    if not as_json:
        click.echo(printable(f"found {len(subjects)}: {', '.join(map(str, subjects))}"))
    outcomes: list[Outcome] = []
    with warnings.catch_warnings(record=True) as caught:  # they would stand between the lines
        for outcome in run_checks(subjects, only):
            outcomes.append(outcome)
            if not as_json and (verbose or outcome.ending is not Ending.SKIPPED):
                click.echo(printable(str(outcome)))
            if not as_json and verbose:
                _tell_warnings(caught)
            caught.clear()
    counts = Counter(each.ending for each in outcomes)
    if as_json:
        echo_json(
            [
                {
                    "subject": each.subject,
                    "check": each.check.name,
                    "statement": each.check.statement,
                    "ending": each.ending,
                    "detail": each.detail,
                    "advice": each.advice,
                }
                for each in outcomes
            ]
        )
    else:
        told = ", ".join(f"{counts[ending]} {ending}" for ending in Ending if counts[ending])
        click.echo(f"{target}: {told}")
    ctx.exit(1 if counts[Ending.FAILED] else 0)


def _tell_warnings(caught: Iterable[warnings.WarningMessage]) -> None:
    """Print what the checked code warned of."""
    for each in caught:
        told = f"{each.category.__name__}: {each.message} ({Path(each.filename).name}, line {each.lineno})"
        click.echo(printable(f"warned: {told}"))
