"""A finished run as trackers keep it: parameters, tags and numbers for each method on each problem."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from benchfw.provenance import Run
from benchfw.store import Store
from benchfw.summary.exports import estimate_rows, summary_columns
from benchfw.summary.model import Summary
from benchfw.summary.summarize import summarize


class TrackedCell(NamedTuple):
    """One method on one problem: its name, its parameters, and its estimates with the ends of intervals."""

    name: str
    parameters: Mapping[str, Any]
    numbers: dict[str, float]


def summarize_stored(run: Run) -> Summary:
    """Return the summary of a run that has finished, for those who are told of it as it ends."""
    with Store(run.store) as store:
        return summarize(run, store.stream(run.id), figures=False, best_known=store.best_known)


def read_cells(summary: Summary) -> Iterator[TrackedCell]:
    """Yield the cells of a run; numbers that are not finite are left out."""
    columns, rows = estimate_rows(summary)
    first = len(summary_columns(summary))  # of the parameters
    names = ("problem", "method", "backend", *columns[first:])
    cells: dict[str, TrackedCell] = {}
    for row in rows:
        name = " / ".join(row[:3])
        given = zip(names, (*row[:3], *row[first:]), strict=True)
        parameters = {key: value for key, value in given if value is not None}
        numbers = cells.setdefault(name, TrackedCell(name, parameters, {})).numbers
        for end, value in zip(("", "_low", "_high"), row[4:7], strict=True):
            if math.isfinite(value):
                numbers[f"{row[3]}{end}"] = float(value)
    yield from cells.values()


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
