"""The summary as text: a table with colours in a terminal, plain aligned columns anywhere else."""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, TextIO

from benchfw.analysis.claims import Standing
from benchfw.provenance import Run
from benchfw.report.captions import caption
from benchfw.report.claims import MARKS, count_claims, describe_claims, warn_of_claims
from benchfw.report.first_screen import ALL_PROBLEMS, Answer, describe_overall, find_answers
from benchfw.report.tables import TextTable, headline_table
from benchfw.report.text import align, plural, printable
from benchfw.report.tuning.sentences import describe_tuning
from benchfw.report.tuning.tables import tuning_table
from benchfw.report.verdicts.phrases import (
    caveat_sentences,
    fault_advice,
    fault_place,
    fault_sentence,
    replay_sentence,
)
from benchfw.summary.model import Comparison, Summary

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_PLAIN_WIDTH = 110
_QUANTITY = re.compile(r"(?<=\d) (?:%|[mµ]?s|min|[kMG]B)(?!\w)|\[[-\d∞][^\[\]]*\]")
"""A number's unit, an interval: no line ends before the one or within the other."""
_TIE = "\ue000"
"""In place of a space where no line ends; Rich would break at a no-break space."""


def print_summary(summary: Summary, file: TextIO, width: int | None = None) -> None:
    """Write the verdicts, the tables, and what failed with its reasons."""
    if not file.isatty() or os.environ.get("NO_COLOR"):
        file.write("\n".join(plain_lines(summary, width or _PLAIN_WIDTH)) + "\n")
        return
    from rich.console import Console

    _draw(summary, Console(file=file, width=width, highlight=False))


def plain_lines(
    summary: Summary, width: int = _PLAIN_WIDTH, translate: Callable[[str], str] = str
) -> Iterator[str]:
    """Yield the summary as lines of text with caveats and advice in other words, if asked."""
    answers = find_answers(summary)
    overall = describe_overall(summary)
    if overall:
        yield from _wrap_answer(ALL_PROBLEMS, overall, width)
    yield from _claim_lines(summary, width, translate)
    for answer in answers:
        yield from _answer_lines(answer, width)
    for line in _tuning_lines(summary):
        yield from _wrap(translate(line), width)
    for caveat in caveat_sentences(summary):
        yield from _wrap(translate(printable(f"caveat: {caveat}")), width)
    if summary.replays.count:
        yield f"{replay_sentence(summary.replays)}."
    for answer in answers:
        yield from _section_lines(answer, width)
    faults = list(_fault_lines(summary))
    if faults:
        yield from ("", "What did not finish")
        for line in faults:
            yield from _wrap(translate(line), width, left=2)


def _claim_lines(summary: Summary, width: int, translate: Callable[[str], str]) -> Iterator[str]:
    if summary.claims:
        yield count_claims(summary.claims)
    for warning in warn_of_claims(summary.claims):
        yield from _wrap(translate(f"note: {warning}"), width, left=2)
    for each in describe_claims(summary.claims):
        yield from _wrap(printable(f"{MARKS[each.standing]} {each.label}: {each.title}"), width, left=2)
        yield from _wrap(translate(printable(each.details)), width, left=6, hanging=0)


def _wrap(text: str, width: int, left: int = 0, hanging: int = 2) -> list[str]:
    """Return the text in lines of at most so many columns, none of which ends within a quantity."""
    first, others = " " * left, " " * (left + hanging)
    lines = textwrap.wrap(
        _tie(text), width, initial_indent=first, subsequent_indent=others, break_on_hyphens=False
    )
    return [_untie(line) for line in lines]


def _tie(text: str) -> str:
    return _QUANTITY.sub(lambda found: found[0].replace(" ", _TIE), text)


def _untie(text: str) -> str:
    return text.replace(_TIE, " ")


def _wrap_answer(heading: str, text: str, width: int) -> list[str]:
    return _wrap(f"{printable(heading)}: {printable(text)}", width)


