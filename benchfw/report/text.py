"""Text as it is shown: numbers to three figures with intervals in brackets, names that can do no harm."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from benchfw.sweep import leaves

if TYPE_CHECKING:  # NumPy comes with it, and every verb imports this file
    from benchfw.analysis.intervals import Interval

FEW_NAMES = 4
LONGEST_NAME = 60  # characters of a name in a figure; the tables have all of it

_PARENTHESES = re.compile(r"\([^()]*\)")
_POWER = re.compile(r"((?<![\d.])1|(?<=\d))e([+-]\d+)")
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_MARKDOWN = re.compile(r"[\\`*_<>|~&#]|(?<=\])\(")
Side: TypeAlias = Literal[-1, 0, 1]
"""Where a number is rounded to: down, to the nearest, up."""

_UP: Side = 1
_EXACT = 17  # figures that tell all doubles apart
_MOST_FIGURES = 12
_MORE_FIGURES = 2  # of a ratio with a narrow interval
_NEAR_ONE = 1.005
_SAME = 1e-12  # apart are ends of a ratio that differ by rounding
_FIXED = (-3, 5)  # powers of ten that are written out; others as 1.24e-05


def figures(value: float, count: int = 3, side: Side = 0) -> str:
    """Return the value to so many figures: 0.0124, 12.4, 12400, 1.24e-05; a bound is rounded to its side."""
    if math.isnan(value):
        return "—"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value == 0:
        return "0"
    if side:  # 9.996 is at least 9.99, not at least 9.9
        value = _rounded(value, count - 1 - _exponent(value, _EXACT), side)
    exponent = _exponent(value, count)
    if not _FIXED[0] <= exponent <= _FIXED[1]:
        return f"{value:.{count - 1}e}"
    return _format_fixed(value, count - 1 - exponent)


def interval_text(interval: Interval, unit: str = "", count: int = 3) -> str:
    """Return '12.4 ms [12.1, 12.9]', no brackets if unknown.

    The ends have the place of the estimate and are rounded outwards: what is printed holds for certain.
    """
    return _join(_interval_numbers(interval, count), unit)


def sided_text(interval: Interval, limits: Iterable[float], unit: str = "", least: int = 3) -> str:
    """Return an interval with so many figures that all of it reads on the side of a limit where it is."""
    exact, ends = (interval.estimate, interval.low, interval.high), [*filter(math.isfinite, limits)]
    for count in range(least, _MOST_FIGURES + 1):
        shown = _interval_numbers(interval, count)
        numbers = [(value, _read(text)) for value, text in zip(exact, shown, strict=False)]
        if all(_side(value, end) == _side(text, end) for value, text in numbers for end in ends):
            return _join(shown, unit)
    return interval_text(interval, unit, least)


def _interval_numbers(interval: Interval, count: int) -> list[str]:
    """Return the estimate as it is shown, and the two ends if they are."""
    value, low, high = interval.estimate, interval.low, interval.high
    if math.isfinite(value) and high - low <= 1e-9 * abs(value):
        whole = math.isclose(value, round(value)) and abs(value) < 1e6
        return [f"{value:g}" if whole else figures(value, count)]
    unknown = math.isinf(high) and (low == 0 or math.isinf(low))
    if unknown or not math.isfinite(value):
        return [figures(value, count)]
    return [figures(value, count), _end_text(low, value, count, -1), _end_text(high, value, count, 1)]


def _join(numbers: Sequence[str], unit: str) -> str:
    value, *ends = numbers
    shown = f"{value} {unit}".rstrip()
    return f"{shown} [{', '.join(ends)}]" if ends else shown


def _side(value: float, limit: float) -> int:
    return (value > limit) - (value < limit)


def _read(text: str) -> float:
    return float(text.replace("∞", "inf").replace("—", "nan"))


def spread_text(interval: Interval, unit: str = "") -> str:
    """Return a variance with its interval, or 'at least 0.83' where only the lower end holds."""
    if math.isinf(interval.high) and interval.low > 0:
        return f"at least {figures(interval.low, side=-1)} {unit}".rstrip()
    return interval_text(interval, unit)


def ratio_text(ratio: Interval) -> str:
    """Return '2.3 [2.1, 2.6]': two figures, more for an interval that is narrower than their last place.

    Also where an interval that leaves out 1 would read as if it held it.
    """
    least = ratio_figures(ratio)
    if ratio.low <= 1 <= ratio.high:
        return raise_powers(interval_text(ratio, count=least))
    return raise_powers(sided_text(ratio, [1.0], least=least))


def raise_powers(text: str) -> str:
    """Return text with powers of ten as people write them: 3.1 × 10⁷ for 3.1e+07, 10⁻⁶ for 1e-06."""
    times = "\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}"
    return _POWER.sub(
        lambda found: f"{'' if found[1] else times}10{str(int(found[2])).translate(_RAISED)}", text
    )


def times_text(ratio: Interval) -> str:
    """Return how far a ratio lies from 1, on either side: '2.3 [2.1, 2.6] times' for 0.43 too.

    '0.30 % [0.21, 0.39]' where a factor would read as 1.
    """
    if not _reads_as_one(ratio.estimate):
        return f"{ratio_text(ratio if ratio.estimate > 1 else ratio.inverted())} times"
    share, *ends = (100 * abs(each - 1) for each in (ratio.estimate, ratio.low, ratio.high))
    if ratio.high - ratio.low <= _SAME:
        ends = [share, share]
    shown = replace(ratio, estimate=share, low=min(ends), high=max(ends))
    return raise_powers(interval_text(shown, "%", 2))


def times_end(factor: float, side: Side = -1) -> str:
    """Return a bound of a factor above 1, rounded to its side: '2.1 times', '0.30 %' for 1.003."""
    return " ".join(_number_and_unit(factor, side))


def times_range(low: float, high: float) -> str:
    """Return '1.8 to 3.9 times', '40 or more times', 'up to 3.9 times' where the lower would read as 1."""
    (first, unit), (last, other) = (_number_and_unit(each, 0) for each in (low, high))
    if math.isinf(high):
        return f"{first} or more {unit}"
    if unit != other:
        return f"up to {last} {other}"
    return f"{first} {unit}" if first == last else f"{first} to {last} {unit}"


def _number_and_unit(factor: float, side: Side) -> tuple[str, str]:
    if _reads_as_one(factor):
        return raise_powers(figures(100 * (1 - 1 / factor), 2, side)), "%"
    return raise_powers(sided_end(factor, [1.0], side)), "times"


def _reads_as_one(ratio: float) -> bool:
    """Return whether a ratio is 1 to three figures."""
    return ratio > 0 and max(ratio, 1 / ratio) < _NEAR_ONE


def ratio_figures(ratio: Interval) -> int:
    """Return how many figures a ratio has: two, more near 1 and where its interval is narrow."""
    least = 3 if 0.9 < ratio.estimate < 1.1 else 2
    if not 0 < ratio.estimate < math.inf:
        return least
    width = ratio.high - ratio.low
    for _ in range(_MORE_FIGURES):
        if 1e-9 * ratio.estimate < width < 10.0 ** (_exponent(ratio.estimate, least) + 1 - least):
            least += 1
    return least


def factor_text(value: float, side: Side = -1) -> str:
    """Return a bound of a ratio, rounded to its side: two figures, more where it would read as 1."""
    return raise_powers(sided_end(value, [1.0], side))


def sided_end(value: float, limits: Iterable[float], side: Side) -> str:
    """Return a bound, rounded to its side: two figures, more where it would read as beyond a limit."""
    ends = [*filter(math.isfinite, limits)]
    for count in range(2, _MOST_FIGURES + 1):
        shown = figures(value, count, side)
        if all(_side(value, end) == _side(_read(shown), end) for end in ends):
            return shown
    return figures(value, 2, side)


def sided_figures(value: float, limit: float) -> str:
    """Return a number with three figures, or as many as put it on the side of a limit where it is."""
    texts = (figures(value, count) for count in range(3, _MOST_FIGURES + 1))
    return next((each for each in texts if _side(_read(each), limit) == _side(value, limit)), figures(value))


def bound_text(ratio: Interval) -> str:
    """Return a ratio of variances: 'at least' or 'at most' where one end is known, '—' where neither is."""
    if ratio.count == 1 or (ratio.low > 0 and math.isfinite(ratio.high)):
        return ratio_text(ratio)
    if ratio.low > 0:
        return f"at least {factor_text(ratio.low)}"
    return f"at most {factor_text(ratio.high, _UP)}" if math.isfinite(ratio.high) else "—"


def _end_text(end: float, estimate: float, count: int, side: Side) -> str:
    """Return the end of an interval in the notation of its estimate, to the same decimal place."""
    if not math.isfinite(end) or estimate == 0 or end == 0 or abs(end) >= 10.0 ** (_FIXED[1] + 1):
        return figures(end, count, side)
    exponent = _exponent(estimate, count)
    if not _FIXED[0] <= exponent <= _FIXED[1]:
        return f"{_rounded(end, count - 1 - _exponent(end, _EXACT), side):.{count - 1}e}"
    place = count - 1 - exponent
    text = _format_fixed(_rounded(end, place, side), place)
    return figures(end, count, side) if float(text) == 0 else text


def _rounded(value: float, decimals: int, side: Side) -> float:
    """Return the value to a decimal place, not above it (side -1) or not below it (side 1)."""
    nearest = round(value, decimals)
    # 2.6 is 2.6, though the binary number is above it
    if not side or math.isclose(nearest, value, rel_tol=1e-9) or (nearest > value) == (side > 0):
        return nearest
    return round(nearest + side * 10.0**-decimals, decimals)


def _format_fixed(value: float, decimals: int) -> str:
    return f"{round(value, decimals):.{max(decimals, 0)}f}"


def _exponent(value: float, count: int) -> int:
    return int(f"{value:.{count - 1}e}".partition("e")[2])


def plural(count: int, noun: str) -> str:
    """Return '1 run' or '5 runs'."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def join_names(names: Sequence[str]) -> str:
    """Return 'a, b and c', or the first few and a number; 'a, b; c' where a name has a comma of its own."""
    if len(names) > 1 and any(", " in _PARENTHESES.sub("", name) for name in names):
        more = [f"{len(names) - FEW_NAMES} more"] if len(names) > FEW_NAMES else []
        return "; ".join([*names[:FEW_NAMES], *more])
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


def script_json(data: Any, default: Callable[[Any], Any] | None = None) -> str:
    """Return JSON that may stand inside a <script> element: no character in it can end the element.

    `default` returns what stands for an object that JSON does not have.
    """
    import json

    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"), default=default)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
