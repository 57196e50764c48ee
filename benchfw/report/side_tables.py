"""Small tables beside the main one, where they apply: restarts, rates."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from benchfw.analysis.intervals import Interval
from benchfw.analysis.rates import Slope
from benchfw.report.tables import TextTable
from benchfw.report.text import interval_text
from benchfw.summary.model import Comparison
from benchfw.summary.quantities import EXPECTED

_RESTARTS = (
    "Some runs end without the target. Started again until it is met, a method takes the expected time: all "
    "that its runs spent over the number of arrivals (ERT, as in COCO) [95 % interval]."
)
_RATES = (
    "The slope of the later half of each curve: the power p of the iterations k, or, where that fails, the "
    "change in each iteration. A curve whose slope changes within that half follows neither law. Mean over "
    "repetitions [95 % interval]."
)


@dataclass(frozen=True)
class SideTable:
    """A small table with a title and a paragraph on how to read it."""

    title: str
    words: str
    table: TextTable


def comparison_tables(comparison: Comparison) -> Iterator[SideTable]:
    """Yield what applies to one problem: restarts where some runs did not arrive, rates of errors."""
    if comparison.kind != "optimizer":
        return
    counts = [row.reached for row in comparison.rows if row.quantity == EXPECTED[0] and row.reached]
    if any(0 < there < runs for there, runs in counts):
        yield SideTable("Restarts", _RESTARTS, _restarts(comparison))
    if any(rate.measured for rate in comparison.rates):
        metrics = dict.fromkeys(rate.metric for rate in comparison.rates)
        yield SideTable(f"Rates of {' and '.join(metrics)}", _RATES, _rates(comparison))


def _restarts(comparison: Comparison) -> TextTable:
    """Return the expected times and costs of the methods that arrived at least once."""
    scale, unit = comparison.unit(EXPECTED[0])
    cells, rows = [], []
    for cell in comparison.cells:
        expected, cost = (comparison.row(cell, name) for name in EXPECTED)
        if expected is None or expected.reached is None or math.isinf(expected.interval.estimate):
            continue
        there, runs = expected.reached
        time, spent = expected.interval.scaled(1 / scale), interval_text(cost.interval) if cost else "—"
        cells.append(cell)
        rows.append((comparison.name(cell), f"{there} of {runs}", interval_text(time), spent))
    header = ("method", "runs there", f"expected time, {unit}", f"expected {comparison.cost_unit}")
    return TextTable(header, tuple(rows), tuple(cells))


def _rates(comparison: Comparison) -> TextTable:
    header: tuple[str, ...] = ("method", "measured", "theorem's")
    rates = comparison.rates
    rows: list[tuple[str, ...]] = [
        (
            comparison.name(rate.cell),
            _slope_text(rate.measured) if rate.measured else "follows neither law",
            _slope_text(rate.theorem) if rate.theorem else "—",
        )
        for rate in rates
    ]
    if len({rate.metric for rate in rates}) > 1:
        header = ("method", "error", *header[1:])
        rows = [(row[0], rate.metric, *row[1:]) for row, rate in zip(rows, rates, strict=True)]
    return TextTable(header, tuple(rows), tuple(rate.cell for rate in rates))


def _slope_text(slope: Slope) -> str:
    """Return 'k^p, p = -1.5 [-1.6, -1.4]', or '-3.0 [-3.2, -2.8] % a step'."""
    if slope.law == "sublinear":
        return f"k^p, p = {interval_text(slope.interval)}"
    found = slope.interval
    estimate, low, high = (
        100 * math.expm1(min(end, 700.0)) for end in (found.estimate, found.low, found.high)
    )
    low, high = (low, high) if found.bounded else (-math.inf, math.inf)
    return f"{interval_text(Interval(estimate, low, high, found.count))} % a step"
