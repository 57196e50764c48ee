"""What each of two runs says about a method, made ready to be compared with the other."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import median
from typing import TypeAlias

from benchfw.analysis.judgement import FLOOR
from benchfw.records import OBJECTIVE, Cell, Ending, Trial
from benchfw.summary.histories import History
from benchfw.summary.model import Target
from benchfw.summary.quantities import TO_TARGET, Sample
from benchfw.summary.samples import sample_trials
from benchfw.summary.targets import choose_targets, lowest_objective, with_gaps

Groups: TypeAlias = Mapping[Cell, Sequence[History]]

PREPARED = {"seconds_to_target": "prepare_seconds", "cost_to_target": "prepare_cost"}
"""What a run spends before it starts, which counts to the target."""

WITH_PREPARATION = "_with_prepare"


def sample_side(
    cell: Cell, group: Sequence[History], targets: Sequence[Target], by: float, cpu_by: float
) -> Sample:
    """Return the sample of one run, with the memory that its trials took where that was asked for.

    A trial that stops at the target it was given has no end: how far its last step went beyond says nothing.
    """
    sample = sample_trials(cell.kind, group, targets, by=by, cpu_by=cpu_by)
    peaks = {each.repetition: each.outcome.peak_memory for each in group}
    memory = {repetition: float(peak) for repetition, peak in peaks.items() if peak is not None}
    values = {**sample.values, **({"peak_memory": memory} if memory else {})}
    if cell.kind == "optimizer" and any(each.outcome.ending is Ending.TARGET for each in group):
        values = {name: found for name, found in values.items() if name in (*TO_TARGET, "peak_memory")}
    return replace(sample, values=values)


def with_common_gaps(old: Groups, new: Groups) -> tuple[Groups, Groups]:
    """Return both runs with the gaps that their targets name, where problems do not know their optimum.

    The best objective of a repetition is that of both runs, if they have the same data.
    """
    return _with_gaps(old, new), _with_gaps(new, old)


def _with_gaps(groups: Groups, others: Groups) -> Groups:
    found: dict[Cell, Sequence[History]] = dict(groups)
    for problem in dict.fromkeys(cell.problem for cell in groups if cell.kind == "optimizer"):
        mine, theirs = (
            {cell: each for cell, each in side.items() if (cell.problem, cell.kind) == (problem, "optimizer")}
            for side in (groups, others)
        )
        found |= with_gaps(
            mine, partial(_best_of, [each for group in theirs.values() for each in group])
        ).groups
    return found


def _best_of(histories: Sequence[History], trial: Trial) -> dict[int, float]:
    """Return the best objective of the trial's problem by repetition; none of other data."""
    best: dict[int, float] = {}
    for each in histories:
        if OBJECTIVE in each.metrics and (each.trial.problem, each.trial.seed) == (trial.problem, trial.seed):
            best[each.repetition] = min(lowest_objective(each), best.get(each.repetition, math.inf))
    sign = -1 if any(OBJECTIVE in each.gains for each in histories) else 1
    return {repetition: sign * value for repetition, value in best.items() if math.isfinite(value)}


def common_targets(cell: Cell, old: Groups, new: Groups) -> tuple[Target, ...]:
    """Return one target for both runs: where each sets its own, the one that is easier to reach.

    A target from where the methods of one run end would be out of reach of half of the other's trials.
    """
    if cell.kind != "optimizer":
        return ()
    shared = [each for each in old if each[:2] == cell[:2] and each in new]
    mine, theirs = (choose_targets([group[other] for other in shared]) for group in (old, new))
    others = {target.metric: target for target in theirs}
    return tuple(
        max(each, others[each.metric], key=lambda target: target.level)
        for each in mine
        if each.metric in others
    )


def share_looks(old: Sample, new: Sample) -> list[Sample]:
    """Return both without the brackets of trials that arrived between the same looks.

    With the same seed the place between them, which nobody saw, is the same too.
    """
    steps = "iterations_to_target"
    shared = old.values.get(steps, {}).keys() & new.values.get(steps, {}).keys()
    before, after = (each.find_brackets(steps) if shared else {} for each in (old, new))
    same = {each for each in shared if before[each] == after[each]}
    return [
        replace(
            sample,
            brackets={
                quantity: {each: ends for each, ends in found.items() if each not in same}
                if quantity in TO_TARGET
                else found
                for quantity, found in sample.brackets.items()
            },
        )
        for sample in (old, new)
    ]


def include_preparation(old: Sample, new: Sample) -> list[Sample] | None:
    """Return both with what `prepare` used, which is part of what it takes to the target.

    None where neither prepares. CPU seconds and iterations are left out: those of `prepare` are not known.
    Its time has no row of its own where only one of the two prepares, or where it is hardly a part of the
    time to the target.
    """
    pair = [old, new]
    if not any(name in each.facts for each in pair for name in PREPARED.values()):
        return None
    found = [_with_preparation(each) for each in pair]
    if any("prepare_seconds" not in each.facts for each in pair) or all(map(_is_short, found)):
        found = [_without(each, ["prepare_seconds"]) for each in found]
    return found


def _with_preparation(sample: Sample) -> Sample:
    spent = {
        quantity: {each: sample.facts.get(name, {}).get(each, 0.0) for each in _repetitions(sample)}
        for quantity, name in PREPARED.items()
    }
    values = {
        quantity: {each: value + spent[quantity][each] for each, value in found.items()}
        if quantity in PREPARED
        else found
        for quantity, found in sample.values.items()
    }
    values |= {PREPARED[quantity]: found for quantity, found in spent.items() if found}
    brackets = {
        quantity: {
            each: (low + spent[quantity][each], high + spent[quantity][each])
            for each, (low, high) in found.items()
        }
        if quantity in PREPARED
        else found
        for quantity, found in sample.brackets.items()
    }
    arrivals = {
        each: arrival._replace(
            seconds=arrival.seconds + spent["seconds_to_target"][each],
            cost=arrival.cost + spent["cost_to_target"][each],
        )
        for each, arrival in sample.arrivals.items()
    }
    whole = replace(sample, values=values, brackets=brackets, arrivals=arrivals)
    return _without(whole, set(TO_TARGET) - PREPARED.keys())


def _repetitions(sample: Sample) -> list[int]:
    return list(dict.fromkeys(each for found in sample.values.values() for each in found))


def _is_short(sample: Sample) -> bool:
    """Whether preparing is less of the time to the target than is worth a word."""
    times, total = (sample.values.get(name, {}) for name in ("prepare_seconds", "seconds_to_target"))
    return bool(times and total) and median(times.values()) < FLOOR * median(total.values())


def _without(sample: Sample, names: Collection[str]) -> Sample:
    return replace(sample, values={name: each for name, each in sample.values.items() if name not in names})
