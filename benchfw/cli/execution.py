"""Runs planned suites with a display, and turns what happened into words and an exit code."""

from __future__ import annotations

import contextlib
import json
import signal
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO

import click

from benchfw.analysis.judgement import FLOOR
from benchfw.api.planning import Planned, bring_data, datasets_of
from benchfw.api.progress import DownloadBar, describe_replays, display
from benchfw.api.running import describe_lack, execute_planned, report_run, run_against, run_planned
from benchfw.cli.claims import require_claims
from benchfw.cli.options import echo_json
from benchfw.cli.preview import describe_outdated, describe_too_few
from benchfw.cli.verbs.compare import comparison_data, print_comparison
from benchfw.errors import StoreError
from benchfw.harness.events import (
    Advance,
    Awaited,
    Begun,
    Finished,
    Listener,
    Replaying,
    TakenOver,
    Told,
)
from benchfw.harness.options import Options
from benchfw.provenance import Run
from benchfw.registry import Registry
from benchfw.report.commands import compare_command
from benchfw.report.terminal import describe_all, describe_counts, print_summary
from benchfw.report.text import plural, printable
from benchfw.store import Store
from benchfw.store.rows import now
from benchfw.summary.claims.tables import claim_facts
from benchfw.summary.compare import compare_pairs
from benchfw.summary.model import Summary
from benchfw.tuning.run import refuse_tuning

INTERRUPTED = 130


def run_all(
    planned: Sequence[Planned],
    store: Path,
    options: Options,
    events: Path | None,
    *,
    page: bool,
    as_json: bool,
    claims_required: bool = False,
) -> int:
    """Run the suites one after the other; return the exit code."""
    _make_ready(planned)
    page = check_pages(page=page)
    faults = 0
    for each in planned:
        begun: list[int] = []
        for line in describe_too_few(each):
            click.echo(f"benchfw: {line}", err=True)
        try:
            with listen_to_run(events, each.suite.title, begun, live=options.jobs > 0) as listen:
                if page or not as_json or each.suite.claims:
                    run, summary = run_planned(each, store, options, listen, page=page)
                else:  # nobody sees a summary
                    with Store(store, create=True) as opened:
                        run, summary = execute_planned(each, opened, options, listen), None
        except KeyboardInterrupt:
            _report_interrupted(each, store, begun, page=page)
            print_faults(each.registry.broken)
            return INTERRUPTED
        print_run(run, summary, as_json=as_json)
        print_faults(each.registry.broken)
        faults += exit_code(run)
        if claims_required and summary is not None:
            faults += require_claims(run, summary.claims)
        if run.faults and options.fail_fast:
            break
    return 1 if faults else 0


def exit_code(run: Run) -> int:
    """Return 1 for a run with a trial that broke, or without one that was measured, which is said here."""
    if run.all_skipped:
        which = describe_all(sum(run.counts.values()), "was", "were")
        click.echo(f"benchfw: run {run.id} measured nothing: {which} skipped", err=True)
    return 1 if run.faults or run.all_skipped else 0


def _make_ready(planned: Sequence[Planned]) -> None:
    """Take a termination for an interruption, and bring the data sets of all suites before any runs."""
    signal.signal(signal.SIGTERM, _raise_interrupt)
    for each in planned:
        if datasets_of(each):
            with DownloadBar() as bar:
                bring_data(each, bar.show)


def print_faults(faults: Sequence[str]) -> None:
    """Print the faults of plugins, each once."""
    for fault in dict.fromkeys(faults):
        click.echo(f"benchfw: {printable(fault)}", err=True)


def print_not_loaded(registries: Iterable[Registry]) -> None:
    """Print which plugins could not be loaded, once: what is noted later is printed after the run."""
    registries = list(registries)
    print_faults([f"not loaded: {fault}" for each in registries for fault in each.broken])
    for each in registries:
        each.broken.clear()


