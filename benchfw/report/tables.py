"""The tables that people see: rows of text with one unit a column, the same for terminal and page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchfw.analysis.intervals import Interval
from benchfw.records import Cell
from benchfw.report.text import (
    Side,
    bound_text,
    figures,
    interval_text,
    ratio_text,
    spread_text,
)
from benchfw.report.verdicts.kernels import measured_backends, share_text
from benchfw.summary.draws import SPREADS
from benchfw.summary.model import Comparison, Row
from benchfw.summary.times import is_time

_CALLS = ("seconds_per_call", "device_seconds_per_call", "copy_seconds_per_call")
_CPU = {
    "seconds_to_target": "cpu_seconds_to_target",
    "seconds_per_draw": "cpu_seconds_per_draw",
    "seconds_per_call": "cpu_seconds_per_call",
}
_APART = 0.05  # of the time, that CPU seconds differ from it, for a column of their own
_COSTS = frozenset({"cost_to_target", "cost_per_draw"})
_PREPARED = (("prepare_seconds", False), ("prepare_cost", False))
_UNITS = {"bytes_per_second": (1e9, "GB/s"), "flops_per_second": (1e9, "Gflop/s"), "bytes_held": (1e6, "MB")}
_HEADERS = {
    "seconds_to_target": "time to target",
    "seconds_per_draw": "time a draw",
    "cpu_seconds_to_target": "CPU time to target",
    "cpu_seconds_per_draw": "CPU time a draw",
    "cpu_seconds_per_call": "CPU time a call",
    "prepare_seconds": "time to prepare",
    "seconds_per_call": "time a call",
    "device_seconds_per_call": "by the device",
    "copy_seconds_per_call": "copies in",
    "bytes_per_second": "",
    "flops_per_second": "",
    "fraction_of_limit": "of the limit",
    "bytes_held": "memory",
    "variance_x_seconds": "variance x seconds",
    "mse_x_seconds": "mse x seconds",
    "variance_x_cpu_seconds": "variance x CPU seconds",
    "mse_x_cpu_seconds": "mse x CPU seconds",
    "relative_efficiency": "typical efficiency",
}

EXACT_COLUMNS = (
    "method", "backend", "quantity", "estimate", "low", "high", "count", "ratio", "ratio_low", "ratio_high",
)  # fmt: skip


@dataclass(frozen=True)
class TextTable:
    """Text cells under text headers; `cells` says which method each row is about.

    `grouped` says that rows with the same text in their second column belong together.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    cells: tuple[Cell, ...]
    grouped: bool = False


def headline_table(comparison: Comparison) -> TextTable:
    """Return the table that answers the question: a row a method, each quantity with its ratio.

    It has no row where no method gave a number.
    """
    quantities = [
        (quantity, with_ratio and comparison.paired)
        for quantity, with_ratio in _with_cpu_times(comparison, _headline(comparison))
        if any(row.quantity == quantity for row in comparison.rows)
    ]
    cells, (header, columns) = grouped_cells(comparison), _leading_columns(comparison)
    for quantity, with_ratio in quantities:
        scale, _ = find_unit(comparison, quantity)
        header.append(column_title(comparison, quantity))
        rows = [comparison.row(cell, quantity) for cell in cells]
        columns.append([_cell(comparison, row, scale) for row in rows])
        if with_ratio:
            header.append("typical ratio" if comparison.kind == "estimator" else "ratio")
            columns.append([_ratio_cell(comparison, row) for row in rows])
    grouped = comparison.sweep is not None and comparison.sweep.contested
    return TextTable(tuple(header), tuple(zip(*columns, strict=True)), cells, grouped)


def grouped_cells(comparison: Comparison) -> tuple[Cell, ...]:
    """Return the methods in the order of a table: value by value, where families of a sweep share values."""
    sweep = comparison.sweep
    if sweep is None or not sweep.contested:
        return comparison.measured
    places = {cell: sweep.place(cell) for cell in comparison.measured}
    return tuple(sorted(places, key=lambda cell: place[1] if (place := places[cell]) else math.inf))


def _leading_columns(comparison: Comparison) -> tuple[list[str], list[list[str]]]:
    """Return headers and columns that say which method a row is about, and at which value of a sweep."""
    sweep, cells = comparison.sweep, grouped_cells(comparison)
    if sweep is None or not sweep.contested:
        return ["size" if comparison.by_size else "method"], [[comparison.name(cell) for cell in cells]]
    places = [sweep.place(cell) for cell in cells]
    names = [
        place[0] if place and place[0] in sweep.curves else comparison.name(cell)
        for cell, place in zip(cells, places, strict=True)
    ]
    return ["method", sweep.parameter], [names, [f"{place[1]:g}" if place else "—" for place in places]]


def full_table(comparison: Comparison) -> TextTable:
    """Return every number of the comparison: a row a method and quantity, in the units of all tables."""
    numbers = ("estimate", "low", "high", "runs", "ratio", "ratio low", "ratio high")
    cells = tuple(row.cell for row in comparison.rows)
    rows = tuple(
        (
            comparison.name(row.cell),
            column_title(comparison, row.quantity),
            *_texts(row.interval.scaled(1 / find_unit(comparison, row.quantity)[0])),
            str(row.interval.count),
            *(_texts(row.ratio) if row.ratio else ("", "", "")),
        )
        for row in comparison.rows
    )
    return TextTable(("size" if comparison.by_size else "method", "quantity", *numbers), rows, cells)


def _texts(interval: Interval) -> Iterator[str]:
    """Yield an estimate and its ends, which are rounded outwards."""
    sides: tuple[Side, ...] = (0, -1, 1)
    for value, side in zip((interval.estimate, interval.low, interval.high), sides, strict=True):
        yield figures(value, 4, side)


