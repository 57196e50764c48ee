"""The verdicts on kernels: the time of a call on each backend, and how it grows with the size."""

from __future__ import annotations

from collections.abc import Sequence

from benchfw.analysis.decisions import Verdict
from benchfw.report.text import FEW_NAMES, figures, interval_text, join_names
from benchfw.report.verdicts.phrases import begin_with, comparative, rows_of, typical_note, undecided_text
from benchfw.summary.kernels import floor_of
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
    repeated = max(each.trials for each in comparison.tallies.values()) > 1
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
    return f"{what} [95 % interval]{ratios}.{limit}{typical_note(comparison)}"


def measured_backends(comparison: Comparison) -> list[str]:
    """Return the backends that gave some number, in the order of the suite."""
    return list(dict.fromkeys(cell.backend for cell in comparison.measured))


def _sizes_verdict(comparison: Comparison) -> str:
    """Return time and share of the limit at each backend's largest size, and at what sizes one is faster."""
    rows = sorted(rows_of(comparison, "seconds_per_call"), key=lambda row: comparison.size(row.cell))
    largest = {row.cell.backend: row for row in rows}
    said = []
    for backend, row in largest.items():
        share = share_text(comparison, row)
        limit = f", {share.replace(' (', ' of the ').replace(')', ' limit')}" if share else ""
        said.append(f"On {backend}, a call takes {_time_text(comparison, row)} at {row.cell.problem}{limit}.")
    first = comparison.cells[0].backend
    for backend in largest:
        both = [row for row in rows if row.cell.backend == backend and row.ratio is not None]
        if backend == first or not both:
            continue
        verdicts = [comparison.verdict(row.cell, row.quantity) for row in both]
        sizes = [comparison.size(row.cell) for row in both]
        who = begin_with([backend], "backend")
        if all(each is Verdict.NOT_COMPARABLE for each in verdicts):
            said.append(f"Not comparable on {backend} and {first}: three paired runs are needed.")
        elif Verdict.BETTER not in verdicts:
            said.append(f"{who} is not faster than {first} beyond noise up to size {max(sizes):,}.")
        else:
            faster = [size for size, each in zip(sizes, verdicts, strict=True) if each is Verdict.BETTER]
            start = "at every size" if len(faster) == len(sizes) else f"at {join_names(_shown(faster))}"
            last = max(
                (row for row in both if comparison.size(row.cell) in faster),
                key=lambda row: comparison.size(row.cell),
            )
            times = comparative(comparison, last.cell, last.quantity, "faster", "slower")
            if len(faster) == 1 < len(sizes):
                said.append(f"{who} is {times} than {first} {start}.")
            else:
                said.append(f"{who} is faster than {first} {start}, {times} at {last.cell.problem}.")
    return " ".join(said)


def _shown(sizes: Sequence[int]) -> list[str]:
    return [f"size {size:,}" for size in sizes]


def _backends_verdict(comparison: Comparison) -> str:
    """Return the time of each kernel, and how its backends compare."""
    sentences = []
    for row in rows_of(comparison, "seconds_per_call"):
        first = comparison.reference_for(row.cell)
        if row.ratio is None and row.cell == first:
            sentences.append(
                f"A call of {row.cell.method} takes {_time_text(comparison, row)} on {row.cell.backend}."
            )
        elif row.ratio is not None:
            said = comparative(comparison, row.cell, row.quantity, "faster", "slower")
            about = f" between {row.cell.method} on {first.backend} and on {row.cell.backend}"
            unclear = undecided_text(comparison, row.cell, row.quantity, about)
            faster = f"A call of {row.cell.method} is {said} on {row.cell.backend} than on {first.backend}"
            sentences.append(f"{faster if said else unclear}.")
    return " ".join(sentences[: 2 * FEW_NAMES]) + (" …" if len(sentences) > 2 * FEW_NAMES else "")


def _time_text(comparison: Comparison, row: Row) -> str:
    scale, unit = comparison.unit(row.quantity)
    return interval_text(row.interval.scaled(1 / scale), unit)
