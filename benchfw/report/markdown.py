"""The summary as Markdown for a pull request: verdicts, tables, what did not finish, and provenance."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from benchfw.records import Result, Run
from benchfw.report.render import flat_facts
from benchfw.report.tables import Table, caption, heading, headline_table
from benchfw.report.terminal import visible
from benchfw.report.verdicts.phrases import counted
from benchfw.report.verdicts.verdict import verdict
from benchfw.summary.summarize import Summary

_SPECIAL = re.compile(r"[\\`*_<>|~&#]|(?<=\])\(")
_NOTED = {
    "packages.benchfw": "benchfw",
    "python": "Python",
    "packages.numpy": "NumPy",
    "machine.processor": "processor",
    "machine.cores": "cores",
    "threads": "threads of a trial",
}
"""The facts of a run's environment that a reader of its times needs, and what they are called."""


def markdown(summary: Summary, run: Run, results: Sequence[Result]) -> str:
    """Return the summary of a run in GitHub's Markdown, without its figures."""
    return "\n".join([*_lines(summary, run), "", escaped(_provenance(run, results))]) + "\n"


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


def _provenance(run: Run, results: Sequence[Result]) -> str:
    """Return when, with what and on what the numbers were measured, as far as the run has noted it."""
    facts = dict(flat_facts(run.environment))
    said = [f"run {run.id} of suite {run.suite}", f"started {run.started}"]
    if run.reused:
        said.append(f"{counted(run.reused, 'trial')} of earlier runs")
    said += [f"seed {seed}" for seed in sorted({result.trial.seed for result in results})]
    said += [f"{name} {facts[key]}" for key, name in _NOTED.items() if key in facts]
    for key, device in facts.items():
        backend = key.removeprefix("backends.").removesuffix(".device")
        if key == f"backends.{backend}.device" and device != facts.get("machine.processor"):
            said.append(f"{backend} on {device}")
    return f"Provenance: {'; '.join(said)}."


def _table(table: Table) -> Iterator[str]:
    yield _row(table.header)
    yield f"|{'|'.join([' :--- ', *[' ---: '] * (len(table.header) - 1)])}|"
    yield from map(_row, table.rows)


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(map(escaped, cells))} |"
