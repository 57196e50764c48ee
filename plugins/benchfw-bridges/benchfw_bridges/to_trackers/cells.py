"""A finished run as trackers keep it: parameters, tags and numbers for each method on each problem."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import benchfw
from benchfw import Run

_ESTIMATES = ("quantity", "estimate", "low", "high")
_COLUMNS = {"problem", "method", "backend", *_ESTIMATES, "count", "imported"}


class TrackedCell(NamedTuple):
    """One method on one problem: its name, its parameters, and its estimates with the ends of intervals."""

    name: str
    parameters: Mapping[str, Any]
    numbers: Mapping[str, float]


def read_cells(run: Run) -> Iterator[TrackedCell]:
    """Yield the cells of a stored run; numbers that are not finite are left out."""
    frame = benchfw.load(run.id, store=run.store).summary
    given = [name for name in frame.columns if name not in _COLUMNS]
    for (problem, method, backend), rows in frame.groupby(["problem", "method", "backend"], sort=False):
        first = rows.iloc[0]
        parameters = {"problem": problem, "method": method, "backend": backend}
        parameters |= {
            name: first[name] for name in given if first[name] == first[name] and first[name] is not None
        }
        numbers = {
            f"{quantity}{end}": float(value)
            for quantity, *values in zip(*(rows[each] for each in _ESTIMATES), strict=True)
            for end, value in zip(("", "_low", "_high"), values, strict=True)
            if math.isfinite(value)
        }
        yield TrackedCell(f"{problem} / {method} / {backend}", parameters, numbers)


def describe_run(run: Run) -> dict[str, str]:
    """Return where and from what a run was made."""
    environment = run.environment
    found = {
        "benchfw.run": str(run.id),
        "benchfw.suite": run.suite,
        "benchfw.started": run.started,
        "benchfw.processor": environment.machine.processor,
        "benchfw.commit": environment.project.commit if environment.project else "",
    }
    return {name: text for name, text in found.items() if text}


def safe_name(name: str) -> str:
    """Return a name of letters, digits and . / _ - and spaces, which all trackers take."""
    return re.sub(r"[^\w./ -]", "_", name)
