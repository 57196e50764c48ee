"""Checks of what a trial reports, made in its own process and again in the parent.

An answer must be of the shape and kind of the start: another one would broadcast and get a number.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from benchfw.errors import BenchfwError, Untrue
from benchfw.records import Ending, Outcome, Record, Status, change

Number = bool | int | float | complex

LIMITS: Mapping[str, float] = dict.fromkeys(
    ("gap", "variance", "worst_variance", "mse", "rmse", "train_rmse", "test_rmse"), 0.0
)
"""What metrics of these names cannot fall below, by definition."""

ROUNDING = 1e-9  # of the metrics' size now: problems clip gaps at as much, and solve for F* to as much
START_ROUNDING = 1e-12  # of their size at the start, terms of which may cancel: 4,500 units in the last place
COARSE_ROUNDING = 1e-5  # of both, where the numbers may have been single precision
CLOCK_SLACK = 0.05  # seconds, and that share: the clocks of two processes are not read at the same time


def check_outcome(outcome: Outcome, wall_seconds: float, threads: int = 1) -> Outcome:
    """Return the outcome, or a failed one that says what cannot be true in it.

    Its records stay, but for those whose time or cost is NaN, which no store holds.

    `wall_seconds` is how long the trial took by the caller's clock; with a clock of the processor's time,
    `threads` of them pass at once.
    """
    fault = _find_fault(outcome, wall_seconds * threads)
    if fault is None:
        return outcome
    kept = tuple(each for each in outcome.records if not math.isnan(each.seconds + each.cost))
    return change(outcome, status=Status.FAILED, ending=Ending.UNTRUE, reason=fault, records=kept)


def _find_fault(outcome: Outcome, available: float) -> str | None:
    measured = [each for each in outcome.records if each.role != "bound"]
    fault = _find_wrong_number(measured)
    if fault is None and not outcome.status.faulty:  # of one that broke it may not be known how it was called
        fault = _find_repeated(measured) if outcome.from_scratch else _find_fall(measured)
    if fault is None:
        used = max((each.seconds for each in measured), default=0.0) + (outcome.prepare_seconds or 0.0)
        if used > available + CLOCK_SLACK * (1 + available):
            return f"the trial reports {used:.3g} seconds, and only {available:.3g} passed"
    if fault is None and not outcome.status.faulty:
        lower = [each for each in measured if each.role == "metric"]
        fault = find_beyond_limit(lower, LIMITS, COARSE_ROUNDING * (1 + size_of_first(measured)))
    return fault


def _find_wrong_number(records: Sequence[Record]) -> str | None:
    for each in records:
        if (
            type(each.value) is type(each.seconds) is type(each.cost) is float
            and 0 <= each.seconds < math.inf
            and 0 <= each.cost < math.inf
            and (each.cpu_seconds is None or 0 <= each.cpu_seconds < math.inf)
            and type(each.iteration) is int
            and each.iteration >= 0
        ):
            continue  # as almost always
        for name, value in (("seconds", each.seconds), ("cost", each.cost)):
            if not (isinstance(value, float | int) and math.isfinite(value) and value >= 0):
                return f"{name} of iteration {each.iteration} is {value}; it must be a finite number from 0"
        if each.cpu_seconds is not None and not 0 <= each.cpu_seconds < math.inf:
            return f"CPU seconds of iteration {each.iteration} are {each.cpu_seconds}; they count from 0"
        if isinstance(each.value, bool) or not isinstance(each.value, float | int):
            return f"{each.metric} of iteration {each.iteration} is {type(each.value).__name__}, not a number"
        if not isinstance(each.iteration, int) or each.iteration < 0:
            return f"an iteration of {each.metric} is numbered {each.iteration}"
    return None


def _find_fall(records: Sequence[Record]) -> str | None:
    """Return what falls from one record of a metric to the next, though it can only grow."""
    last: dict[str, Record] = {}
    for each in records:
        before = last.get(each.metric)
        if before is not None:
            if each.seconds < before.seconds or each.cost < before.cost:
                name = "seconds" if each.seconds < before.seconds else "cost"
                was, now = getattr(before, name), getattr(each, name)
                return f"{name} went down from {was:g} to {now:g} at iteration {each.iteration}"
            if each.iteration <= before.iteration:
                return f"iteration {each.iteration} of {each.metric} comes after {before.iteration}"
        last[each.metric] = each
    return None


def _find_repeated(records: Sequence[Record]) -> str | None:
    """Return what was recorded twice; calls from scratch come in any order and take what they take."""
    seen = Counter((each.metric, each.iteration) for each in records)
    for (metric, iteration), count in seen.items():
        if count > 1:
            return f"{metric} of effort {iteration} was recorded {count} times"
    return None


def size_of_first(records: Sequence[Record]) -> float:
    """Return the size of the largest metric of the first look: a gap is a difference of such numbers."""
    first = [abs(each.value) for each in records if each.iteration == records[0].iteration]
    return max((value for value in first if math.isfinite(value)), default=0.0)


def find_beyond_limit(records: Sequence[Record], limits: Mapping[str, float], slack: float) -> str | None:
    """Return a sentence on the first value that is better than its metric can be, by more than `slack`."""
    for each in records:
        limit = limits.get(each.metric)
        if limit is None:
            continue
        beyond = each.value - limit if each.role == "gain" else limit - each.value
        if beyond > slack:
            side = "above" if each.role == "gain" else "below"
            return (
                f"{each.metric} is {each.value:g} at iteration {each.iteration}, and it cannot be {side} "
                f"{limit:g}: the reference value is wrong, or the method changed the problem"
            )
    return None


def rounding_of(problem: Any, answer: Any, size: float, size_at_start: float) -> float:
    """Return how far metrics of this size may be off by rounding, on a problem that started at another."""
    if problem.backend.on_device or not is_double(answer):
        return COARSE_ROUNDING * (1 + size + size_at_start)
    return ROUNDING * (1 + size) + START_ROUNDING * size_at_start


@dataclass
class Rebuild:
    """Builds the trial's problem again from its seed; `seconds` is how long that took the first time.

    `shared` are the arrays that both problems have in common.
    """

    build: Callable[[], Any]
    seconds: float
    shared: Sequence[NDArray[Any]] = ()
    _originals: Sequence[NDArray[Any]] = ()

    def remember(self) -> None:
        """Copy the shared arrays, once the problem has filled those that it fills at its first use."""
        self._originals = [each.copy() for each in self.shared]

    def check_metrics(
        self, answer: Any, recorded: Mapping[str, float], slack: float, name: str = "the last answer"
    ) -> tuple[str, ...]:
        """Raise Untrue unless the metrics of an answer are those recorded, to within `slack`.

        A method can write into the problem that measures it, but not into this one: what both share is as it
        was remembered meanwhile, and stays so if the metrics differ. Return a caveat if this could not be
        checked.
        """
        later = self._put_back()
        try:
            again = self.build().metrics(answer)
        except Exception as fault:  # noqa: BLE001 - a problem that can be built once only
            reason = f"{type(fault).__name__}: {fault}"
            return (f"its metrics were not checked on a problem built again ({reason})",)
        for metric, value in recorded.items():
            other = float(again.get(metric, math.nan))
            if not abs(float(value) - other) <= slack + ROUNDING * abs(other):
                raise Untrue(
                    f"{metric} of {name} is {value:g}, and {other:g} on the same problem built again "
                    "from its seed: the method changed the problem, or a seed does not determine the problem"
                )
        for array, kept in later:
            array[...] = kept
        return ()

    def _put_back(self) -> list[tuple[NDArray[Any], NDArray[Any]]]:
        """Let the shared arrays be as remembered; return those that were not, with copies."""
        pairs = zip(self.shared, self._originals, strict=False)  # none, before anything was remembered
        changed = [pair for pair in pairs if pair[0].tobytes() != pair[1].tobytes()]
        later = [(array, array.copy()) for array, _ in changed]
        for array, original in changed:
            try:
                array[...] = original
            except ValueError as fault:  # it is read-only now
                raise Untrue(
                    "an array that the problem's code refers to was changed and cannot be put back "
                    f"({fault}): the method changed the problem"
                ) from None
        return later


def is_array(value: Any) -> bool:
    """Return whether a value is an array of any library, or a number."""
    return isinstance(value, Number) or (hasattr(value, "shape") and hasattr(value, "dtype"))


def is_double(value: Any) -> bool:
    """Return whether a value is known to be of double precision."""
    return isinstance(value, Number) or getattr(getattr(value, "dtype", None), "itemsize", 0) >= 8


def check_alike(start: Any, answer: Any, iteration: int) -> None:
    """Raise BenchfwError unless an answer has the structure, shapes and kinds of numbers of the start."""
    if type(start) is type(answer):  # almost always, and quick to see
        if type(start) in {int, float, bool, complex}:
            return
        shape = getattr(start, "shape", None)
        if shape is not None and shape == answer.shape and getattr(start, "dtype", None) == answer.dtype:
            return
    found = _find_difference(start, answer)
    if found is not None:
        mine, its = found
        raise BenchfwError(f"answer {iteration} {mine}, the start {its}; yield answers like the start")


def _find_difference(start: Any, answer: Any) -> tuple[str, str] | None:
    """Return what an answer and the start have where they differ, or None.

    Objects that are neither arrays nor containers of them are compared by class: a predictor may grow.
    """
    if start is None:
        return None
    if is_array(start) and is_array(answer):
        return _find_array_difference(start, answer)
    if type(start) is not type(answer):
        return f"is {_kind_name(answer)}", f"is {_kind_name(start)}"
    if not isinstance(start, Mapping | tuple | list):
        return None
    mine, its = (_parts(each) for each in (answer, start))
    if list(mine) != list(its):
        return f"has the parts {_names(mine)}", f"has {_names(its)}"
    pairs = [(its[key], mine[key]) for key in its]
    return next((found for pair in pairs if (found := _find_difference(*pair)) is not None), None)


def _parts(value: Any) -> Mapping[Any, Any]:
    return value if isinstance(value, Mapping) else dict(enumerate(value))


def _find_array_difference(start: Any, answer: Any) -> tuple[str, str] | None:
    shapes = [tuple(getattr(each, "shape", ())) for each in (answer, start)]
    if shapes[0] != shapes[1]:
        return f"has shape {shapes[0]}", f"has {shapes[1]}"
    # a Python number and a 0-d array of the backend are the same to metrics
    if shapes[0] and _library(start) != _library(answer):
        return f"is {_kind_name(answer)}", f"is {_kind_name(start)}"
    mine, its = _number_kind(answer), _number_kind(start)
    if mine == its or (mine, its) == ("real", "integer"):
        return None
    return f"has {mine} numbers", f"has {its} ones"


def _number_kind(value: Any) -> str:
    dtype = getattr(value, "dtype", None)
    kind = getattr(dtype, "kind", None)
    if dtype is None:  # a number of Python's: 0 and 0.0 are the same start
        return "complex" if isinstance(value, complex) else "real"
    if kind is None:  # a library without NumPy's kinds
        kind = "c" if "complex" in str(dtype) else "f" if "float" in str(dtype) else "i"
    return {"f": "real", "c": "complex", "i": "integer", "u": "integer", "b": "integer"}.get(kind, str(dtype))


def _library(value: Any) -> str:
    return type(value).__module__.partition(".")[0]


def _kind_name(value: Any) -> str:
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{_library(value)}'s {kind.__name__}"


def _names(value: Mapping[Any, Any]) -> str:
    return ", ".join(map(str, value))
