"""What happens between two answers of a method: seconds, and on a GPU launches, copies and gaps.

`python suites/tracked/steps.py METHOD SUITE` takes the first trial of the method with that label, makes a few
steps in this process and prints what one of them does: `steps.py dsg kernelmachines/figure2 --backend cupy
--after 300`. On a GPU, PyTorch's profiler counts. Nothing is stored.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple

from _timing import refusals
from threadpoolctl import threadpool_limits

from benchfw.api.planning import plan_suites
from benchfw.backends import get_backend
from benchfw.errors import BenchfwError, nearest
from benchfw.measure.files import TrialFiles
from benchfw.measure.seeding import data_seed, method_seed, seed_global_generators
from benchfw.measure.trial import prepare_method
from benchfw.provenance import Changes
from benchfw.records import Trial
from benchfw.registry import Registry
from benchfw.search import setting_at, settle, spaces_in

KINDS = {"kernel": "kernel", "gpu_memcpy": "copy", "gpu_memset": "fill"}  # categories of a trace
ON_DEVICE = "DtoD"  # in the name of a copy that does not leave the device
MOST_NAMES = 12  # kernels that are listed
STEPS = 10


class DeviceEvent(NamedTuple):
    """A kernel, a copy to or from the host, or a fill; a copy within the device counts as a kernel."""

    kind: str
    name: str
    start: float  # seconds, on the device's clock
    seconds: float


class Gap(NamedTuple):
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
    events: Sequence[DeviceEvent] | None = None

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
    def gaps(self) -> list[Gap]:
        """The pauses between stretches of work, the longest first."""
        pairs = pairwise(_stretches(self.events or ()))
        return sorted((Gap(later[0] - end, last) for (_, end, last), later in pairs), reverse=True)

    @property
    def by_name(self) -> dict[str, tuple[float, float]]:
        """Calls and seconds a step of each kernel, copy and fill, the longest first."""
        totals: dict[str, tuple[float, float]] = {}
        for event in self.events or ():
            calls, seconds = totals.get(event.name, (0.0, 0.0))
            totals[event.name] = calls + 1 / self.count, seconds + event.seconds / self.count
        return dict(sorted(totals.items(), key=lambda item: -item[1][1]))


def measure_steps(trial: Trial, registry: Registry, before: int, count: int) -> Steps:
    """Return what `count` steps of an optimizer take, after `before` others.

    On a device, where tracing takes time, the same steps are made again to be traced, from the same seeds.
    """
    backend = get_backend(trial.backend)
    with TrialFiles():
        problem, answers = _go_to(before, trial, registry)
        backend.synchronize()
        wall, cpu, cost = perf_counter(), process_time(), float(problem.cost)
        _take(answers, count, trial, since=before)
        used = process_time() - cpu  # before a device is waited for
        backend.synchronize()
        totals = perf_counter() - wall, used, float(problem.cost) - cost
    events = None
    if backend.on_device:
        del problem, answers  # a device may not hold two
        with TrialFiles():
            _, answers = _go_to(before, trial, registry)
            backend.synchronize()
            events = trace(lambda: (_take(answers, count, trial, since=before), backend.synchronize()))
    return Steps(count, *(total / count for total in totals), events)


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


def trace(call: Callable[[], object]) -> list[DeviceEvent]:
    """Make a call, which waits for the GPU before it returns; return what the GPU did, in order."""
    from torch import profiler

    with profiler.profile(activities=[profiler.ProfilerActivity.CUDA], acc_events=True) as profile:
        call()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        profile.export_chrome_trace(str(path))
        return read_trace(json.loads(path.read_text(encoding="utf-8"))["traceEvents"])


def read_trace(entries: list[dict[str, Any]]) -> list[DeviceEvent]:
    """Return the events of a device from a trace in Chrome's format, whose times are microseconds."""
    events = []
    for entry in entries:
        kind, name = KINDS.get(entry.get("cat", "")), str(entry.get("name"))
        if kind is not None:
            kind = "kernel" if kind == "copy" and ON_DEVICE in name else kind
            events.append(DeviceEvent(kind, name, entry["ts"] / 1e6, entry["dur"] / 1e6))
    return sorted(events, key=lambda event: event.start)


def _stretches(events: Sequence[DeviceEvent]) -> list[tuple[float, float, str]]:
    """Return the stretches of time in which some event lasted: start, end, and the event that ended last."""
    stretches: list[tuple[float, float, str]] = []
    for event in events:
        end = event.start + event.seconds
        if stretches and event.start <= stretches[-1][1]:
            first, last, name = stretches[-1]
            stretches[-1] = (first, end, event.name) if end > last else (first, last, name)
        else:
            stretches.append((event.start, end, event.name))
    return stretches


def find_trial(label: str, name: str, changes: Changes) -> tuple[Registry, Trial]:
    """Return the first trial of the method with this label in a suite, and the registry that has it."""
    labels = set()
    for planned in plan_suites(name, (), changes):
        for trial in planned.trials:
            labels.add(trial.method.label)
            if trial.method.label == label:
                middle = setting_at(spaces_in(trial.method.params), 0.5)  # of what would be tuned
                return planned.registry, replace(trial, method=settle(trial.method, middle))
    raise BenchfwError(f"'{label}' is not the label of a method in {name}{nearest(label, labels)}")


def describe(steps: Steps) -> Iterator[str]:
    """Yield the lines that are printed."""
    wall, cpu = 1e6 * steps.seconds, 1e6 * steps.cpu_seconds
    yield f"a step: {wall:,.0f} µs, {cpu:,.0f} µs of CPU, cost {steps.cost:g}"
    if steps.events is None:
        return
    share, gap = steps.device_seconds / steps.seconds, next(iter(steps.gaps), Gap(0.0, "nothing"))
    yield f"GPU at work: {1e6 * steps.device_seconds:,.0f} µs, {share:.0%} of the step"
    yield f"{steps.launches:g} launches, {steps.copies:g} copies to or from the host"
    yield f"longest gap: {1e6 * gap.seconds:,.0f} µs, after {gap.after}"
    for name, (calls, seconds) in list(steps.by_name.items())[:MOST_NAMES]:
        yield f"{calls:8g} calls {1e6 * seconds:10,.0f} µs  {name[:80]}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("method", help="its label, as reports show it")
    parser.add_argument("suite")
    parser.add_argument("--backend", action="append", default=[])
    parser.add_argument("--after", type=int, default=5, help="steps before those that are shown")
    arguments = parser.parse_args()
    with refusals(), threadpool_limits(1):  # as in a trial
        changes = Changes(backends=tuple(arguments.backend))
        registry, trial = find_trial(arguments.method, arguments.suite, changes)
        with registry.activate():
            measured = measure_steps(trial, registry, arguments.after, STEPS)
    print(f"{trial}: {STEPS} steps, after {arguments.after} others")
    for line in describe(measured):
        print(f"  {line}")
