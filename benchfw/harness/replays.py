"""Some trials run a second time, elsewhere: what a method's seed decides must come out the same.

Which trials is decided by their keys, so that the same command always asks for the same ones.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator, Sequence

from benchfw.backends import is_on_device
from benchfw.harness.events import Executor, Finished
from benchfw.records import Ending, Outcome, Record, Status, Trial

SHARE = 20  # one trial of so many is replayed, and at least one of every method
MEASURED = frozenset({Status.DONE, Status.REACHED, Status.DIVERGED})
DEVICE_ROUNDING = 1e-6  # relative: a device may add in another order

Look = tuple[str, str, int]


def choose_replays(trials: Iterable[Trial]) -> list[int]:
    """Return which trials to replay; a kernel's records are times, which never repeat."""
    drawn: set[int] = set()
    first: dict[tuple[str, str, str], tuple[str, int]] = {}
    for place, trial in enumerate(trials):
        if trial.kind == "kernel":
            continue
        method, this = (trial.kind, trial.method.label, trial.backend), (trial.key, place)
        first[method] = min(first.get(method, this), this)
        if int(trial.key, 16) % SHARE == 0:
            drawn.add(place)
    return sorted(drawn | {place for _, place in first.values()})


def replay(
    trials: Sequence[Trial], find_outcome: Callable[[Trial], Outcome], make_executor: Callable[[], Executor]
) -> Iterator[tuple[Trial, str]]:
    """Run trials again; yield each that ended, and what differed: nothing if all is the same."""
    with contextlib.closing(make_executor()) as executor:
        for event in executor.run(trials):
            if isinstance(event, Finished) and event.outcome.status is not Status.TIMEOUT:
                tolerance = DEVICE_ROUNDING if is_on_device(event.trial.backend) else 0.0
                first = find_outcome(event.trial)
                yield event.trial, find_difference(first, event.outcome, tolerance)


def find_difference(first: Outcome, second: Outcome, tolerance: float = 0.0) -> str:
    """Return what differs between two runs of a trial, on the looks that both have; nothing if all agree.

    Seconds differ always, and where they end a trial, so do its last look and its number of looks.
    """
    mine, theirs = _by_look(first.records), _by_look(second.records)
    for look, record in mine.items():
        other = theirs.get(look)
        if other is not None and not _agree(record, other, tolerance):
            return (
                f"{record.metric} at iteration {record.iteration} was {record.value:.9g} at cost "
                f"{record.cost:g}, and then {other.value:.9g} at cost {other.cost:g}"
            )
    if Ending.SECONDS not in {first.ending, second.ending} and (
        first.status is not second.status or (tolerance == 0.0 and mine.keys() != theirs.keys())
    ):
        return f"it ended as {_end(first)}, and then as {_end(second)}"
    return ""


def count_common(first: Outcome, second: Outcome) -> int:
    """Return how many looks two runs of a trial have in common, which `find_difference` compares."""
    return len(_by_look(first.records).keys() & _by_look(second.records).keys())


def _end(outcome: Outcome) -> str:
    last = max((record.iteration for record in outcome.records), default=0)
    return f"{outcome.status} at iteration {last}"


def _by_look(records: Sequence[Record]) -> dict[Look, Record]:
    return {(record.role, record.metric, record.iteration): record for record in records}


def _agree(one: Record, other: Record, tolerance: float) -> bool:
    pairs = ((one.value, other.value), (one.cost, other.cost))
    return all(
        a == b or (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=tolerance) for a, b in pairs
    )
