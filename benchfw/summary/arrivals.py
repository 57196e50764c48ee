"""Runs that reach the target in some repetitions only: what arriving takes with restarts, and without."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from benchfw.analysis.censored import expected_running_time, median_time
from benchfw.analysis.intervals import Interval

EXPECTED = ("expected_seconds_to_target", "expected_cost_to_target")
"""All that the runs spent over the number of arrivals: what it takes if a failed run is started again."""

KAPLAN_MEIER = "kaplan_meier_seconds_to_target"
"""The median time, in which a run that was cut short counts as long as it ran."""


@dataclass(frozen=True)
class Arrival:
    """When a run met the target, or when it ended without; one that diverged would never have met it."""

    seconds: float
    cost: float
    iterations: float
    reached: bool
    diverged: bool = False


def arrival_intervals(arrivals: Mapping[int, Arrival]) -> Iterator[tuple[str, Interval]]:
    """Yield the expected running times, and Kaplan & Meier's median where some runs did not arrive."""
    runs = list(arrivals.values())
    if not runs:
        return
    seconds, costs = (np.array([getattr(run, name) for run in runs]) for name in ("seconds", "cost"))
    reached = np.array([run.reached for run in runs])
    for name, spent in zip(EXPECTED, (seconds, costs), strict=True):
        yield name, expected_running_time(spent, reached)
    if 0 < sum(reached) < len(runs):
        lasting = np.where([run.diverged for run in runs], np.max(seconds), seconds)
        yield KAPLAN_MEIER, median_time(lasting, reached)
