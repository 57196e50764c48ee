"""The phrases that verdicts are made of, on ratios and arrivals, and the sentences on faults and caveats."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from benchfw.analysis.decisions import Verdict
from benchfw.analysis.medians import CHECKED_PAIRS
from benchfw.analysis.significance import FEWEST_PAIRS
from benchfw.records import OBJECTIVE, Cell, Ending, Status
from benchfw.registry import GIVEN
from benchfw.report.commands import check_command, replay_command
from benchfw.report.text import (
    FEW_NAMES,
    figures,
    interval_text,
    join_names,
    plural,
    raise_powers,
    ratio_text,
    times_end,
    times_text,
)
from benchfw.summary.model import Caveat, Comparison, Fault, Replays, Row, Summary
from benchfw.summary.times import is_time

_ADVICE = {
    Status.TIMEOUT: "raise --timeout and give --retry-failed, or lower the budget",
    Status.OUT_OF_MEMORY: "raise --memory and give --retry-failed, or use a smaller problem",
    Status.CRASHED: "{replay} runs it alone",
    Status.FAILED: "{replay} runs it alone and shows the traceback",
}
_NO_MEMORY_BESIDE_A_DEVICE = (
    "raise --memory, or end what else uses the GPU, and give --retry-failed, or use a smaller problem"
)
TAKEN = ", assuming normal noise"
"""Of runs that are too few to see a difference without assuming a law."""

_VERBS = {Status.TIMEOUT: "ran out of time", Status.OUT_OF_MEMORY: "ran out of memory"}


@dataclass(frozen=True)
class Measure:
    """A quantity to the target, and how sentences speak of it."""

    quantity: str
    preposition: str
    less: str
    more: str
    noun: str


PREPARED = ("prepare_cost", "prepare_seconds")
"""What a method's `prepare` takes, which is part of neither cost nor time to the target."""


def mean_of(comparison: Comparison, cell: Cell, quantity: str) -> float:
    """Return the mean of a quantity, 0 where a method has none."""
    row = comparison.row(cell, quantity)
    return 0.0 if row is None else row.interval.estimate


def preparation_sentences(*comparisons: Comparison) -> list[str]:
    """Return at most one sentence, on the methods that took something to prepare, which is not counted."""
    names = dict.fromkeys(
        comparison.name(cell)
        for comparison in comparisons
        for cell in comparison.measured
        if any(mean_of(comparison, cell, name) > 0 for name in PREPARED)
    )
    return [f"What {join_names([*names])} took to prepare is not counted"] if names else []


def target_text(comparison: Comparison) -> str:
    """Return the common target: 'gap 1.2 × 10⁻⁵', and how it was set if none was given."""
    each = (f"{target.metric} {raise_powers(f'{target.value:g}')}" for target in comparison.targets)
    named = " and ".join(each)
    if not any(target.automatic for target in comparison.targets):
        return named
    improved = all(target.improved for target in comparison.targets)
    zero = "0 up to rounding, " if any(target.floored for target in comparison.targets) else ""
    return f"{named} ({zero}set by the methods' {'ends' if improved else 'starts and ends'})"


def none_improves_text(comparison: Comparison) -> str:
    """Return why an automatic target is one that no method reaches."""
    side = "above the highest" if comparison.targets[0].gain else "below the lowest"
    return f"No method ends {side} start in all of its runs"


def comparative(comparison: Comparison, cell: Cell, quantity: str, less: str, more: str) -> str | None:
    """Return '2.3 [2.1, 2.6] times {less}' or '… {more}'; None where neither is decided by a factor.

    '0.30 % [0.21, 0.39] {less}' of a factor that would read as 1. Of a metric without a ratio:
    '0.31 [0.22, 0.40] lower', or 'higher'.
    """
    decision = comparison.decision(cell, quantity)
    ratio = decision.interval
    if ratio is None or not decision.differs:
        return None
    better = decision.verdict is Verdict.BETTER
    if decision.evidence is not None and decision.evidence.null == 0:
        lower = better is not comparison.is_gain(quantity)
        return f"{interval_text(ratio.negated() if better else ratio)} {'lower' if lower else 'higher'}"
    factor, word = (ratio.inverted(), less) if better else (ratio, more)
    if not 1 < factor.low < math.inf:
        return None  # too few runs of one of the two arrive to know a factor, or some end at 0
    if not factor.bounded or not math.isfinite(factor.estimate):  # only the near end is known
        return f"at least {times_end(factor.low)} {word}"
    return f"{times_text(ratio)} {word}"


