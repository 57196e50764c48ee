"""Text as it is shown: numbers to three figures with intervals in brackets, names that can do no harm."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from benchfw.sweep import leaves

if TYPE_CHECKING:  # NumPy comes with it, and every verb imports this file
    from benchfw.analysis.intervals import Interval

FEW_NAMES = 4
LONGEST_NAME = 60  # characters of a name in a figure; the tables have all of it

_MARKDOWN = re.compile(r"[\\`*_<>|~&#]|(?<=\])\(")
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_MOST_FIGURES = 7
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
    return _format_fixed(value, count - 1 - exponent)


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


def spread_text(interval: Interval, unit: str = "") -> str:
    """Return a variance with its interval, or 'at least 0.83' where only the lower end holds."""
    if math.isinf(interval.high) and interval.low > 0:
        return f"at least {figures(interval.low)} {unit}".rstrip()
    return interval_text(interval, unit)


def ratio_text(ratio: Interval) -> str:
    """Return '2.3 [2.1, 2.6]': two figures, more where an interval that leaves out 1 would read as 1."""
    least = 3 if 0.9 < ratio.estimate < 1.1 else 2
    ends = (ratio.estimate, ratio.low if ratio.low > 1 else ratio.high)
    if ratio.low <= 1 <= ratio.high or not 0 < ratio.estimate < math.inf:
        return interval_text(ratio, count=least)
    return interval_text(ratio, count=_figures_beside_one(ends, ratio.estimate, least))


def factor_text(value: float) -> str:
    """Return the near end of a ratio: two figures, more where it would read as 1."""
    return figures(value, _figures_beside_one([value], value, 2))


def _figures_beside_one(values: Sequence[float], first: float, least: int) -> int:
    """Return how many figures, to the place of the first value, tell values from 1 that are not rounding."""
    for count in range(least, _MOST_FIGURES + 1):
        place = count - 1 - _exponent(first, count)
        if all(round(value, place) != 1 for value in values):
            return count
    return least


def bound_text(ratio: Interval) -> str:
    """Return a ratio of variances: 'at least' or 'at most' where one end is known, '—' where neither is."""
    if ratio.count == 1 or (ratio.low > 0 and math.isfinite(ratio.high)):
        return ratio_text(ratio)
    if ratio.low > 0:
        return f"at least {figures(ratio.low, 2)}"
    return f"at most {figures(ratio.high, 2)}" if math.isfinite(ratio.high) else "—"


def _alike(end: float, estimate: float, count: int) -> str:
    """Return the end of an interval in the notation of its estimate, to the same decimal place."""
    if not math.isfinite(end) or estimate == 0:
        return figures(end, count)
    exponent = _exponent(estimate, count)
    if not _FIXED[0] <= exponent <= _FIXED[1]:
        return f"{end:.{count - 1}e}" if end else "0"
    if abs(end) >= 10.0 ** (_FIXED[1] + 1):
        return figures(end, count)
    text = _format_fixed(end, count - 1 - exponent)
    return figures(end, count) if end and float(text) == 0 else text


def _format_fixed(value: float, decimals: int) -> str:
    return f"{round(value, decimals):.{max(decimals, 0)}f}"


def _exponent(value: float, count: int) -> int:
    return int(f"{value:.{count - 1}e}".partition("e")[2])


def plural(count: int, noun: str) -> str:
    """Return '1 run' or '5 runs'."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def join_names(names: Sequence[str]) -> str:
    """Return 'a, b and c', or the first few and a number."""
    if len(names) > FEW_NAMES:
        return f"{', '.join(names[:FEW_NAMES])} and {len(names) - FEW_NAMES} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def align(header: Sequence[str], rows: Iterable[Sequence[Any]], left: int | None = None) -> Iterator[str]:
    """Yield the lines of a table for a terminal: the first `left` columns to the left, the others right."""
    cells = [tuple(printable(str(cell)) for cell in row) for row in (header, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    sides = [str.ljust if left is None or number < left else str.rjust for number in range(len(widths))]
    for row in cells:
        padded = (side(cell, width) for side, cell, width in zip(sides, row, widths, strict=True))
        yield "  ".join(padded).rstrip()


def flat_facts(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield nested facts as flat pairs, without those that say nothing: ('machine.cores', '8')."""
    for name, value in leaves(facts):
        if value not in ("", None, (), []):
            yield name, ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def printable(text: str) -> str:
    """Return text on one line that cannot steer a terminal: what is invisible is written as an escape.

    A plugin chooses its labels and error messages: none of them may move the cursor or colour the terminal.
    """
    return "".join(each if each.isprintable() else _written_out(each) for each in text)


def _written_out(character: str) -> str:
    return " " if character.isspace() else character.encode("unicode_escape").decode("ascii")


def escape_markdown(text: str) -> str:
    """Return text on one line in which Markdown finds nothing to read."""
    return _MARKDOWN.sub(r"\\\g<0>", printable(text))


def escape_plotly(text: str, longest: int = LONGEST_NAME) -> str:
    """Return text that Plotly shows as it is: it reads a small HTML in every label. Long names are cut."""
    import html  # late: its table of entities is long

    short = text if len(text) <= longest else f"{text[: longest - 1]}…"
    return html.escape(short, quote=False)


def script_json(data: Any) -> str:
    """Return JSON that may stand inside a <script> element: no character in it can end the element."""
    import json

    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
