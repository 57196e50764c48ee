"""Result files of benchopt as runs that were not measured here."""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchfw import BenchfwError, Unavailable
from benchfw.provenance import Environment, ImportedRun, Machine
from benchfw.records import Budget, Counting, Ending, Outcome, Record, Spec, Status, Trial
from benchfw_bridges.from_benchopt.problem import OBJECTIVE, VALUE

PARTS = ("dataset_name", "objective_name", "solver_name", "idx_rep")
NEEDED = (*PARTS, "stop_val", "time")
MEASURE = "objective_"
GIGABYTE = 2**30

Rows = Sequence[Mapping[str, Any]]


class BenchoptResults:
    """Reads the .parquet files that `benchopt run` writes; what they hold of pickles is left alone."""

    def read_run(self, path: Path) -> ImportedRun:
        """Return the run in a file."""
        rows = _read_rows(path)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        source = f"{path.name}, a result file of benchopt"
        objectives = {row["objective_name"] for row in rows}
        trials = []
        ordered = sorted(rows, key=lambda row: tuple(_order(rows, part)[row[part]] for part in PARTS))
        for place, group in itertools.groupby(ordered, lambda row: tuple(row[part] for part in PARTS)):
            dataset, objective, solver, repetition = place
            label = dataset if len(objectives) == 1 else f"{objective}, {dataset}"
            trial = Trial(
                "optimizer",
                Spec("benchopt", {"dataset": dataset, "objective": objective}, label),
                Spec("benchopt", {"solver": solver}, solver),
                "numpy",
                int(repetition),
                0,
                Budget(),
                key=hashlib.sha256(f"imported {digest} {place}".encode()).hexdigest(),
            )
            trials.append((trial, _outcome_of(list(group), source)))
        title = " and ".join(sorted(objectives))
        return ImportedRun(path.stem, title, _environment_of(source, rows[0], len(trials)), trials)

    def write_suite(self, folder: Path, into: Path) -> str:
        """Return a suite of a benchmark's solvers, on the data set that benchopt tests with."""
        from benchfw_bridges.from_benchopt.suite import write_suite

        return write_suite(folder, into)


def _read_rows(path: Path) -> Rows:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise Unavailable("pyarrow is not installed; pip install 'benchfw-bridges[benchopt]'") from None
    try:
        rows: Rows = parquet.read_table(path).to_pylist()
    except (ArrowException, OSError, ValueError) as fault:
        raise BenchfwError(f"{path} is not a Parquet file ({str(fault).splitlines()[0]})") from None
    lacks = [name for name in NEEDED if not rows or name not in rows[0]]
    if lacks:
        raise BenchfwError(
            f"{path} is not a result file of benchopt: it has no {', '.join(lacks)}; "
            "give a file that `benchopt run` wrote"
        )
    return rows


def _order(rows: Rows, part: str) -> dict[Any, int]:
    """Return the values of a column with their places: names as they come, numbers by size."""
    values = dict.fromkeys(row[part] for row in rows)
    known = sorted(values) if part == "idx_rep" else list(values)
    return {value: place for place, value in enumerate(known)}


def _outcome_of(rows: Rows, source: str) -> Outcome:
    """Return the curve of one run of a solver."""
    by_tolerance = rows[0].get("sampling_strategy") == "Tolerance"
    values = dict.fromkeys(row["stop_val"] for row in rows)
    places = {value: place if by_tolerance else int(value) for place, value in enumerate(values)}
    records = [record for row in rows for record in _records_of(row, places[row["stop_val"]])]
    seconds = [each.seconds for each in records]
    return Outcome(
        Status.DONE,
        Ending.BY_ITSELF,
        f"imported from {source}",
        tuple(records),
        seconds=max(seconds, default=0.0),
        cost_unit="calls",
        counting=Counting.UNKNOWN,
        from_scratch=seconds != sorted(seconds),
    )


def _records_of(row: Mapping[str, Any], iteration: int) -> Iterator[Record]:
    names = [name for name in row if name.startswith(MEASURE) and name != "objective_name"]
    for name in sorted(names, key=lambda each: each != MEASURE + VALUE):
        value = row[name]
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            metric = name.removeprefix(MEASURE)
            yield Record(
                OBJECTIVE if metric == VALUE else metric, iteration, float(row["time"]), 0.0, float(value)
            )


def _environment_of(source: str, row: Mapping[str, Any], trials: int) -> Environment:
    """Return what the file says about the machine and the versions."""
    system = " ".join(str(row.get(key) or "") for key in ("platform", "platform-release")).strip()
    versions = {name: row.get(f"version-{name}") for name in ("numpy", "scipy")}
    return Environment(
        machine=Machine(
            system=system,
            processor=str(row.get("system-processor") or ""),
            cores=int(row.get("system-cpus") or 0),
            memory=int(row.get("system-ram (GB)") or 0) * GIGABYTE,
        ),
        packages={name: str(each) for name, each in versions.items() if each},
        isolation="none",
        trials=trials,
        imported=source,
    )
