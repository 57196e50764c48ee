"""Finds trials whose error fell although their objective did not, which noise alone can bring about."""

from __future__ import annotations

from collections.abc import Sequence

from benchfw.contract import clip_gap
from benchfw.records import GAP, OBJECTIVE, Ending, Record, Result

LAST_LOOKS = 3
"""At which what is said of the end must be true, as one look may be an outlier; the one that met the target
is enough.
"""


def find_raised(result: Result, metric: str = "") -> str:
    """Return 'test_rmse fell although the objective was never below its start' where that is true.

    It is asked of a metric; without one, of those of the target, or else of the leading one. A trial that met
    its target may not have an objective above the start by then; another one, not all the time, since what is
    called objective may be a bound that grows. Nothing is said of a trial that has no objective to minimize,
    or is judged by that or by its gap.
    """
    looks: dict[str, list[Record]] = {}
    for each in result.outcome.records:
        if each.role != "bound":
            looks.setdefault(each.metric, []).append(each)
    names = [metric] if metric else [*(result.trial.target or list(looks)[:1])]
    objectives = looks.get(OBJECTIVE, [])
    if not names or {OBJECTIVE, GAP} & {*names} or not objectives or objectives[0].role == "gain":
        return ""
    arrived = result.outcome.ending is Ending.TARGET
    if not _rose(objectives, 1 if arrived else len(objectives)):
        return ""
    if not all(_improved(looks.get(name, []), 1 if arrived else LAST_LOOKS) for name in names):
        return ""
    fell = "rose" if looks[names[0]][0].role == "gain" else "fell"
    how = "was above its start by then" if arrived else "was never below its start"
    return f"{' and '.join(names)} {fell} although the objective {how}"


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
