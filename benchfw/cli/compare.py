"""`benchfw compare A B`"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from benchfw.analysis.compare import (
    FLOOR,
    Change,
    Difference,
    difference_of_intervals,
    independent_difference,
    judge,
    paired_difference,
)
from benchfw.analysis.intervals import median_interval
from benchfw.cli.options import counted, echo_json, echo_table, json_option, printable, store_option
from benchfw.errors import BenchfwError
from benchfw.records import FACT_PREFIX, MethodKind, Result, Run, Trial

if TYPE_CHECKING:
    from benchfw.report.quantities import Sample, Target

WORDS = ("regressed", "improved", "within noise", "no change")
TIMES = frozenset(
    {"seconds_to_target", "seconds_per_draw", "seconds_per_call", "setup_seconds", "variance_x_seconds"}
)
GIBIBYTE = 2**30

Side: TypeAlias = tuple[Run, Sequence[Result]]
Groups: TypeAlias = Mapping["Key", Sequence[Result]]
Pair: TypeAlias = tuple["Key", str, list[float], Difference]


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
    """All rows that two runs share, why others are not there, and how many trials are the same in both."""

    rows: tuple[Row, ...]
    refused: tuple[str, ...]
    in_both: int

    def count(self, word: str) -> int:
        """Return the number of rows with a word."""
        return sum(row.change.word == word for row in self.rows)


@click.command(name="compare")
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@click.option(
    "--floor",
    type=click.FloatRange(min=0, max=10),
    default=FLOOR,
    show_default=True,
    help="The smallest change worth a word: 0.05 is 5 %.",
)
@store_option
@json_option
def command(before: str, after: str, floor: float, store: Path, as_json: bool) -> None:
    """Say what changed from run A to run B, for every problem, method, backend and quantity in both.

    A and B are ids from `benchfw runs`, or last; PATH:RUN names a run of another store.

    \b
    regressed, improved   by more than the floor, and not by chance: all rows together at 5 %
                          (Benjamini & Hochberg)
    no change             the whole interval of the ratio lies within the floor
    within noise          neither can be said; more repetitions would tell

    Times are compared only if processor, cores, memory, governor, threads and device are alike; variance
    and quality always. Exit code 1 if something regressed.

    \b
    Examples:
      benchfw compare 3 last
      benchfw compare main.sqlite:last last --floor 0.1 --json
    """
    old, new = _read(before, store), _read(after, store)
    found = compare_runs(old, new, floor)
    if as_json:
        echo_json(_as_data(found, old[0], new[0], floor))
    else:
        _print(found, floor)
    if found.count("regressed"):
        sys.exit(1)


def compare_runs(before: Side, after: Side, floor: float) -> Comparison:
    """Return every quantity that two runs share, judged together, and what cannot be compared and why."""
    old, new = _by_key(before[1]), _by_key(after[1])
    refused: dict[str, None] = {}
    for name, mine, other in (("A", old, new), ("B", new, old)):
        alone = [str(key) for key in mine if key not in other]
        if alone:
            refused[f"only in {name}: {', '.join(alone)}"] = None
    found: list[Pair] = []
    for key in old:
        if key in new:
            unlike = _unlike(before[0].environment, after[0].environment, key.backend)
            found += _shared(key, old, new, unlike, refused)
    if not found:
        why = "; ".join(refused) or "they have no trial in common"
        raise BenchfwError(f"nothing to compare between run {before[0].id} and run {after[0].id}: {why}")
    changes = judge([difference for *_, difference in found], floor)
    rows = [
        Row(key, quantity, medians[0], medians[1], change)
        for (key, quantity, medians, _), change in zip(found, changes, strict=True)
    ]
    rows.sort(key=lambda row: WORDS.index(row.change.word))
    return Comparison(tuple(rows), tuple(refused), _in_both(before, after))


def _read(name: str, store: Path) -> Side:
    """Return a run and its trials: an id or `last`, in the store or in that of PATH:RUN."""
    from benchfw.store import Store

    path, _, run = name.rpartition(":")
    with Store(Path(path) if path else store) as opened:
        chosen = opened.run(run)
        return chosen, opened.results(chosen.id)


def _in_both(before: Side, after: Side) -> int:
    """Return how many trials the second run took over from the first, or both from an earlier one."""
    if before[0].store != after[0].store:
        return 0
    return len({result.id for result in before[1]} & {result.id for result in after[1]})


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
            "device": facts.get("backends", {}).get(backend, {}).get("device"),
        }
        for facts in (before, after)
    )
    return ", ".join(f"{name} {old[name]} and {new[name]}" for name in old if old[name] != new[name])


def _shared(key: Key, old: Groups, new: Groups, unlike: str, refused: dict[str, None]) -> Iterator[Pair]:
    """Yield the quantities of one method that can be compared; add the reasons for the others."""
    from benchfw.report.quantities import sample_trials

    mine, theirs = old[key], new[key]
    reason = _different(mine[0].trial, theirs[0].trial)
    if reason:
        refused[f"{key}: {reason}"] = None
        return
    targets = _targets(key, old, new)
    samples = [sample_trials(key.kind, group, targets) for group in (mine, theirs)]
    paired = mine[0].trial.seed == theirs[0].trial.seed
    for quantity in samples[0].values:
        if quantity not in samples[1].values or quantity == "bias" or quantity.startswith(FACT_PREFIX):
            continue  # a bias has no ratio, and is in the mse
        why = _refusal(key, quantity, mine, theirs, unlike)
        if why:
            refused[why] = None
            continue
        values = [_numbers(sample, quantity) for sample in samples]
        if not any(any(each.values()) for each in values):
            continue
        if any(value < 0 for each in values for value in each.values()):
            refused[f"{key}: {quantity} can be negative and has no ratio"] = None
            continue
        difference = _difference(samples[0], samples[1], quantity, paired)
        if difference.ratio.count == 0:
            refused[f"{key}: {quantity} is known in no repetition of both runs"] = None
            continue
        medians = [median_interval(list(each.values())).estimate for each in values]
        yield key, quantity, medians, difference
    for name, sample, group in zip("AB", samples, (mine, theirs), strict=True):
        if not sample.values:
            ending = group[0].outcome
            refused[f"{key}: no value in {name} ({ending.status}: {ending.reason})"] = None


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
    from benchfw.report.quantities import Target, choose_targets, finished_trials

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
        return f"times on {key.backend}: {unlike}"
    if key.kind != "optimizer":
        return ""
    limited = any(_ran_out_of_seconds(result) for result in (*mine, *theirs))
    if unlike and limited:
        return f"{key}: a budget of seconds ended it, on unlike machines ({unlike})"
    old, new = mine[0].trial, theirs[0].trial
    if quantity.endswith("_to_target") or (old.budget, old.target) == (new.budget, new.target):
        return ""
    return f"{key}: {quantity} at the end, since budget or target differ"


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


def _print(found: Comparison, floor: float) -> None:
    from benchfw.report.numbers import figures, ratio_text

    rows = [
        (
            row.key.problem,
            row.key.method,
            row.key.backend,
            row.quantity,
            figures(row.before),
            figures(row.after),
            ratio_text(row.change.ratio),
            row.change.ratio.count,
            figures(row.change.adjusted, 2),
            row.change.word,
        )
        for row in found.rows
    ]
    header = ("problem", "method", "backend", "quantity", "A", "B", "B/A", "runs", "p", "verdict")
    echo_table(rows, header)
    for reason in found.refused:
        click.echo(f"not compared: {printable(reason)}")
    if found.in_both:
        click.echo(f"{counted(found.in_both)} in both runs, not measured again (`run --fresh` would)")
    said = ", ".join(f"{found.count(word)} {word}" for word in WORDS if found.count(word))
    click.echo(f"{said} (floor {floor:.0%}, medians, p for all {len(rows)} rows together)")


def _as_data(found: Comparison, before: Run, after: Run, floor: float) -> dict[str, Any]:
    return {
        **{
            name: {"store": str(run.store), "run": run.id, "suite": run.suite, "started": run.started}
            for name, run in (("before", before), ("after", after))
        },
        "floor": floor,
        "counts": {word: found.count(word) for word in WORDS},
        "rows": [
            {
                **vars(row.key),
                "quantity": row.quantity,
                "before": _plain(row.before),
                "after": _plain(row.after),
                "ratio": _plain(row.change.ratio.estimate),
                "low": _plain(row.change.ratio.low),
                "high": _plain(row.change.ratio.high),
                "count": row.change.ratio.count,
                "probability": row.change.probability,
                "adjusted": row.change.adjusted,
                "verdict": row.change.word,
            }
            for row in found.rows
        ],
        "not_compared": list(found.refused),
        "in_both": found.in_both,
    }


def _plain(value: float) -> float | str:
    # JSON has no infinity: it is written as text that every float() reads, as by `benchfw export`
    return value if math.isfinite(value) else str(value)
