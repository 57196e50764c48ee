"""Methods that differ in one number: the families of a sweep, each a curve over that number."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from benchfw.analysis.intervals import Interval
from benchfw.records import Cell, Spec
from benchfw.summary.model import Sweep
from benchfw.sweep import leaves, tell_apart

FEWEST_VALUES = 3
"""Two values are a comparison; three make a curve."""


def find_sweep(specs: Mapping[Cell, Spec]) -> Sweep | None:
    """Return the number that most methods differ in, or None where nothing was varied often enough."""
    tables = {cell: dict(leaves(spec.table)) for cell, spec in specs.items()}
    paths = dict.fromkeys(path for table in tables.values() for path in table)
    candidates = {path: _families(path, tables) for path in paths}
    lengths = {
        path: max((len(members) for members in families.values()), default=0)
        for path, families in candidates.items()
    }
    best = max(lengths, key=lambda path: lengths[path], default="")
    if lengths.get(best, 0) < FEWEST_VALUES:
        return None
    whole = {
        family: dict(sorted(members.items()))
        for family, members in candidates[best].items()
        if len(members) >= FEWEST_VALUES
    }
    names = tell_apart([dict(family) for family in whole])
    return Sweep(best.rpartition(".")[2], dict(zip(names, whole.values(), strict=True)))


def with_leader(sweep: Sweep, intervals: Mapping[Cell, Interval]) -> Sweep:
    """Return the sweep with the family that has the smallest variance at every value, if one has."""
    leaders, margins = set(), []
    for value in sweep.values:
        found = {family: intervals.get(members[value]) for family, members in sweep.families.items()}
        known = {family: interval for family, interval in found.items() if interval is not None}
        if len(known) < len(found):
            return sweep
        first = min(known, key=lambda family: known[family].high)
        others = [interval.low for family, interval in known.items() if family != first]
        leaders.add(first)
        margins.append(min(others) / known[first].high if 0 < known[first].high < math.inf else 0.0)
    if len(leaders) != 1 or min(margins) <= 1:
        return sweep
    return replace(sweep, leader=leaders.pop(), margin=min(margins))


def _families(
    path: str, tables: Mapping[Cell, Mapping[str, Any]]
) -> dict[tuple[tuple[str, Any], ...], dict[float, Cell]]:
    """Return the methods that have a number at this path, by all that they have beside it."""
    families: dict[tuple[tuple[str, Any], ...], dict[float, Cell]] = {}
    for cell, table in tables.items():
        value = table.get(path)
        if isinstance(value, int | float) and not isinstance(value, bool):
            rest = tuple((key, _hashable(each)) for key, each in table.items() if key != path)
            backend = (("backend", cell.backend),)
            families.setdefault(rest + backend, {})[float(value)] = cell
    return families


def _hashable(value: Any) -> Any:
    if isinstance(value, Mapping):  # in a list: those at the top are taken to pieces
        return tuple(sorted((key, _hashable(each)) for key, each in value.items()))
    return tuple(map(_hashable, value)) if isinstance(value, list | tuple) else value
