"""What a suite can find: the smallest ratios that its repetitions show, from the spread of earlier trials."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchfw.analysis.evidence import PairedLogs
from benchfw.analysis.families import BUDGET
from benchfw.analysis.paired import smallest_ratio
from benchfw.records import Result, Trial
from benchfw.runs import Run
from benchfw.summary.summarize import summarize


@dataclass(frozen=True)
class Reach:
    """The smallest ratio that is found with 90 % chance, of each method to its reference in one quantity."""

    problem: str
    quantity: str
    ratios: Mapping[str, float]


def find_reach(trials: Sequence[Trial], run: Run, results: Iterable[Result]) -> tuple[list[Reach], int]:
    """Return what planned trials can find, by those of an earlier run, and how many comparisons share 5 %.

    A lone difference is meant, whose interval has the level 1 - 5 % / comparisons; where many methods differ,
    each is found more easily. The spread is that of the log ratios over the earlier repetitions; brackets, of
    looks and of a busy machine, add to it. Nothing where the run has no trials like these, or one of each.
    """
    wanted = {_setting(trial) for trial in trials}
    alike = [each for each in results if _setting(each.trial) in wanted]
    count = 1 + max((trial.repetition for trial in trials), default=-1)
    summary = summarize(run, alike)
    found = [
        (comparison, cell, quantity, decision.evidence)
        for comparison in summary.comparisons
        for (cell, quantity), decision in comparison.decisions.items()
        if decision.evidence is not None
    ]
    level = 1 - BUDGET / max(1, len(found))
    ratios: dict[tuple[str, str], dict[str, float]] = {}
    for comparison, cell, quantity, evidence in found:
        if isinstance(evidence, PairedLogs) and math.isfinite(evidence.spread):
            ratio = smallest_ratio(evidence.spread, count, level) * math.exp(min(evidence.width, 700.0))
            unit = f"{comparison.cost_unit} to target"
            label = unit if quantity == "cost_to_target" else quantity.replace("_", " ")
            ratios.setdefault((comparison.problem, label), {})[comparison.name(cell)] = ratio
    return [Reach(*place, each) for place, each in ratios.items()], len(found)


def _setting(trial: Trial) -> tuple[object, ...]:
    """Return what trials must share for the spread of one to tell that of the other."""
    tables = str(trial.problem.table), str(trial.method.table)
    return trial.cell, *tables, trial.budget, str(dict(trial.target)), trial.precision, trial.at
