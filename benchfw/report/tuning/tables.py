"""Tables on tuning: what was chosen and what it cost, and what fewer trials would have given."""

from __future__ import annotations

import math
from statistics import median

from benchfw.analysis.intervals import Interval
from benchfw.report.side_tables import SideTable
from benchfw.report.tables import TextTable
from benchfw.report.text import figures, interval_text
from benchfw.report.tuning.problems import NEVER, UNFINISHED, TunedProblem, settings_text
from benchfw.summary.times import TUNING, unit_of
from benchfw.summary.tuned import SENSITIVE, TunedMethod

_TUNING = (
    "{value}: the median over the tuning runs of the setting that was chosen{several}. It was chosen for "
    "that, and may look better than it is: the verdict rests on other runs, perhaps longer ones. '{reached}' "
    "counts by the median of a setting's runs. {share}The cost is that of all tuning runs together."
)
_SHARE = (
    "The share within {factor:g} times the best is of the settings tried, which fill the space evenly, by "
    "runs that did not choose the best [95 % interval]. "
)
_ALLOWANCE = (
    "{value}: what the best of so many settings gives in a run that did not choose it; the median over which "
    "of the settings tried come first (Tang et al. 2020) [95 % band over other settings and other runs]. The "
    "last column has the verdict's own runs, as in the table above, which may be longer."
)


def tuning_tables(found: TunedProblem) -> list[SideTable]:
    """Return what was chosen, and what fewer trials would have given where that is known."""
    tables = [_chosen_table(found)]
    if found.comparison is not None and any(each.counts for each in found.methods):
        tables.append(_allowance_table(found))
    return tables


def _chosen_table(found: TunedProblem) -> SideTable:
    ended = found.comparison is not None
    shares = {each.cell: each.share_near_best for each in found.methods}
    scale, unit = unit_of(found.units, TUNING)
    reached = "settings that arrive" if found.first.axis else "settings that finish"
    header = [
        "method",
        "chosen" if ended else "best so far",
        f"{found.value_name} in tuning",
        reached,
    ]
    rows = [
        [
            found.name(each.cell),
            settings_text(each, each.chosen),
            _score_text(found, each),
            f"{each.reached} of {len(each.attempts)}",
        ]
        for each in found.methods
    ]
    if any(shares.values()):
        header.append(f"share within {SENSITIVE:g} x the best, %")
        for row, share in zip(rows, shares.values(), strict=True):
            row.append(interval_text(share.scaled(100), count=2) if share else "—")
    if any(each.cost for each in found.methods):
        header.append(f"cost of tuning, {found.first.cost_unit or 'calls'}")
        for row, each in zip(rows, found.methods, strict=True):
            row.append(f"{each.cost:,.0f}" if each.cost else "—")
    header.append(f"time of tuning, {unit}")
    for row, each in zip(rows, found.methods, strict=True):
        row.append(figures(each.seconds / scale))
    words = _TUNING.format(
        value=_upper(found.value_name),
        several=", and the best and the worst of all tunings" if len(found.first.rounds) > 1 else "",
        reached=_upper(reached),
        share=_SHARE.format(factor=SENSITIVE) if any(shares.values()) else "",
    )
    table = TextTable(tuple(header), tuple(map(tuple, rows)), found.cells)
    return SideTable("Tuning" if ended else "Tuning so far", words, table)


def _score_text(found: TunedProblem, method: TunedMethod) -> str:
    """Return the score of the chosen settings: the middle of all tunings, and the best and the worst."""
    scores = sorted(each.score for each in method.chosen)
    texts = [_value_text(found, method.value(each), unfinished=each.standing > 1) for each in scores]
    if texts[0] == texts[-1]:
        return texts[0]
    values = [method.value(each) for each in scores]
    middle = _value_text(found, median(values), unfinished=False)
    return f"{middle} ({texts[0]} to {texts[-1]})"


def _value_text(found: TunedProblem, value: float, *, unfinished: bool) -> str:
    if unfinished:
        return UNFINISHED
    return figures(found.shown(value)) if math.isfinite(value) else NEVER


def _allowance_table(found: TunedProblem) -> SideTable:
    counts = sorted({count for each in found.methods for count in each.counts})
    header = ["method", *(str(count) for count in counts)]
    rows = []
    for each in found.methods:
        known = {one.trials: one.value for one in each.by_allowance}
        rows.append([found.name(each.cell), *(_cell(found, known.get(count)) for count in counts)])
    header.append(f"{found.whole} (the verdict)")
    for row, each in zip(rows, found.methods, strict=True):
        row.append(_verdict_cell(found.verdict_interval(each.cell)))
    words = _ALLOWANCE.format(value=_upper(found.value_name))
    title = f"{_upper(found.value_name)} by the number of tuning trials"
    return SideTable(title, words, TextTable(tuple(header), tuple(map(tuple, rows)), found.cells))


def _cell(found: TunedProblem, value: Interval | None) -> str:
    return "—" if value is None else found.value_text(value)


def _verdict_cell(value: Interval | None) -> str:
    """Return a value of the verdict's table, which has the sign that readers know."""
    if value is None:
        return "—"
    return interval_text(value) if math.isfinite(value.estimate) else NEVER


def _upper(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"
