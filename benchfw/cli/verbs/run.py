"""`benchfw run SUITE…`"""

from __future__ import annotations

import contextlib
import math
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchfw.cli.options import json_option, parse_bytes, plugin_option, store_option, try_plugin
from benchfw.cli.verbs.completion import complete_suites
from benchfw.errors import BenchfwError
from benchfw.provenance import Changes, Run
from benchfw.records import Isolation

if TYPE_CHECKING:
    from benchfw.api.planning import Planned
    from benchfw.harness.options import Options

WAIT_SECONDS = 300.0


def _parse_wait(_context: click.Context, _option: click.Parameter, value: str | None) -> float | None:
    """Return how long to wait; what is not a number of seconds may be a SUITE that follows the option."""
    try:
        seconds = None if value is None else float(value)
    except ValueError:
        said = f"{value!r} is not a number of seconds; put --wait-quiet after SUITE"
        raise click.BadParameter(said) from None
    if seconds is not None and not 0 <= seconds < math.inf:
        raise click.BadParameter(f"{value} is not a number of seconds from 0")
    return seconds


@click.command(name="run")
@click.argument("suites", nargs=-1, metavar="SUITE...", shell_complete=complete_suites)
@click.option(
    "--dry-run", is_flag=True, help="List the trials and what is already in the store; run nothing."
)
@click.option(
    "--only",
    metavar="PATTERN",
    help="Run the trials whose PROBLEM/METHOD/BACKEND contains PATTERN (* ? allowed).",
)
@click.option(
    "--backend",
    "backends",
    multiple=True,
    metavar="NAME",
    help="Run on this backend instead of the suite's; repeatable.",
)
@click.option(
    "--repetitions",
    type=click.IntRange(min=1),
    metavar="N",
    help="Repetitions of each trial.",
)
@click.option(
    "--quick",
    is_flag=True,
    help="Run the suite's quick size (without one: 2 repetitions, a tenth of the budget).",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=0),
    default=1,
    metavar="N",
    show_default=True,
    help="Worker processes at a time; 0 runs trials in this process, for a debugger, without limits.",
)
@click.option(
    "--executor",
    metavar="NAME[:ADDRESS]",
    help="Run trials elsewhere, by what a plugin adds: `benchfw list executors`.",
)
@click.option("--dask", metavar="ADDRESS", help="Short for --executor dask:ADDRESS (benchfw-cluster).")
@click.option("--slurm", metavar="JOBS", help="Short for --executor slurm:JOBS (benchfw-cluster).")
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    metavar="N",
    help="Threads of each trial's native libraries.  [default: OMP_NUM_THREADS, else 1]",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="End a trial after this time.  [default: 10 x the budget's seconds + 60, else never]",
)
@click.option(
    "--memory",
    metavar="SIZE",
    callback=parse_bytes,
    help="End a trial that uses more memory, as in 2GB.  [default: the machine's / jobs]",
)
@click.option(
    "--isolation",
    type=click.Choice(["trial", "worker"]),
    help="Run each trial in a new process (trial), or, faster, in one that ran others before (worker).  "
    "[default: the suite's, else trial]",
)
@click.option("--fresh", is_flag=True, help="Run all trials, even those already in the store.")
@click.option(
    "--retry-failed", is_flag=True, help="Run again what failed, crashed, timed out or ran out of memory."
)
@click.option(
    "--replay/--no-replay",
    default=True,
    help="Run one trial in 20, and at least one per method, a second time, to see whether it repeats.",
)
@click.option(
    "--wait-quiet",
    is_flag=False,
    flag_value=str(WAIT_SECONDS),
    callback=_parse_wait,
    metavar="[SECONDS]",
    help="Wait until the machine has no other work to do, but at most this long.  "
    f"[default: {WAIT_SECONDS:g}; put this option after SUITE]",
)
@click.option("--fail-fast", is_flag=True, help="Stop at the first trial that fails.")
@click.option(
    "--events",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Append a JSON line to this file when trials are planned, start, end, or come from another run.",
)
@click.option(
    "--from-bundle",
    "bundle",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Repeat the run in this bundle, with its number of threads; see `benchfw export --bundle`.",
)
@click.option(
    "--against",
    metavar="REV",
    help="Also run on this git revision, in turn, and say what changed; exit code 1 if something regressed.",
)
@click.option(
    "--keep",
    "keep_in",
    type=click.Path(file_okay=False),
    default="",
    metavar="FOLDER",
    help="Keep the last answer of each trial, and the files that it wrote to benchfw.trial_folder().",
)
@click.option(
    "--require-claims",
    is_flag=True,
    help="Exit code 1 if a claim of a suite is refuted, undecided or could not be tested, unless the suite "
    "itself says that it cannot (`untestable`, or `quick = false` in a quick run).",
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
    executor: str | None,
    dask: str | None,
    slurm: str | None,
    threads: int | None,
    timeout: float | None,
    memory: int | None,
    isolation: Isolation | None,
    fresh: bool,
    retry_failed: bool,
    replay: bool,
    wait_quiet: float | None,
    fail_fast: bool,
    events: Path | None,
    bundle: Path | None,
    against: str | None,
    keep_in: str,
    require_claims: bool,
    no_report: bool,
    plugins: tuple[str, ...],
    store: Path,
    as_json: bool,
) -> None:
    """Run suites: every method on every problem, with paired seeds, then a report.

    SUITE is a file, or a name that is looked up in ./suites and in the installed suites; the name of a
    folder stands for all suites in it. Trials that the store already has are not run again.

    With --against REV every trial runs twice, on REV as committed and on the working tree, in turn. Times
    are then CPU seconds, and the peak of memory is compared too.

    \b
    Examples:
      benchfw run quickstart
      benchfw run firstorder/rates --only nesterov --jobs 2
      benchfw run my.toml --plugin heavyball.py --dry-run
      benchfw run --from-bundle paper.zip
      benchfw run tracked --against main
      benchfw run paper.toml --require-claims
      benchfw run large.toml --dask tcp://node1:8786 --threads 4

    Exit codes: 0 done; 1 a trial failed, crashed, timed out or ran out of memory (not while tuning), all
    trials were skipped, --against found a regression, or --require-claims found a claim that is not shown
    to hold; 2 bad input, found before anything ran or, if a problem lacks a metric, after one trial;
    130 interrupted, finished trials kept.
    """
    from benchfw.api.planning import plan_bundle, plan_suites
    from benchfw.api.running import find_cluster
    from benchfw.backends.threads import default_threads
    from benchfw.harness.options import Options

    changes = Changes(only, backends, repetitions, quick)
    packed = _read_packed(bundle, suites, changes)
    options = Options(
        jobs=jobs,
        threads=threads or (packed.environment.threads if packed else default_threads()),
        timeout=timeout,
        memory=memory,
        isolation=isolation or _isolation_of(packed),
        fresh=fresh,
        retry_failed=retry_failed,
        replay=replay,
        fail_fast=fail_fast,
        keep_in=keep_in and str(Path(keep_in).resolve()),
    )
    if packed:
        planned = [plan_bundle(packed, plugins)]
    else:
        planned = [each for name in suites for each in plan_suites(name, plugins, changes, try_plugin)]
    from benchfw.cli.execution import print_not_loaded, run_all

    print_not_loaded(each.registry for each in planned)
    executor = _join_executor(executor, dask, slurm)
    _check_side_by_side(against, options, executor)
    if require_claims:
        _check_claims_required(planned, against=against)
    cluster = find_cluster(executor, planned[0].registry, options, _print_note)
    _warn_of_limits(options, elsewhere=cluster is not None)
    if dry_run and cluster and (shown := cluster.preview(sum(len(each.trials) for each in planned))):
        click.echo(shown)
        return
    options = replace(options, cluster=cluster)
    with cluster or contextlib.nullcontext():
        if packed:
            from benchfw.cli.preview import print_differences

            print_differences(packed, planned[0], store, options)
        if dry_run:
            from benchfw.cli.plans import print_plans

            print_plans(planned, store, options, as_json=as_json)
            return
        if wait_quiet is not None:
            from benchfw.api.progress import show_waiting

            show_waiting(wait_quiet)
        if against is not None:
            from benchfw.cli.execution import run_and_compare

            sys.exit(run_and_compare(planned, against, store, options, events, as_json=as_json))
        code = run_all(
            planned,
            store,
            options,
            events,
            page=not no_report,
            as_json=as_json,
            claims_required=require_claims,
        )
    sys.exit(code)


