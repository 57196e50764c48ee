"""The picture of a run in a gallery: a small SVG without scripts, legible where it is 350 pixels wide."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchfw.report.figures.plot import MARKS, STROKES, View
from benchfw.report.figures.svg import BRIGHTER, Scale, draw_svg

WIDTH, HEIGHT = 400, 240
NAMES, ROW, FOOT = 160, 19, 36  # pixels: names left of dots, a row of dots, the axis below them
MOST_DOTS, MOST_NAMES, LONGEST_NAME = 12, 12, 20
KEPT = 5  # letters at the start of a long name: labels of variants differ at their ends
LETTER = 7.4  # pixels of a letter of 12 pixels, about, in a wide font


def draw_picture(view: View, title: str, *, colour: str = "currentColor") -> str:
    """Return a view as an SVG element with its legend; nothing where it cannot be drawn.

    `colour` is that of text and axes; a file, which knows no colour around it, needs one of its own.
    """
    names = view.layout.get("yaxis", {}).get("categoryarray")
    if names is not None:
        height, inside = _draw_dots(view, names)
    else:
        drawn = draw_svg(_shorten_lines(view), title, (WIDTH, HEIGHT))
        legend_height, legend = _draw_legend(view.data)
        frame = f'<svg width="{WIDTH}" height="{HEIGHT}">{drawn}</svg>'
        height, inside = HEIGHT + legend_height, drawn and frame + legend
    if not inside:
        return ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="{html.escape(title)}" font-family="system-ui, sans-serif" font-size="12" '
        f'fill="{colour}" color="{colour}">{inside}</svg>'
    )


def _shorten_lines(view: View) -> View:
    """Return a view whose lines have so few points as a small picture has room for."""
    return View(view.label, [_thin(each) for each in view.data], view.layout)


def _thin(trace: Mapping[str, Any], most: int = 60) -> dict[str, Any]:
    if trace.get("mode") == "none":  # a band goes there and back
        half = len(trace["x"]) // 2
        kept = _spread(half, most)
        back = [2 * half - 1 - each for each in reversed(kept)]
        chosen = [*kept, *back]
    else:
        chosen = _spread(len(trace["x"]), most)
    found = {**trace, "x": [trace["x"][each] for each in chosen], "y": [trace["y"][each] for each in chosen]}
    bars = trace.get("error_y")
    if bars and "array" in bars:
        sides = {side: [bars[side][each] for each in chosen] for side in ("array", "arrayminus")}
        found["error_y"] = {**bars, **sides}
    return found


def _spread(count: int, most: int) -> list[int]:
    if count <= most:
        return list(range(count))
    return sorted({round(each * (count - 1) / (most - 1)) for each in range(most)})


def _draw_legend(traces: Iterable[Mapping[str, Any]]) -> tuple[int, str]:
    """Return the height of the names of the lines, and the names; theorems' lines share one."""
    found = [each for each in traces if each.get("showlegend", True) and each.get("name")]
    bounds = [each for each in found if each.get("meta", {}).get("part") == "bound"]
    keys = {_cut(str(each["name"])): _draw_key(each) for each in found if each not in bounds}
    shown = list(keys.items())[: MOST_NAMES if len(keys) <= MOST_NAMES else MOST_NAMES - 1]
    if len(keys) > len(shown):
        shown.append((f"and {len(keys) - len(shown)} more", ""))
    if bounds:
        shown.append(("dotted: what theorems promise", ""))
    parts, x, y = [], 10.0, HEIGHT + 12
    for text, key in shown:
        width = (40 if key else 12) + LETTER * len(text)
        if x + width > WIDTH and x > 10:
            x, y = 10.0, y + 18
        parts.append(f'<svg x="{x}" y="{y - 10}" width="24" height="12">{key}</svg>' if key else "")
        shade = "" if key else ' opacity=".75"'
        parts.append(f'<text x="{x + 28 if key else x}" y="{y}"{shade}>{html.escape(text)}</text>')
        x += width
    return (y + 8 - HEIGHT, "".join(parts)) if shown else (0, "")