def undecided_text(comparison: Comparison, cell: Cell, quantity: str, about: str = "") -> str:
    """Return the words for a method that is neither better nor worse than its reference.

    `about` says in what and between whom: it stands before the numbers.
    """
    decision = comparison.decision(cell, quantity)
    if decision.interval is None:
        return f"Not comparable{about} ({decision.reason.value})"
    runs = paired_runs(comparison, cell, quantity)
    if decision.verdict is Verdict.NOT_COMPARABLE:
        needed = "three" if decision.interval.count < FEWEST_PAIRS else "six"
        return f"Not comparable{about} ({runs}; {needed} are needed)"
    ratio = f"ratio {ratio_text(decision.interval)}, {runs}"
    if decision.verdict is Verdict.EQUAL:
        return f"Equal within 10 %{about} ({ratio})"
    if decision.verdict is Verdict.ALIKE:
        return f"Within 10 % in each of {runs}{about} (ratio {ratio_text(decision.interval)})"
    more = decision.needed is not None and decision.needed > decision.interval.count
    needed = "; too few runs to plan from" if decision.unplanned else ""
    if decision.needed is not None and more:
        needed = f"; about {_round_up(decision.needed):,} would show a factor of 1.25 with 90 % chance"
    if not decision.interval.low <= 1 <= decision.interval.high:
        return f"Too few runs for so many comparisons{about} ({ratio}{needed})"
    return f"No difference beyond noise{about} ({ratio}{needed})"


