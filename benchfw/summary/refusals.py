"""Why two runs of a method, or one of their quantities, are not compared."""

from __future__ import annotations

from collections.abc import Sequence

from benchfw.provenance import Environment
from benchfw.records import Cell, Ending, Trial
from benchfw.summary.histories import History
from benchfw.summary.model import CPU_TIMES
from benchfw.summary.quantities import TO_TARGET, Sample
from benchfw.summary.shares import SHORT, finish_alike

TIMES = frozenset(
    {
        *(*CPU_TIMES, *CPU_TIMES.values(), "prepare_seconds"),
        *("device_seconds_per_call", "copy_seconds_per_call"),
    }
)
GIBIBYTE = 2**30
ARGUMENTS = "argument_bytes"  # a fact of kernels


def unlike_machines(before: Environment, after: Environment, backend: str) -> str:
    """Return in what two machines differ that makes their times on a backend differ; nothing if alike."""
    old, new = (
        {
            "processor": each.machine.processor,
            "cores": each.machine.cores,
            "governor": each.machine.governor or None,
            # the system keeps a little more or less of it for itself from one start to the next
            "memory": round(each.machine.memory / GIBIBYTE),
            "threads": each.threads,
            "isolation": each.isolation,
            "clock": each.clock,
            "device": each.backends.get(backend, {}).get("device"),
        }
        for each in (before, after)
    )
    return ", ".join(f"{name} {old[name]} and {new[name]}" for name in old if old[name] != new[name])


def different_trials(old: Trial, new: Trial) -> str:
    """Return why two trials of one name are not about the same thing; nothing if they are."""
    if old.problem.table != new.problem.table:
        return f"the problem is not the same, {old.problem.table} and {new.problem.table}"
    if old.kind == "estimator" and old.at != new.at:
        return f"drawn at the {old.at} and at the {new.at}"
    return ""


def refuse_values(
    cell: Cell, groups: Sequence[Sequence[History]], samples: Sequence[Sample], *, paired: bool
) -> str:
    """Return why only the ends of two methods' runs are compared; nothing if their values are too."""
    for name, sample, group in zip("AB", samples, groups, strict=True):
        if not sample.values:
            ending = group[0].outcome
            return f"no value in {name} ({ending.status}: {ending.reason})"
    if cell.kind == "kernel":
        known = [each.outcome.facts for group in groups for each in group if ARGUMENTS in each.outcome.facts]
        sizes = sorted({each[ARGUMENTS] for each in known})
        if len(sizes) > 1:
            return f"the arguments are not the same, {' and '.join(f'{each:,.0f}' for each in sizes)} bytes"
    # a failed run of an optimizer is worse than all others; of these, what stopped it is in what is missing
    if cell.kind == "optimizer" or finish_alike(groups, paired=paired):
        return ""
    return "values of the runs that finish, since not the same ones finish in A and B"


def refuse_ends(quantity: str, samples: Sequence[Sample], *, never: bool, has_ratio: bool) -> str:
    """Return why the ends of a metric cannot be compared; nothing if they can."""
    old, new = (each.is_gain(quantity) for each in samples)
    if old != new:
        higher, lower = "AB" if old else "BA"
        return f"{quantity}, for which higher is better in {higher} and lower in {lower}"
    return f"{quantity}, since it has no ratio and some run has no end" if never and not has_ratio else ""


def refuse_quantity(
    cell: Cell,
    quantity: str,
    mine: Sequence[History],
    theirs: Sequence[History],
    unlike: str,
    *,
    never: bool,
) -> str:
    """Return why a quantity cannot be compared though both runs have it; nothing if it can.

    `never` says that some run has no finite value of it.
    """
    if unlike and quantity in TIMES:
        return f"times on {cell.backend} ({unlike})"
    if cell.kind != "optimizer":
        return ""
    limited = any(each.outcome.ending is Ending.SECONDS for each in (*mine, *theirs))
    if unlike and limited:
        return f"a budget of seconds ended it, on unlike machines ({unlike})"
    old, new = mine[0].trial, theirs[0].trial
    if (old.budget, old.target) == (new.budget, new.target):
        return ""
    if quantity in (*TO_TARGET, SHORT):
        # with a longer budget the others might have arrived
        return "arrivals, since some run did not arrive and budget or target differ" if never else ""
    return f"{quantity} at the end, since budget or target differ"
