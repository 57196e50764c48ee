"""Results as files of ASV (airspeed velocity), which draws a quantity over the commits of a repository."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import product
from pathlib import Path
from typing import Any

from benchfw.errors import BenchfwError
from benchfw.names import choose_name
from benchfw.provenance import Run
from benchfw.records import Result
from benchfw.summary.exports import summary_rows
from benchfw.summary.model import Summary

_ASV_RESULTS, _ASV_BENCHMARKS, _ASV_MACHINE = 2, 2, 1
"""The versions of ASV's three kinds of files that are written here."""

_ASV_UNITS = {"seconds": "s", "setup_seconds": "s", "iterations": "iterations", "cost": "oracle calls"}


class Asv:
    """Estimates in a folder of results of ASV, which `asv publish` draws over commits."""

    ending = "/"

    def export(self, run: Run, summary: Summary, results: Iterable[Result], destination: Path) -> str:
        """Add the run, which must have been made in a clean git checkout."""
        return str(write_asv(run, summary_rows(summary), destination))


def identifier(name: str) -> str:
    """Return a name as Python writes classes: "hutch++" is HutchPlusPlus, "step=1.5" Step1Point5."""
    words = re.findall(r"[^\W_]+", re.sub(r"(?<=\d)\.(?=\d)", " point ", name.replace("+", " plus ")))
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
    taken: set[str] = set()
    names = {
        method: choose_name(identifier(method), taken, "_")
        for method in dict.fromkeys(each for each, _ in groups)
    }
    found = []
    for (method, quantity), cells in groups.items():
        params = [list(dict.fromkeys(names)) for names in zip(*cells, strict=True)]
        values = [cells.get((problem, backend), math.nan) for problem, backend in product(*params)]
        quoted = [[repr(name) for name in names] for names in params]
        benchmark = {
            "name": f"{identifier(suite)}.{names[method]}.track_{quantity}",
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