def _round_up(count: int) -> int:
    """Return a number with two figures that is not below."""
    step = int(10 ** max(0, len(str(count)) - 2))
    return -(-count // step) * step


def cells_with(comparison: Comparison, quantity: str, verdict: Verdict) -> list[Cell]:
    """Return the methods with one verdict in a quantity, in their order."""
    return [cell for cell in comparison.cells if comparison.verdict(cell, quantity) is verdict]


def paired_runs(comparison: Comparison, cell: Cell, quantity: str) -> str:
    """Return how many paired runs a decision rests on, and whether they are too few to do without a law."""
    decision = comparison.decision(cell, quantity)
    if decision.interval is None:
        return "no paired run"
    return f"{plural(decision.interval.count, 'paired run')}{TAKEN if decision.assumes_normal else ''}"


def begin_with(names: Sequence[str], noun: str = "method") -> str:
    """Return names as the first words of a sentence: 'The method gd', so that it has a capital letter."""
    if not names[0][:1].islower():
        return join_names(names)
    return f"The {noun if len(names) == 1 else f'{noun}s'} {join_names(names)}"


def reference_name(comparison: Comparison, cells: Sequence[Cell]) -> str:
    """Return what methods are compared with: 'gd', or 'gd at the same size' of several in a sweep."""
    found = dict.fromkeys(map(comparison.reference_for, cells))
    sweep = comparison.sweep
    place = sweep.place(comparison.reference) if sweep else None
    if len(found) == 1 or sweep is None or place is None:
        return comparison.name(next(iter(found), comparison.reference))
    return f"{place[0]} at the same {sweep.parameter}"


def typical_note(comparison: Comparison) -> str:
    """Return what differences are about, and what those of few runs assume; nothing where there is none."""
    found = [each for each in comparison.decisions.values() if each.differs]
    sweep = comparison.sweep
    led = [each.runs for each in sweep.leads] if sweep else []
    if not found and not led:
        return ""
    few = any(each.assumes_normal for each in found) or min(led, default=CHECKED_PAIRS) < CHECKED_PAIRS
    normal = (
        " Differences that fewer than six pairs show assume that runs vary like normal noise; with six or "
        "more that is checked."
    )
    return f" Verdicts are about the typical run, not the mean over runs.{normal if few else ''}"


def rows_of(comparison: Comparison, quantity: str) -> list[Row]:
    """Return the rows of one quantity, in the order of the methods."""
    found = (comparison.row(cell, quantity) for cell in comparison.cells)
    return [row for row in found if row is not None]


def rows_ahead(comparison: Comparison, quantity: str) -> list[Row]:
    """Return the rows that are better than the reference."""
    rows = rows_of(comparison, quantity)
    return [row for row in rows if comparison.verdict(row.cell, quantity) is Verdict.BETTER]


def estimate_of(row: Row) -> float:
    """Return what to be first in: every quantity that verdicts rank is better when lower."""
    return row.interval.estimate


def choose_measure(comparison: Comparison) -> Measure:
    """Return what to compare by: counted calls, or time where the reference or all others have no count."""
    counted = [cell for cell in comparison.measured if comparison.row(cell, "cost_to_target")]
    if comparison.reference in counted and len(counted) > min(1, len(comparison.measured) - 1):
        unit = comparison.cost_unit
        return Measure("cost_to_target", "with", f"fewer {unit}", f"more {unit}", unit)
    time = comparison.time
    return Measure(comparison.clocked("seconds_to_target"), "in", f"less {time}", f"more {time}", time)


def reached(comparison: Comparison, cell: Cell) -> tuple[int, int]:
    """Return (runs that met the target, runs that count); a method without a number had none that did."""
    row = comparison.row(cell, "seconds_to_target")
    return row.reached if row and row.reached else (0, comparison.runs(cell)[1])


def always_arrives(comparison: Comparison, cell: Cell) -> bool:
    """Return whether all runs of a method met the target."""
    there, runs = reached(comparison, cell)
    return there == runs


def arrivals_text(comparison: Comparison, first: Iterable[Cell] = (), *, alone: bool = False) -> str:
    """Return 'gd in 10 of 10 runs and sgd in 1 of 10 runs (9 did not finish)', all methods that ran.

    Those that the sentence is about come `first`, `alone` if the others are not meant.
    """
    started = _started(comparison)
    named = [cell for cell in first if cell in started]
    shown = named if alone else [*named, *(cell for cell in started if cell not in named)]
    return join_names([f"{comparison.name(cell)} in {_runs_there(comparison, cell)}" for cell in shown])


def arrives_mostly(comparison: Comparison, cell: Cell, measure: Measure) -> bool:
    """Return whether more than half of a method's runs met the target, so that it has a median."""
    row = comparison.row(cell, measure.quantity)
    return row is not None and _is_reached(row)


def _is_reached(row: Row) -> bool:
    return math.isfinite(row.interval.estimate)


def observed_text(comparison: Comparison, measure: Measure, cells: Iterable[Cell]) -> str:
    """Return what the methods that mostly arrive needed to the target."""
    there = [row for cell in cells if (row := comparison.row(cell, measure.quantity)) if _is_reached(row)]
    rows, more = there, len(there) - FEW_NAMES
    if more > 0:  # the first, which is the reference if it arrives, and the lowest of the others
        rows = [there[0], *sorted(there[1:], key=estimate_of)[: FEW_NAMES - 1]]
    names = begin_with([comparison.name(row.cell) for row in rows])
    size, unit = (1.0, measure.noun)
    if is_time(measure.quantity):
        size, unit = comparison.unit(measure.quantity)
    values = join_names([figures(row.interval.estimate / size) for row in rows])
    verb = "reaches" if len(rows) == 1 else "reach"
    runs = plural(max((row.interval.count for row in rows), default=0), "run")
    others = f"; {plural(more, 'other method')} too" if more > 0 else ""
    return f"{names} {verb} {target_text(comparison)} {measure.preposition} {values} {unit} ({runs}{others})"


def missing_sentences(comparison: Comparison) -> Iterator[str]:
    """Yield who never reaches the target, and who only at times, with the runs that did not finish."""
    never, at_times = [], []
    for cell in _started(comparison):
        if reached(comparison, cell)[0] == 0 and not comparison.runs(cell)[0]:
            never.append(comparison.name(cell))
        elif not always_arrives(comparison, cell) or comparison.runs(cell)[0]:
            at_times.append(f"{comparison.name(cell)} in {_runs_there(comparison, cell)}")
    if never:
        yield f"Within the budget, the target is never reached by {join_names(never)}"
    if at_times:
        yield f"{'It' if never else 'The target'} is reached by {join_names(at_times)}"


def _started(comparison: Comparison) -> list[Cell]:
    return [cell for cell in comparison.cells if comparison.runs(cell)[1]]


def _runs_there(comparison: Comparison, cell: Cell) -> str:
    """Return '3 of 10 runs', with how many of them diverged, or did not finish for several reasons."""
    (there, runs), (unfinished, _) = reached(comparison, cell), comparison.runs(cell)
    diverged = comparison.tallies[cell].diverged == unfinished
    failed = f" ({unfinished} {'diverged' if diverged else 'did not finish'})" if unfinished else ""
    return f"{there} of {plural(runs, 'run')}{failed}"


def fault_names(fault: Fault) -> tuple[str, str]:
    """Return the methods and the problems that a fault is about."""
    methods = dict.fromkeys(cell.method for cell in fault.cells)
    problems = dict.fromkeys(cell.problem for cell in fault.cells)
    return join_names(list(methods)), join_names(list(problems))


def fault_place(fault: Fault) -> str:
    """Return where it was: 'gd and sgd on least-squares (numpy)'."""
    methods, problems = fault_names(fault)
    return f"{methods} on {problems} ({fault.cells[0].backend})"


def fault_sentence(fault: Fault) -> str:
    """Return what was observed: '3 of 10 trials diverged: …'."""
    count = len(fault.trials)
    verb = _VERBS.get(fault.status, fault.status.value)
    if fault.status is Status.SKIPPED:
        verb = "was skipped" if count == 1 else "were skipped"
    said = f"{count} of {plural(fault.total, 'trial')} {verb}"
    return f"{said}: {fault.reason}" if fault.reason else said


def fault_advice(fault: Fault) -> str:
    """Return what to try; a command stands in backticks. Of a skipped trial the reason says enough."""
    if fault.status is Status.SKIPPED and fault.first.outcome.ending is Ending.SECONDS:
        return "raise the budget's seconds (`benchfw time --limit`)"
    if fault.store.suffix == ".zip" and "replay" in _ADVICE.get(fault.status, ""):
        return ""  # a bundle is run again as a whole
    if fault.status is Status.OUT_OF_MEMORY and fault.first.outcome.device:
        return _NO_MEMORY_BESIDE_A_DEVICE
    if fault.status is not Status.DIVERGED or fault.first.trial.kind != "optimizer":
        return _ADVICE.get(fault.status, "").format(replay=_replay_of(fault))
    if fault.at_start:
        return "check the start and the data of the problem: no step was taken"
    step = fault.first.trial.method.params.get("step")
    shorter = "use a smaller step"
    if isinstance(step, int | float) and not isinstance(step, bool) and step > 0:
        shorter = f"use a step of {0.3 * step:.1g} or less (this was {step:g})"
    return f"{shorter}{_check_of(fault)}"


def _check_of(fault: Fault) -> str:
    """Return what tells a wrong gradient from a long step; it is for problems of plugins given by hand."""
    problem = fault.first.trial.problem
    if not fault.plugins or GIVEN in problem.sorted_text:
        return ""
    command = check_command(problem.use, fault.plugins)
    return f"; if no step helps, `{command}` compares the gradient with the value"


def _replay_of(fault: Fault) -> str:
    """Return what runs the first trial again; objects of a session are in that session alone."""
    number = fault.first.id
    if any(GIVEN in spec.sorted_text for spec in (fault.first.trial.problem, fault.first.trial.method)):
        return f"in the session that ran it, `result.trial({number})`"
    return f"`{replay_command(number, fault.plugins, fault.store)}`"


_SHARED = {
    "trial": "",
    "worker": "trials shared worker processes (isolation by worker): a cache that one fills serves the next",
    "none": "trials shared one process (--jobs 0): what one leaves behind, the next finds",
}


def caveat_sentences(summary: Summary) -> list[str]:
    """Return what a reader must know to believe the numbers: of the run, then of its methods and problems."""
    found = [f"this run was not measured here: it was imported from {summary.imported}"] * bool(
        summary.imported
    )
    found += [summary.busy] if summary.busy else []
    if summary.jobs > 1:
        found.append(
            f"trials ran {summary.jobs} at a time (--jobs {summary.jobs}) and shared caches and memory: "
            "times, and CPU seconds of methods that wait for memory, may be longer than if each ran alone; "
            "use --jobs 1 for times that you publish"
        )
    found += [
        f"{cell} is not reproducible from its seed: {difference}"
        for cell, difference in summary.replays.different.items()
    ]
    found += [
        f"{each.problem}: the best objective known is where {join_names(list(map(each.name, each.falling)))} "
        f"ended while it was still {'rising' if OBJECTIVE in each.gains else 'falling'}; the true gaps are "
        "larger"
        for each in summary.comparisons
        if each.falling
    ]
    found += [
        f"{join_names(each.methods)} on {join_names(each.problems)}{_in_some(each)}: {each.text}"
        for each in summary.caveats
    ]
    shared = "" if summary.imported else _SHARED[summary.isolation]
    return [*found, shared] if shared else found


def _in_some(caveat: Caveat) -> str:
    """Return in how many trials a caveat is said, unless it is in all."""
    return f" (in {caveat.trials} of {caveat.total} trials)" if caveat.trials < caveat.total else ""


def replay_sentence(replays: Replays) -> str:
    """Return how many trials ran a second time and came out the same; nothing where none did."""
    if not replays.count:
        return ""
    ran = f"{plural(replays.count, 'trial')} ran a second time, in another process"
    return f"{ran}; {'all' if replays.same == replays.count else replays.same} gave the same records"
