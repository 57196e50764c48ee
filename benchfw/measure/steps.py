"""What happens between two answers of a method: seconds, and on a device launches, copies and gaps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from time import perf_counter, process_time
from typing import Any

from benchfw.backends import get_backend
from benchfw.backends.device_events import DeviceEvent
from benchfw.errors import BenchfwError
from benchfw.measure.files import TrialFiles
from benchfw.measure.seeding import data_seed, method_seed, seed_global_generators
from benchfw.measure.trial import prepare_method
from benchfw.records import Trial
from benchfw.registry import Registry


@dataclass(frozen=True)
class Gap:
    """Seconds in which the device waited for the host, and the work before them."""

    seconds: float
    after: str


@dataclass(frozen=True)
class Steps:
    """Means over the steps that were looked at; events are those of all of them, None on the host."""

    count: int
    seconds: float
    cpu_seconds: float
    cost: float
    events: tuple[DeviceEvent, ...] | None = None

    @property
    def launches(self) -> float:
        """Kernels and fills a step."""
        return sum(event.kind != "copy" for event in self.events or ()) / self.count

    @property
    def copies(self) -> float:
        """Copies to or from the host a step."""
        return sum(event.kind == "copy" for event in self.events or ()) / self.count

    @property
    def device_seconds(self) -> float:
        """Seconds a step in which the device worked; where two streams work at once they count once."""
        return sum(end - start for start, end, _ in _stretches(self.events or ())) / self.count

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """The pauses between stretches of work, the longest first."""
        stretches = _stretches(self.events or ())
        found = [Gap(later[0] - end, last) for (_, end, last), later in pairwise(stretches) if later[0] > end]
        return tuple(sorted(found, key=lambda gap: -gap.seconds))

    @property
    def by_name(self) -> dict[str, tuple[float, float]]:
        """Calls and seconds a step of each kernel, copy and fill, the longest first."""
        found: dict[str, tuple[float, float]] = {}
        for event in self.events or ():
            calls, seconds = found.get(event.name, (0.0, 0.0))
            found[event.name] = calls + 1 / self.count, seconds + event.seconds / self.count
        return dict(sorted(found.items(), key=lambda item: -item[1][1]))


def measure_steps(trial: Trial, registry: Registry, before: int, count: int) -> Steps:
    """Return what `count` steps of an optimizer take, after `before` others.

    On a device, where tracing takes time, the same steps are made again to be traced, from the same seeds.
    """
    with TrialFiles():
        times = _time(before, count, trial, registry)
    events = None
    if get_backend(trial.backend).on_device:
        with TrialFiles():
            events = _trace(before, count, trial, registry)
    seconds, cpu_seconds, cost = (each / count for each in times)
    return Steps(count, seconds, cpu_seconds, cost, events)


def _time(before: int, count: int, trial: Trial, registry: Registry) -> tuple[float, float, float]:
    """Make the steps; return their seconds, CPU seconds before a device is waited for, and cost."""
    backend, (problem, answers) = get_backend(trial.backend), _go_to(before, trial, registry)
    backend.synchronize()
    wall, cpu, cost = perf_counter(), process_time(), float(problem.cost)
    _take(answers, count, trial, since=before)
    used = process_time() - cpu
    backend.synchronize()
    return perf_counter() - wall, used, float(problem.cost) - cost


def _trace(before: int, count: int, trial: Trial, registry: Registry) -> tuple[DeviceEvent, ...] | None:
    """Make the steps; return what the device did meanwhile."""
    backend, (_, answers) = get_backend(trial.backend), _go_to(before, trial, registry)
    backend.synchronize()

    def go_on() -> None:
        _take(answers, count, trial, since=before)
        backend.synchronize()

    return backend.events_during(go_on)


def _go_to(before: int, trial: Trial, registry: Registry) -> tuple[Any, Iterator[Any]]:
    """Start the trial and make `before` steps; return its problem and the answers that come next."""
    backend, drawn_from = get_backend(trial.backend), data_seed(trial)
    seed = method_seed(trial, drawn_from)
    seed_global_generators(seed)
    problem = registry.build("problem", trial.problem.table, backend, backend.rng(drawn_from))
    method = registry.build(trial.kind, trial.method.table)
    if not callable(getattr(method, "run", None)):
        raise BenchfwError(f"{trial.method.label} has no steps: it does not yield answers one after another")
    answers = iter(prepare_method(method, problem, "run").method.run(problem, backend.rng(seed)))
    _take(answers, before + 1, trial, since=-1)  # the start is an answer, too
    return problem, answers


def _take(answers: Iterator[Any], count: int, trial: Trial, since: int) -> None:
    """Take so many answers, the first of which is the one of step `since` + 1."""
    taken = sum(1 for _ in islice(answers, count))
    if taken < count:
        last = max(since + taken, 0)
        raise BenchfwError(f"{trial.method.label} ended by itself after step {last}; ask for fewer")


def _stretches(events: Sequence[DeviceEvent]) -> list[tuple[float, float, str]]:
    """Return the stretches of time in which some event lasted: start, end, and the event that ended last."""
    found: list[tuple[float, float, str]] = []
    for event in events:
        end = event.start + event.seconds
        if found and event.start <= found[-1][1]:
            first, last, name = found[-1]
            found[-1] = (first, end, event.name) if end > last else (first, last, name)
        else:
            found.append((event.start, end, event.name))
    return found
