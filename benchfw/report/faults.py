"""What did not go well, put together by cause, with what to try."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchfw.records import CAVEAT, Result, Status, Trial

_ADVICE = {
    Status.TIMEOUT: "run again with --retry-failed and a larger --timeout, or lower the suite's budget",
    Status.OUT_OF_MEMORY: "run again with --retry-failed and more --memory, or take a smaller problem",
    Status.CRASHED: "`benchfw replay {id}` runs it alone",
    Status.FAILED: "`benchfw replay {id}` runs it alone and shows the traceback",
    Status.SKIPPED: "`benchfw env` says what this machine has",
}


@dataclass(frozen=True)
class Fault:
    """Trials of one method on one problem that ended alike and not well."""

    problem: str
    method: str
    backend: str
    status: Status
    reason: str
    trials: tuple[int, ...]
    total: int
    advice: str

    @property
    def sentence(self) -> str:
        """Return what was observed: '3 of 10 trials diverged: …'."""
        verbs = {
            Status.TIMEOUT: "ran out of time",
            Status.OUT_OF_MEMORY: "ran out of memory",
            Status.SKIPPED: "was skipped" if len(self.trials) == 1 else "were skipped",
        }
        noun = "trial" if self.total == 1 else "trials"
        said = f"{len(self.trials)} of {self.total} {noun} {verbs.get(self.status, self.status.value)}"
        return f"{said}: {self.reason}" if self.reason else said


def find_faults(results: Sequence[Result]) -> tuple[Fault, ...]:
    """Return the faults in order of first appearance; trials of one method with one reason are one fault."""
    totals: dict[tuple[str, str, str], int] = {}
    groups: dict[tuple[tuple[str, str, str], Status, str], list[Result]] = {}
    for result in results:
        trial, outcome = result.trial, result.outcome
        place = (trial.problem.label, trial.method.label, trial.backend)
        totals[place] = totals.get(place, 0) + 1
        if outcome.status not in {Status.DONE, Status.REACHED}:
            reason = outcome.reason.partition(CAVEAT)[0]
            groups.setdefault((place, outcome.status, reason), []).append(result)
    return tuple(
        Fault(
            *place,
            status,
            reason,
            tuple(result.id for result in group),
            totals[place],
            _advice(status, group[0]),
        )
        for (place, status, reason), group in groups.items()
    )


def _advice(status: Status, result: Result) -> str:
    if status is Status.DIVERGED:
        return _smaller_step(result.trial)
    return _ADVICE.get(status, "").format(id=result.id)


def _smaller_step(trial: Trial) -> str:
    step = trial.method.params.get("step")
    if isinstance(step, int | float) and not isinstance(step, bool) and step > 0:
        return f"take a step of {0.3 * step:.1g} or lower (this was {step:g})"
    return "take a smaller step"