def _print_note(line: str) -> None:
    from benchfw.report.text import printable

    click.echo(f"benchfw: {printable(line)}", err=True)


def _warn_of_limits(options: Options, *, elsewhere: bool) -> None:
    """Say what this machine cannot give its trials; with an executor, only --jobs says that some are here."""
    from benchfw.system import CAN_LIMIT_MEMORY, NO_MEMORY_LIMIT

    if options.memory is not None and not CAN_LIMIT_MEMORY:
        click.echo(f"benchfw: this system has {NO_MEMORY_LIMIT}", err=True)
    cores = os.cpu_count() or 1
    if options.jobs * options.threads > cores and (options.jobs > 1 or not elsewhere):
        click.echo(
            f"benchfw: {options.jobs} jobs of {options.threads} threads on {cores} cores will disturb each "
            "other's times; use fewer --jobs or --threads",
            err=True,
        )


def _join_executor(executor: str | None, dask: str | None, slurm: str | None) -> str | None:
    """Return what is to run trials elsewhere, however it was given."""
    short = {"dask": dask, "slurm": slurm}
    given = [f"{name}:{address}" for name, address in short.items() if address is not None]
    given += [] if executor is None else [executor]
    if len(given) > 1:
        raise BenchfwError("--executor, --dask and --slurm all say where trials run; give one of them")
    return given[0] if given else None


