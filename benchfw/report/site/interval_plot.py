"""Draws the intervals that decided claims beside what was claimed: an SVG, legible on light and dark."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass

from benchfw.analysis.claims import Standing
from benchfw.analysis.estimates import Share
from benchfw.analysis.intervals import Interval
from benchfw.claims import Range
from benchfw.report.claims import closest_part
from benchfw.report.site.findings import Finding
from benchfw.report.text import printable

WIDTH, ROW, LEFT, RIGHT, TOP, BOTTOM = 760, 24, 230, 20, 30, 62
MOST_DECADES = 3
LONGEST_LABEL = 32  # characters

STYLE = """\
text { font: 13px system-ui, sans-serif; fill: #767676 }
.claimed { fill: #2b8ac6; opacity: .2 } .grid { stroke: #8886 } .end { stroke: #888; stroke-dasharray: 3 3 }
.holds { stroke: #2b8ac6; fill: #2b8ac6 } .refuted { stroke: #d55e00; fill: #d55e00 }
.undecided { stroke: #767676; fill: none } .found { stroke-width: 2 }"""
"""Colours for a background that is not known: the grey has the same contrast to black and to white."""


@dataclass(frozen=True)
class Row:
    """A line of the plot: a found interval and the claimed range, both as multiples of a claimed end."""

    label: str
    says: str
    standing: Standing
    found: Interval
    claimed: Range


def find_rows(findings: Sequence[tuple[str, Finding]]) -> list[Row]:
    """Return a row for each claim that was decided by an interval that has a ratio to what is claimed."""
    rows = []
    for label, each in findings:
        if each.result is None or each.result.decided.standing is Standing.NOT_TESTABLE:
            continue
        shown = closest_part(each.result.decided)
        scaled = None if isinstance(shown.part.estimate, Share) else _scale(shown.interval, shown.part.inside)
        if scaled is not None:
            rows.append(Row(label, each.claim.says, each.result.decided.standing, *scaled))
    return rows


def draw_intervals(rows: Sequence[Row], title: str) -> str:
    """Return the plot as the text of an SVG file."""
    decades = _decades(rows)
    height = TOP + ROW * len(rows) + BOTTOM
    bottom = TOP + ROW * len(rows)
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{_escape(title)}">',
        f"<style>\n{STYLE}\n</style>",
    ]
    for power in range(-decades, decades + 1):
        x = _pixel(10.0**power, decades)
        parts.append(f'<line class="grid" x1="{x}" x2="{x}" y1="{TOP}" y2="{bottom}"/>')
        parts.append(f'<text x="{x}" y="{TOP - 10}" text-anchor="middle">{10.0**power:g}</text>')
    for number, row in enumerate(rows):
        parts += _draw_row(row, TOP + ROW * (number + 0.5), decades)
    middle = _pixel(1.0, decades)
    parts.append(f'<line class="end" x1="{middle}" x2="{middle}" y1="{TOP}" y2="{bottom}"/>')
    parts += _legend(bottom)
    return "\n".join([*parts, "</svg>", ""])


def _scale(found: Interval | None, inside: Range) -> tuple[Interval, Range] | None:
    """Return an interval and a range divided by the range's end, or the middle of its two; None without."""
    if inside.two_ended:
        unit = math.copysign(math.sqrt(max(inside.low * inside.high, 0.0)), inside.low)
    else:
        unit = inside.high if math.isfinite(inside.high) else inside.low
    if found is None or unit == 0 or not found.estimate / unit > 0 or math.isinf(found.estimate):
        return None
    low, high = sorted([found.low / unit, found.high / unit])
    ends = sorted([inside.low / unit, inside.high / unit])
    return Interval(found.estimate / unit, low, high, found.count), Range(*ends)


def _decades(rows: Sequence[Row]) -> int:
    """Return how many powers of ten the axis has on each side of the claimed end."""
    ends = [end for row in rows for end in (row.found.low, row.found.estimate, row.found.high)]
    far = max((abs(math.log10(end)) for end in ends if 0 < end < math.inf), default=1.0)
    return min(MOST_DECADES, max(1, math.ceil(far)))


def _pixel(value: float, decades: int) -> float:
    """Return where a multiple of the claimed end is; what is beyond the axis is at its end."""
    power = math.log10(value) if 0 < value < math.inf else math.copysign(math.inf, value - 1)
    share = (min(max(power, -decades), decades) + decades) / (2 * decades)
    return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)


def _draw_row(row: Row, y: float, decades: int) -> list[str]:
    start, end = _pixel(row.claimed.low, decades), _pixel(row.claimed.high, decades)
    low, dot, high = (_pixel(each, decades) for each in (row.found.low, row.found.estimate, row.found.high))
    label = row.label if len(row.label) <= LONGEST_LABEL else f"{row.label[: LONGEST_LABEL - 1]}…"
    width = round(end - start, 1)
    return [
        f"<g><title>{_escape(row.says)}</title>",
        f'<rect class="claimed" x="{start}" y="{y - ROW / 2 + 2}" width="{width}" height="{ROW - 4}"/>',
        f'<text x="{LEFT - 12}" y="{y + 4}" text-anchor="end">{_escape(label)}</text>',
        f'<line class="found {row.standing}" x1="{low}" x2="{high}" y1="{y}" y2="{y}"/>',
        _mark(row.standing, dot, y),
        "</g>",
    ]


def _mark(standing: Standing, x: float, y: float) -> str:
    """Return a mark with a shape of its own for each standing: colour is not all that tells them apart."""
    if standing is Standing.REFUTED:
        return f'<path class="found {standing}" d="M{x - 4} {y - 4}l8 8m0 -8l-8 8"/>'
    return f'<circle class="found {standing}" cx="{x}" cy="{y}" r="4.5"/>'


def _legend(bottom: float) -> list[str]:
    parts, x, y = [], LEFT, bottom + 40
    for standing in (Standing.HOLDS, Standing.REFUTED, Standing.UNDECIDED):
        parts += [_mark(standing, x, y), f'<text x="{x + 12}" y="{y + 4}">{standing}</text>']
        x += 100
    parts.append(f'<rect class="claimed" x="{x - 8}" y="{y - 8}" width="24" height="16"/>')
    parts.append(f'<text x="{x + 24}" y="{y + 4}">claimed</text>')
    words = "found, as a multiple of the claimed limit (or of the middle of the claimed range)"
    parts.append(f'<text x="{LEFT}" y="{bottom + 20}">{words}</text>')
    return parts


def _escape(text: str) -> str:
    return html.escape(printable(text))