def exact_rows(comparison: Comparison) -> list[tuple[Any, ...]]:
    """Return the same numbers unrounded, in the order of EXACT_COLUMNS; None where there is no ratio."""
    return [
        (
            row.cell.method,
            row.cell.backend,
            row.quantity,
            *(row.interval.estimate, row.interval.low, row.interval.high, row.interval.count),
            *((row.ratio.estimate, row.ratio.low, row.ratio.high) if row.ratio else (None, None, None)),
        )
        for row in comparison.rows
    ]


def _headline(comparison: Comparison) -> list[tuple[str, bool]]:
    """Return the quantities of the headline table, each with whether its ratio is shown."""
    if comparison.kind == "kernel":
        times = [(name, len(measured_backends(comparison)) > 1 and name == _CALLS[0]) for name in _CALLS]
        return [*times, *((name, False) for name in (*_UNITS, "fraction_of_limit"))]
    if comparison.kind == "estimator":
        # what a biased estimator lacks in variance it has in its mean squared error
        mse = [("mse", True)] if comparison.biased or _has_offset(comparison) else []
        # the ratio of costs is what operations predict, that of times what the machine makes of it
        costs = [("cost_per_draw", True)] if _costs_differ(comparison) else []
        spent = [*costs, ("seconds_per_draw", True)]
        product = [(comparison.product, False), ("relative_efficiency", False)]
        return [("bias", False), ("variance", True), *mse, *spent, *product, *_PREPARED]
    shown = [(metric, False) for metric in comparison.metrics[:1]]
    return [*shown, ("seconds_to_target", True), ("cost_to_target", True), *_PREPARED]


def _with_cpu_times(
    comparison: Comparison, quantities: Sequence[tuple[str, bool]]
) -> Iterator[tuple[str, bool]]:
    """Yield quantities, and after a time the CPU seconds where a method's differ from it.

    So they stand where trials ran beside each other, which makes both longer, and with the ratio where
    verdicts are about them.
    """
    for name, with_ratio in quantities:
        decides = comparison.by_cpu and name in _CPU
        yield name, with_ratio and not decides
        if name in _CPU and (
            decides
            or comparison.jobs > 1
            or any(_differs(comparison, cell, name) for cell in comparison.measured)
        ):
            yield _CPU[name], with_ratio and decides


def _differs(comparison: Comparison, cell: Cell, quantity: str) -> bool:
    time, used = comparison.row(cell, quantity), comparison.row(cell, _CPU[quantity])
    if time is None or used is None or not 0 < time.interval.estimate < math.inf:
        return False
    return abs(used.interval.estimate / time.interval.estimate - 1) > _APART


def _costs_differ(comparison: Comparison) -> bool:
    costs = [row.interval.estimate for row in comparison.rows if row.quantity == "cost_per_draw"]
    return len(set(costs)) > 1


def _has_offset(comparison: Comparison) -> bool:
    """Whether some estimator always gives the same value, and not the exact one."""
    variances = {row.cell: row.interval.estimate for row in comparison.rows if row.quantity == "variance"}
    biases = [row for row in comparison.rows if row.quantity == "bias"]
    return any(row.interval.estimate != 0 and variances.get(row.cell) == 0 for row in biases)


def _title(comparison: Comparison, quantity: str) -> str:
    if quantity == "cost_to_target":
        return f"{comparison.cost_unit} to target"
    if quantity == "prepare_cost":
        return f"{comparison.cost_unit} to prepare"
    if quantity == "cost_per_draw":
        return f"{comparison.cost_unit} a draw"
    if comparison.kind == "optimizer" and quantity in comparison.metrics:
        return f"{quantity} at the end"
    return _HEADERS.get(quantity, quantity)


def column_title(comparison: Comparison, quantity: str) -> str:
    """Return what a quantity is called above a column or below an axis: 'time to target, ms'."""
    return ", ".join(filter(None, [_title(comparison, quantity), find_unit(comparison, quantity)[1]]))


def find_unit(comparison: Comparison, quantity: str) -> tuple[float, str]:
    """Return the size and the name of the unit in which a quantity is shown."""
    return comparison.unit(quantity) if is_time(quantity) else _UNITS.get(quantity, (1.0, ""))


def _cell(comparison: Comparison, row: Row | None, scale: float) -> str:
    if row is None:
        return "—"
    if row.quantity == "fraction_of_limit":
        return share_text(comparison, row)
    if row.quantity in _UNITS:
        return figures(row.interval.estimate / scale)
    if comparison.kind == "estimator" and row.quantity in (*SPREADS, "relative_efficiency"):
        return bound_text(row.interval) if row.quantity not in SPREADS else spread_text(row.interval)
    if row.reached is not None and math.isinf(row.interval.estimate):
        reached, trials = row.reached
        return "never" if reached == 0 else f"{reached} of {trials} reached"
    text = interval_text(row.interval.scaled(1 / scale))
    if row.reached is not None and row.reached[0] < row.reached[1]:
        text += f", {row.reached[0]} of {row.reached[1]} reached"
    return f"{text} declared" if row.quantity in _COSTS and comparison.declares_cost(row.cell) else text


def _ratio_cell(comparison: Comparison, row: Row | None) -> str:
    if row is None:
        return "—"
    if row.cell == comparison.reference_for(row.cell):
        return "1"
    if row.ratio is None or not 0 < row.ratio.estimate < math.inf:
        return "—"
    first = comparison.row(comparison.reference_for(row.cell), row.quantity)
    if any(each is not None and each.reached and each.reached[0] < each.reached[1] for each in (row, first)):
        return "—"  # the ratio of two medians and the median of the ratios may contradict each other
    if comparison.kind == "estimator" and row.quantity in SPREADS:
        return bound_text(row.ratio)
    return ratio_text(row.ratio)