def _check_side_by_side(against: str | None, options: Options, executor: str | None) -> None:
    """Raise a BenchfwError for options of a run that --against, with its two sides in turn, does not have."""
    if against is None:
        return
    if options.jobs != 1:
        raise BenchfwError("--against runs one trial at a time; leave out --jobs")
    if executor is not None:
        raise BenchfwError("--against runs on this machine; leave out --executor, --dask and --slurm")
    if options.keep_in:
        raise BenchfwError("--against keeps no files; leave out --keep")


def _check_claims_required(planned: Sequence[Planned], *, against: str | None) -> None:
    """Raise a BenchfwError where --require-claims asks for what a run cannot give."""
    from benchfw.cli.claims import refuse_without_claims

    if against is not None:
        raise BenchfwError("--against decides no claims; leave out --require-claims")
    for each in planned:
        refuse_without_claims(each.suite.claims, f"suite {each.suite.name}", quick=each.changes.quick)


def _isolation_of(packed: Run | None) -> Isolation | None:
    """Return what the trials of a bundle had to themselves, where workers can give them that."""
    found = packed.environment.isolation if packed else "none"
    return None if found == "none" else found


def _read_packed(bundle: Path | None, suites: tuple[str, ...], changes: Changes) -> Run | None:
    """Return the run in a bundle, where one is named; there is either that or a suite to run."""
    if bundle is None:
        if not suites:
            raise click.UsageError("name a SUITE, as in `benchfw run quickstart`, or give --from-bundle")
        return None
    if suites or any(vars(changes).values()):
        raise BenchfwError(
            f"{bundle} decides what to run; leave out SUITE, --only, --backend, --repetitions and --quick"
        )
    from benchfw.store.bundle import read_bundle

    return read_bundle(bundle)[0]
