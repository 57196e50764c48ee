"""The unit of every time of a report: one for a quantity, in all of its tables, figures and sentences."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple


class TimeUnit(NamedTuple):
    """A unit of time: its size in seconds, and its name."""

    size: float
    name: str


SECONDS = TimeUnit(1.0, "s")
_UNITS = (SECONDS, TimeUnit(1e-3, "ms"), TimeUnit(1e-6, "µs"), TimeUnit(1e-9, "ns"))
_LEAST, _MOST = 0.1, 1e4  # of the unit, that times should be

TUNING = "tuning_seconds"
_TO_TARGET = "seconds_to_target"
_ALIKE = {
    "cpu_seconds_to_target": _TO_TARGET,
    "expected_seconds_to_target": _TO_TARGET,
    "cpu_seconds_per_draw": "seconds_per_draw",
    "device_seconds_per_call": "seconds_per_call",
    "copy_seconds_per_call": "seconds_per_call",
    "cpu_seconds_per_call": "seconds_per_call",
    "floor_seconds": "seconds_per_call",
    "setup_cpu_seconds": "setup_seconds",
}
"""Quantities that stand beside another one, and so have its unit."""

_TIMES = frozenset({*_ALIKE.values(), "prepare_seconds", TUNING})


def is_time(quantity: str) -> bool:
    """Return whether a quantity is measured in seconds."""
    return _ALIKE.get(quantity, quantity) in _TIMES


def choose_unit(seconds: Iterable[float]) -> TimeUnit:
    """Return the largest unit in which the shortest time is 0.1 or more.

    A larger one, where the longest time would be 10 000 or more. Times that are 0 or not finite do not count.
    """
    found = [each for each in seconds if 0 < each < math.inf]
    if not found:
        return SECONDS
    place = next((at for at, unit in enumerate(_UNITS) if min(found) >= _LEAST * unit.size), len(_UNITS) - 1)
    while place and max(found) >= _MOST * _UNITS[place].size:
        place -= 1
    return _UNITS[place]


def find_units(times: Iterable[tuple[str, float]]) -> dict[str, TimeUnit]:
    """Return the unit of each time of a report, from all (quantity, seconds) in it."""
    found: dict[str, list[float]] = {}
    for quantity, seconds in times:
        if is_time(quantity):
            found.setdefault(_ALIKE.get(quantity, quantity), []).append(seconds)
    return {quantity: choose_unit(seconds) for quantity, seconds in found.items()}


def unit_of(units: Mapping[str, TimeUnit], quantity: str) -> TimeUnit:
    """Return the unit of a time; seconds for one that the report does not have."""
    return units.get(_ALIKE.get(quantity, quantity), SECONDS)