def _answer_lines(answer: Answer, width: int) -> Iterator[str]:
    yield from _wrap_answer(answer.heading, answer.text, width)
    for warning in answer.warnings:
        yield from _wrap(printable(f"note: {warning}"), width, left=2)


def _section_lines(answer: Answer, width: int) -> Iterator[str]:
    """Yield the tables of one problem, each below its title."""
    comparison = answer.comparison
    if comparison is not None and comparison.rows:
        yield from ("", printable(answer.heading))
        yield from _wrap(printable(caption(comparison)), width, left=2, hanging=0)
        yield from table_lines(headline_table(comparison))
    if answer.tuned:
        side = tuning_table(answer.tuned)
        yield from ("", printable(f"{answer.heading}: {side.title}"))
        yield from table_lines(side.table)


def table_lines(table: TextTable) -> Iterator[str]:
    """Yield the lines of a table: a rule below its header, the first column to the left, numbers right."""
    head, *body = align(table.header, table.rows, left=1)
    widths = [
        max(len(printable(cell)) for cell in column) for column in zip(table.header, *table.rows, strict=True)
    ]
    yield f"  {head}"
    yield f"  {'  '.join('-' * width for width in widths)}"
    yield from (f"  {line}" for line in body)


def _tuning_lines(summary: Summary) -> Iterator[str]:
    said = describe_tuning(summary)
    if said:
        yield printable(f"tuning: {' '.join(f'{each}.' for each in said)}")


def _fault_lines(summary: Summary) -> Iterator[str]:
    for fault in summary.faults:
        advice = fault_advice(fault)
        said = f"{fault_place(fault)}: {fault_sentence(fault)}"
        yield printable(f"{said} — {advice}" if advice else said)


_COLOURS = {
    Standing.HOLDS: "green",
    Standing.REFUTED: "red",
    Standing.UNDECIDED: "yellow",
    Standing.NOT_TESTABLE: "dim",
}


def _draw_text(text: Text, console: Console, left: int = 0) -> None:
    """Print the text so far from the left, in lines that end where those of plain text may."""
    text.plain = _tie(text.plain)
    for line in text.wrap(console, console.width - left):
        line.plain = _untie(line.plain)
        line.pad_left(left)
        console.print(line)


def _draw_claims(summary: Summary, console: Console) -> None:
    from rich.text import Text

    if summary.claims:
        console.print(Text(count_claims(summary.claims), style="bold"))
    for warning in warn_of_claims(summary.claims):
        _draw_text(Text(f"note: {warning}", style="yellow"), console, left=2)
    for each in describe_claims(summary.claims):
        said = Text()  # without a style of its own, which would be that of the title too
        said.append(f"{MARKS[each.standing]} {each.standing}", style=_COLOURS[each.standing])
        said.append(each.label.removeprefix(each.standing), style="bold yellow")
        said.append(printable(f": {each.title}"))
        _draw_text(said, console, left=2)
        _draw_text(Text(printable(each.details)), console, left=6)


def _draw(summary: Summary, console: Console) -> None:
    from rich.text import Text

    answers = find_answers(summary)
    overall = describe_overall(summary)
    if overall:
        _draw_answer(ALL_PROBLEMS, overall, console)
    _draw_claims(summary, console)
    for answer in answers:
        _draw_answer(answer.heading, answer.text, console)
        for warning in answer.warnings:
            _draw_text(Text(printable(f"note: {warning}"), style="yellow"), console, left=2)
    for line in _tuning_lines(summary):
        _draw_text(Text(line), console)
    for caveat in caveat_sentences(summary):
        _draw_text(Text(printable(f"caveat: {caveat}"), style="yellow"), console)
    if summary.replays.count:
        console.print(f"{replay_sentence(summary.replays)}.")
    for answer in answers:
        _draw_section(answer, console)
    faults = list(_fault_lines(summary))
    if faults:
        console.print(Text("What did not finish", style="bold yellow"))
        for line in faults:
            _draw_text(Text(line), console, left=2)


def _draw_answer(heading: str, text: str, console: Console) -> None:
    from rich.text import Text

    said = Text(printable(heading), style="bold")
    said.append(f": {printable(text)}", style="not bold")
    _draw_text(said, console)


