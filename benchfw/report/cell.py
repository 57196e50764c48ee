"""What a run found as a piece of HTML below a notebook's cell: claims, verdicts, tables, one figure.

It has no script and takes its colours from the notebook around it, light or dark.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from benchfw.errors import Unavailable
from benchfw.provenance import Run
from benchfw.records import Cell
from benchfw.report.captions import caption, heading
from benchfw.report.claims import MARKS, RULE, ClaimText, count_claims, describe_claims, warn_of_claims
from benchfw.report.figures import method_styles
from benchfw.report.figures.chosen import find_headline
from benchfw.report.figures.drawing import SCREEN, draw_for_screen, is_drawable
from benchfw.report.figures.plot import Figure, Style, View
from benchfw.report.first_screen import ALL_PROBLEMS, describe_overall, find_answers
from benchfw.report.tables import headline_table
from benchfw.report.text import plural
from benchfw.report.tuning.sentences import describe_tuning
from benchfw.report.verdicts.phrases import caveat_sentences, fault_advice, fault_place, fault_sentence
from benchfw.summary.model import Comparison, Summary

MOST_VERDICTS, MOST_TABLES, MOST_FAULTS = 12, 3, 5
WIDTH = 680  # pixels of the figure

_BANDS = (
    "The median of the repetitions; the band holds the central 80 % of them, all of them if they are ten or "
    "fewer."
)
_BOUNDS = "A thin dotted line is what a theorem promises."
_STYLE = Path(__file__).parent / "html" / "templates" / "cell.css"


def render_cell(summary: Summary, run: Run, notes: Sequence[str]) -> str:
    """Return claims, verdicts, the tables of the first problems, the first figure, what did not finish."""
    return _wrap("".join(_parts(summary, run, notes)))


def _wrap(parts: str) -> str:
    return f'<div class="benchfw"><style>{_STYLE.read_text(encoding="utf-8")}</style>{parts}</div>'


def _parts(summary: Summary, run: Run, notes: Sequence[str]) -> Iterator[str]:
    if run.standing:
        yield f'<p class="fault">{escape(run.standing)}</p>'
    overall = describe_overall(summary)
    if overall:
        yield f'<div class="verdict"><b>{ALL_PROBLEMS}</b>{escape(overall)}</div>'
    if summary.claims:
        yield _claims(summary)
    answers = find_answers(summary)
    for answer in answers[:MOST_VERDICTS]:
        notes_below = "".join(f"<p>{escape(each)}.</p>" for each in answer.warnings)
        yield f'<div class="verdict"><b>{escape(answer.heading)}</b>{escape(answer.text)}{notes_below}</div>'
    tuning = " ".join(f"{each}." for each in describe_tuning(summary))
    if tuning:
        yield f'<p class="note"><b>Tuning.</b> {escape(tuning)}</p>'
    for caveat in caveat_sentences(summary):
        yield f'<p class="note"><b>Caveat:</b> {escape(caveat)}.</p>'
    for fault in summary.faults[:MOST_FAULTS]:
        advice = fault_advice(fault)
        text = f"{fault_place(fault)}: {fault_sentence(fault)}.{f' To try: {advice}.' if advice else ''}"
        yield f'<p class="fault">{escape(text)}</p>'
    styles = method_styles(summary)
    for comparison in summary.measured[:MOST_TABLES]:
        yield _table(comparison, styles, named=len(summary.measured) > 1)
    figure = find_headline(summary)
    if figure is not None:
        yield _figure(*figure)
    left = max(len(answers) - MOST_VERDICTS, len(summary.measured) - MOST_TABLES)
    more = f" {plural(left, 'more table')} in <code>report()</code>." if left > 0 else ""
    said = "<br>".join(f"{escape(each)}." for each in notes)
    yield f'<p class="note">{said}{more}</p>'


def _claims(summary: Summary) -> str:
    warnings = "".join(f'<p class="late">{escape(each)}.</p>' for each in warn_of_claims(summary.claims))
    items = "".join(map(_claim, describe_claims(summary.claims)))
    rule = f"<details><summary>How claims are decided</summary>{escape(RULE)}</details>"
    return (
        f"<p><b>{escape(count_claims(summary.claims))}</b></p>{warnings}<ul class=claims>{items}</ul>{rule}"
    )


def _claim(claim: ClaimText) -> str:
    kind = claim.standing.replace(" ", "-")
    late = f'<b class="late">{escape(claim.label.removeprefix(claim.standing))}</b>' if claim.warnings else ""
    word = f'<b class="standing">{MARKS[claim.standing]} {claim.standing}</b>{late}'
    details = f'<p class="note">{escape(claim.details)}</p>'
    return f'<li class="{kind}">{word}: {escape(claim.title)}{details}</li>'


def _table(comparison: Comparison, styles: dict[Cell, Style], *, named: bool) -> str:
    table = headline_table(comparison)
    head = "".join(f"<th>{escape(name)}</th>" for name in table.header)
    rows = "".join(_row(row, styles[cell].colour) for row, cell in zip(table.rows, table.cells, strict=True))
    name = f"<p><b>{escape(heading(comparison))}</b></p>" if named else ""
    how = f"<details><summary>How to read it</summary>{escape(caption(comparison))}</details>"
    body = f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody>"
    return f'{name}<div class="wide"><table>{body}</table></div>{how}'


def _row(row: Sequence[str], colour: str) -> str:
    cells = []
    for text in row[1:]:
        estimate, bracket, interval = text.partition(" [")
        cells.append(
            f'<td>{escape(estimate)} <span class="interval">[{escape(interval)}</span></td>'
            if bracket
            else f"<td>{escape(text)}</td>"
        )
    return f"<tr><th>{_swatch(colour)}{escape(row[0])}</th>{''.join(cells)}</tr>"


def _swatch(colour: str) -> str:
    return f'<span class="swatch" style="background:{escape(SCREEN.get(colour, colour))}"></span>'


def _figure(figure: Figure, view: View) -> str:
    if not any(map(is_drawable, view.data)):
        return ""
    try:
        drawing = draw_for_screen(view, figure.alt, width=WIDTH)
    except Unavailable as lack:
        return f'<p class="note">{escape(str(lack))}.</p>'
    notes = [_BANDS] if "bands" in figure.controls else []
    notes += [_BOUNDS] if "bound" in map(_part, view.data) else []
    note = f'<p class="note">{" ".join(notes)}</p>' if notes else ""
    return f"{drawing}{note}"


def _part(trace: Mapping[str, Any]) -> str:
    return str(trace.get("meta", {}).get("part", ""))


def render_runs(rows: Sequence[Sequence[str]]) -> str:
    """Return a table of runs, the newest first."""
    head = "".join(f"<th>{name}</th>" for name in ("run", "started", "title", "trials"))
    body = "".join(
        f"<tr>{''.join(f'<td style=text-align:left>{escape(cell)}</td>' for cell in row)}</tr>"
        for row in reversed(rows)
    )
    return _wrap(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")
