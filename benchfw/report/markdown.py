"""The summary as Markdown for a pull request: verdicts, tables, and what did not finish."""

from __future__ import annotations

import re
from collections.abc import Iterator

from benchfw.records import Run
from benchfw.report.summary import Summary
from benchfw.report.tables import Table, caption, heading, headline_table
from benchfw.report.terminal import visible
from benchfw.report.wording import verdict

_SPECIAL = re.compile(r"[\\`*_<>|~&#]|(?<=\])\(")


def markdown(summary: Summary, run: Run) -> str:
    """Return the summary of a run in GitHub's Markdown, without its figures."""
    return "\n".join(_lines(summary, run)) + "\n"


def escaped(text: str) -> str:
    """Return text on one line in which Markdown finds nothing to read."""
    return _SPECIAL.sub(r"\\\g<0>", visible(text))


def _lines(summary: Summary, run: Run) -> Iterator[str]:
    ends = ", ".join(f"{count} {status}" for status, count in run.counts.items())
    yield from (f"## {escaped(summary.title)}", "")
    yield f"Run {run.id} of suite {escaped(run.suite)}: {ends or 'no trials'}."
    if run.standing:
        yield f"**{escaped(run.standing)}**"
    yield ""
    for comparison in summary.comparisons:
        yield f"- **{escaped(heading(comparison))}**: {escaped(verdict(comparison))}"
    for caveat in summary.caveats:
        yield f"- **Caveat**: {escaped(caveat.sentence)}."
    for comparison in summary.measured:
        yield from ("", f"### {escaped(heading(comparison))}", "", escaped(caption(comparison)), "")
        yield from _table(headline_table(comparison))
    if summary.faults:
        yield from ("", "### What did not finish, and what to try", "")
    for fault in summary.faults:
        place = escaped(f"{fault.method} on {fault.problem} ({fault.backend})")
        # the advice is ours, and may hold a command in backticks
        advice = f" To try: {visible(fault.advice)}." if fault.advice else ""
        yield f"- {place}: {escaped(fault.sentence)}.{advice}"


def _table(table: Table) -> Iterator[str]:
    yield _row(table.header)
    yield f"|{'|'.join([' :--- ', *[' ---: '] * (len(table.header) - 1)])}|"
    yield from map(_row, table.rows)


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(map(escaped, cells))} |"
