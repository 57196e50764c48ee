"""A trial of a run once more, in this process, and whether it is still the same trial."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence

from benchfw.errors import BenchfwError, nearest
from benchfw.harness.replays import find_difference
from benchfw.measure.trial import collector, run_trial
from benchfw.records import Outcome, Result, Trial, change
from benchfw.registry import GIVEN, Registry
from benchfw.report.text import join_names
from benchfw.sources.objects import read_object

CALLER = 3  # frames up to the cell that asks for the trial


def find_trial(
    results: Sequence[Result], run: int, method: str | int, problem: str | None, repetition: int
) -> Result:
    """Return a trial of a run by its number, or by the labels of its method and problem."""
    if isinstance(repetition, bool) or not isinstance(repetition, int):
        raise BenchfwError(f"repetition must be a whole number from 0, got {repetition!r}")
    if isinstance(method, bool) or not isinstance(method, int | str):
        raise BenchfwError(f"method must be a label or the number of a trial, got {type(method).__name__}")
    if isinstance(method, int):
        chosen = [each for each in results if each.id == method]
    else:
        for name, asked, labels in (
            ("method", method, {each.trial.method.label for each in results}),
            ("problem", problem, {each.trial.problem.label for each in results}),
        ):
            if asked is not None and asked not in labels:
                raise BenchfwError(f"no {name} '{asked}' in run {run}{nearest(str(asked), labels)}")
        chosen = [
            each
            for each in results
            if each.trial.method.label == method and each.trial.repetition == repetition
            if not each.trial.tuning
            if problem in {None, each.trial.problem.label}
        ]
    if not chosen:
        raise BenchfwError(f"run {run} has no such trial; the column `trial` of `frame` numbers them")
    return chosen[0]


def replay_trial(found: Result, run: int, registry: Registry) -> Outcome:
    """Return the outcome of a trial that is run here; what it raises is raised.

    A warning says what has changed since the run, before the trial, or that its records have, after it.
    """
    records, emit = collector()
    registry.inspect_trial(found.trial)
    edited = list(_find_edited(found.trial, registry))
    if edited:
        verb = "has" if len(edited) == 1 else "have"
        said = f"{join_names(edited)} {verb} changed since run {run}: this is not the trial that was run"
        warnings.warn(said, stacklevel=CALLER)
    with registry.activate():
        outcome = run_trial(found.trial, registry, emit, hear=_raise)
    outcome = change(outcome, records=tuple(records))
    difference = "" if edited else find_difference(found.outcome, outcome)
    if difference:
        said = f"not as in run {run}: {difference}; the code, or something that it reads, has changed since"
        warnings.warn(said, stacklevel=CALLER)
    return outcome


def _find_edited(trial: Trial, registry: Registry) -> Iterator[str]:
    """Yield the objects of a session that are not what they were; one that cannot be read is not known."""
    specs = ((trial.kind, trial.method), ("problem", trial.problem))
    for kind, spec in specs:
        for entry in registry.entries_of(kind, spec.table):
            given = entry.given
            if given is not None:
                source = read_object(given.factory)
                if source.seen and source.digest != given.digest:
                    yield given.name.removeprefix(GIVEN)


def _raise(fault: BaseException) -> None:
    raise fault
