"""Records and summaries as flat rows, for CSV that is safe to open in a spreadsheet and for ASV."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import IO, Any

from benchfw.errors import BenchfwError
from benchfw.provenance import Run
from benchfw.records import Outcome, Result, Spec
from benchfw.summary.model import Summary
from benchfw.summary.samples import prepared_facts
from benchfw.summary.standings import find_standings
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

_ASV_RESULTS, _ASV_BENCHMARKS, _ASV_MACHINE = 2, 2, 1
"""The versions of ASV's three kinds of files that are written here."""

_ASV_UNITS = {"seconds": "s", "setup_seconds": "s", "iterations": "iterations", "cost": "oracle calls"}


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


TUNING_COLUMNS = (
    "problem",
    "method",
    "backend",
    "tuning",
    "trial",
    "share",
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
        for number, (attempts, chosen) in enumerate(zip(each.rounds, each.chosen, strict=True), 1):
            for trial, attempt in enumerate(attempts, 1):
                labels = (each.cell.problem, each.cell.method, each.cell.backend, number, trial)
                spent = (attempt.cost, attempt.seconds)
                values = (attempt.setting.get(path) for path in paths)
                score = (attempt.score.standing == 0, each.shown(attempt.score))
                rows.append((*labels, attempt.share, *score, *spent, attempt is chosen, *values))
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


def identifier(name: str) -> str:
    """Return a name as Python writes classes: "soft-threshold" is SoftThreshold, "hutch++" HutchPlusPlus."""
    words = re.findall(r"[^\W_]+", name.replace("+", " plus "))
    return "".join(word[0].upper() + word[1:] for word in words)


def write_asv(run: Run, rows: Iterable[Sequence[Any]], folder: Path) -> Path:
    """Add a run to a folder of ASV's results; return the file of its commit."""
    commit, date = _commit(run)
    machine = run.environment.machine
    name = identifier(machine.processor) or "Machine"
    python = ".".join(run.environment.python.split(".")[:2])
    about = {
        "machine": name, "cpu": machine.processor, "num_cpu": str(machine.cores),
        "ram": str(machine.memory), "os": machine.system, "arch": "",
    }  # fmt: skip
    results = {benchmark["name"]: (benchmark, values) for benchmark, values in _benchmarks(run.suite, rows)}
    _write(folder / name / "machine.json", {**about, "version": _ASV_MACHINE})
    listed = folder / "benchmarks.json"
    known = json.loads(listed.read_text(encoding="utf-8")) if listed.is_file() else {}
    _write(
        listed, {**known, **{each: found for each, (found, _) in results.items()}, "version": _ASV_BENCHMARKS}
    )
    path = folder / name / f"{commit[:8]}-benchfw-{identifier(run.suite)}.json"
    content = {
        "commit_hash": commit, "date": date, "env_name": f"benchfw-{identifier(run.suite)}",
        "params": {**about, "python": python}, "python": python, "requirements": {}, "env_vars": {},
        "result_columns": ["result", "params", "version"],
        "results": {
            name: [values, each["params"], each["version"]] for name, (each, values) in results.items()
        },
        "durations": {}, "version": _ASV_RESULTS,
    }  # fmt: skip
    _write(path, content)
    return path


def _commit(run: Run) -> tuple[str, int]:
    """Return the commit that a run measured and its date in milliseconds."""
    project = run.environment.project
    if project is None:
        raise BenchfwError(f"run {run.id} was made outside a git repository; ASV orders results by commits")
    if not re.fullmatch("[0-9a-f]{8,64}", str(project.commit)):  # it becomes the name of a file
        raise BenchfwError(f"run {run.id} names a commit that git cannot have; give a run made by benchfw")
    if project.changed is not False:
        raise BenchfwError(
            f"run {run.id} was made with uncommitted changes; commit or ignore them and run again"
        )
    date = datetime.fromisoformat(project.date or run.started)
    return project.commit, int(1000 * date.timestamp())


def _benchmarks(suite: str, rows: Iterable[Sequence[Any]]) -> list[tuple[dict[str, Any], list[float | None]]]:
    """Return a benchmark of ASV for every method and quantity: problems x backends are its parameters."""
    groups: dict[tuple[str, str], dict[tuple[str, str], float]] = {}
    for problem, method, backend, quantity, estimate, *_ in rows:
        groups.setdefault((method, quantity), {})[problem, backend] = estimate
    found = []
    for (method, quantity), cells in groups.items():
        params = [list(dict.fromkeys(names)) for names in zip(*cells, strict=True)]
        values = [cells.get((problem, backend), math.nan) for problem, backend in product(*params)]
        quoted = [[repr(name) for name in names] for names in params]
        benchmark = {
            "name": f"{identifier(suite)}.{identifier(method)}.track_{quantity}",
            "type": "track", "unit": _unit(quantity), "code": f"{method}: {quantity}", "version": "1",
            "param_names": ["problem", "backend"], "params": quoted, "timeout": 60,
        }  # fmt: skip
        found.append((benchmark, [value if math.isfinite(value) else None for value in values]))
    return found


def _unit(quantity: str) -> str:
    first = quantity.removesuffix("_to_target").removesuffix("_per_draw").removesuffix("_per_call")
    return _ASV_UNITS.get(first, "")


def _write(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1), encoding="utf-8")
