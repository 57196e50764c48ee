"""Small tables beside the main one, where they apply: restarts, rates."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from benchfw.analysis.intervals import Interval
from benchfw.analysis.rates import Rate
from benchfw.report.tables import TextTable
from benchfw.report.text import interval_text
from benchfw.summary.model import Comparison
from benchfw.summary.quantities import EXPECTED

_RESTARTS = (
    "Some runs end without the target. Started again until it is met, a method takes the expected time: all "
    "that its runs spent over the number of arrivals (ERT, as in COCO) [95 % interval]."
)
_RATES = (
    "The slope of the later half of each curve, under one law for all methods: {law} More negative is "
    "faster; a slope above its theorem's would cross the bound in the end. The law is that of the theorems "
    "where these agree, else the one under which the curves of every method are straighter; where they "
    "differ, or where no slope can be measured, the table is left out. So is a method whose slope changes "
    "within that half, unless a theorem gives it a rate. Mean over repetitions [95 % interval]."
)
_LAWS = {
    "sublinear": "the error falls like a power of the iterations, k^p, and p is shown.",
    "linear": "the error changes by this many per cent in each iteration.",
}
_LAW_NAMES = {"sublinear": "k^p", "linear": "% a step"}


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
        law = comparison.rates[0].law
        words = " ".join([_RATES.format(law=_LAWS[law]), *_bent(comparison)])
        title = f"Rates of {' and '.join(metrics)}, {_LAW_NAMES[law]}"
        yield SideTable(title, words, _rates(comparison))


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
    rates = [rate for rate in comparison.rates if rate.measured or rate.theorem]
    rows: list[tuple[str, ...]] = [
        (
            comparison.name(rate.cell),
            _slope(rate, rate.measured) if rate.measured else "—",
            _slope(rate, rate.theorem) if rate.theorem else "—",
        )
        for rate in rates
    ]
    if len({rate.metric for rate in rates}) > 1:
        header = ("method", "error", *header[1:])
        rows = [(row[0], rate.metric, *row[1:]) for row, rate in zip(rows, rates, strict=True)]
    return TextTable(header, tuple(rows), tuple(rate.cell for rate in rates))


def _bent(comparison: Comparison) -> Iterator[str]:
    """Yield a sentence on each method whose curves do not follow the law, so that they have no rate."""
    for rate in comparison.rates:
        if rate.measured is None:
            first, second = (_slope(rate, Interval(each, each, each, 1)) for each in rate.halves)
            unit = " % a step" if rate.law == "linear" else ""
            yield (
                f"No rate for {comparison.name(rate.cell)}: the slope is {first}{unit} over the first half "
                f"of what is fitted and {second}{unit} over the second, so that this law does not describe "
                "the curve: a level of noise may end its fall, or it follows another law."
            )


def _slope(rate: Rate, slope: Interval) -> str:
    """Return the exponent of the iterations, or the change an iteration in percent."""
    if rate.law == "linear":
        change = [100 * math.expm1(min(end, 700.0)) for end in (slope.estimate, slope.low, slope.high)]
        low, high = change[1:] if slope.bounded else (-math.inf, math.inf)
        slope = Interval(change[0], low, high, slope.count)
    return interval_text(slope)
