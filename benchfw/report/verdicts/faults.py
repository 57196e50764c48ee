"""The sentences on trials that did not end well, with what to try, and on what limits the others."""

from __future__ import annotations

from benchfw.records import Ending, Status
from benchfw.report.text import join_names, plural
from benchfw.summary.model import Caveat, Fault

_ADVICE = {
    Status.TIMEOUT: "raise --timeout, or lower the budget in the suite",
    Status.OUT_OF_MEMORY: "raise --memory, or use a smaller problem",
    Status.CRASHED: "`benchfw replay {id}` runs it alone",
    Status.FAILED: "`benchfw replay {id}` runs it alone and shows the traceback",
    Status.SKIPPED: "`benchfw env` says what this machine has",
}
_VERBS = {Status.TIMEOUT: "ran out of time", Status.OUT_OF_MEMORY: "ran out of memory"}


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


def caveat_sentence(caveat: Caveat) -> str:
    """Return who, where and what."""
    return f"{join_names(caveat.methods)} on {join_names(caveat.problems)}: {caveat.text}"
