"""Records and summaries as flat rows, and rows as CSV that is safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any

from benchfw.records import Outcome, Result, Run
from benchfw.summary.model import Summary
from benchfw.summary.samples import prepared_facts
from benchfw.summary.standings import find_standings

RECORD_COLUMNS = (
    "run",
    "trial",
    "suite",
    "problem",
    "method",
    "backend",
    "repetition",
    "status",
    "ending",
    "reason",
    "role",
    "metric",
    "iteration",
    "seconds",
    "cpu_seconds",
    "cost",
    "value",
    "device",
    "counting",
)

SUMMARY_COLUMNS = ("problem", "method", "backend", "quantity", "estimate", "low", "high", "count")


def summary_rows(summary: Summary) -> list[tuple[str | float | int, ...]]:
    """Return one flat row a quantity, in the order of SUMMARY_COLUMNS; ranks over all problems are last."""
    rows = [
        (row.cell, row.quantity, row.interval)
        for comparison in summary.comparisons
        for row in comparison.rows
    ]
    rows += [
        (cell, f"rank_in_{standing.quantity}", rank)
        for standing in find_standings(summary.comparisons)
        for cell, rank in standing.ranks.items()
    ]
    return [
        (cell.problem, cell.method, cell.backend, quantity, each.estimate, each.low, each.high, each.count)
        for cell, quantity, each in rows
    ]


def record_rows(run: Run, results: Iterable[Result]) -> Iterator[tuple[Any, ...]]:
    """Return every record in long form, in the order of RECORD_COLUMNS.

    The role of a fact is `fact`. A trial without either gives one row with empty measurements, so that no
    failure is lost.
    """
    for result in results:
        start, end = _start(run, result), (result.outcome.device, result.outcome.counting.value)
        rows = [(*start, *each, *end) for each in _record_values(result.outcome)]
        yield from rows or [(*start, *[None] * 7, *end)]


def _start(run: Run, result: Result) -> tuple[Any, ...]:
    """Return the cells that all rows of a trial share."""
    trial, outcome = result.trial, result.outcome
    labels = (trial.problem.label, trial.method.label, trial.backend, trial.repetition)
    return run.id, result.id, run.suite, *labels, outcome.status.value, outcome.ending.value, outcome.reason


def _record_values(outcome: Outcome) -> Iterator[tuple[str, str, int, float, float | None, float, float]]:
    """Yield role, metric, iteration, seconds, CPU seconds, cost and value of all records and facts."""
    for each in outcome.records:
        yield each.role, each.metric, each.iteration, each.seconds, each.cpu_seconds, each.cost, each.value
    for name, value in outcome.facts.items():
        yield "fact", name, 0, 0.0, None, 0.0, value
    if outcome.peak_memory is not None:
        yield "fact", "peak_memory", 0, 0.0, None, 0.0, float(outcome.peak_memory)
    for name, used in prepared_facts(outcome).items():
        yield "fact", name, 0, 0.0, None, 0.0, used


def write_csv(file: IO[str], columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a header and rows; what is missing is an empty cell."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(map(_safe, rows))


def write_records(file: IO[str], run: Run, results: Iterable[Result]) -> None:
    """Write what write_csv makes of record_rows, but faster: the cells that a trial's rows share once."""
    file.write(_line(RECORD_COLUMNS) + "\n")
    for result in results:
        measured = list(_record_values(result.outcome))
        metrics = {name: _line((name,)) for name in {name for _, name, *_ in measured}}
        start = _line(_start(run, result))
        end = _line((result.outcome.device, result.outcome.counting.value))
        file.writelines(
            f"{start},{role},{metrics[name]},{iteration},{seconds},{'' if cpu is None else cpu},{cost},"
            f"{value},{end}\n"
            for role, name, iteration, seconds, cpu, cost, value in measured
        )
        if not measured:
            file.write(f"{start},,,,,,,,{end}\n")


def _line(cells: Sequence[Any]) -> str:
    """Return cells as CSV without the end of the line."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(_safe(cells))
    return text.getvalue().removesuffix("\n")


def _safe(row: Iterable[Any]) -> list[Any]:
    return [safe_cell(cell) if isinstance(cell, str) else cell for cell in row]


def safe_cell(text: str) -> str:
    """Return text that no spreadsheet takes for a formula: a leading ' (OWASP, CSV injection)."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