def _raise_interrupt(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


def check_pages(*, page: bool) -> bool:
    """Return whether a page is written: as asked, if the packages for it are installed."""
    lack = describe_lack() if page else ""
    if lack:
        click.echo(f"benchfw: no page is written: it {lack}", err=True)
    return page and not lack


def print_run(run: Run, summary: Summary | None, *, as_json: bool) -> None:
    """Print what a run found, how its trials ended, and where its page is."""
    if as_json or summary is None:
        known = {
            **vars(run),
            "store": str(run.store),
            "report": run.report and str(run.report),
            "noise": run.noise.to_json(),
            "imported": run.environment.imported,
            "claims": [] if summary is None else claim_facts(summary.claims),
        }
        echo_json({key: value for key, value in known.items() if key not in {"text", "environment"}})
        return
    print_summary(summary, sys.stdout)
    click.echo(printable(describe_counts(run)))
    if run.report:
        click.echo(printable(f"report: {run.report}"))


def _report_interrupted(planned: Planned, store: Path, begun: Sequence[int], *, page: bool) -> None:
    """After an interruption: say what is kept, and write the report of that much."""
    if not begun:
        click.echo("benchfw: interrupted before anything ran", err=True)
        return
    with contextlib.suppress(StoreError), Store(store) as opened:
        run, _ = report_run(opened, opened.run(begun[0]), planned.registry, page=page)
        kept = f"{plural(run.ended, 'finished trial')} {'is' if run.ended == 1 else 'are'} kept"
        click.echo(
            f"benchfw: interrupted; {kept}, the same command continues from there",
            err=True,
        )
        if run.report:
            click.echo(printable(f"report so far: {run.report}"), err=True)


def run_and_compare(
    planned: Sequence[Planned],
    revision: str,
    store: Path,
    options: Options,
    events: Path | None,
    *,
    as_json: bool,
) -> int:
    """Run, compare, print; return the exit code: 1 if something regressed, or fails in the present files."""
    for each in planned:
        refuse_tuning(each.trials, "--against")
    _make_ready(planned)
    with listen_to_run(events, f"against {revision}", []) as listen:
        runs = run_against(planned, revision, store, options, listen)
    with Store(store) as opened:
        pairs = [tuple((run, opened.results(run.id)) for run in both) for both in runs]
    found = compare_pairs([(before, after) for before, after in pairs], FLOOR)
    if as_json:
        echo_json({"revision": revision, "runs": _run_pairs(runs), **comparison_data(found, FLOOR)})
    else:
        print_comparison(found, FLOOR, ("regressed", "improved"))
        numbers = ", ".join(
            f"`{compare_command(str(before.id), str(after.id), store)}`" for before, after in runs
        )
        click.echo(printable(f"A is {revision}, B the working tree; all rows: {numbers}"))
    return max(int(found.count("regressed") > 0), *(exit_code(after) for _, after in runs))


def _run_pairs(runs: Sequence[tuple[Run, Run]]) -> list[dict[str, object]]:
    return [{"suite": before.suite, "before": before.id, "after": after.id} for before, after in runs]


@contextlib.contextmanager
def listen_to_run(
    events: Path | None, title: str, begun: list[int], *, live: bool = True
) -> Iterator[Listener]:
    """Yield a listener that shows events, writes them down, and remembers the run's id."""
    with contextlib.ExitStack() as stack:
        shown = stack.enter_context(display(title, live=live))
        file = stack.enter_context(_open_events(events)) if events else None

        def listen(event: Told) -> None:
            if isinstance(event, Awaited):
                runs = ", ".join(map(str, event.runs))
                click.echo(f"benchfw: waiting for {plural(event.trials, 'trial')} of run {runs}", err=True)
                return
            if isinstance(event, Replaying):
                click.echo(f"benchfw: {describe_replays(event)}", err=True)
                return
            if isinstance(event, Begun):
                begun.append(event.run)
                for line in describe_outdated(event.outdated):
                    click.echo(f"benchfw: {line}", err=True)
            shown(event)
            if file is not None:
                _write(file, json.dumps({"time": now(), "run": begun[-1], **_event_data(event)}))

        yield listen


@contextlib.contextmanager
def _open_events(events: Path) -> Iterator[IO[str]]:
    try:
        file = events.open("a", encoding="utf-8")
    except OSError as fault:
        raise StoreError(f"--events {events} cannot be written ({fault}); give another file") from None
    try:
        yield file
    finally:
        with contextlib.suppress(OSError):  # a full disk was reported when it was met
            file.close()


def _write(file: IO[str], line: str) -> None:
    try:
        file.write(line + "\n")
        file.flush()
    except OSError as fault:
        raise StoreError(
            f"--events {file.name} cannot be written ({fault}); the same command continues the run"
        ) from None


def _event_data(event: Advance) -> dict[str, object]:
    if isinstance(event, Begun):
        return {"event": "planned", "phase": event.phase, "trials": event.total, "reused": event.reused}
    if isinstance(event, TakenOver):
        return {"event": "taken over", "trials": sum(event.by_cell.values())}
    trial = event.trial
    data: dict[str, object] = {
        "event": "finished" if isinstance(event, Finished) else "started",
        "problem": trial.problem.label,
        "method": trial.method.label,
        "backend": trial.backend,
        "repetition": trial.repetition,
        "key": trial.key,
    }
    if isinstance(event, Finished):
        data |= {
            "status": event.outcome.status.value,
            "ending": event.outcome.ending.value,
            "reason": event.outcome.reason,
            "seconds": event.outcome.seconds,
        }
    return data
