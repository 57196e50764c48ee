"""The table on tuning: what was chosen, how well it did, and what that cost."""

from __future__ import annotations

import math

from benchfw.report.side_tables import SideTable
from benchfw.report.tables import TextTable
from benchfw.report.text import figures
from benchfw.report.tuning.problems import UNFINISHED, TunedProblem, settings_text
from benchfw.summary.times import TUNING, unit_of
from benchfw.summary.tuned import NEAR, TunedMethod

_WORDS = (
    "{value}: the median over the tuning runs of the setting that was chosen. It was chosen for that, and "
    "may look better than it is: the verdict rests on other runs, perhaps longer ones. Settings count by the "
    "median of their runs. The cost is that of all tuning runs together."
)


def tuning_table(tuned: TunedProblem) -> SideTable:
    """Return what was chosen for the methods of one problem, or what is best so far."""
    scale, unit = unit_of(tuned.units, TUNING)
    reached = f"settings that {'arrive' if tuned.first.axis else 'finish'}"
    title, chosen = ("Tuning", "chosen") if tuned.comparison else ("Tuning so far", "best so far")
    columns = {
        "method": [tuned.name(each.cell) for each in tuned.methods],
        chosen: [settings_text(each.chosen.setting) for each in tuned.methods],
        f"{tuned.value_name} in tuning": [_score_text(tuned, each) for each in tuned.methods],
        reached: [f"{each.reached} of {len(each.attempts)}" for each in tuned.methods],
    }
    if any(each.near_best is not None for each in tuned.methods):
        columns[f"within {NEAR:g} x the best"] = [
            "—" if each.near_best is None else f"{each.near_best} of {len(each.attempts)}"
            for each in tuned.methods
        ]
    if any(each.cost for each in tuned.methods):
        unit_of_cost = tuned.first.cost_unit or "calls"
        columns[f"cost of tuning, {unit_of_cost}"] = [
            f"{each.cost:,.0f}" if each.cost else "—" for each in tuned.methods
        ]
    columns[f"time of tuning, {unit}"] = [figures(each.seconds / scale) for each in tuned.methods]
    words = _WORDS.format(value=f"{tuned.value_name[:1].upper()}{tuned.value_name[1:]}")
    return SideTable(
        title, words, TextTable(tuple(columns), tuple(zip(*columns.values(), strict=True)), tuned.cells)
    )


def _score_text(tuned: TunedProblem, method: TunedMethod) -> str:
    score = method.chosen.score
    if score.standing > 1:
        return UNFINISHED
    value = method.value(score)
    return figures(tuned.shown(value)) if math.isfinite(value) else tuned.missing
