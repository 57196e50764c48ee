"""Finds trials in which an error fell although the objective did not, as noise can bring about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from benchfw.contract import clip_gap
from benchfw.records import OBJECTIVE, Ending, Record, Result

LAST_LOOKS = 3
"""At which an error must be better than at the start, as one look may be an outlier; the one that met the
target is enough.
"""


class Raised(NamedTuple):
    """Metrics that got better in a trial whose objective did not.

    Those that met their target are judged at that look; others at the last ones, and the objective at all.
    """

    metrics: tuple[str, ...]
    gain: bool
    arrived: bool

    def __str__(self) -> str:
        verb = "rose" if self.gain else "fell"
        how = "was above its start by then" if self.arrived else "was never below its start"
        return f"{' and '.join(self.metrics)} {verb} although the objective {how}"


def find_raised(result: Result, metric: str = "") -> Raised | None:
    """Return the metrics that got better although the objective did not, or None.

    Asked of a metric; without one, of those of the target, or else of the leading one. There are none where a
    problem has no objective to minimize.
    """
    looks: dict[str, list[Record]] = {}
    for each in result.outcome.records:
        if each.role != "bound":
            looks.setdefault(each.metric, []).append(each)
    names = (metric,) if metric else tuple(result.trial.target or list(looks)[:1])
    objectives = looks.get(OBJECTIVE, [])
    if not names or not objectives or objectives[0].role == "gain":
        return None
    arrived = result.outcome.ending is Ending.TARGET
    if not _rose(objectives, 1 if arrived else len(objectives)):
        return None
    if not all(_improved(looks.get(name, []), 1 if arrived else LAST_LOOKS) for name in names):
        return None
    return Raised(names, looks[names[0]][0].role == "gain", arrived)


def _rose(looks: Sequence[Record], last: int) -> bool:
    """Whether a metric was above its start at the last looks, by more than rounding."""
    start, ends = looks[0].value, looks[1:][-last:]
    return bool(ends) and all(clip_gap(start - each.value, start) < 0 for each in ends)


def _improved(looks: Sequence[Record], last: int) -> bool:
    """Whether a metric was better than at its start at the last looks."""
    ends = looks[1:][-last:]
    return bool(ends) and all(
        each.value > looks[0].value if each.role == "gain" else each.value < looks[0].value for each in ends
    )
