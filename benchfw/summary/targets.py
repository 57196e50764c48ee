"""What a comparison of optimizers is about: its metrics, its targets, and when the reference was done."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from benchfw.analysis.convergence import automatic_target, none_improves
from benchfw.records import Ending
from benchfw.summary.histories import History
from benchfw.summary.model import Target


def metric_names(histories: Iterable[History]) -> tuple[str, ...]:
    """Return the measured metrics, the primary one first; those of faulty trials where no other has any."""
    names: dict[str, None] = {}
    for history in histories:
        if not names or not history.outcome.status.faulty:
            names.update(dict.fromkeys(history.curves))
    return tuple(names)


def choose_targets(methods: Sequence[Sequence[History]]) -> tuple[Target, ...]:
    """Return the suite's targets, or one for the primary metric from where the methods' trials end."""
    measured = [[each for each in group if each.curves] for group in methods]
    first = next((each for group in measured for each in group), None)
    if first is None:
        return ()
    named = [(metric, value) for metric, value in first.trial.target.items() if metric in first.curves]
    if named:
        return tuple(Target(metric, value) for metric, value in named)
    primary = next(iter(first.curves))
    curves = [
        [curve for each in group if each.finished and (curve := each.budgeted(primary))] for group in measured
    ]
    value = automatic_target(curves)
    if math.isnan(value):
        return ()
    return (Target(primary, value, automatic=True, improved=not none_improves(curves)),)


def last_seconds(reference: Sequence[History]) -> dict[int, float]:
    """Return when the reference ended, by repetition, where it did so by itself in all of its trials."""
    if not all(each.outcome.ending is Ending.BY_ITSELF for each in reference):
        return {}
    return {each.repetition: each.spent.seconds for each in reference}
