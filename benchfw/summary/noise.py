"""What the noise of a machine means for times: by what factor they may be too long, and when to say so."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import NamedTuple, TypeVar

from benchfw.provenance import Burst, Noise, Run
from benchfw.summary.model import CPU_TIMES
from benchfw.summary.quantities import BUSY, Sample

WALL_TIMES = frozenset(
    {
        *("seconds_to_target", "seconds_per_draw", "setup_seconds", "seconds_per_call"),
        *("copy_seconds_per_call", "variance_x_seconds", "mse_x_seconds", "prepare_seconds"),
    }
)
"""Quantities that other work on the machine makes longer."""

FEWEST_BURSTS = 2  # one of a few milliseconds says little
WAITING = 2.0
"""Times that are so many times the CPU seconds, beyond the slow-down of the machine, hold something else."""

SLICES = 0.05
"""Seconds that a process may lose to others in a run of a moment, however little it slows on average."""

T = TypeVar("T")
SETUP = "setup_seconds"  # what is left of a difference: part of its CPU seconds may be in other ones
CROWDED = 0.25  # cores more than there are, that a run and other processes ask for


def slowdown(noise: Noise, quiet: float | None = None) -> float:
    """Return how many times longer than at its fastest a loop of known work took, in the median burst.

    1 where the run was too short to tell. `quiet` is the time of a faster turn, where another run knows one.
    """
    if len(noise.bursts) < FEWEST_BURSTS:
        return 1.0
    return _typical(noise.bursts) / min(noise.quiet, quiet or noise.quiet)


def cpu_slowdown(noise: Noise, quiet: float) -> float:
    """Return the same in CPU seconds, which others' use of caches and memory makes longer too."""
    return max(1.0, median(each.cpu_seconds for each in noise.bursts) / quiet) if noise.bursts else 1.0


def has_quieter_cpu(noise: Noise) -> bool:
    """Return whether CPU seconds were slowed by a tenth less than times, so that they say more."""
    return slowdown(noise) > BUSY * cpu_slowdown(noise, noise.quiet)


class Slowdowns(NamedTuple):
    """By what factor the times of a run may be too long, its CPU seconds, and its times beside these.

    Where CPU seconds are known, times are the less sure of the two: the loop does not see a tenth more, and a
    run that is too short for it, or has trials beside each other, may take as long again.
    """

    time: float
    cpu: float
    beside_cpu: float


def slowdowns(run: Run, other: Run) -> Slowdowns:
    """Return them, relative to the fastest turn of the loop in either run where both had the same Python."""
    same = run.environment.python == other.environment.python
    quiet = min(run.noise.quiet, other.noise.quiet) if same else run.noise.quiet
    by = slowdown(run.noise, quiet)
    measured = len(run.noise.bursts) >= FEWEST_BURSTS and run.environment.jobs <= 1
    return Slowdowns(by, cpu_slowdown(run.noise, quiet), max(by, BUSY if measured else WAITING))


def allow_for_noise(sample: Sample, by: float, cpu_by: float) -> Sample:
    """Return a sample whose times may be too long by a factor: a busy machine slows some methods more.

    So the ratio of two times may be off by it in either direction. `cpu_by` is the same in CPU seconds: of
    trials on a device they say how much of a time was the host's, and are left out afterwards.
    """
    slowed = replace(_widen(sample, by, WALL_TIMES), slowdown=max(1.0, by))
    if sample.on_device:
        return _allow_for_host(sample, slowed, by, cpu_by)
    return _widen(slowed, cpu_by, CPU_TIMES.values())


def quiet_seconds(seconds: float, used: float | None, by: float, cpu_by: float) -> float:
    """Return the least time that would have passed on a quiet machine; `used` by the host of a device."""
    return seconds / by if used is None else max(seconds / by, seconds - used * (by - 1) / cpu_by)


def _widen(sample: Sample, by: float, times: Collection[str]) -> Sample:
    brackets = {
        quantity: {each: (low / by, high) for each, (low, high) in sample.find_brackets(quantity).items()}
        for quantity in sample.values
        if by > 1 and quantity in times
    }
    return replace(sample, brackets={**sample.brackets, **brackets})


