"""What changed from one run to another: every quantity that both have, judged together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import TypeAlias

from benchfw.analysis.compare import (
    Difference,
    Ends,
    allow_for_runs,
    bracketed_difference,
    difference_of_intervals,
    independent_difference,
    paired_difference,
    share_difference,
    signed_difference,
)
from benchfw.analysis.intervals import median_interval
from benchfw.analysis.judgement import WORDS, Change, judge
from benchfw.errors import BenchfwError
from benchfw.provenance import Run
from benchfw.records import Cell, Result, Status
from benchfw.summary.changes import Pair, RunComparison, RunRow, find_resettings
from benchfw.summary.histories import History, histories_by_cell
from benchfw.summary.model import CPU_TIMES
from benchfw.summary.noise import Slowdowns, allow_for_noise, describe_noise, slowdowns
from benchfw.summary.quantities import Sample, sure_arrivals
from benchfw.summary.refusals import (
    TIMES,
    different_trials,
    refuse_ends,
    refuse_quantity,
    refuse_values,
    unlike_machines,
)
from benchfw.summary.shares import SHORT, Share, bad_ends, share_sentence, share_well
from benchfw.summary.sides import (
    PREPARED,
    WITH_PREPARATION,
    Groups,
    common_targets,
    include_preparation,
    sample_side,
    share_looks,
    with_common_gaps,
)

Side: TypeAlias = tuple[Run, Sequence[Result]]
Refused: TypeAlias = dict[str, list[str]]
"""Why something is not compared -> whom it is about."""


def compare_runs(before: Side, after: Side, floor: float) -> RunComparison:
    """Return every quantity that two runs share, judged together, and what cannot be compared and why."""
    return compare_pairs([(before, after)], floor)


def compare_pairs(pairs: Sequence[tuple[Side, Side]], floor: float) -> RunComparison:
    """Return what `compare_runs` does for several pairs of runs, all of their rows judged together."""
    refused: Refused = {}
    by_pair = [list(_find_pairs(before, after, refused)) for before, after in pairs]
    found = [row for rows in by_pair for row in rows]
    reasons = tuple(f"{why}: {', '.join(dict.fromkeys(whose))}" for why, whose in refused.items())
    if not found:
        why = "; ".join(reasons) or "they have no trial in common"
        names = ", ".join(f"run {before[0].id} and run {after[0].id}" for before, after in pairs)
        raise BenchfwError(f"nothing to compare between {names}: {why}")
    methods = sum(len({row.cell for row in rows}) for rows in by_pair)
    changes = judge([each.difference for each in found], floor, methods)
    rows = [
        RunRow(**vars(each), change=_as_measured(change) if each.gain else change)
        for each, change in zip(found, changes, strict=True)
    ]
    rows.sort(key=lambda row: WORDS.index(row.change.word))
    in_both = sum(_in_both(before, after) for before, after in pairs)
    sentences = {
        run.id: describe_noise(run, other)
        for (before, _), (after, _) in pairs
        for run, other in ((before, after), (after, before))
    }
    busy = tuple(f"run {number}: {sentence}" for number, sentence in sentences.items() if sentence)
    compared = {row.cell for row in rows}
    resettings = (each for pair in pairs for each in find_resettings(*pair) if each.cell in compared)
    return RunComparison(tuple(rows), reasons, in_both, busy, tuple(resettings))


def _as_measured(change: Change) -> Change:
    """Return what became of a gain, with the difference of its values instead of the negated ones."""
    return replace(change, ratio=change.ratio.negated())


def _find_pairs(before: Side, after: Side, refused: Refused) -> Iterator[Pair]:
    """Yield what two runs share; add the reasons for the rest."""
    old, new = with_common_gaps(histories_by_cell(before[1]), histories_by_cell(after[1]))
    for name, mine, other in (("A", old, new), ("B", new, old)):
        for cell in mine:
            if cell not in other:
                refused.setdefault(f"only in {name}", []).append(str(cell))
    by = slowdowns(before[0], after[0]), slowdowns(after[0], before[0])
    # --against alternates between the two, with new processes for every repetition
    separate = before[0].environment.clock == after[0].environment.clock == "wall"
    for cell in old:
        if cell in new:
            unlike = unlike_machines(before[0].environment, after[0].environment, cell.backend)
            yield from _pair_quantities(cell, old, new, unlike, by, refused, separate=separate)


def _in_both(before: Side, after: Side) -> int:
    """Return how many trials of the verdict the second run took over, or both did from an earlier one.

    No trial takes the same times twice, and a bundle's are the times of the store that it was packed from.
    """
    old, new = (
        {
            (each.trial.key, each.outcome.seconds, tuple(record.seconds for record in each.outcome.records))
            for each in results
            if each.outcome.records and not each.trial.tuning
        }
        for _, results in (before, after)
    )
    return len(old & new)


def _pair_quantities(
    cell: Cell,
    old: Groups,
    new: Groups,
    unlike: str,
    by: tuple[Slowdowns, Slowdowns],
    refused: Refused,
    *,
    separate: bool,
) -> Iterator[Pair]:
    """Yield the quantities of one method that can be compared; add the reasons for the others."""
    mine, theirs = old[cell], new[cell]
    trials = mine[0].trial, theirs[0].trial
    reason = different_trials(*trials)
    if reason:
        refused.setdefault(reason, []).append(str(cell))
        return
    targets = common_targets(cell, old, new)
    paired = trials[0].seed == trials[1].seed
    seen = [
        sample_side(cell, group, targets, each.time, each.cpu)
        for group, each in zip((mine, theirs), by, strict=True)
    ]
    seen = share_looks(*seen) if paired else seen
    whole = include_preparation(*seen)
    seen = whole or seen
    on_host = not any(each.on_device for each in seen)
    beside_cpu = on_host and any(all(each in one.values for one in seen) for each in CPU_TIMES.values())
    samples = [
        allow_for_noise(sample, each.beside_cpu if beside_cpu else each.time, each.cpu)
        for sample, each in zip(seen, by, strict=True)
    ]
    if whole and targets:
        why = "iterations and CPU seconds to the target, since what `prepare` does is not part of them"
        refused.setdefault(why, []).append(str(cell))
    yield from _pair_shares(cell, (mine, theirs), samples, unlike, refused)
    reason = refuse_values(cell, (mine, theirs), samples, paired=paired)
    if reason:
        refused.setdefault(reason, []).append(str(cell))
        return
    for quantity in _shared_quantities(*samples, by_cpu=not separate):
        values = [_numbers(sample, quantity) for sample in samples]
        never = any(math.isinf(value) for each in values for value in each.values())
        why = refuse_quantity(cell, quantity, mine, theirs, unlike, never=never)
        has_ratio = samples[0].has_ratio(quantity, [each for some in values for each in some.values()])
        why = why or refuse_ends(quantity, samples, never=never, has_ratio=has_ratio)
        if why:
            refused.setdefault(why, []).append(str(cell))
            continue
        if not any(any(each.values()) for each in values):
            continue
        difference = (
            _difference(samples[0], samples[1], quantity, paired)
            if has_ratio
            else _signed(values, quantity, mine, paired)
        )
        if separate and quantity in TIMES:
            difference = allow_for_runs(difference)
        if difference.ratio.count == 0:
            refused.setdefault(f"{quantity} is known in no repetition of both runs", []).append(str(cell))
            continue
        medians = [median_interval(list(each.values())) for each in values]
        gain = samples[0].is_gain(quantity)
        before, after = (each.negated().estimate if gain else each.estimate for each in medians)
        ended = _ended((mine, theirs), samples, quantity)
        name = quantity + WITH_PREPARATION if whole and quantity in PREPARED else quantity
        yield Pair(cell, name, before, after, difference, ended, gain=gain)


def _pair_shares(
    cell: Cell,
    groups: tuple[Sequence[History], Sequence[History]],
    samples: Sequence[Sample],
    unlike: str,
    refused: Refused,
) -> Iterator[Pair]:
    """Yield how many runs failed in each, and how many others did not arrive, where there are such."""
    late = any(each.outcome.status is Status.TIMEOUT for group in groups for each in group)
    for quantity in bad_ends(groups, samples):
        ended = _ended(groups, samples, quantity)
        why = "" if all(each.runs for each in ended) else "not started in one of the runs"
        if quantity == SHORT:
            why = why or refuse_quantity(cell, quantity, *groups, unlike, never=True)
        elif unlike and late:
            why = why or f"{quantity}, since a time limit ended some, on unlike machines ({unlike})"
        if why:
            refused.setdefault(why, []).append(str(cell))
            continue
        (some, runs), (others, their_runs) = seen = tuple(each.badly for each in ended)
        sentence = share_sentence(cell, quantity, ended, groups)
        sure = seen
        if quantity == SHORT:
            there = sure_arrivals(samples[0], samples[1])
            sure = (runs - there[0], runs), (their_runs - there[1], their_runs)
        found = share_difference(*sure)
        if sure != seen:  # what a busy machine may have changed is not the same bit by bit
            found = replace(found, identical=False)
        yield Pair(cell, quantity, some / runs, others / their_runs, found, ended, sentence)


def _ended(
    groups: tuple[Sequence[History], Sequence[History]], samples: Sequence[Sample], quantity: str
) -> tuple[Share, Share]:
    (mine, theirs), (old, new) = groups, samples
    return share_well(mine, old, quantity), share_well(theirs, new, quantity)


def _shared_quantities(old: Sample, new: Sample, *, by_cpu: bool) -> list[str]:
    """Return what is compared: times and their CPU seconds, or these alone; no bias: it has no ratio.

    Of mse x seconds both factors are compared, and of variance x seconds where it has CPU seconds.
    """
    apart = ("bias", "mse_x_seconds", "mse_x_cpu_seconds")
    shared = [each for each in old.values if each in new.values and each not in apart]
    twice = CPU_TIMES if by_cpu else ("variance_x_seconds",)
    return [each for each in shared if each not in twice or CPU_TIMES[each] not in shared]


def _difference(old: Sample, new: Sample, quantity: str, paired: bool) -> Difference:
    before, after = _numbers(old, quantity), _numbers(new, quantity)
    shared = [repetition for repetition in before if repetition in after]
    if not paired:
        mine, theirs = _ends(before, old, quantity), _ends(after, new, quantity)
        return bracketed_difference(independent_difference, mine, theirs)
    # one trial knows its own variance, but not by how much its times vary from run to run
    if len(shared) == 1 and quantity in old.within and quantity in new.within and quantity not in TIMES:
        return difference_of_intervals(old.within[quantity][shared[0]], new.within[quantity][shared[0]])
    mine, theirs = (
        _ends({each: numbers[each] for each in shared}, sample, quantity)
        for sample, numbers in ((old, before), (new, after))
    )
    return bracketed_difference(paired_difference, mine, theirs)


def _signed(
    values: Sequence[Mapping[int, float]], quantity: str, mine: Sequence[History], paired: bool
) -> Difference:
    """Return the difference of ends without a ratio; the size of a change is how far those of A came."""
    before, after = values
    shared = [repetition for repetition in before if repetition in after]
    curves = filter(None, (each.curve(quantity) for each in mine if each.finished))
    # only a forged run has ends and no curve: then no change is large enough
    size = median([abs(float(curve.values[0]) - curve.final) for curve in curves] or [math.inf])
    if not paired:
        return signed_difference(list(before.values()), list(after.values()), size, paired=False)
    pairs = [before[each] for each in shared], [after[each] for each in shared]
    return signed_difference(*pairs, size, paired=True)


def _ends(numbers: Mapping[int, float], sample: Sample, quantity: str) -> Ends:
    """Return values by repetition with their brackets."""
    known = sample.find_brackets(quantity)
    brackets = [(value, value) if math.isinf(value) else known[each] for each, value in numbers.items()]
    return Ends(list(numbers.values()), [low for low, _ in brackets], [high for _, high in brackets])


def _numbers(sample: Sample, quantity: str) -> dict[int, float]:
    """Return a quantity by repetition; NaN is as bad as can be."""
    found = sample.values[quantity]
    return {each: math.inf if math.isnan(value) else value for each, value in found.items()}
