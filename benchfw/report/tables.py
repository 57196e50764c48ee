"""The tables that people see: rows of text with one unit a column, the same for terminal and page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchfw.records import Cell
from benchfw.report.text import bound_text, figures, interval_text, ratio_text, spread_text, time_unit
from benchfw.report.verdicts.estimators import PRODUCTS
from benchfw.report.verdicts.kernels import kernel_caption, measured_backends, share_text
from benchfw.report.verdicts.phrases import target_text, typical_note, when_done
from benchfw.summary.draws import SPREADS
from benchfw.summary.model import Comparison, Row
from benchfw.summary.quantities import FEWEST_FOR_MEDIAN, WHEN_DONE

_CALLS = ("seconds_per_call", "device_seconds_per_call", "copy_seconds_per_call")
_CPU = {
    "seconds_to_target": "cpu_seconds_to_target",
    "seconds_per_draw": "cpu_seconds_per_draw",
    "seconds_per_call": "cpu_seconds_per_call",
}
_APART = 0.05  # of the time, that CPU seconds differ from it, for a column of their own
_TIMES = frozenset({"prepare_seconds", *_CALLS, *_CPU, *_CPU.values()})
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
    "relative_efficiency": "relative efficiency",
}


_HEADINGS = {"optimizer": "optimizers", "estimator": "estimators", "kernel": "kernels"}


EXACT_COLUMNS = (
    "method", "backend", "quantity", "estimate", "low", "high", "count", "ratio", "ratio_low", "ratio_high",
)  # fmt: skip


@dataclass(frozen=True)
class TextTable:
    """Text cells under text headers; `cells` says which method each row is about."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    cells: tuple[Cell, ...]


def heading(comparison: Comparison) -> str:
    """Return what a comparison is about: 'least-squares, optimizers'."""
    if comparison.by_size:
        return comparison.problem
    kind = _HEADINGS[comparison.kind]
    return f"{comparison.problem}, {kind}" if comparison.problem else kind


_BEST = {
    "": "",
    "given": "The gap is the distance to the objective that the suite gives as best. ",
    "run": "The gap is the distance to the lowest objective of the repetition in this run, by any method. ",
    "store": "The gap is the distance to the lowest objective of the repetition in this store, in any run. ",
}


def caption(comparison: Comparison) -> str:
    """Return the line above a table: the target if there is one, and what the brackets are."""
    if comparison.kind == "kernel":
        return kernel_caption(comparison)
    aim = f"Target: {target_text(comparison)}. {_target_rule(comparison)}" if comparison.targets else ""
    aim += _BEST[comparison.best]
    what = f"{_middle(comparison)}; ratios to {reference_text(comparison)}, paired by repetition."
    held = " Their 95 % intervals are for one row at a time; those of the verdict allow for the whole report."
    several = held if comparison.decisions else ""
    return f"{aim}{what}{several}{typical_note(comparison)}{_estimator_notes(comparison)}"


def reference_text(comparison: Comparison) -> str:
    """Return the method that ratios are relative to, and why, where it is not the one that was asked for."""
    name = comparison.name(comparison.reference)
    if comparison.replaced is None:
        return name
    return f"{name} ({comparison.name(comparison.replaced)} never reaches the target)"


def _middle(comparison: Comparison) -> str:
    """Return what the numbers of a table are, and their brackets."""
    if comparison.kind != "optimizer":
        return "Mean over repetitions (geometric for times) [95 % interval]"
    runs = max((row.interval.count for row in comparison.rows if row.reached is None), default=0)
    # five values have no interval for their median but their range, which covers it at 15/16
    level = {5: " [94 % interval]"}.get(runs, " [95 % interval]" if runs > FEWEST_FOR_MEDIAN else "")
    return (
        f"At the end the median over repetitions{level}; to the target the geometric mean [lowest, highest "
        "run, as far as looks and the machine tell], the median [its interval] where some run never arrives"
    )


def _target_rule(comparison: Comparison) -> str:
    """Return how a target was set that the suite does not name; no method is treated apart."""
    if not any(target.automatic for target in comparison.targets):
        return ""
    if not all(target.improved for target in comparison.targets):
        return "No method ends below the lowest start in all of its runs. "
    return (
        "It is the worst end of the last method among those that come nine tenths of the way from the start "
        "to the lowest end. "
    )


def _estimator_notes(comparison: Comparison) -> str:
    """Return what the columns of estimators are, and how their bias was tested."""
    if comparison.kind != "estimator":
        return ""
    notes = ""
    rows = [row for row in comparison.rows if row.quantity in ("variance", comparison.product)]
    if any(row.interval.low > 0 and math.isinf(row.interval.high) for row in rows):
        notes += ' "At least": a few draws carry most of the variance, and rarer ones may be missing.'
    if comparison.uneven:
        notes += (
            " Some runs stopped after fewer draws than others, maybe because of what they drew: their "
            "intervals are wider for it."
        )
    if any(row.quantity == "relative_efficiency" for row in comparison.rows):
        notes += f" Relative efficiency: the reference's {PRODUCTS[comparison.product]} over the method's."
    if comparison.tested:
        level = figures(100 * (1 - comparison.family.others_level), 2)
        notes += f" Bias is tested over repetitions at {level} %, a part of the report's 5 %."
        if comparison.biased:
            notes += " A mean may be off because draws too rare to have come are missing from it."
    return notes