def _allow_for_host(sample: Sample, slowed: Sample, by: float, cpu_by: float) -> Sample:
    """Return a sample on a device, whose times t with c CPU seconds are at least t - c (s - 1)/s_c.

    s is the slow-down in time, s_c in CPU seconds: on a quiet host the c seconds would be c/s_c and take as
    long, instead of s times as long, so that no launch would come earlier by more. In the seconds that are
    left the host has nothing to do but to wait, and its speed makes no difference.
    """
    brackets = dict(slowed.brackets)
    for quantity, used in CPU_TIMES.items():
        if by > 1 and quantity != SETUP and quantity in sample.values and used in sample.values:
            spent = sample.find_brackets(used)
            narrower = {
                each: (quiet_seconds(low, spent[each][0], by, cpu_by), high)
                for each, (low, high) in sample.find_brackets(quantity).items()
                if each in spent
            }
            brackets[quantity] = {**brackets[quantity], **narrower}
    values, within = _without_cpu(sample.values), _without_cpu(sample.within)
    return replace(slowed, values=values, within=within, brackets=_without_cpu(brackets))


def _without_cpu(found: Mapping[str, T]) -> dict[str, T]:
    return {quantity: each for quantity, each in found.items() if quantity not in CPU_TIMES.values()}


def waits(sample: Sample, by: float) -> bool:
    """Return whether a method's times are longer than its CPU seconds on this machine explain, in the median.

    It sleeps, reads, or works in other processes: its CPU seconds do not stand for its time.
    """
    times, used = (sample.values.get(f"{clock}_per_draw", {}) for clock in ("seconds", "cpu_seconds"))
    pairs = [(value, used.get(each)) for each, value in times.items()]
    pairs += [
        (seconds if abs(seconds - spent) > SLICES else spent, spent)
        for seconds, _, _, spent, *_ in sample.arrival_table.tolist()
    ]
    ratios = [seconds / spent for seconds, spent in pairs if spent and not math.isnan(spent)]
    return bool(ratios) and not 1 / WAITING <= median(ratios) <= WAITING * by


def shift(noise: Noise) -> float:
    """Return by what factor the loop became slower from the first half of a run to the second."""
    half = len(noise.bursts) // 2
    if half < FEWEST_BURSTS:
        return 1.0
    return _typical(noise.bursts[half:]) / _typical(noise.bursts[:half])


def describe_noise(run: Run, beside: Run | None = None) -> str:
    """Return a sentence on a machine that had other work to do during a run; nothing if it was quiet.

    `beside` is the run that it is compared with.
    """
    found = slowdowns(run, beside or run)
    signs = _signs(run, found.time, "" if beside is None else " in either run")
    if not signs or run.environment.clock == "cpu":
        return ""
    said = f"the machine was busy: {', and '.join(signs)}"
    if found.time <= 1:
        return f"{said}. Times may include that work; CPU seconds hardly do"
    by = found.time if beside is None or _on_device(run) else found.beside_cpu
    cpu = f", those of CPU seconds for {found.cpu:.1f}"
    return (
        f"{said}. Intervals of times allow for a factor of {by:.2g}"
        f"{' (on a device, in what the host does)' if _on_device(run) else cpu}; individual trials may "
        "have been slowed more"
    )


def _on_device(run: Run) -> bool:
    """Return whether some backend has another device than the processor."""
    devices = {each.get("device", "") for each in run.environment.backends.values()}
    return bool(devices - {"", run.environment.machine.processor})


def _signs(run: Run, by: float, where: str) -> list[str]:
    machine, noise = run.environment.machine, run.noise
    found = []
    change = shift(noise)
    if by > BUSY or not 1 / BUSY <= change <= BUSY:
        found.append(f"a loop of known work took {by:.2g} times as long as at its fastest{where}")
    if not 1 / BUSY <= change <= BUSY:
        word, factor = ("slower", change) if change > 1 else ("faster", 1 / change)
        found.append(f"it became {factor:.2g} times {word} from the first half of the run to the second")
    wanted = max(1, run.environment.jobs) * run.environment.threads
    if noise.others is not None and noise.others + wanted > machine.cores + CROWDED:
        found.append(f"other processes kept {noise.others:.1f} of {machine.cores} cores busy")
    if not noise.bursts and machine.load > machine.cores > 0:
        found.append(f"its load was {machine.load:g} on {machine.cores} cores at the start")
    return found


def _typical(bursts: Sequence[Burst]) -> float:
    return median(each.seconds for each in bursts)
