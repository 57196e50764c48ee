"""A run as a comment on a pull request that fits one screen: what was found, one table, where it was run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from benchfw.provenance import Run
from benchfw.report.claims import MARKS, count_claims, describe_claims
from benchfw.report.commands import report_command
from benchfw.report.first_screen import Answer, describe_machine, find_answers
from benchfw.report.markdown import markdown_table, overall_lines
from benchfw.report.tables import TextTable, headline_table
from benchfw.report.text import escape_markdown, plural
from benchfw.report.verdicts.phrases import fault_place, fault_sentence
from benchfw.summary.model import Summary

MOST_ANSWERS, MOST_ROWS, MOST_FAULTS, MOST_CLAIMS = 5, 8, 3, 5
LONGEST_ANSWER = 300  # characters


def comment(summary: Summary, run: Run) -> str:
    """Return the comment, in GitHub's Markdown: at most about thirty lines, however large the run is."""
    return "\n".join([*_lines(summary, run), ""])


def _lines(summary: Summary, run: Run) -> Iterator[str]:
    answers = find_answers(summary)
    yield f"### {escape_markdown(summary.title)}"
    yield ""
    if run.standing:
        yield from (f"**{escape_markdown(run.standing)}**", "")
    yield from overall_lines(summary)
    yield from _claims(summary)
    for answer in answers[:MOST_ANSWERS]:
        yield f"- **{escape_markdown(answer.heading)}**: {escape_markdown(_shorten(answer.text))}"
    yield from _rest(len(answers) - MOST_ANSWERS, "problem")
    for fault in summary.faults[:MOST_FAULTS]:
        yield f"- {escape_markdown(f'{fault_place(fault)}: {_shorten(fault_sentence(fault))}')}"
    yield from _rest(len(summary.faults) - MOST_FAULTS, "fault")
    yield from _table(answers)
    counts = ", ".join(f"{count} {status}" for status, count in run.counts.items())
    where = f"run {run.id}, {run.started[:10]}, {describe_machine(run)}: {counts or 'no trials'}"
    whole = escape_markdown(report_command(run, "--format", "md"))
    yield from ("", f"<sub>{escape_markdown(where)}; all of it: {whole}</sub>")


def _claims(summary: Summary) -> Iterator[str]:
    if not summary.claims:
        return
    yield from (f"**{count_claims(summary.claims)}**", "")
    for each in islice(describe_claims(summary.claims), MOST_CLAIMS):
        yield f"- {MARKS[each.standing]} **{each.label}**: {escape_markdown(_shorten(each.title))}"
    yield from _rest(len(summary.claims) - MOST_CLAIMS, "claim")


def _table(answers: Sequence[Answer]) -> Iterator[str]:
    """Yield the table of the first problem that has numbers, with its first rows."""
    answer = next((each for each in answers if each.comparison and each.comparison.rows), None)
    if answer is None or answer.comparison is None:
        return
    whole = headline_table(answer.comparison)
    table = TextTable(whole.header, whole.rows[:MOST_ROWS], whole.cells[:MOST_ROWS])
    yield from ("", f"{escape_markdown(answer.heading)}:", "", *markdown_table(table))
    yield from _rest(len(whole.rows) - MOST_ROWS, "method", start="")


def _rest(count: int, noun: str, start: str = "- ") -> Iterator[str]:
    if count > 0:
        yield f"{start}… {plural(count, f'more {noun}')}"


def _shorten(text: str) -> str:
    """Return the words of a text that there is room for."""
    if len(text) <= LONGEST_ANSWER:
        return text
    whole, _, rest = text[: LONGEST_ANSWER - 1].rpartition(" ")
    return f"{whole or rest} …"
