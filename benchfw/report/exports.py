"""Records and summary as CSV files that are safe to open in a spreadsheet."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchfw.records import Result, Run

RECORD_COLUMNS = (
    "run",
    "trial",
    "suite",
    "problem",
    "method",
    "backend",
    "repetition",
    "status",
    "reason",
    "metric",
    "iteration",
    "seconds",
    "cost",
    "value",
)


def record_rows(run: Run, results: Iterable[Result]) -> Iterator[tuple[Any, ...]]:
    """Return every record in long form, in the order of RECORD_COLUMNS; text is safe for spreadsheets.

    A trial without records gives one row with empty measurements, so that no failure is lost.
    """
    suite = safe_cell(run.suite)
    for result in results:
        trial, outcome = result.trial, result.outcome
        texts = map(safe_cell, (trial.problem.label, trial.method.label, trial.backend))
        ending = (outcome.status.value, safe_cell(outcome.reason))
        start = (run.id, result.id, suite, *texts, trial.repetition, *ending)
        for record in outcome.records:
            name = safe_cell(record.metric)
            yield (*start, name, record.iteration, record.seconds, record.cost, record.value)
        if not outcome.records:
            yield (*start, "", "", "", "", "")


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a header and rows; text cells must have gone through `safe_cell`."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(rows)


def safe_row(row: Mapping[str, Any], columns: Sequence[str]) -> tuple[Any, ...]:
    """Return the row's values in the order of the columns, text made safe."""
    return tuple(safe_cell(row[name]) if isinstance(row[name], str) else row[name] for name in columns)


def safe_cell(text: str) -> str:
    """Return text that no spreadsheet takes for a formula: a leading ' (OWASP, CSV injection)."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
