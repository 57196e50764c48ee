"""Draws the intervals that decided claims beside what was claimed: an SVG, legible on light and dark.

Numbers of claims have units of their own. They share an axis where they are measured by what is claimed: as
multiples of the limit, as shares of runs, as positions in a range, or as distances from a limit where
multiples mean nothing: those of a metric, which may have its 0 anywhere, and of differences from 0.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from benchfw.analysis.claims import Part, Standing
from benchfw.analysis.estimates import Share
from benchfw.analysis.intervals import Interval
from benchfw.claims import Claim, Range, metric_of
from benchfw.report.claims import closest_part
from benchfw.report.text import printable
from benchfw_site.findings import Finding

WIDTH, ROW, LEFT, RIGHT, TOP, BOTTOM, BETWEEN = 760, 24, 230, 20, 50, 40, 14
MOST_DECADES, MOST_HALF_WIDTHS = 3, 10
LONGEST_LABEL = 30  # characters

STYLE = """\
text { font: 13px system-ui, sans-serif; fill: #767676 }
.claimed { fill: #2b8ac6; opacity: .2 } .grid { stroke: #8886 } .end { stroke: #888; stroke-dasharray: 3 3 }
.holds { stroke: #2b8ac6; fill: #2b8ac6 } .refuted { stroke: #d55e00; fill: #d55e00 }
.undecided { stroke: #767676; fill: none } .found { stroke-width: 2 }"""
"""Colours for a background that is not known: the grey has the same contrast to black and to white."""


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
class Axis:
    """What rows are drawn along, from `low` to `high`; a logarithmic one in powers of ten."""

    low: float
    high: float
    ticks: Sequence[float]
    log: bool = False

    def pixel(self, value: float) -> float:
        """Return where a value is; what is beyond the axis is at its end."""
        place = value
        if self.log:
            place = math.log10(value) if 0 < value < math.inf else math.copysign(math.inf, value - 1)
        share = (min(max(place, self.low), self.high) - self.low) / (self.high - self.low)
        return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)


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
    """Return the plot as the text of an SVG file, with an axis for each measure."""
    parts, top = [], 0.0
    for measure in Measure:
        own = [row for row in rows if row.measure is measure]
        if own:
            parts += _draw_panel(measure, own, top)
            top += TOP + ROW * len(own) + BETWEEN
    height = top + BOTTOM
    size = f'viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" height="{height:g}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{_escape(title)}">',
            f"<style>\n{STYLE}\n</style>",
            *parts,
            *_legend(top + BOTTOM / 2),
            "</svg>",
            "",
        ]
    )


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


def _find_axis(measure: Measure, rows: Sequence[Row]) -> Axis:
    known = [row.found for row in rows if row.known]
    ends = [end for found in known for end in (found.low, found.estimate, found.high)]
    if measure is Measure.SHARE:
        return Axis(0.0, 1.0, (0.0, 0.25, 0.5, 0.75, 1.0))
    if measure is Measure.MULTIPLE:
        far = max((abs(math.log10(end)) for end in ends if 0 < end < math.inf), default=1.0)
        most = min(MOST_DECADES, max(1, math.ceil(far)))
        return Axis(-most, most, [10.0**power for power in range(-most, most + 1)], log=True)
    far = max((abs(end) for end in ends if math.isfinite(end)), default=1.0)
    most = min(MOST_HALF_WIDTHS, max(2, math.ceil(far)))
    return Axis(-most, most, [-most, -most / 2, 0.0, most / 2, most])


def _draw_panel(measure: Measure, rows: Sequence[Row], top: float) -> list[str]:
    """Return a heading, an axis and its rows."""
    axis, start, bottom = _find_axis(measure, rows), top + TOP, top + TOP + ROW * len(rows)
    parts = [f'<text x="{LEFT}" y="{top + 18:g}">{measure}</text>']
    for tick in axis.ticks:
        x = axis.pixel(tick)
        parts.append(f'<line class="grid" x1="{x}" x2="{x}" y1="{start:g}" y2="{bottom:g}"/>')
        parts.append(f'<text x="{x}" y="{start - 10:g}" text-anchor="middle">{tick:g}</text>')
    for number, row in enumerate(rows):
        parts += _draw_row(row, start + ROW * (number + 0.5), axis)
    return parts


def _draw_row(row: Row, y: float, axis: Axis) -> list[str]:
    start, end = axis.pixel(row.claimed.low), axis.pixel(row.claimed.high)
    low, dot, high = (axis.pixel(each) for each in (row.found.low, row.found.estimate, row.found.high))
    label = row.label if len(row.label) <= LONGEST_LABEL else f"{row.label[: LONGEST_LABEL - 1]}…"
    width = round(end - start, 1)
    ends = [
        f'<line class="end" x1="{x}" x2="{x}" y1="{y - ROW / 2:g}" y2="{y + ROW / 2:g}"/>'
        for x in map(axis.pixel, row.ends)
    ]
    return [
        f"<g><title>{_escape(row.says)}</title>",
        f'<rect class="claimed" x="{start}" y="{y - ROW / 2 + 2:g}" width="{width}" height="{ROW - 4}"/>',
        f'<text x="{LEFT - 12}" y="{y + 4:g}" text-anchor="end">{_escape(label)}</text>',
        *ends,
        f'<line class="found {row.standing}" x1="{low}" x2="{high}" y1="{y:g}" y2="{y:g}"/>',
        *([_mark(row.standing, dot, y)] if row.known else []),
        "</g>",
    ]


def _mark(standing: Standing, x: float, y: float) -> str:
    """Return a mark with a shape of its own for each standing: colour is not all that tells them apart."""
    if standing is Standing.REFUTED:
        return f'<path class="found {standing}" d="M{x - 4} {y - 4}l8 8m0 -8l-8 8"/>'
    return f'<circle class="found {standing}" cx="{x}" cy="{y}" r="4.5"/>'


def _legend(y: float) -> list[str]:
    parts, x = [], LEFT // 2
    for standing in (Standing.HOLDS, Standing.REFUTED, Standing.UNDECIDED):
        parts += [_mark(standing, x, y), f'<text x="{x + 12}" y="{y + 4:g}">{standing}</text>']
        x += 100
    parts.append(f'<rect class="claimed" x="{x - 8}" y="{y - 8:g}" width="24" height="16"/>')
    parts.append(f'<text x="{x + 24}" y="{y + 4:g}">claimed</text>')
    parts.append(f'<text x="{x + 100}" y="{y + 4:g}">at an end: there or beyond</text>')
    return parts


def _escape(text: str) -> str:
    return html.escape(printable(text))
