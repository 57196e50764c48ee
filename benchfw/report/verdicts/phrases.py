"""The phrases that verdicts are made of, and the sentences on faults, with what to try, and on caveats."""

from __future__ import annotations

import math
from collections.abc import Sequence

from benchfw.records import Ending, Status
from benchfw.report.text import figures, join_names, plural, ratio_text
from benchfw.summary.model import Comparison, Fault, Replays, Row, Summary
from benchfw.summary.quantities import WHEN_DONE

_ADVICE = {
    Status.TIMEOUT: "raise --timeout, or lower the budget in the suite",
    Status.OUT_OF_MEMORY: "raise --memory, or use a smaller problem",
    Status.CRASHED: "`benchfw replay {id}` runs it alone",
    Status.FAILED: "`benchfw replay {id}` runs it alone and shows the traceback",
    Status.SKIPPED: "`benchfw env` says what this machine has",
}
_VERBS = {Status.TIMEOUT: "ran out of time", Status.OUT_OF_MEMORY: "ran out of memory"}


def target_text(comparison: Comparison) -> str:
    """Return the common target: 'gap 1.2e-05', and where it comes from if the suite names none."""
    named = " and ".join(f"{target.metric} {target.value:g}" for target in comparison.targets)
    automatic = any(target.automatic for target in comparison.targets)
    return f"{named} (where {comparison.name(comparison.reference)} ends)" if automatic else named


def comparative(row: Row | None, less: str, more: str) -> str | None:
    """Return '2.3 [2.1, 2.6] times {less}' or '… {more}' for a row's ratio; None if it may be 1."""
    if row is None or row.ratio is None or not row.differs:
        return None
    if row.ratio.estimate == 0 and not 0 < row.ratio.high < math.inf:
        return None  # "infinitely less" cannot be printed as a number
    if row.ratio.estimate > 1:
        return f"{ratio_text(row.ratio)} times {more}"
    if row.ratio.estimate == 0:  # the reference mostly never got there: only the near end is known
        return f"at least {figures(1 / row.ratio.high, 2)} times {less}"
    return f"{ratio_text(row.ratio.inverted())} times {less}"


def rows_ahead(rows: Sequence[Row]) -> list[Row]:
    """Return the rows that are below the reference beyond noise, by a factor that is known."""
    return [row for row in rows if row.ratio and row.ratio.estimate < 1 and comparative(row, "", "")]


def no_difference_text(row: Row) -> str:
    """Return the words for a row that does not differ from the reference."""
    if row.ratio is None:
        return "No difference beyond noise"
    if row.ratio.count == 2:
        return "Two paired runs are too few to detect a difference"
    if not row.ratio.bounded:
        return f"Too few data to detect a difference ({paired_runs(row)})"
    return f"No difference beyond noise ({paired_runs(row)})"


def rows_of(comparison: Comparison, quantity: str) -> list[Row]:
    """Return the rows of one quantity, in the order of the methods."""
    found = (comparison.row(cell, quantity) for cell in comparison.cells)
    return [row for row in found if row is not None]


def when_done(comparison: Comparison) -> list[str]:
    """Return the quantities at the second when the reference was done, of its first two metrics."""
    names = [f"{metric}{WHEN_DONE}" for metric in comparison.metrics]
    return [name for name in names if comparison.row(comparison.reference, name)][:2]


def estimate_of(row: Row) -> float:
    """Return what to be first in: every quantity that verdicts rank is better when lower."""
    return row.interval.estimate


def paired_runs(row: Row) -> str:
    """Return how many paired runs a row's ratio rests on."""
    if row.ratio is None:
        return "no paired run"
    if row.ratio.count == 1:
        return "1 run" if row.ratio.bounded else "1 run, so no interval"
    return f"{row.ratio.count} paired runs"


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
    """Return what to try; a command stands in backticks."""
    if fault.status is Status.SKIPPED and fault.first.outcome.ending is Ending.SECONDS:
        return "raise the budget's seconds (`benchfw time --limit`)"
    if fault.status is not Status.DIVERGED:
        return _ADVICE.get(fault.status, "").format(id=fault.first.id)
    step = fault.first.trial.method.params.get("step")
    if isinstance(step, int | float) and not isinstance(step, bool) and step > 0:
        return f"use a step of {0.3 * step:.1g} or less (this was {step:g})"
    return "use a smaller step"


_SHARED = {
    "trial": "",
    "worker": "trials shared worker processes (isolation by worker): a cache that one fills serves the next",
    "none": "trials shared one process (--jobs 0): what one leaves behind, the next finds",
}


def caveat_sentences(summary: Summary) -> list[str]:
    """Return what a reader must know to believe the numbers: of the run, then of its methods and problems."""
    found = [
        f"{cell} is not reproducible from its seed: {difference}"
        for cell, difference in summary.replays.different.items()
    ]
    found += [
        f"{join_names(each.methods)} on {join_names(each.problems)}: {each.text}" for each in summary.caveats
    ]
    shared = _SHARED[summary.isolation]
    return [*found, shared] if shared else found


def replay_sentence(replays: Replays) -> str:
    """Return how many trials ran a second time and came out the same; nothing where none did."""
    if not replays.count:
        return ""
    ran = f"{plural(replays.count, 'trial')} ran a second time, in another process"
    return f"{ran}; {'all' if replays.same == replays.count else replays.same} gave the same records"
