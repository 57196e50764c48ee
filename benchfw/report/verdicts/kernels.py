"""The verdicts on kernels: the time of a call on each backend, and how it grows with the size."""

from __future__ import annotations

import math

from benchfw.report.text import FEW_NAMES, figures, interval_text, ratio_text, time_unit
from benchfw.report.verdicts.phrases import comparative, paired_runs, rows_of
from benchfw.summary.kernels import break_evens, floor_of
from benchfw.summary.model import Comparison, Row


def kernel_verdict(comparison: Comparison) -> str:
    """Return what the times say: of one kernel at several sizes, or of several kernels at one."""
    return _sizes_verdict(comparison) if comparison.by_size else _backends_verdict(comparison)


def share_text(comparison: Comparison, row: Row) -> str:
    """Return the share of the limit with what sets it, '80 % (memory)'; nothing where it is not known."""
    share, floor = comparison.row(row.cell, "fraction_of_limit"), floor_of(comparison, row.cell)
    if share is None or floor is None:
        return ""
    return f"{figures(100 * share.interval.estimate, 2)} % ({floor.limit})"


def kernel_caption(comparison: Comparison) -> str:
    """Return what the brackets are, and the highest rates that the share of the limit is about."""
    repeated = max(map(len, comparison.histories.values())) > 1
    what = "Geometric mean over repetitions" if repeated else "Median over blocks of calls"
    ratios = "; ratios to the first backend" if len(measured_backends(comparison)) > 1 else ""
    ceilings = []
    for backend in measured_backends(comparison):
        moved, computed = (
            [row.interval.estimate for row in rows_of(comparison, name) if row.cell.backend == backend]
            for name in ("ceiling_bytes_per_second", "ceiling_flops_per_second")
        )
        if moved and computed:
            highest = (figures(max(rates) / 1e9) for rates in (moved, computed))
            ceilings.append("{} {} GB/s and {} Gflop/s".format(backend, *highest))
    limit = f" The limit: the highest rates seen here, {'; '.join(ceilings)}." if ceilings else ""
    return f"{what} [95 % interval]{ratios}.{limit}"


def measured_backends(comparison: Comparison) -> list[str]:
    """Return the backends that gave some number, in the order of the suite."""
    return list(dict.fromkeys(cell.backend for cell in comparison.measured))


def _sizes_verdict(comparison: Comparison) -> str:
    """Return time and share of the limit at each backend's largest size, and from what size on one pays."""
    rows = sorted(rows_of(comparison, "seconds_per_call"), key=lambda row: comparison.size(row.cell))
    largest = {row.cell.backend: row for row in rows}
    said = []
    for backend, row in largest.items():
        share = share_text(comparison, row)
        limit = f", {share.replace(' (', ' of the ').replace(')', ' limit')}" if share else ""
        said.append(f"{backend} takes {_time_text(row)} a call at {row.cell.problem}{limit}.")
    first = comparison.cells[0].backend
    for backend, size in break_evens(comparison).items():
        both = [row for row in rows if row.cell.backend == backend and row.ratio is not None]
        if math.isinf(size) or not both or both[-1].ratio is None:
            last = max(comparison.size(row.cell) for row in rows if row.cell.backend == backend)
            said.append(f"{backend} is not faster than {first} up to size {last:,}.")
            continue
        start = "at every size" if size == 0 else f"from size {float(f'{size:.3g}'):,.0f} on"
        times = f"{ratio_text(both[-1].ratio.inverted())} times at {both[-1].cell.problem}"
        said.append(f"{backend} is faster than {first} {start}, {times}.")
    return " ".join(said)


def _backends_verdict(comparison: Comparison) -> str:
    """Return the time of each kernel, and how its backends compare."""
    sentences = []
    for row in rows_of(comparison, "seconds_per_call"):
        first = comparison.reference_for(row.cell)
        if row.ratio is None and row.cell == first:
            sentences.append(f"{row.cell.method} takes {_time_text(row)} a call on {row.cell.backend}.")
        elif row.ratio is not None:
            said = comparative(comparison, row.cell, row.quantity, "faster", "slower")
            unclear = (
                "cannot yet be distinguished" if row.ratio.count == 2 else "shows no difference beyond noise"
            )
            verb = f"is {said} than" if said else f"{unclear} from that"
            alone = f" ({paired_runs(row)})" if row.ratio.count == 1 and not row.ratio.bounded else ""
            sentences.append(f"{row.cell.method} on {row.cell.backend} {verb} on {first.backend}{alone}.")
    return " ".join(sentences[: 2 * FEW_NAMES]) + (" …" if len(sentences) > 2 * FEW_NAMES else "")


def _time_text(row: Row) -> str:
    scale, unit = time_unit([row.interval.estimate])
    return interval_text(row.interval.scaled(1 / scale), unit)