def _draw_key(trace: Mapping[str, Any]) -> str:
    """Return the line or the mark of a trace in a box of 24 x 12."""
    colour, mode, parts = _colour(trace), str(trace.get("mode", "")), []
    if "lines" in mode:
        dash = STROKES.get(str(trace.get("line", {}).get("dash")), "none")
        parts.append(f'<path d="M0 6H24" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>')
    if "markers" in mode or not parts:
        mark = MARKS.get(str(trace.get("marker", {}).get("symbol")), MARKS["circle"])
        parts.append(f'<path d="{mark}" fill="{colour}"/>')
    return "".join(parts)


def _draw_dots(view: View, names: Sequence[str]) -> tuple[int, str]:
    """Return the height of a dot for each name with its interval, and the drawing."""
    dots = [each for each in view.data if len(each.get("x", ())) == 1 and each["x"][0] is not None]
    dots = sorted(dots, key=lambda each: list(names).index(each["y"][0]))
    shown = dots[:MOST_DOTS]
    if not shown:
        return 0, ""
    ends = [_ends(each) for each in shown]
    log = view.layout.get("xaxis", {}).get("type") == "log"
    scale = _fit([value for each in ends for value in each], log=log)
    bottom = 8 + ROW * len(shown)
    parts = []
    for value, label in scale.ticks():
        x = NAMES + scale(value)
        parts.append(f'<path d="M{x:.1f} 4V{bottom}" stroke="currentColor" stroke-opacity=".13"/>')
        place = f'x="{x:.1f}" y="{bottom + 14}" text-anchor="middle" opacity=".75"'
        parts.append(f"<text {place}>{html.escape(label)}</text>")
    for number, (dot, (low, middle, high)) in enumerate(zip(shown, ends, strict=True)):
        y, colour = 8 + ROW * (number + 0.5), _colour(dot)
        low_x, x, high_x = (NAMES + scale(each) for each in (low, middle, high))
        name = html.escape(_cut(str(dot["y"][0]).replace("<br>", " ")))
        parts.append(f'<text x="{NAMES - 10}" y="{y + 4}" text-anchor="end">{name}</text>')
        parts.append(f'<path d="M{low_x:.1f} {y}H{high_x:.1f}" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<circle cx="{x:.1f}" cy="{y}" r="4.5" fill="{colour}"/>')
    what = str(view.layout.get("xaxis", {}).get("title", {}).get("text", ""))
    more = f", and {len(dots) - len(shown)} more methods" if len(dots) > len(shown) else ""
    said = html.escape(html.unescape(what) + more)
    middle_x = (NAMES + WIDTH) / 2
    parts.append(f'<text x="{middle_x}" y="{bottom + 30}" text-anchor="middle">{said}</text>')
    return bottom + FOOT, "".join(parts)


def _fit(values: Sequence[float], *, log: bool) -> Scale:
    low, high = min(values), max(values)
    if log:
        low, high = math.log10(low), math.log10(high)
    margin = 0.05 * (high - low) or 0.5
    return Scale(low - margin, high + margin, log, 0, WIDTH - NAMES - 14)


def _ends(dot: Mapping[str, Any]) -> tuple[float, float, float]:
    """Return a value between the ends of its interval, as far as these are known."""
    middle, bars = float(dot["x"][0]), dot.get("error_x") or {}
    if not bars.get("visible", False):
        return middle, middle, middle
    down, up = bars["arrayminus"][0], bars["array"][0]
    return middle - (down or 0.0), middle, middle + (up or 0.0)


def _colour(trace: Mapping[str, Any]) -> str:
    colour = str(trace.get("line", {}).get("color") or trace.get("marker", {}).get("color") or "currentColor")
    return html.escape(BRIGHTER.get(colour, colour))


def _cut(name: str) -> str:
    """Return a name as plain text, cut in the middle where it is long; Plotly's names are escaped."""
    text = html.unescape(name)
    return text if len(text) <= LONGEST_NAME else f"{text[:KEPT]}…{text[KEPT + 1 - LONGEST_NAME :]}"
