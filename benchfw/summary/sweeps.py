"""Methods that differ in one number: the families of a sweep, each a curve over that number."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from itertools import permutations
from typing import Any, TypeAlias

from benchfw.analysis.intervals import Interval
from benchfw.records import Cell, Spec
from benchfw.summary.model import Lead, Sweep
from benchfw.sweep import drop_shared, leaves, strip_parameter, tell_apart

FEWEST_VALUES = 3
"""Two values of one family are a comparison; three make a curve."""

FEWEST_SHARED = 2
"""So many values that two families share make them comparable value by value."""

Ratio: TypeAlias = Callable[[Cell, Cell], Interval | None]
"""What is known of one method over another: the lower end is the one that decides; None for nothing."""

_Families: TypeAlias = dict[tuple[tuple[str, Any], ...], dict[float, Cell]]


def find_sweep(specs: Mapping[Cell, Spec]) -> Sweep | None:
    """Return the number that most methods differ in, or None where nothing was varied often enough."""
    tables = {cell: dict(leaves(spec.table)) for cell, spec in specs.items()}
    paths = dict.fromkeys(path for table in tables.values() for path in table)
    candidates = {path: _families(path, tables) for path in paths}
    sizes = {path: _size(families) for path, families in candidates.items()}
    best = max(sizes, key=lambda path: sizes[path], default="")
    if not best or sizes[best] == (0, 0):
        return None
    curves = {key: members for key, members in candidates[best].items() if len(members) > 1}
    points = [cell for members in candidates[best].values() if len(members) == 1 for cell in members.values()]
    named = dict(zip(_names(curves, best, specs), curves.values(), strict=True))
    families = {name: dict(sorted(members.items())) for name, members in named.items()}
    alone = {str(cell): {float(tables[cell][best]): cell} for cell in points}
    return Sweep(best.rpartition(".")[2], families | alone)


def find_leads(sweep: Sweep, quantity: str, ratio: Ratio) -> Iterator[Lead]:
    """Yield each pair of families of which one is below the other at every value that all of them have.

    `ratio` is what is known of one method over another.
    """
    for upper, lower in permutations(sweep.curves, 2):
        pairs = [(sweep.curves[upper][value], sweep.curves[lower][value]) for value in sweep.values]
        found = [ratio(*pair) for pair in pairs]
        known = [each for each in found if each is not None]
        margin = min((each.low for each in known), default=0.0)
        if len(known) == len(found) and margin > 1:
            seen = [each.estimate if math.isfinite(each.high) else math.inf for each in known]
            runs = min(each.count for each in known)
            yield Lead(quantity, lower, upper, margin, min(seen), max(seen), runs)


def count_pairs(sweep: Sweep) -> int:
    """Return how many pairs of families are compared at every value."""
    return math.comb(len(sweep.curves), 2)


def _size(families: _Families) -> tuple[int, int]:
    """Return how many methods are on curves, and the values of the longest; zeros where there is no curve."""
    curves = [set(members) for members in families.values() if len(members) >= FEWEST_SHARED]
    shared = set.intersection(*curves) if len(curves) > 1 else set()
    longest = max(map(len, curves), default=0)
    if longest < FEWEST_VALUES and len(shared) < FEWEST_SHARED:
        return 0, 0
    return sum(map(len, curves)), longest


def _families(path: str, tables: Mapping[Cell, Mapping[str, Any]]) -> _Families:
    """Return the methods that have a number at this path, by all that they have beside it."""
    families: _Families = {}
    for cell, table in tables.items():
        value = table.get(path)
        if isinstance(value, int | float) and not isinstance(value, bool):
            rest = tuple((key, _hashable(each)) for key, each in table.items() if key != path)
            backend = (("backend", cell.backend),)
            families.setdefault(rest + backend, {})[float(value)] = cell
    return families


def _names(curves: _Families, path: str, specs: Mapping[Cell, Spec]) -> list[str]:
    """Return the name of each family: the label of its members without the number, or what sets it apart."""
    labels = [{_label(specs[cell], cell, path) for cell in members.values()} for members in curves.values()]
    backends = {cell.backend for members in curves.values() for cell in members.values()}
    if len(backends) > 1 or any(len(found) > 1 for found in labels):
        return tell_apart([dict(key) for key in curves])
    names = [found.pop() for found in labels]
    return drop_shared(names) if len({spec.use for spec in specs.values()}) == 1 else names


def _label(spec: Spec, cell: Cell, path: str) -> str:
    return strip_parameter(cell.method, path, dict(leaves(spec.table))[path])


def _hashable(value: Any) -> Any:
    if isinstance(value, Mapping):  # in a list: those at the top are taken to pieces
        return tuple(sorted((key, _hashable(each)) for key, each in value.items()))
    return tuple(map(_hashable, value)) if isinstance(value, list | tuple) else value
