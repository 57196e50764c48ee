"""The summary as text: a table with colours in a terminal, plain aligned columns anywhere else."""

from __future__ import annotations

import os
import textwrap
import unicodedata
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Literal, TextIO

from benchfw.report.tables import Table, caption, heading, headline_table
from benchfw.report.verdicts.verdict import verdict
from benchfw.summary.summarize import Comparison, Summary

if TYPE_CHECKING:
    from rich.console import Console

_PLAIN_WIDTH = 110


def print_summary(summary: Summary, file: TextIO, width: int | None = None) -> None:
    """Write the verdicts, the tables, and what failed with its reasons."""
    if not file.isatty() or os.environ.get("NO_COLOR"):
        file.write("\n".join(_plain_lines(summary, width or _PLAIN_WIDTH)) + "\n")
        return
    from rich.console import Console

    _draw(summary, Console(file=file, width=width, highlight=False))


def visible(text: str) -> str:
    """Return the text on one line with every control and direction character written out as an escape.

    A plugin chooses its labels and error messages: none of them may move the cursor or colour the terminal.
    """
    flat = " ".join(text.split("\n"))
    return "".join(_escaped(c) if unicodedata.category(c) in {"Cc", "Cf", "Zl", "Zp"} else c for c in flat)


def _plain_lines(summary: Summary, width: int) -> Iterator[str]:
    for comparison in summary.comparisons:
        said = f"{visible(heading(comparison))}: {visible(verdict(comparison))}"
        yield from textwrap.wrap(said, width, subsequent_indent="  ", break_on_hyphens=False)
    for caveat in summary.caveats:
        yield from textwrap.wrap(visible(f"caveat: {caveat.sentence}"), width, subsequent_indent="  ")
    for comparison in summary.measured:
        yield ""
        yield visible(heading(comparison))
        yield f"  {visible(caption(comparison))}"
        yield from aligned(headline_table(comparison))
    faults = list(_fault_lines(summary))
    if faults:
        yield from ("", "What did not finish")
        for line in faults:
            yield from textwrap.wrap(line, width, initial_indent="  ", subsequent_indent="    ")


def aligned(table: Table) -> Iterator[str]:
    """Yield the lines of a table: the first column to the left, numbers to the right."""
    cells = [tuple(map(visible, row)) for row in (table.header, *table.rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for number, row in enumerate(cells):
        padded = [row[0].ljust(widths[0]), *_right(row[1:], widths[1:])]
        yield f"  {'  '.join(padded)}".rstrip()
        if number == 0:
            yield f"  {'  '.join('-' * size for size in widths)}"


def _right(cells: Iterable[str], widths: Iterable[int]) -> Iterator[str]:
    return (cell.rjust(size) for cell, size in zip(cells, widths, strict=True))


def _fault_lines(summary: Summary) -> Iterator[str]:
    for fault in summary.faults:
        place = f"{fault.method} on {fault.problem} ({fault.backend})"
        advice = f" — {fault.advice}" if fault.advice else ""
        yield visible(f"{place}: {fault.sentence}{advice}")


def _draw(summary: Summary, console: Console) -> None:
    from rich.padding import Padding
    from rich.text import Text

    for comparison in summary.comparisons:
        said = Text(visible(heading(comparison)), style="bold")
        said.append(f": {visible(verdict(comparison))}", style="not bold")
        console.print(said)
    for caveat in summary.caveats:
        console.print(Text(visible(f"caveat: {caveat.sentence}"), style="yellow"))
    for comparison in summary.measured:
        _draw_table(comparison, console)
    faults = list(_fault_lines(summary))
    if faults:
        console.print(Text("What did not finish", style="bold yellow"))
        for line in faults:
            console.print(Padding(Text(line), (0, 0, 0, 2)))


def _draw_table(comparison: Comparison, console: Console) -> None:
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    table = _fitted(comparison, console.width)
    drawn = RichTable(
        title=Text(visible(heading(comparison)), style="bold"),
        caption=Text(visible(caption(comparison)), style="dim"),
        box=box.SIMPLE_HEAD,
        title_justify="left",
        caption_justify="left",
        pad_edge=False,
    )
    fits = _width(table) <= console.width
    for number, header in enumerate(table.header):
        side: Literal["left", "right"] = "left" if number == 0 else "right"
        drawn.add_column(Text(header), justify=side, overflow="fold", no_wrap=fits and number > 0)
    for row in table.rows:
        drawn.add_row(*map(Text, row))
    console.print(drawn)


def _fitted(comparison: Comparison, width: int) -> Table:
    """Return the first that fits: the table, its intervals below the estimates, fewer ratios as well."""
    wide = _shown(headline_table(comparison))
    if _width(wide) <= width:
        return wide
    stacked = _stacked(wide)
    return stacked if _width(stacked) <= width else _stacked(_shown(headline_table(comparison, brief=True)))


def _shown(table: Table) -> Table:
    rows = tuple(tuple(map(visible, row)) for row in table.rows)
    return Table(tuple(map(visible, table.header)), rows, table.methods)


def _stacked(table: Table) -> Table:
    header = tuple("\n".join(textwrap.wrap(name, 12)) for name in table.header)
    rows = tuple((row[0], *(cell.replace(" [", "\n[") for cell in row[1:])) for row in table.rows)
    return Table(header, rows, table.methods)


def _width(table: Table) -> int:
    """Return the columns that a table takes: its longest lines, and three for each gap."""
    columns = zip(table.header, *table.rows, strict=True)
    longest = (max(len(line) for cell in column for line in cell.split("\n")) for column in columns)
    return sum(size + 3 for size in longest)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
