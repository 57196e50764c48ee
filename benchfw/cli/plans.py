"""What `benchfw run --dry-run` prints: the trials of suites, and what the store has of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean

import click

from benchfw.api.planning import Planned
from benchfw.api.progress import duration
from benchfw.api.running import look_ahead_tuned, look_up
from benchfw.backends import get_backend
from benchfw.cli.options import echo_json, echo_table
from benchfw.cli.preview import describe_outdated, describe_reach, describe_too_few
from benchfw.errors import BackendUnavailable
from benchfw.harness.events import Phase
from benchfw.harness.options import Options
from benchfw.plan import tuning_of
from benchfw.records import Budget, Cell
from benchfw.report.claims import describe_test
from benchfw.report.text import plural, printable
from benchfw.store import Store
from benchfw.tuning.run import Ahead, is_tuned

PLAN_HEADER = ("problem", "method", "backend", "repetition", "stored")
PHASES: tuple[Phase, ...] = ("tuning", "verdict")
TUNED_HEADER = ("problem", "method", "backend", "phase", "trials", "stored")


def print_plans(planned: Sequence[Planned], store: Path, options: Options, *, as_json: bool) -> None:
    """Print every trial of the suites and whether the store has it; of those that tune, how many."""
    tuned = [each for each in planned if is_tuned(each.trials)]
    if tuned:
        print_tuned_plans(tuned, store, options, as_json=as_json)
    others = [each for each in planned if each not in tuned]
    if others:
        print_plain_plans(others, store, options, as_json=as_json)
    for each in () if as_json else planned:
        for line in (*describe_absent_backends(each), *describe_plans_of_claims(each)):
            click.echo(printable(line))


def describe_absent_backends(planned: Planned) -> Iterator[str]:
    """Yield a line for each backend that the suite asks for and this machine does not have."""
    for name in planned.suite.backends:
        try:
            with planned.registry.activate():
                get_backend(name)
        except BackendUnavailable as fault:
            yield f"{planned.suite.name}: trials on {name} would be skipped here: {fault}"


def describe_plans_of_claims(planned: Planned) -> Iterator[str]:
    """Yield lines on the claims of a suite; none where it makes none."""
    claims = planned.suite.claims
    if claims:
        yield f"{planned.suite.name}: {plural(len(claims), 'claim')}, decided by the run:"
    for each in claims:
        yield f"  {each.says}{f' ({each.source})' if each.source else ''}"
        later = "; not decided by a quick run" if each.is_excused(quick=planned.changes.quick) else ""
        yield f"    {describe_test(each)}{later if each.test != 'untestable' else ''}"
    yield from describe_too_few(planned)


def print_plain_plans(planned: Sequence[Planned], store: Path, options: Options, *, as_json: bool) -> None:
    """Print every trial of suites that tune nothing, and whether the store has it."""
    agendas = [look_up(each, store, options) for each in planned]
    rows = [
        (agenda.suite.name, trial, stored > 0)
        for agenda in agendas
        for trial, stored in zip(agenda.trials, agenda.stored.tolist(), strict=True)
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
        PLAN_HEADER,
    )
    stored = sum(each for _, _, each in rows)
    outdated = sum((Counter(agenda.outdated) for agenda in agendas), Counter())
    for line in describe_outdated(outdated):
        click.echo(line)
    click.echo(
        f"{plural(len(rows), 'trial')}, {stored} of them in the store, {len(rows) - stored} to run; "
        "nothing was run"
    )
    for agenda in agendas:
        for line in describe_reach(agenda, store):
            click.echo(line)


def print_tuned_plans(planned: Sequence[Planned], store: Path, options: Options, *, as_json: bool) -> None:
    """Print how many trials suites that tune have in each phase, and about how long these take."""
    found = [(each.suite, look_ahead_tuned(each, store, options)) for each in planned]
    if as_json:
        echo_json(
            [
                {
                    "suite": suite.name,
                    "kind": each.cell.kind,
                    **dict(zip(TUNED_HEADER, _tuned_row(each), strict=True)),
                }
                for suite, phases in found
                for each in phases
            ]
        )
        return
    rows = (_tuned_row(each) for _, phases in found for each in phases)
    echo_table(((*row, "depends" if stored is None else stored) for *row, stored in rows), TUNED_HEADER)
    for suite, phases in found:
        for phase in PHASES:
            seconds = _seconds_before(suite.name, phase, store)
            budget = (tuning_of(suite).budget if phase == "tuning" else None) or suite.budget
            some = [each for each in phases if each.phase == phase]
            left = [(each.cell, each.trials - (each.stored or 0)) for each in some]
            time = _time_text(left, seconds, budget)
            click.echo(printable(f"{suite.name}, {phase}: {_share_text(some)}{time}"))
    click.echo("nothing was run; the settings of the verdict depend on what tuning finds")


def _share_text(some: Sequence[Ahead]) -> str:
    """Return how many trials there are in a phase, and how many of them are in the store."""
    known, every = sum(each.stored or 0 for each in some), sum(each.trials for each in some)
    trials, left = plural(every, "trial"), f"{every - known} to run"
    if any(each.stored is None for each in some):
        stored = f"at least {known} of them in the store, " if known else ""
        return f"{trials}, {stored}at most {left}"
    return f"{trials}, {known} of them in the store, {left}"


def _tuned_row(ahead: Ahead) -> tuple[str, str, str, Phase, int, int | None]:
    cell = ahead.cell
    return cell.problem, cell.method, cell.backend, ahead.phase, ahead.trials, ahead.stored


def _seconds_before(suite: str, phase: Phase, store: Path) -> dict[Cell, float]:
    """Return the mean seconds of a trial of each cell in a phase of the newest run of a suite."""
    if not store.exists():
        return {}
    with Store(store) as opened:
        runs = [run for run in opened.runs() if run.suite == suite and run.ended]
        taken: dict[Cell, list[float]] = {}
        for each in opened.stream(runs[-1].id) if runs else ():
            if bool(each.trial.tuning) == (phase == "tuning"):
                taken.setdefault(each.trial.cell, []).append(each.outcome.seconds)
    return {cell: fmean(each) for cell, each in taken.items()}


def _time_text(left: Sequence[tuple[Cell, int]], seconds: Mapping[Cell, float], budget: Budget) -> str:
    """Return how long trials take, as those of an earlier run did, or at most by their budget."""
    if not any(count for _, count in left):
        return ""
    if all(cell in seconds for cell, count in left if count):
        return f", about {duration(sum(count * seconds.get(cell, 0) for cell, count in left))}"
    most = budget.seconds
    trials = sum(count for _, count in left)
    return "" if most is None else f", at most {duration(most * trials)} by their budget"
