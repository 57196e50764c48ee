"""What did not go well, put together by cause, with what to try."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchfw.records import CAVEAT, Result, Status, Trial
from benchfw.summary.model import listed

_ADVICE = {
    Status.TIMEOUT: "raise --timeout, or lower the budget in the suite",
    Status.OUT_OF_MEMORY: "raise --memory, or take a smaller problem",
    Status.CRASHED: "`benchfw replay {id}` runs it alone",
    Status.FAILED: "`benchfw replay {id}` runs it alone and shows the traceback",
    Status.SKIPPED: "`benchfw env` says what this machine has",
}


@dataclass(frozen=True)
class Fault:
    """Trials that ended alike and not well: of one method on one problem, or all that were skipped alike."""

    problem: str
    method: str
    backend: str
    status: Status
    reason: str
    trials: tuple[int, ...]
    total: int
    advice: str
    places: int = 1

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
    """Return the faults in order of first appearance; trials with one reason are one fault.

    Those of one method on one problem, that is: but what a missing backend skips is told once for all.
    """
    totals = Counter(map(_place, results))
    groups: dict[tuple[tuple[str, str, str], Status, str], list[Result]] = {}
    for result in results:
        status = result.outcome.status
        if status not in {Status.DONE, Status.REACHED}:
            place = ("", "", result.trial.backend) if status is Status.SKIPPED else _place(result)
            reason = result.outcome.reason.partition(CAVEAT)[0]
            groups.setdefault((place, status, reason), []).append(result)
    return tuple(_fault(status, reason, group, totals) for (_, status, reason), group in groups.items())


def _place(result: Result) -> tuple[str, str, str]:
    trial = result.trial
    return trial.problem.label, trial.method.label, trial.backend


def _fault(
    status: Status, reason: str, group: Sequence[Result], totals: Mapping[tuple[str, str, str], int]
) -> Fault:
    places = list(dict.fromkeys(map(_place, group)))
    problems, methods, backends = (list(dict.fromkeys(names)) for names in zip(*places, strict=True))
    return Fault(
        listed(problems),
        listed(methods),
        backends[0],
        status,
        reason,
        tuple(result.id for result in group),
        sum(totals[place] for place in places),
        _advice(status, group[0]),
        len(places),
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
