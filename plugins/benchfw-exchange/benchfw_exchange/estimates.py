"""The estimates of a run as JSON for tools that track numbers: Bencher and github-action-benchmark."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from benchfw.analysis.intervals import Interval
from benchfw.provenance import Run
from benchfw.records import Result
from benchfw.report.text import figures, plural
from benchfw.summary.exports import summary_rows
from benchfw.summary.model import Comparison, Row, Summary

LONGEST_BENCHMARK, LONGEST_MEASURE = 1024, 64
"""Characters of names, as https://bencher.dev/docs/reference/bencher-metric-format has them."""

_SECONDS = ("seconds", "cpu_seconds", "setup_seconds", "setup_cpu_seconds", "prepare_seconds")
_LOWER_IS_BETTER = {
    *(f"{name}_to_target" for name in (*_SECONDS[:2], "cost", "iterations")),
    *(f"{name}_per_{what}" for name in (*_SECONDS[:2], "cost") for what in ("draw", "call")),
    *_SECONDS[2:],
    *("variance", "mse", "prepare_cost", "bytes_held"),
    *(f"{name}_x_{time}" for name in ("variance", "mse") for time in _SECONDS[:2]),
}  # fmt: skip


class Bencher:
    """All estimates in the Bencher Metric Format, for `bencher run --adapter json`."""

    ending = ".json"

    def export(self, run: Run, summary: Summary, results: Iterable[Result], destination: Path | None) -> str:
        """Return the JSON."""
        return _as_json(bencher_metrics(summary, run))


class GitHubActionBenchmark:
    """The estimates of which lower is better, for github-action-benchmark's customSmallerIsBetter."""

    ending = ".json"

    def export(self, run: Run, summary: Summary, results: Iterable[Result], destination: Path | None) -> str:
        """Return the JSON."""
        return _as_json(github_benchmarks(summary, run))


def _as_json(content: Any) -> str:
    return json.dumps(content, indent=1, allow_nan=False) + "\n"


def bencher_metrics(summary: Summary, run: Run) -> dict[str, dict[str, dict[str, float]]]:
    """Return all estimates in the Bencher Metric Format: benchmark, then measure, then value and its ends.

    What is not finite, such as the time of a method that never arrives, has no place in it and is left out.
    """
    found: dict[str, dict[str, dict[str, float]]] = {}
    for problem, method, backend, quantity, estimate, low, high, *_ in summary_rows(summary):
        name = "/".join(filter(None, [run.suite, str(problem), str(method), str(backend)]))
        metric = {"value": float(estimate), "lower_value": float(low), "upper_value": float(high)}
        if math.isfinite(metric["value"]):
            measures = found.setdefault(name[:LONGEST_BENCHMARK], {})
            measures[str(quantity).replace("_", "-")[:LONGEST_MEASURE]] = {
                key: value for key, value in metric.items() if math.isfinite(value)
            }
    return found


def github_benchmarks(summary: Summary, run: Run) -> list[dict[str, Any]]:
    """Return the estimates for github-action-benchmark's tool customSmallerIsBetter.

    Only quantities of which lower is better, and only finite ones.
    """
    return [
        {
            "name": f"{run.suite}/{_describe(comparison, row)}",
            "unit": _unit(comparison, row.quantity),
            "value": row.interval.estimate,
            **({"range": _range(row.interval)} if row.interval.bounded else {}),
            "extra": plural(row.interval.count, "run"),
        }
        for comparison, row in _lower_rows(summary)
        if math.isfinite(row.interval.estimate)
    ]


def _lower_rows(summary: Summary) -> Iterator[tuple[Comparison, Row]]:
    for comparison in summary.comparisons:
        for row in comparison.rows:
            metric = row.quantity in comparison.metrics and not comparison.is_gain(row.quantity)
            if metric or row.quantity in _LOWER_IS_BETTER:
                yield comparison, row


def _describe(comparison: Comparison, row: Row) -> str:
    return f"{comparison.problem}/{comparison.name(row.cell)}: {row.quantity.replace('_', ' ')}"


def _unit(comparison: Comparison, quantity: str) -> str:
    if quantity.startswith(_SECONDS):
        return "s"
    if quantity.startswith(("cost", "prepare_cost")):
        return comparison.cost_unit
    return {"bytes_held": "bytes"}.get(quantity, "iterations" if quantity.startswith("iterations") else "")


def _range(interval: Interval) -> str:
    return f"{figures(interval.low, side=-1)} to {figures(interval.high, side=1)}"
