"""A run for LaTeX: its tables by booktabs, with intervals, and captions that state the statistics."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from benchfw.errors import BenchfwError, nearest
from benchfw.provenance import Run
from benchfw.report.captions import caption, heading
from benchfw.report.figures.paper import Sheet
from benchfw.report.figures.plot import View
from benchfw.report.first_screen import describe_machine
from benchfw.report.tables import TextTable, headline_table
from benchfw.report.text import plural, printable
from benchfw.report.verdicts.phrases import target_text
from benchfw.summary.model import Comparison, Summary

_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_",
    "%": r"\%", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "∞": r"$\infty$", "µ": r"\textmu{}",
    "—": "---", "×": r"$\times$", "…": r"\dots{}", "<": r"\textless{}",
    ">": r"\textgreater{}", '"': "''",
}  # fmt: skip
_POWER = re.compile(r"(\d+(?:\.\d+)?)e([+-]?)0*(\d+)")
_RAISED = re.compile(r"(?:([\d.]+) × )?(?<!\d)10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
_LOWERED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_BANDS = "Lines are medians over {}; bands hold {} of them"
_ONE = "Each line is one run"
_BOUNDS = "; thin dotted lines are what theorems promise"
_WHOLE = 10  # repetitions: a band holds all of so few
_SENTENCE_END = re.compile(r"\.(?: (?=[A-Z])|$)")


def latex_tables(summary: Summary, run: Run, methods: Sequence[str] = ()) -> str:
    """Return a table for each problem, of these methods or of all, for the packages booktabs and textcomp."""
    tables = [_table(each, run, methods) for each in summary.measured]
    known = {cell.method for each in summary.comparisons for cell in each.cells}
    for name in methods:
        if name not in known:
            raise BenchfwError(f"no method '{name}' in the run{nearest(name, known)}")
    return "\n".join(["% \\usepackage{booktabs,textcomp}", *filter(None, tables)])


def latex_captions(sheets: Sequence[Sheet], summary: Summary, run: Run) -> str:
    """Return a caption for each sheet, below a comment with its file and its letter in a panel."""
    names = [f"{each.file} {each.title[:3]}".rstrip() for each in sheets]
    return "\n".join(
        f"% {printable(name)}\n\\caption{{{_escape(_describe(each, summary, run))}}}\n"
        for name, each in zip(names, sheets, strict=True)
    )


def _describe(sheet: Sheet, summary: Summary, run: Run) -> str:
    """Return a sentence on what a figure shows, with the target if it counts, and one on its statistics."""
    figure, view = sheet.figure, sheet.view
    about = [each for each in summary.comparisons if each.problem == figure.problem and figure.problem]
    drawn = [each for each in about if figure.title.removeprefix(f"{each.problem}: ") in each.lines]
    joint = " against " if drawn else ", "
    parts = [f"{figure.title}{joint if view.label else ''}{view.label}"]
    if any(
        " to target" in view.layout.get(name, {}).get("title", {}).get("text", "")
        for name in ("xaxis", "yaxis")
    ):
        parts += [f"target {target_text(each)}" for each in about if each.targets]
    how = _describe_lines(drawn[0], view) if drawn else _describe_marks(figure.how_to_read)
    return f"{'; '.join([*parts, _origin(run)])}. {how}."


def _describe_lines(comparison: Comparison, view: View) -> str:
    parts = {each.get("meta", {}).get("part") for each in view.data}
    runs = max(comparison.runs(cell)[1] for cell in comparison.cells)
    held = "all" if runs <= _WHOLE else "the central 80 %, or all if they are ten or fewer,"
    lines = _BANDS.format(plural(runs, "repetition"), held) if "band" in parts else _ONE
    return lines + (_BOUNDS if "bound" in parts else "")


def _describe_marks(how_to_read: str) -> str:
    """Return the first sentence that says what is drawn, not which side of it is better."""
    sentences = [each for each in _SENTENCE_END.split(how_to_read) if each]
    return next((each for each in sentences if " is better" not in each), "")


def _origin(run: Run) -> str:
    return f"suite {run.suite}, {run.started[:10]}, {describe_machine(run)}"


def _table(comparison: Comparison, run: Run, methods: Sequence[str]) -> str:
    table = headline_table(comparison)
    rows = [
        row
        for row, cell in zip(table.rows, table.cells, strict=True)
        if not methods or cell.method in methods
    ]
    return "\n".join(_lines(comparison, run, table, rows)) if rows else ""


def _lines(
    comparison: Comparison, run: Run, table: TextTable, rows: Sequence[Sequence[str]]
) -> Iterator[str]:
    words = f"{heading(comparison)}; {_origin(run)}. {caption(comparison)}"
    label = re.sub(r"[^a-z0-9]+", "-", heading(comparison).lower()).strip("-")
    yield from (r"\begin{table}", r"\centering", f"\\caption{{{_escape(words)}}}", f"\\label{{tab:{label}}}")
    yield from (f"\\begin{{tabular}}{{l{'r' * (len(table.header) - 1)}}}", r"\toprule")
    yield f"{' & '.join(map(_escape, table.header))} \\\\"
    yield r"\midrule"
    yield from (f"{' & '.join([_escape(name), *map(_number, cells)])} \\\\" for name, *cells in rows)
    yield from (r"\bottomrule", r"\end{tabular}", r"\end{table}", "")


def _number(text: str) -> str:
    """Return a cell with its interval in smaller type."""
    estimate, bracket, interval = text.partition(" [")
    small = rf" {{\footnotesize [{_escape(interval)}}}" if bracket else ""
    return _escape(estimate) + small


def _escape(text: str) -> str:
    """Return text that LaTeX shows as it is, and numbers such as 1.2e-05 as powers."""
    plain = printable(text.replace("\N{NO-BREAK SPACE}", " "))
    plain = _RAISED.sub(lambda found: f"{found[1] or '1'}e{found[2].translate(_LOWERED)}", plain)
    escaped = "".join(_SPECIAL.get(each, each) for each in plain)
    return _POWER.sub(lambda found: rf"${found[1]}\times10^{{{found[2].strip('+')}{found[3]}}}$", escaped)
