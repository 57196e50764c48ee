"""How many runs of a method fail, and how many reach the target, in each of two runs of a suite."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from benchfw.records import Cell
from benchfw.summary.histories import History
from benchfw.summary.quantities import TO_TARGET, Sample

FAILED = "runs_failed"
"""The share of runs that raise, crash, diverge, or run out of time or memory."""

SHORT = "runs_short_of_target"
"""The share of runs that do not reach the target."""


class Share(NamedTuple):
    """How many runs ended well, of how many that were started."""

    well: int
    runs: int

    @property
    def badly(self) -> tuple[int, int]:
        """Return how many did not, and of how many."""
        return self.runs - self.well, self.runs


def share_well(group: Sequence[History], sample: Sample, quantity: str) -> Share:
    """Return how many runs ended well: for a quantity about the target those that reached it."""
    if quantity in (*TO_TARGET, SHORT):
        return Share(*sample.reached)
    started = [each for each in group if not each.skipped]
    return Share(sum(each.finished for each in started), len(started))


def bad_ends(groups: Sequence[Sequence[History]], samples: Sequence[Sample]) -> list[str]:
    """Return which of the two shares are worth a row: some run failed; some other run did not arrive."""
    failed = [{each.repetition for each in group if not (each.finished or each.skipped)} for group in groups]
    short = [{each for each, found in one.arrivals.items() if not found.reached} for one in samples]
    both = all(one.arrivals for one in samples)
    return [FAILED] * any(failed) + [SHORT] * (both and any(short) and short != failed)


def finish_alike(groups: Sequence[Sequence[History]], *, paired: bool) -> bool:
    """Whether the runs that finish are the same in both: else they need not be alike in what they measure."""
    started = [{each.repetition for each in group if not each.skipped} for group in groups]
    failed = [{each.repetition for each in group if not (each.finished or each.skipped)} for group in groups]
    shared = started[0] & started[1]
    return not any(failed) or (paired and failed[0] & shared == failed[1] & shared)


def share_sentence(
    cell: Cell, quantity: str, ended: Sequence[Share], groups: Sequence[Sequence[History]]
) -> str:
    """Return 'a on p (numpy) fails in 10 of 10 runs, 0 of 10 before', and why most of them did."""
    before, after = ended
    if quantity == SHORT:
        return (
            f"{cell} reaches the target in {after.well} of {after.runs} runs, "
            f"{before.well} of {before.runs} before"
        )
    failed, runs = after.badly
    worse = groups[int(failed * before.runs >= before.badly[0] * runs)]
    ends = Counter(
        f"{each.outcome.status}: {each.outcome.reason}"
        for each in worse
        if not (each.finished or each.skipped)
    )
    ((reason, _),) = ends.most_common(1)
    return f"{cell} fails in {failed} of {runs} runs, {before.badly[0]} of {before.runs} before ({reason})"
