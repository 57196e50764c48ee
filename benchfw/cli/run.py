"""`benchfw run SUITE…`"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from benchfw.cli import completing
from benchfw.cli.options import Size, json_option, plugin_option, store_option


@click.command(name="run")
@click.argument("suites", nargs=-1, required=True, metavar="SUITE...", shell_complete=completing.suites)
@click.option(
    "--dry-run", is_flag=True, help="List the trials and what is already in the store; run nothing."
)
@click.option(
    "--only",
    metavar="PATTERN",
    help="Run the trials whose PROBLEM/METHOD/BACKEND contains PATTERN (* ? allowed).",
)
@click.option(
    "--backend", "backends", multiple=True, help="Run on this backend instead of the suite's; repeatable."
)
@click.option("--repetitions", type=click.IntRange(min=1), help="Repeat every trial so often instead.")
@click.option(
    "--quick",
    is_flag=True,
    help="Run the suite's quick size (without one: 2 repetitions, a tenth of the budget).",
)
@click.option(
    "--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Worker processes at a time."
)
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    help="Threads of each trial's native libraries.  [default: OMP_NUM_THREADS, else 1]",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="End a trial after so long.  [default: 10 x the budget's seconds + 60, else never]",
)
@click.option(
    "--memory",
    type=Size(),
    help="End a trial that allocates more, as in 2GB.  [default: the machine's / jobs]",
)
@click.option("--fresh", is_flag=True, help="Run also what is in the store already.")
@click.option(
    "--retry-failed", is_flag=True, help="Run again what failed, crashed, timed out or ran out of memory."
)
@click.option("--fail-fast", is_flag=True, help="Stop at the first trial that fails.")
@click.option(
    "--events",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Append every event to this file as a JSON line.",
)
@click.option("--no-report", is_flag=True, help="Write no page.")
@plugin_option
@store_option
@json_option
def command(
    suites: tuple[str, ...],
    dry_run: bool,
    only: str | None,
    backends: tuple[str, ...],
    repetitions: int | None,
    quick: bool,
    jobs: int,
    threads: int | None,
    timeout: float | None,
    memory: int | None,
    fresh: bool,
    retry_failed: bool,
    fail_fast: bool,
    events: Path | None,
    no_report: bool,
    plugins: tuple[str, ...],
    store: Path,
    as_json: bool,
) -> None:
    """Run suites: every method on every problem, with paired seeds, then a report.

    SUITE is a file, or a name that is looked up in ./suites and in the installed suites. Trials that the
    store already has are not run again.

    \b
    Examples:
      benchfw run quickstart
      benchfw run firstorder/rates --only nesterov --jobs 2
      benchfw run my.toml --plugin heavyball.py --dry-run
    """
    from benchfw.api import Changes, plan_suite
    from benchfw.harness.environment import default_threads
    from benchfw.harness.run import Options

    options = Options(
        jobs=jobs,
        threads=threads or default_threads(),
        timeout=timeout,
        memory=memory,
        fresh=fresh,
        retry_failed=retry_failed,
        fail_fast=fail_fast,
    )
    changes = Changes(only, backends, repetitions, quick)
    planned = [plan_suite(name, plugins, changes) for name in suites]
    from benchfw.cli.execution import run_all, tell_broken

    tell_broken([f"not loaded: {fault}" for each in planned for fault in each.registry.broken])
    for each in planned:
        each.registry.broken.clear()  # told; what comes in the run is told after it
    cores = os.cpu_count() or 1
    if options.jobs * options.threads > cores:
        click.echo(
            f"benchfw: {options.jobs} jobs of {options.threads} threads on {cores} cores will disturb each "
            "other's times; use fewer --jobs or --threads",
            err=True,
        )
    if dry_run:
        from benchfw.cli.dry_run import show_plans

        show_plans(planned, store, options, as_json=as_json)
        return
    sys.exit(run_all(planned, store, options, events, page=not no_report, as_json=as_json))
