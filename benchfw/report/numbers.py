"""Numbers as they are shown: three figures, one unit a table, the interval in brackets."""

from __future__ import annotations

import math
from collections.abc import Iterable

from benchfw.analysis.intervals import Interval

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_FIXED = (-3, 5)  # powers of ten that are written out; others as 1.24e-05


def time_unit(seconds: Iterable[float]) -> tuple[float, str]:
    """Return (size in seconds, name) of the largest unit in which the smallest finite time is 0.1 or more."""
    finite = [value for value in seconds if math.isfinite(value) and value > 0]
    smallest = min(finite, default=1.0)
    return next(((size, name) for size, name in _UNITS if smallest >= 0.1 * size), _UNITS[-1])


def figures(value: float, count: int = 3) -> str:
    """Return the value to so many figures: 0.0124, 12.4, 12400, 1.24e-05."""
    if math.isnan(value):
        return "—"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value == 0:
        return "0"
    exponent = _exponent(value, count)
    if not _FIXED[0] <= exponent <= _FIXED[1]:
        return f"{value:.{count - 1}e}"
    return _fixed(value, count - 1 - exponent)


def interval_text(interval: Interval, unit: str = "", count: int = 3) -> str:
    """Return '12.4 ms [12.1, 12.9]': the ends to the place of the estimate, no brackets if unknown."""
    value, low, high = interval.estimate, interval.low, interval.high
    if not math.isfinite(value):
        return f"{figures(value, count)} {unit}".rstrip()
    if high - low <= 1e-9 * abs(value):
        shown = (
            f"{value:g}" if math.isclose(value, round(value)) and abs(value) < 1e6 else figures(value, count)
        )
        return f"{shown} {unit}".rstrip()
    shown = f"{figures(value, count)} {unit}".rstrip()
    unknown = math.isinf(high) and (low == 0 or math.isinf(low))
    if unknown:
        return shown
    return f"{shown} [{_alike(low, value, count)}, {_alike(high, value, count)}]"


def ratio_text(ratio: Interval) -> str:
    """Return '2.3 [2.1, 2.6]': two figures, three where two could not be told from 1."""
    return interval_text(ratio, count=3 if 0.9 < ratio.estimate < 1.1 else 2)


def _alike(end: float, estimate: float, count: int) -> str:
    """Return the end of an interval in the notation of its estimate, to the same decimal place."""
    if not math.isfinite(end) or estimate == 0:
        return figures(end, count)
    exponent = _exponent(estimate, count)
    if not _FIXED[0] <= exponent <= _FIXED[1]:
        return f"{end:.{count - 1}e}" if end else "0"
    if abs(end) >= 10.0 ** (_FIXED[1] + 1):
        return figures(end, count)
    text = _fixed(end, count - 1 - exponent)
    return figures(end, count) if end and float(text) == 0 else text


def _fixed(value: float, decimals: int) -> str:
    return f"{round(value, decimals):.{max(decimals, 0)}f}"


def _exponent(value: float, count: int) -> int:
    return int(f"{value:.{count - 1}e}".partition("e")[2])
