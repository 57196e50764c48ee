"""Runs suites on two revisions in turn, trial by trial, so that whatever else the machine does falls on both.

Every repetition has two new worker processes, one a revision: where the system happens to place a process in
memory changes its speed by some per cent, and with one process a revision that would pass for a change.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import NamedTuple

from benchfw.harness.environment import total_memory
from benchfw.harness.events import Event, Finished
from benchfw.harness.run import Agenda, Begun, Listener, Options, timeout_of
from benchfw.harness.workers.local import LocalExecutor
from benchfw.records import Ending, Outcome, Project, Run, Status, Trial
from benchfw.store import Store


@dataclass(frozen=True)
class Side:
    """One of the two revisions: its name, its commit as far as known, its plugins, its packages' folders."""

    name: str
    project: Project | None
    plugins: tuple[str, ...]
    overlay: tuple[str, ...] = ()


class Turn(NamedTuple):
    """One trial to run on both sides: of which suite, at which position in it."""

    repetition: int
    suite: int
    position: int


def execute_both(
    agendas: Sequence[Agenda], sides: tuple[Side, Side], store: Store, options: Options, listen: Listener
) -> list[tuple[Run, Run]]:
    """Run all trials of the agendas on both sides; return a run a side for every suite.

    Seconds are CPU seconds, and every outcome has the peak of memory. KeyboardInterrupt goes through,
    after the workers are stopped.
    """
    runs = [tuple(_begin(store, agenda, side) for side in sides) for agenda in agendas]
    trials = [agenda.trials[position] for agenda in agendas for position in agenda.pending]
    listen(Begun(runs[0][0], 0, [*trials, *trials]))
    for turn, side, event in _events(agendas, sides, options):
        if isinstance(event, Finished):
            store.add(runs[turn.suite][side], turn.position, event.trial, event.outcome)
        listen(event)
        if options.fail_fast and isinstance(event, Finished) and event.outcome.status.faulty:
            break
    else:
        for run in (run for both in runs for run in both):
            store.finish(run)
    return [(store.run(before), store.run(after)) for before, after in runs]


def _begin(store: Store, agenda: Agenda, side: Side) -> int:
    suite = agenda.suite
    environment = replace(agenda.environment, clock="cpu", project=side.project, plugins=side.plugins)
    return store.begin(suite.name, suite.title, suite.text, environment)


def _events(
    agendas: Sequence[Agenda], sides: tuple[Side, Side], options: Options
) -> Iterator[tuple[Turn, int, Event]]:
    """Yield turn, side and event; the sides change places from one repetition to the next."""
    turns = sorted(
        (
            Turn(agenda.trials[position].repetition, suite, position)
            for suite, agenda in enumerate(agendas)
            for position in agenda.pending
        ),
        key=lambda turn: turn[:2],
    )
    absent = [agenda.environment.absent_backends for agenda in agendas]
    for repetition, group in groupby(turns, key=lambda turn: turn.repetition):
        with contextlib.ExitStack() as stack:
            executors = [
                stack.enter_context(contextlib.closing(_executor(side, agendas, options))) for side in sides
            ]
            for turn in group:
                for side in (0, 1) if repetition % 2 == 0 else (1, 0):
                    trial = _of_side(agendas[turn.suite].trials[turn.position], sides[side])
                    reason = absent[turn.suite].get(trial.backend)
                    if reason is not None:
                        yield turn, side, Finished(trial, Outcome(Status.SKIPPED, Ending.ABSENT, reason))
                        continue
                    for event in executors[side].run([trial]):
                        yield turn, side, event


def _executor(side: Side, agendas: Sequence[Agenda], options: Options) -> LocalExecutor:
    limits = [timeout_of(agenda.suite, options) for agenda in agendas]
    return LocalExecutor(
        side.plugins,
        threads=options.threads,
        timeout=None if None in limits else max(limit for limit in limits if limit is not None),
        memory=options.memory or total_memory() // 2,
        overlay=side.overlay,
        resources=True,
    )


def _of_side(trial: Trial, side: Side) -> Trial:
    """Return a trial with a key of its own: no other run may take over CPU seconds, or another revision's."""
    return replace(trial, key=hashlib.sha256(f"{side.name} {trial.key}".encode()).hexdigest())