def _draw_section(answer: Answer, console: Console) -> None:
    comparison = answer.comparison
    if comparison is not None and comparison.rows:
        *before, last = _fit(comparison, console.width)
        for table in before:
            _draw_table(table, answer.heading, "", console)
        _draw_table(last, f"{answer.heading}{' (continued)' * bool(before)}", caption(comparison), console)
    if answer.tuned:
        side = tuning_table(answer.tuned)
        table = _narrow(_escape(side.table), console.width)
        _draw_table(table, f"{answer.heading}: {side.title}", "", console)


def _draw_table(table: TextTable, title: str, words: str, console: Console) -> None:
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable(
        title=Text(printable(title), style="bold"),
        caption=Text(printable(words), style="dim"),
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


def _fit(comparison: Comparison, width: int) -> list[TextTable]:
    """Return the table, its intervals below the estimates, or its columns in several tables: what fits."""
    whole = _escape(headline_table(comparison))
    table = _narrow(whole, width)
    leading = 2 if whole.grouped else 1
    tables, columns = [], list(range(leading))
    for column in range(leading, len(whole.header)):
        if len(columns) > leading and _width(_pick(table, [*columns, column])) > width:
            tables.append(_pick(table, columns))
            columns = list(range(leading))
        columns.append(column)
    return [*tables, _pick(table, columns)]


def _pick(table: TextTable, columns: Sequence[int]) -> TextTable:
    """Return some columns of a table."""
    header = tuple(table.header[column] for column in columns)
    rows = tuple(tuple(row[column] for column in columns) for row in table.rows)
    return TextTable(header, rows, table.cells, table.grouped)


def _narrow(table: TextTable, width: int) -> TextTable:
    """Return the table if it fits, else with its intervals below the estimates."""
    return table if _width(table) <= width else _stack(table)


def _escape(table: TextTable) -> TextTable:
    rows = tuple(tuple(map(printable, row)) for row in table.rows)
    return TextTable(tuple(map(printable, table.header)), rows, table.cells, table.grouped)


def _stack(table: TextTable) -> TextTable:
    header = tuple("\n".join(textwrap.wrap(name, 12)) for name in table.header)
    rows = tuple((row[0], *(cell.replace(" [", "\n[") for cell in row[1:])) for row in table.rows)
    return TextTable(header, rows, table.cells, table.grouped)


def _width(table: TextTable) -> int:
    """Return the columns that a table takes: its longest lines, and three for each gap."""
    columns = zip(table.header, *table.rows, strict=True)
    longest = (max(len(line) for cell in column for line in cell.split("\n")) for column in columns)
    return sum(size + 3 for size in longest)


def describe_counts(run: Run, fresh: str = "--fresh", retry: str = "--retry-failed") -> str:
    """Return one line on how a run's trials ended, and the options that run them again, as written."""
    total, tuned = sum(run.counts.values()), sum(run.tuning_counts.values())
    ends = ", ".join(
        f"{count} {status}" for status, count in sorted(run.counts.items(), key=lambda each: -each[1])
    )
    tuning = f"; {plural(tuned, 'trial')} of tuning" if tuned else ""
    if total and run.reused == total + tuned:
        which = describe_all(total + tuned, "is", "are")
        line = (
            f"run {run.id}: nothing was run, {which} in {run.store} already ({ends}{tuning}); "
            f"{fresh} runs {'it' if total + tuned == 1 else 'them'} again"
        )
    else:
        reused = f", {run.reused} of them from the store" if run.reused else ""
        line = f"run {run.id}: {plural(total + tuned, 'trial')} ({ends}{tuning}){reused}, kept in {run.store}"
    return f"{line}; {retry} runs the faulty ones again" if run.faults else line


def describe_all(total: int, one: str, many: str) -> str:
    """Return 'its one trial is' or 'all 12 trials are'."""
    return f"its one trial {one}" if total == 1 else f"all {total} trials {many}"
