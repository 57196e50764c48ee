"""Records and summaries as flat rows, for CSV that is safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import IO, Any

from benchfw.analysis.intervals import Interval
from benchfw.provenance import Run
from benchfw.records import Outcome, Result, Spec
from benchfw.summary.model import Summary
from benchfw.summary.samples import prepared_facts
from benchfw.summary.tuned import TunedMethod
from benchfw.sweep import leaves

RECORD_COLUMNS = (
    "run",
    "trial",
    "suite",
    "problem",
    "method",
    "backend",
    "repetition",
    "tuning",
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
    "from_scratch",
)

SUMMARY_COLUMNS = ("problem", "method", "backend", "quantity", "estimate", "low", "high", "count")


def summary_columns(summary: Summary) -> tuple[str, ...]:
    """Return the columns of `summary_rows`; a run that was not measured here has one that says so."""
    return (*SUMMARY_COLUMNS, "imported") if summary.imported else SUMMARY_COLUMNS


def summary_rows(summary: Summary) -> list[tuple[str | float | int, ...]]:
    """Return one flat row a quantity, in the order of `summary_columns`; tuning is last."""
    rows = [
        (row.cell, row.quantity, row.interval)
        for comparison in summary.comparisons
        for row in comparison.rows
    ]
    for each in summary.tuned:
        for name, spent in (("tuning_cost", each.cost), ("tuning_seconds", each.seconds)):
            rows.append((each.cell, name, Interval(spent, spent, spent, each.runs)))
    origin = [summary.imported] if summary.imported else []
    return [
        (cell.problem, cell.method, cell.backend, quantity, of.estimate, of.low, of.high, of.count, *origin)
        for cell, quantity, of in rows
    ]


def estimate_rows(summary: Summary) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return columns and rows as `summary_columns` and `summary_rows`, with a column for each parameter."""
    # of a tuned method the setting of the verdict's first run, not one that was tried
    tallies = [each for comparison in summary.comparisons for each in comparison.tallies.values()]
    specs = [(each.first.problem, each.first.method) for each in tallies]
    parameters = parameter_columns(specs)
    cells = {(a.label, b.label): parameter_cells(a, b, parameters) for a, b in specs}
    unknown = (None,) * len(parameters)
    rows = [(*row, *cells.get((str(row[0]), str(row[1])), unknown)) for row in summary_rows(summary)]
    return [*summary_columns(summary), *parameters], rows


TUNING_COLUMNS = (
    "problem",
    "method",
    "backend",
    "trial",
    "reached",
    "score",
    "cost",
    "seconds",
)


