"""Draws the intervals that decided claims beside what was claimed: an SVG, legible on light and dark.

Numbers of claims have units of their own. They share an axis where they are measured by what is claimed: as
multiples of the limit, as shares of runs, as positions in a range, or as distances from a limit where
multiples mean nothing: those of a metric, which may have its 0 anywhere, and of differences from 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from benchfw.analysis.claims import Part, Standing
from benchfw.analysis.estimates import Share
from benchfw.analysis.intervals import Interval
from benchfw.claims import Claim, Range, metric_of
from benchfw.report.claims import closest_part
from benchfw.report.figures.drawing import drawing_style, plain_label, save_for_screen
from benchfw.report.text import printable
from benchfw_site.findings import Finding
from benchfw_site.picture import GREY

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH, FONT_SIZE = 760, 13.0  # pixels
ROW, AROUND, BELOW = 22, 50, 30  # pixels: a row, what a panel has above its rows, the legend
MOST_DECADES, MOST_HALF_WIDTHS = 3, 10
LONGEST_LABEL = 30  # characters
CLAIMED = "#2b8ac6"
LOOKS: dict[Standing, dict[str, Any]] = {
    Standing.HOLDS: {"color": "#2b8ac6", "marker": "o"},
    Standing.REFUTED: {"color": "#d55e00", "marker": "x"},
    Standing.UNDECIDED: {"color": GREY, "marker": "o", "fillstyle": "none"},
}
"""A shape for each standing: colour is not all that tells them apart."""


class Measure(StrEnum):
    """In what a number and its claimed range are drawn: a heading of rows that share an axis."""

    MULTIPLE = "found, as a multiple of the claimed limit (or of the middle of the claimed range)"
    SHARE = "found, as a share of the runs"
    POSITION = "found, in the claimed range: -1 and 1 are its ends"
    DISTANCE = "found, less the claimed limit, in half widths of the interval"


@dataclass(frozen=True)
class Row:
    """A line of the plot: a found interval and the claimed range, both in the same measure.

    `known` says whether an end of the interval is known: if none is, its number is not drawn.
    """

    label: str
    says: str
    standing: Standing
    known: bool
    measure: Measure
    found: Interval
    claimed: Range

    @property
    def ends(self) -> list[float]:
        """Return where what is claimed ends: at 0, if that is any other number."""
        return [end for end in (self.claimed.low, self.claimed.high) if math.isfinite(end)] or [0.0]


@dataclass(frozen=True)
class Scale:
    """What rows are drawn along, from `low` to `high`."""

    low: float
    high: float
    ticks: Sequence[float]
    log: bool = False

    def clip(self, value: float) -> float:
        """Return a value; one that is beyond an end is at it."""
        return min(max(value, self.low), self.high)


def find_rows(findings: Sequence[tuple[str, Finding]]) -> list[Row]:
    """Return a row for each claim that a number decided, or left undecided."""
    rows = []
    for label, each in findings:
        if each.result is None or each.result.decided.standing is Standing.NOT_TESTABLE:
            continue
        shown = closest_part(each.result.decided)
        if shown.interval is not None:
            measured = _measure(each.claim, shown.part, shown.interval)
            known = _is_known(shown.part, shown.interval)
            rows.append(Row(label, each.claim.says, each.result.decided.standing, known, *measured))
    return rows


def _is_known(part: Part, found: Interval) -> bool:
    """Return whether an interval leaves out something that a number may be."""
    possible = part.estimate.possible if part.estimate else Range()
    return found.low > possible.low or found.high < possible.high


def draw_intervals(rows: Sequence[Row], title: str) -> str:
    """Return the plot as the text of an SVG file, with axes for each measure."""
    panels = {measure: [row for row in rows if row.measure is measure] for measure in Measure}
    rows_of = [len(own) for own in panels.values() if own]
    with drawing_style(FONT_SIZE, salt=title):
        from matplotlib.figure import Figure
        from matplotlib.patches import Patch

        height = ROW * len(rows) + AROUND * len(rows_of) + BELOW
        canvas = Figure(figsize=(WIDTH / 72, height / 72), layout="constrained")
        boxes = canvas.subplots(len(rows_of), 1, height_ratios=rows_of, squeeze=False)[:, 0]
        for axes, own in zip(boxes, filter(None, panels.values()), strict=True):
            draw_panel(axes, own)
        marks = [boxes[0].plot([], [], label=str(standing), **look)[0] for standing, look in LOOKS.items()]
        claimed = Patch(color=CLAIMED, alpha=0.2, label="claimed")
        beyond = Patch(color="none", label="at an end: there or beyond")
        canvas.legend(handles=[*marks, claimed, beyond], loc="outside lower center", ncols=5)
        return save_for_screen(canvas, title, GREY) + "\n"


def _measure(claim: Claim, part: Part, found: Interval) -> tuple[Measure, Interval, Range]:
    """Return in what a part of a claim is drawn, and its interval and claimed range in that."""
    inside = part.inside
    if isinstance(part.estimate, Share):
        return Measure.SHARE, found, inside
    if part.denied:  # it is anything but what is possible
        return Measure.DISTANCE, _distances(found, part.possible.low), Range()
    unit = 0.0 if claim.test == "value" and metric_of(claim.quantity) else _find_unit(inside)
    if unit != 0 and found.estimate / unit >= 0:
        low, high = sorted([found.low / unit, found.high / unit])
        ends = sorted([inside.low / unit, inside.high / unit])
        return Measure.MULTIPLE, Interval(found.estimate / unit, low, high, found.count), Range(*ends)
    if inside.two_ended:
        middle, half = (inside.low + inside.high) / 2, (inside.high - inside.low) / 2
        low, estimate, high = ((each - middle) / half for each in (found.low, found.estimate, found.high))
        return Measure.POSITION, Interval(estimate, low, high, found.count), Range(-1.0, 1.0)
    claimed = Range(high=0.0) if math.isfinite(inside.high) else Range(low=0.0)
    return Measure.DISTANCE, _distances(found, _find_limit(inside)), claimed


def _find_limit(inside: Range) -> float:
    """Return the one end of a range."""
    return inside.high if math.isfinite(inside.high) else inside.low


def _find_unit(inside: Range) -> float:
    """Return what has multiples in a range: its end, or the middle of two on one side of 0."""
    if inside.two_ended:
        return math.copysign(math.sqrt(max(inside.low * inside.high, 0.0)), inside.low)
    return _find_limit(inside)


def _distances(found: Interval, limit: float) -> Interval:
    """Return an interval less a limit, in its half widths; the known one, where one end is not known."""
    known = [abs(end - found.estimate) for end in (found.low, found.high) if math.isfinite(end)]
    half = (found.high - found.low) / 2 if found.bounded else max(known, default=0.0)

    def divide(value: float) -> float:
        difference = value - limit
        return difference / half if half else math.copysign(math.inf, difference) if difference else 0.0

    return Interval(divide(found.estimate), divide(found.low), divide(found.high), found.count)


def _find_scale(measure: Measure, rows: Sequence[Row]) -> Scale:
    known = [row.found for row in rows if row.known]
    ends = [end for found in known for end in (found.low, found.estimate, found.high)]
    if measure is Measure.SHARE:
        return Scale(0.0, 1.0, (0.0, 0.25, 0.5, 0.75, 1.0))
    if measure is Measure.MULTIPLE:
        far = max((abs(math.log10(end)) for end in ends if 0 < end < math.inf), default=1.0)
        most = min(MOST_DECADES, max(1, math.ceil(far)))
        ticks = [10.0**power for power in range(-most, most + 1)]
        return Scale(ticks[0], ticks[-1], ticks, log=True)
    far = max((abs(end) for end in ends if math.isfinite(end)), default=1.0)
    most = min(MOST_HALF_WIDTHS, max(2, math.ceil(far)))
    return Scale(-most, most, [-most, -most / 2, 0.0, most / 2, most])


def draw_panel(axes: Axes, rows: Sequence[Row]) -> None:
    """Draw rows of one measure into axes of matplotlib, the first one on top."""
    measure = rows[0].measure
    scale = _find_scale(measure, rows)
    for y, row in enumerate(rows):
        start, end, low, middle, high = map(
            scale.clip, (row.claimed.low, row.claimed.high, row.found.low, row.found.estimate, row.found.high)
        )
        look = LOOKS[row.standing]
        axes.barh(y, end - start, left=start, height=0.84, color=CLAIMED, alpha=0.2, linewidth=0)
        axes.vlines([*map(scale.clip, row.ends)], y - 0.5, y + 0.5, colors=GREY, linestyles=(0, (3, 3)))
        axes.plot([low, high], [y, y], color=look["color"], clip_on=False)
        if row.known:
            axes.plot([middle], [y], clip_on=False, **look)
    axes.set_xscale("log" if scale.log else "linear")
    axes.set_xlim(scale.low, scale.high)
    axes.set_xticks(scale.ticks, [f"{tick:g}" for tick in scale.ticks])
    axes.set_xticks([], minor=True)
    axes.xaxis.tick_top()
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_yticks(range(len(rows)), [plain_label(printable(_shorten(row.label))) for row in rows])
    axes.set_title(measure, loc="left")
    axes.spines["bottom"].set_visible(False)


def _shorten(label: str) -> str:
    return label if len(label) <= LONGEST_LABEL else f"{label[: LONGEST_LABEL - 1]}…"
