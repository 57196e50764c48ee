"""A figure as a small SVG drawing without scripts, for a notebook: axes have the colour of its text."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from benchfw.report.figures.plot import MARKS, STROKES, View

WIDTH, HEIGHT = 680, 300
LEFT, RIGHT, TOP, BOTTOM = 62, 14, 10, 44
MOST_TICKS = 7
BRIGHTER = {
    "#0072c6": "#2b8ac6", "#df001a": "#e2453c", "#007b4d": "#1f9468", "#a34795": "#b766aa",
    "#657620": "#7f9136",
    "#27307a": "#6673c9", "#820010": "#b3524f", "#62676d": "#868c93",
}  # fmt: skip
"""The palette where the background is not known: seen on white and on black."""

_DASHES = {**STROKES, "2px,3px": "2 3"}
_TURNS = {"triangle-right": 90, "triangle-down": 180, "triangle-left": 270}
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class Scale(NamedTuple):
    """One axis: from the values at its ends to the pixels there."""

    low: float
    high: float
    log: bool
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the pixel of a value; one that the axis does not have is far outside."""
        if self.log:
            value = math.log10(value) if value > 0 else -1e3
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self) -> list[tuple[float, str]]:
        """Return values at which the axis is labelled, with their labels."""
        if self.log and self.high - self.low >= 1:
            powers = range(math.ceil(self.low - 1e-9), math.floor(self.high + 1e-9) + 1)
            every = math.ceil(len(powers) / MOST_TICKS)
            if len(powers) > 1:
                return [(10.0**k, _power_text(k)) for k in powers[::every]]
            steps = (each * 10.0 ** (powers[0] + shift) for shift in (-1, 0) for each in (1, 2, 5))
            return [(step, f"{step:.6g}") for step in steps if self.low <= math.log10(step) <= self.high]
        ends = (10**self.low, 10**self.high) if self.log else (self.low, self.high)
        step = _nice((ends[1] - ends[0]) / (MOST_TICKS - 2))
        first = math.ceil(ends[0] / step)
        values = [k * step for k in range(first, math.floor(ends[1] / step + 1e-9) + 1)]
        return [(value, f"{value:.6g}" if abs(value) > 1e-9 * step else "0") for value in values]


def draw_svg(view: View, title: str, size: tuple[int, int] = (WIDTH, HEIGHT)) -> str:
    """Return the lines, bands and marks of a view as an SVG element; nothing where it cannot be drawn."""
    inner = size[0] - LEFT - RIGHT, size[1] - TOP - BOTTOM
    traces = [each for each in view.data if each.get("visible", True) is not False and len(each.get("x", ()))]
    names = view.layout.get("yaxis", {}).get("categoryarray")
    if not traces or names is not None or any(isinstance(y, str) for each in traces for y in each["y"]):
        return ""
    lines = [each for each in traces if each.get("mode") != "none"] or traces
    across = _scale(view.layout.get("xaxis", {}), _numbers(lines, "x"), (0, inner[0]))
    ends = [end for each in lines for bar in _bars(each) for end in bar[1:]]
    up = _scale(view.layout.get("yaxis", {}), [*_numbers(lines, "y"), *ends], (inner[1], 0))
    inside = "".join(
        _trace(each, across, up) for each in sorted(traces, key=lambda each: each["mode"] != "none")
    )
    return (
        f'<svg class="figure" viewBox="0 0 {size[0]} {size[1]}" role="img" aria-label="{html.escape(title)}" '
        'font-size="12" fill="currentColor">'
        f"{_axes(across, up, view, size)}"
        f'<svg x="{LEFT}" y="{TOP}" width="{inner[0]}" height="{inner[1]}" overflow="hidden">{inside}</svg>'
        "</svg>"
    )


def _numbers(traces: Iterable[Mapping[str, Any]], key: str) -> list[float]:
    return [float(value) for each in traces for value in each[key] if _is_known(value)]


