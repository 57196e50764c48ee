"""What changed from one run to another: every quantity that both have, judged together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from benchfw.analysis.compare import (
    WORDS,
    Change,
    Difference,
    difference_of_intervals,
    independent_difference,
    judge,
    paired_difference,
)
from benchfw.analysis.intervals import median_interval
from benchfw.errors import BenchfwError
from benchfw.records import FACT_PREFIX, PEAK_MEMORY, MethodKind, Result, Run, Trial
from benchfw.summary.quantities import Sample, Target, choose_targets, finished_trials
from benchfw.summary.samples import sample_trials

TIMES = frozenset(
    {"seconds_to_target", "seconds_per_draw", "seconds_per_call", "setup_seconds", "variance_x_seconds"}
)
GIBIBYTE = 2**30

Side: TypeAlias = tuple[Run, Sequence[Result]]
Groups: TypeAlias = Mapping["Key", Sequence[Result]]
Pair: TypeAlias = tuple["Key", str, list[float], Difference]
Refused: TypeAlias = dict[str, list[str]]
"""Why something is not compared -> whom it is about."""


@dataclass(frozen=True)
class Key:
    """What both runs must have."""

    problem: str
    kind: MethodKind
    method: str
    backend: str

    def __str__(self) -> str:
        return f"{self.method} on {self.problem or 'kernels'} ({self.backend})"


@dataclass(frozen=True)
class Row:
    """One quantity of one method in both runs: the two medians, and what became of it."""

    key: Key
    quantity: str
    before: float
    after: float
    change: Change


@dataclass(frozen=True)
class Comparison:
    """All rows that two runs share, why others are not there, how many trials are the same in both.

    `busy` has a sentence on each run that began on a machine with other work to do.
    """

    rows: tuple[Row, ...]
    refused: tuple[str, ...]
    in_both: int
    busy: tuple[str, ...] = ()

    def count(self, word: str) -> int:
        """Return the number of rows with a word."""
        return sum(row.change.word == word for row in self.rows)


def compare_runs(before: Side, after: Side, floor: float) -> Comparison:
    """Return every quantity that two runs share, judged together, and what cannot be compared and why."""
    return compare_pairs([(before, after)], floor)


def compare_pairs(pairs: Sequence[tuple[Side, Side]], floor: float) -> Comparison:
    """Return what `compare_runs` does for several pairs of runs, all of their rows judged together."""
    refused: Refused = {}
    found = [row for before, after in pairs for row in _found(before, after, refused)]
    reasons = tuple(f"{why}: {', '.join(dict.fromkeys(whose))}" for why, whose in refused.items())
    if not found:
        why = "; ".join(reasons) or "they have no trial in common"
        names = ", ".join(f"run {before[0].id} and run {after[0].id}" for before, after in pairs)
        raise BenchfwError(f"nothing to compare between {names}: {why}")
    changes = judge([difference for *_, difference in found], floor)
    rows = [
        Row(key, quantity, medians[0], medians[1], change)
        for (key, quantity, medians, _), change in zip(found, changes, strict=True)
    ]
    rows.sort(key=lambda row: WORDS.index(row.change.word))
    in_both = sum(_in_both(before, after) for before, after in pairs)
    busy = tuple(filter(None, (_busy(run) for pair in pairs for run, _ in pair)))
    return Comparison(tuple(rows), reasons, in_both, busy)


def _busy(run: Run) -> str:
    machine = run.environment.get("machine", {})
    load, cores = machine.get("load") or 0.0, machine.get("cores") or math.inf
    if load <= cores or run.environment.get("clock") == "cpu":  # which stands still during other work
        return ""
    return f"run {run.id} began at a load of {load:g} on {cores} cores: its times may be those of other work"


def _found(before: Side, after: Side, refused: Refused) -> Iterator[Pair]:
    """Yield what two runs share; add the reasons for the rest."""
    old, new = _by_key(before[1]), _by_key(after[1])
    for name, mine, other in (("A", old, new), ("B", new, old)):
        for key in mine:
            if key not in other:
                refused.setdefault(f"only in {name}", []).append(str(key))
    for key in old:
        if key in new:
            unlike = _unlike(before[0].environment, after[0].environment, key.backend)
            yield from _shared(key, old, new, unlike, refused)


def _in_both(before: Side, after: Side) -> int:
    """Return how many trials the second run took over from the first, or both from an earlier one.

    No trial takes the same times twice, and a bundle's are the times of the store that it was packed from.
    """
    old, new = (
        {
            (each.trial.key, each.outcome.seconds, tuple(record.seconds for record in each.outcome.records))
            for each in results
            if each.outcome.records
        }
        for _, results in (before, after)
    )
    return len(old & new)


def _by_key(results: Sequence[Result]) -> dict[Key, list[Result]]:
    groups: dict[Key, list[Result]] = {}
    for result in results:
        trial = result.trial
        key = Key(trial.problem.label, trial.kind, trial.method.label, trial.backend)
        groups.setdefault(key, []).append(result)
    return groups


def _unlike(before: Mapping[str, Any], after: Mapping[str, Any], backend: str) -> str:
    """Return in what two machines differ that makes their times on a backend differ; nothing if alike."""
    old, new = (
        {
            **{name: facts.get("machine", {}).get(name) for name in ("processor", "cores", "governor")},
            # the system keeps a little more or less of it for itself from one start to the next
            "memory": round(facts.get("machine", {}).get("memory", 0) / GIBIBYTE),
            "threads": facts.get("threads"),
            "clock": facts.get("clock", "wall"),
            "device": facts.get("backends", {}).get(backend, {}).get("device"),
        }
        for facts in (before, after)
    )
    return ", ".join(f"{name} {old[name]} and {new[name]}" for name in old if old[name] != new[name])


def _shared(key: Key, old: Groups, new: Groups, unlike: str, refused: Refused) -> Iterator[Pair]:
    """Yield the quantities of one method that can be compared; add the reasons for the others."""
    mine, theirs = old[key], new[key]
    reason = _different(mine[0].trial, theirs[0].trial)
    if reason:
        refused.setdefault(reason, []).append(str(key))
        return
    targets = _targets(key, old, new)
    samples = [sample_trials(key.kind, group, targets) for group in (mine, theirs)]
    paired = mine[0].trial.seed == theirs[0].trial.seed
    for quantity in samples[0].values:
        explains = quantity.startswith(FACT_PREFIX) and quantity != PEAK_MEMORY
        if quantity not in samples[1].values or quantity == "bias" or explains:
            continue  # a bias has no ratio, and is in the mse
        why = _refusal(key, quantity, mine, theirs, unlike)
        if why:
            refused.setdefault(why, []).append(str(key))
            continue
        values = [_numbers(sample, quantity) for sample in samples]
        if not any(any(each.values()) for each in values):
            continue
        if any(value < 0 for each in values for value in each.values()):
            refused.setdefault(f"{quantity} can be negative and has no ratio", []).append(str(key))
            continue
        difference = _difference(samples[0], samples[1], quantity, paired)
        if difference.ratio.count == 0:
            refused.setdefault(f"{quantity} is known in no repetition of both runs", []).append(str(key))
            continue
        medians = [median_interval(list(each.values())).estimate for each in values]
        yield key, quantity.removeprefix(FACT_PREFIX), medians, difference
    for name, sample, group in zip("AB", samples, (mine, theirs), strict=True):
        if not sample.values:
            ending = group[0].outcome
            refused.setdefault(f"no value in {name} ({ending.status}: {ending.reason})", []).append(str(key))


def _different(old: Trial, new: Trial) -> str:
    """Return why two trials of one name are not about the same thing; nothing if they are."""
    if old.problem.table != new.problem.table:
        return f"the problem is not the same, {old.problem.table} and {new.problem.table}"
    if old.kind == "estimator" and old.at != new.at:
        return f"drawn at the {old.at} and at the {new.at}"
    return ""


def _targets(key: Key, old: Groups, new: Groups) -> tuple[Target, ...]:
    """Return one target for both runs: where each sets its own, the one that is easier to reach.

    A target from where the reference method of one run ends would be out of reach of half of the other's.
    """
    if key.kind != "optimizer":
        return ()
    for other in old:
        if (other.problem, other.kind) != (key.problem, key.kind) or other not in new:
            continue
        both = [finished_trials(group[other]) for group in (old, new)]
        if all(both):
            mine, theirs = (choose_targets(results) for results in both)
            values = {target.metric: target.value for target in theirs}
            return tuple(
                Target(each.metric, max(each.value, values[each.metric]), each.automatic)
                for each in mine
                if each.metric in values
            )
    return ()


def _refusal(key: Key, quantity: str, mine: Sequence[Result], theirs: Sequence[Result], unlike: str) -> str:
    """Return why a quantity cannot be compared though both runs have it; nothing if it can."""
    if unlike and quantity in TIMES:
        return f"times on {key.backend} ({unlike})"
    if key.kind != "optimizer":
        return ""
    limited = any(_ran_out_of_seconds(result) for result in (*mine, *theirs))
    if unlike and limited:
        return f"a budget of seconds ended it, on unlike machines ({unlike})"
    old, new = mine[0].trial, theirs[0].trial
    if quantity.endswith("_to_target") or (old.budget, old.target) == (new.budget, new.target):
        return ""
    return f"{quantity} at the end, since budget or target differ"


def _ran_out_of_seconds(result: Result) -> bool:
    return result.outcome.reason.startswith("budget of") and "seconds" in result.outcome.reason


def _difference(old: Sample, new: Sample, quantity: str, paired: bool) -> Difference:
    before, after = _numbers(old, quantity), _numbers(new, quantity)
    shared = [repetition for repetition in before if repetition in after]
    if not paired:
        return independent_difference(list(before.values()), list(after.values()))
    # one trial knows its own variance, but not by how much its times vary from run to run
    if len(shared) == 1 and quantity in old.within and quantity in new.within and quantity not in TIMES:
        return difference_of_intervals(old.within[quantity][shared[0]], new.within[quantity][shared[0]])
    return paired_difference([before[each] for each in shared], [after[each] for each in shared])


def _numbers(sample: Sample, quantity: str) -> dict[int, float]:
    """Return a quantity by repetition; what is no number is as bad as can be."""
    found = sample.values[quantity]
    return {each: math.inf if math.isnan(value) else value for each, value in found.items()}
