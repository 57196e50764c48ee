"""`benchfw check TARGET`"""

from __future__ import annotations

from collections import Counter

import click

from benchfw.cli.options import echo_json, json_option, plugin_option
from benchfw.cli.verbs.completion import complete_targets
from benchfw.report.text import printable


@click.command(name="check")
@click.argument("target", shell_complete=complete_targets)
@click.option("--only", metavar="CHECK", help="Run only the checks with this name.")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=3.0,
    metavar="SECONDS",
    show_default=True,
    help="CPU time for each statistical test on each problem.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=60.0,
    metavar="SECONDS",
    show_default=True,
    help="Stop a check that takes longer than this on one problem, and count it as failed.",
)
@click.option(
    "--verbose", "-v", is_flag=True, help="Also print warnings, and checks that do not apply, with reasons."
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
    """Check a plugin: what is wrong with it, and how to fix it.

    TARGET is a file, a folder with a pyproject.toml, a module, an installed plugin, or the name
    of a problem, a method, a distribution or a kernel that `benchfw list` shows. The first line names what
    was found, then each check has a line. Checks run in a separate process: if a plugin kills it, that check
    has failed, and the next one gets a new process. Exits with 1 when a check fails, and with 2 when there is
    nothing to check.

    \b
    Examples:
      benchfw check heavyball.py
      benchfw check sgd --only improves
      benchfw check benchfw-spectral --json
    """
    from benchfw.errors import BenchfwError, nearest
    from benchfw.testing import CheckResult, CheckStatus, Effort, checks_for, run_checks
    from benchfw.testing.process import CheckProcess

    results: list[CheckResult] = []
    with CheckProcess(target, plugins, Effort(seconds=seconds, timeout=timeout)) as process:
        names = {each.name for subject in process.subjects for each in checks_for(subject.kind)}
        if only is not None and only not in names:
            raise BenchfwError(f"no check '{only}' applies to '{target}'{nearest(only, names)}")
        if not as_json:
            found = ", ".join(map(str, process.subjects))
            click.echo(printable(f"found {len(process.subjects)}: {found}"))
        for result in run_checks(process.subjects, only, process.run_check):
            results.append(result)
            if not as_json and (verbose or result.status is not CheckStatus.SKIPPED):
                click.echo(printable(str(result)))
            for text in result.warned if verbose and not as_json else ():
                click.echo(printable(f"warned: {text}"))
    counts = Counter(each.status for each in results)
    if as_json:
        echo_json(
            [
                {
                    "subject": each.subject,
                    "check": each.check.name,
                    "statement": each.check.statement,
                    "status": each.status,
                    "detail": each.detail,
                    "advice": each.advice,
                }
                for each in results
            ]
        )
    else:
        numbers = ", ".join(f"{counts[status]} {status}" for status in CheckStatus if counts[status])
        click.echo(f"{target}: {numbers}")
    ctx.exit(1 if counts[CheckStatus.FAILED] else 0)