def tuning_rows(tuned: Iterable[TunedMethod]) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return the columns and one row for each setting that tuning tried, in order.

    `score` is in the median over its runs: what it takes to the target if that is `reached`, else the metric
    at the end, None where the run broke.
    """
    methods = list(tuned)
    paths = list(dict.fromkeys(path for each in methods for path in each.spaces))
    rows = []
    for each in methods:
        for trial, attempt in enumerate(each.attempts, 1):
            labels = (each.cell.problem, each.cell.method, each.cell.backend, trial)
            score = (attempt.score.standing == 0, each.shown(attempt.score))
            spent = (attempt.cost, attempt.seconds)
            values = (attempt.setting.get(path) for path in paths)
            rows.append((*labels, *score, *spent, attempt is each.chosen, *values))
    return [*TUNING_COLUMNS, "chosen", *paths], rows


def parameter_columns(specs: Iterable[tuple[Spec, Spec]]) -> tuple[str, ...]:
    """Return columns for parameters of problems and methods: `problem.size`, `step`, `estimator.size`.

    A method's parameter that is called as another column has `method.` before it.
    """
    found: dict[str, None] = {}
    for problem, method in specs:
        found |= dict.fromkeys(_parameters(problem, method))
    return tuple(sorted(found, key=lambda name: name.startswith("problem.")))


def _parameters(problem: Spec, method: Spec) -> dict[str, Any]:
    cells = {f"problem.{path}": value for path, value in leaves(problem.params)}
    for path, value in leaves(method.params):
        cells[f"method.{path}" if path in RECORD_COLUMNS else path] = value
    return {name: list(value) if isinstance(value, tuple) else value for name, value in cells.items()}


def parameter_cells(problem: Spec, method: Spec, columns: Iterable[str]) -> tuple[Any, ...]:
    """Return what a problem and a method have in these columns; None where a parameter was not given."""
    found = _parameters(problem, method)
    return tuple(found.get(name) for name in columns)


def record_rows(
    run: Run, results: Iterable[Result], parameters: Sequence[str] = ()
) -> Iterator[tuple[Any, ...]]:
    """Return every record in long form, in the order of RECORD_COLUMNS and then of these parameters.

    The role of a fact is `fact`. A trial without either gives one row with empty measurements, so that no
    failure is lost.
    """
    for result in results:
        start, end = _start(run, result), _end(result, parameters)
        rows = [(*start, *each, *end) for each in _record_values(result.outcome)]
        yield from rows or [(*start, *[None] * 7, *end)]


def _start(run: Run, result: Result) -> tuple[Any, ...]:
    """Return the cells that all rows of a trial share."""
    trial, outcome = result.trial, result.outcome
    labels = (trial.problem.label, trial.method.label, trial.backend, trial.repetition, trial.tuning)
    return run.id, result.id, run.suite, *labels, outcome.status.value, outcome.ending.value, outcome.reason


def _end(result: Result, parameters: Sequence[str]) -> tuple[Any, ...]:
    given = parameter_cells(result.trial.problem, result.trial.method, parameters)
    outcome = result.outcome
    return outcome.device, outcome.counting.value, outcome.from_scratch, *given


def _record_values(outcome: Outcome) -> Iterator[tuple[str, str, int, float, float | None, float, float]]:
    """Yield role, metric, iteration, seconds, CPU seconds, cost and value of all records and facts."""
    for metric, iteration, seconds, cost, value, role, cpu_seconds in outcome.records:
        yield role, metric, iteration, seconds, cpu_seconds, cost, value
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


def write_records(
    file: IO[str], run: Run, results: Iterable[Result], parameters: Sequence[str] = ()
) -> Iterator[Result]:
    """Write what write_csv makes of record_rows, but faster: the cells that a trial's rows share once.

    Yield each result when its rows are written; those of trials that tune are not.
    """
    file.write(_line((*RECORD_COLUMNS, *parameters)) + "\n")
    for result in results:
        if result.trial.tuning:
            yield result
            continue
        measured = list(_record_values(result.outcome))
        metrics = {name: _line((name,)) for name in {name for _, name, *_ in measured}}
        start = _line(_start(run, result))
        end = _line(_end(result, parameters))
        lines = [
            f"{start},{role},{metrics[name]},{iteration},{seconds!r},{'' if cpu is None else cpu},{cost!r},"
            f"{value!r},{end}\n"
            for role, name, iteration, seconds, cpu, cost, value in measured
        ]
        file.write("".join(lines) or f"{start},,,,,,,,{end}\n")
        yield result


def _line(cells: Sequence[Any]) -> str:
    """Return cells as CSV without the end of the line."""
    return ",".join(map(_format, cells))


def _format(cell: Any) -> str:
    if isinstance(cell, str):
        return _quote(safe_cell(cell))
    if isinstance(cell, int):  # of every trial another
        return str(cell)
    return "" if cell is None else _quote(str(cell))


@lru_cache(maxsize=1024)
def _quote(text: str) -> str:
    """Return one cell as CSV; many trials have the same."""
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow([text] if text else [])
    return line.getvalue().removesuffix("\n")


def _safe(row: Iterable[Any]) -> list[Any]:
    return [safe_cell(cell) if isinstance(cell, str) else cell for cell in row]


def safe_cell(text: str) -> str:
    """Return text that no spreadsheet takes for a formula: a leading ' (OWASP, CSV injection)."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
