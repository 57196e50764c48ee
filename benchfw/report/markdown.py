"""The summary as Markdown for a pull request: verdicts, tables, what did not finish, and provenance."""

from __future__ import annotations

from collections.abc import Iterator

from benchfw.provenance import Run
from benchfw.report.captions import caption
from benchfw.report.claims import MARKS, RULE, count_claims, describe_claims, warn_of_claims
from benchfw.report.first_screen import ALL_PROBLEMS, describe_overall, find_answers
from benchfw.report.tables import TextTable, headline_table
from benchfw.report.text import escape_markdown, flat_facts, plural, printable
from benchfw.report.tuning.sentences import describe_tuning
from benchfw.report.tuning.tables import tuning_table
from benchfw.report.verdicts.phrases import caveat_sentences, fault_advice, fault_place, fault_sentence
from benchfw.summary.model import Summary

_NOTED = {
    "packages.benchfw": "benchfw",
    "python": "Python",
    "packages.numpy": "NumPy",
    "machine.processor": "processor",
    "machine.cores": "cores",
    "threads": "threads of a trial",
    "isolation": "isolation by",
}
"""The facts of a run's environment that a reader of its times needs, and what they are called."""


def markdown(summary: Summary, run: Run) -> str:
    """Return the summary of a run in GitHub's Markdown, without its figures."""
    return "\n".join([*_lines(summary, run), "", escape_markdown(_provenance(summary, run))]) + "\n"


def _lines(summary: Summary, run: Run) -> Iterator[str]:
    ends = ", ".join(f"{count} {status}" for status, count in run.counts.items())
    yield from (f"## {escape_markdown(summary.title)}", "")
    tuned = sum(run.tuning_counts.values())
    tuning = f"; {plural(tuned, 'trial')} of tuning" if tuned else ""
    yield f"Run {run.id} of suite {escape_markdown(run.suite)}: {ends or 'no trials'}{tuning}."
    if run.standing:
        yield f"**{escape_markdown(run.standing)}**"
    yield ""
    yield from overall_lines(summary)
    yield from _claims(summary)
    answers = find_answers(summary)
    for answer in answers:
        yield f"- **{escape_markdown(answer.heading)}**: {escape_markdown(answer.text)}"
        yield from (f"  - {escape_markdown(warning)}." for warning in answer.warnings)
    how = describe_tuning(summary)
    if how:
        yield f"- **Tuning**: {' '.join(f'{escape_markdown(each)}.' for each in how)}"
    for caveat in caveat_sentences(summary):
        yield f"- **Caveat**: {escape_markdown(caveat)}."
    for answer in answers:
        comparison = answer.comparison
        if comparison is not None and comparison.rows:
            yield from _titled(answer.heading, caption(comparison), headline_table(comparison))
        if answer.tuned:
            side = tuning_table(answer.tuned)
            yield from _titled(f"{answer.heading}: {side.title}", side.words, side.table)
    if summary.faults:
        yield from ("", "### What did not finish, and what to try", "")
    for fault in summary.faults:
        advice = printable(fault_advice(fault))  # ours, and may hold a command in backticks
        said = escape_markdown(f"{fault_place(fault)}: {fault_sentence(fault)}")
        yield f"- {said}. To try: {advice}." if advice else f"- {said}."


def overall_lines(summary: Summary) -> Iterator[str]:
    """Yield the paragraph over all problems, where there are several."""
    said = describe_overall(summary)
    if said:
        yield from (f"**{ALL_PROBLEMS}**: {escape_markdown(said)}", "")


def _claims(summary: Summary) -> Iterator[str]:
    if not summary.claims:
        return
    yield from (f"### {count_claims(summary.claims)}", "")
    for warning in warn_of_claims(summary.claims):
        yield from (f"**Note**: {escape_markdown(warning)}.", "")
    for each in describe_claims(summary.claims):
        yield f"- {MARKS[each.standing]} **{each.label}**: {escape_markdown(each.title)}"
        yield f"  - {escape_markdown(each.details)}"
    yield from ("", escape_markdown(RULE), "", "### Verdicts", "")


def _provenance(summary: Summary, run: Run) -> str:
    """Return when, with what and on what the numbers were measured, as far as the run has noted it."""
    facts = dict(flat_facts(run.environment.to_json()))
    said = [f"run {run.id} of suite {run.suite}", f"started {run.started}"]
    if run.reused:
        said.append(f"{plural(run.reused, 'trial')} of earlier runs")
    said += [f"seed {seed}" for seed in summary.seeds]
    said += [f"{name} {facts[key]}" for key, name in _NOTED.items() if key in facts]
    for key, device in facts.items():
        backend = key.removeprefix("backends.").removesuffix(".device")
        if key == f"backends.{backend}.device" and device != facts.get("machine.processor"):
            said.append(f"{backend} on {device}")
    claims = [f"{each.claim.digest} registered {each.registered}" for each in summary.claims]
    registered = f" Claims: {'; '.join(claims)}." if claims else ""
    return f"Provenance: {'; '.join(said)}.{registered}"


def _titled(title: str, words: str, table: TextTable) -> Iterator[str]:
    yield from ("", f"### {escape_markdown(title)}", "", escape_markdown(words), "")
    yield from markdown_table(table)


def markdown_table(table: TextTable) -> Iterator[str]:
    """Yield the lines of a table, names to the left and numbers to the right."""
    yield _row(table.header)
    yield f"|{'|'.join([' :--- ', *[' ---: '] * (len(table.header) - 1)])}|"
    yield from map(_row, table.rows)


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(map(escape_markdown, cells))} |"