def headline_table(comparison: Comparison, *, brief: bool = False) -> TextTable:
    """Return the table that answers the question: a row a method, each quantity with its ratio.

    It has no row where no method gave a number. `brief` keeps the last ratio only, for narrow screens.
    """
    quantities = [
        (quantity, with_ratio)
        for quantity, with_ratio in _with_cpu_times(comparison, _headline(comparison))
        if any(row.quantity == quantity for row in comparison.rows)
    ]
    if brief:
        quantities = [(name, ratio and name == quantities[-1][0]) for name, ratio in quantities]
    header = [_first_header(comparison)]
    columns: list[list[str]] = [[comparison.name(cell) for cell in comparison.measured]]
    for quantity, with_ratio in quantities:
        scale, unit = _unit(comparison, quantity)
        header.append(", ".join(filter(None, [_title(comparison, quantity), unit])))
        rows = [comparison.row(cell, quantity) for cell in comparison.measured]
        columns.append([_cell(comparison, row, scale) for row in rows])
        if with_ratio:
            header.append("ratio")
            columns.append([_ratio_cell(comparison, row) for row in rows])
    return TextTable(tuple(header), tuple(zip(*columns, strict=True)), comparison.measured)


def _first_header(comparison: Comparison) -> str:
    return "size" if comparison.by_size else "method"


def full_table(comparison: Comparison) -> TextTable:
    """Return every number of the comparison: a row a method and quantity, in seconds where it is a time."""
    numbers = ("estimate", "low", "high", "runs", "ratio", "ratio low", "ratio high")
    cells = tuple(row.cell for row in comparison.rows)
    rows = tuple(
        (comparison.name(cell), quantity, *map(_text, values[:3]), str(values[3]), *map(_text, values[4:]))
        for cell, (_, _, quantity, *values) in zip(cells, exact_rows(comparison), strict=True)
    )
    return TextTable((_first_header(comparison), "quantity", *numbers), rows, cells)


def _text(value: float | None) -> str:
    return "" if value is None else figures(value, 4)


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
        off = comparison.biased or comparison.biased_singly or _has_offset(comparison)
        mse = [("mse", True)] if off else []
        product = [(comparison.product, False), ("relative_efficiency", False)]
        return [("bias", False), ("variance", True), *mse, ("seconds_per_draw", False), *product, *_PREPARED]
    shown = [(metric, False) for metric in comparison.metrics[:1]]
    then = [(name, False) for name in when_done(comparison)]
    return [*shown, *then, ("seconds_to_target", True), ("cost_to_target", True), *_PREPARED]


def _with_cpu_times(
    comparison: Comparison, quantities: Sequence[tuple[str, bool]]
) -> Iterator[tuple[str, bool]]:
    """Yield quantities, and after a time the CPU seconds where a method's differ from it.

    So they stand where trials ran beside each other, which makes both longer.
    """
    for name, with_ratio in quantities:
        yield name, with_ratio
        if name in _CPU and (
            comparison.jobs > 1 or any(_differs(comparison, cell, name) for cell in comparison.measured)
        ):
            yield _CPU[name], False


def _differs(comparison: Comparison, cell: Cell, quantity: str) -> bool:
    time, used = comparison.row(cell, quantity), comparison.row(cell, _CPU[quantity])
    if time is None or used is None or not 0 < time.interval.estimate < math.inf:
        return False
    return abs(used.interval.estimate / time.interval.estimate - 1) > _APART


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
    if quantity.endswith(WHEN_DONE):
        done = f"when {comparison.name(comparison.reference)} is done"
        return f"{quantity.removesuffix(WHEN_DONE)} {done}"
    if comparison.kind == "optimizer" and quantity in comparison.metrics:
        return f"{quantity} at the end"
    return _HEADERS.get(quantity, quantity)


def _unit(comparison: Comparison, quantity: str) -> tuple[float, str]:
    if quantity not in _TIMES:
        return _UNITS.get(quantity, (1.0, ""))
    alike = (*_CALLS, _CPU[_CALLS[0]]) if quantity in _CALLS else (quantity,)
    if quantity in _CPU.values():  # in the unit of the time that it stands beside
        return _unit(comparison, next(name for name, used in _CPU.items() if used == quantity))
    return time_unit(row.interval.estimate for row in comparison.rows if row.quantity in alike)


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