def _is_known(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def _scale(axis: Mapping[str, Any], values: Sequence[float], ends: tuple[float, float]) -> Scale:
    positive = [value for value in values if value > 0]
    log = axis.get("type") == "log" and bool(positive)
    if "range" in axis:
        low, high = axis["range"]
    elif log:
        low, high = math.log10(min(positive)), math.log10(max(positive))
    else:
        low, high = min(values, default=0.0), max(values, default=1.0)
    if "range" not in axis:
        low, high = low - 0.03 * (high - low), high + 0.03 * (high - low)
    if high - low < 1e-12 * max(abs(low), abs(high), 1.0):
        low, high = low - 0.5, high + 0.5
    return Scale(low, high, log, *ends)


def _power_text(exponent: int) -> str:
    return {0: "1", 1: "10"}.get(exponent, f"10{str(exponent).translate(_RAISED)}")


def _nice(step: float) -> float:
    """Return the next of 1, 2, 5, 10, … times a power of ten."""
    power = 10.0 ** math.floor(math.log10(step))
    return next(each * power for each in (1, 2, 5, 10) if each * power >= 0.999 * step)


def _axes(across: Scale, up: Scale, view: View, size: tuple[int, int]) -> str:
    parts = []
    right, bottom = size[0] - RIGHT, size[1] - BOTTOM
    for value, label in up.ticks():
        y = TOP + up(value)
        parts.append(
            f'<path d="M{LEFT} {y:.1f}H{right}" stroke="currentColor" stroke-opacity=".13"/>'
            f'<text x="{LEFT - 7}" y="{y + 4:.1f}" text-anchor="end" opacity=".75">{label}</text>'
        )
    for value, label in across.ticks():
        x = LEFT + across(value)
        parts.append(
            f'<path d="M{x:.1f} {TOP}V{bottom}" stroke="currentColor" stroke-opacity=".13"/>'
            f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle" opacity=".75">{label}</text>'
        )
    names = [_title(view.layout.get(axis, {})) for axis in ("xaxis", "yaxis")]
    middle = (LEFT + right) / 2, (TOP + bottom) / 2
    return (
        f"{''.join(parts)}"
        f'<path d="M{LEFT} {bottom}H{right}" stroke="currentColor" stroke-opacity=".5"/>'
        f'<text x="{middle[0]}" y="{size[1] - 8}" text-anchor="middle">{names[0]}</text>'
        f'<text transform="translate(14 {middle[1]}) rotate(-90)" text-anchor="middle">{names[1]}</text>'
    )


def _title(axis: Mapping[str, Any]) -> str:
    # Plotly's text is escaped already
    return html.escape(html.unescape(str(axis.get("title", {}).get("text", ""))))


def _trace(trace: Mapping[str, Any], across: Scale, up: Scale) -> str:
    points = [
        (across(float(x)), up(float(y)))
        for x, y in zip(trace["x"], trace["y"], strict=True)
        if _is_known(x) and _is_known(y)
    ]
    if trace["mode"] == "none":
        colour = str(trace.get("fillcolor", "#888888"))
        colour = html.escape(BRIGHTER.get(colour, colour))
        return f'<path d="{_path(points)}Z" fill="{colour}" fill-opacity="{trace.get("opacity", 1):g}"/>'
    line, marker = trace.get("line", {}), trace.get("marker", {})
    colour = str(line.get("color") or marker.get("color") or "currentColor")
    colour = html.escape(BRIGHTER.get(colour, colour))
    drawn = ""
    if "lines" in trace["mode"]:
        steps = line.get("shape") == "hv"
        dash = _DASHES.get(str(line.get("dash", "solid")), "none")
        width = 1 if line.get("width") == 1 else 2
        drawn += (
            f'<path d="{_path(points, steps=steps)}" fill="none" stroke="{colour}" stroke-width="{width}"'
            f' stroke-dasharray="{dash}" stroke-linejoin="round"/>'
        )
    if "markers" in trace["mode"]:
        symbol = str(marker.get("symbol", "circle"))
        shown = points[:: max(1, len(points) // 8)] if "maxdisplayed" in marker else points
        drawn += "".join(_mark(x, y, symbol, colour) for x, y in shown)
    bars = [f"M{across(x):.1f} {_near(up(low)):.1f}V{_near(up(high)):.1f}" for x, low, high in _bars(trace)]
    return drawn + f'<path d="{"".join(bars)}" stroke="{colour}" stroke-width="1.5"/>' if bars else drawn


def _bars(trace: Mapping[str, Any]) -> list[tuple[float, float, float]]:
    """Return the position and both ends of each interval that is known."""
    error = trace.get("error_y") or {}
    if not error.get("visible", True) or "array" not in error:
        return []
    rows = zip(trace["x"], trace["y"], error["arrayminus"], error["array"], strict=True)
    return [(x, y - down, y + more) for x, y, down, more in rows if None not in (x, y, down, more)]


def _path(points: Sequence[tuple[float, float]], *, steps: bool = False) -> str:
    parts = []
    for number, (x, y) in enumerate(points):
        start = "M" if number == 0 else f"H{_near(x):.1f}L" if steps else "L"
        parts.append(f"{start}{_near(x):.1f} {_near(y):.1f}")
    return "".join(parts)


def _near(pixel: float) -> float:
    return max(-1e4, min(1e4, pixel))


def _mark(x: float, y: float, symbol: str, colour: str) -> str:
    """Return a symbol of a method, or an arrow."""
    turned = f" rotate({_TURNS[symbol]})" if symbol in _TURNS else ""
    path = MARKS["triangle-up"] if turned else MARKS.get(symbol.removesuffix("-open"), MARKS["circle"])
    place = f"translate({_near(x):.1f} {_near(y):.1f}){turned} translate(-12 -6)"
    paint = f'fill="none" stroke="{colour}"' if symbol.endswith("-open") else f'fill="{colour}"'
    return f'<path transform="{place}" d="{path}" {paint}/>'
