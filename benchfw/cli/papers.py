"""What `benchfw report` writes for a paper: figures of a given size with captions, and tables in LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from benchfw.errors import BenchfwError
from benchfw.report.text import printable

if TYPE_CHECKING:
    from benchfw.provenance import Run
    from benchfw.registry import Registry
    from benchfw.report.figures.paper import Paper
    from benchfw.store import Store
    from benchfw.summary.model import Summary

Command = TypeVar("Command", bound=Callable[..., Any])

DRAWN = ("svg", "pdf", "png")
PAPER = ("latex", *DRAWN)
SETTINGS = ("width", "font_size", "x", "panel")

_OPTIONS = (
    click.option(
        "--width",
        type=click.FloatRange(1, 20),
        metavar="INCHES",
        help="The width of figures.  [default: 5.5; for one of two columns, 3.25]",
    ),
    click.option(
        "--font-size",
        type=click.FloatRange(4, 30),
        metavar="POINTS",
        help="The size of letters in figures.  [default: 9]",
    ),
    click.option("--methods", metavar="A,B", help="Only these methods, in figures and LaTeX tables."),
    click.option(
        "--x",
        type=click.Choice(["cost", "seconds", "iterations"]),
        help="Draw curves against this only.  [default: a file for each]",
    ),
    click.option("--panel", is_flag=True, default=None, help="Put all figures into one file, lettered."),
)


def paper_options(command: Command) -> Command:
    """Add the options of figures and tables for a paper."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def check_paper(form: str, asked: Mapping[str, Any]) -> None:
    """Raise BenchfwError where an option is given that the form has no use for."""
    for name in (name for name, value in asked.items() if value is not None):
        legal = PAPER if name == "methods" else DRAWN
        if form not in legal:
            words = f"--{name.replace('_', '-')} is for a paper"
            raise BenchfwError(f"{words}; add --format {', '.join(legal[:-1])} or {legal[-1]}")


def write_for_paper(
    store: Store,
    run: Run,
    registry: Registry,
    form: str,
    asked: Mapping[str, Any],
    output: Path | None,
    folder: Path,
) -> Summary:
    """Write the figures of a run with their captions, or its tables in LaTeX; return its summary.

    Without an output, figures go below the folder of the run's page.
    """
    from benchfw.summary.summarize import summarize

    methods = [each.strip() for each in (asked["methods"] or "").split(",") if each.strip()]
    summary = summarize(run, store.stream(run.id), figures=form in DRAWN, best_known=store.best_known)
    if form == "latex":
        from benchfw.report.latex import latex_tables

        write_text(latex_tables(summary, run, methods), output)
    else:
        from benchfw.report.figures.paper import Paper

        given = {name: asked[name] for name in SETTINGS if asked[name] is not None}
        _write_figures(summary, run, registry, Paper(form, **given), methods, output or folder / "figures")
    return summary


def _write_figures(
    summary: Summary, run: Run, registry: Registry, paper: Paper, methods: Sequence[str], folder: Path
) -> None:
    from benchfw.api.running import draw_extra_figures
    from benchfw.cli.execution import print_faults
    from benchfw.report.figures import build_figures
    from benchfw.report.figures.chosen import headline_first
    from benchfw.report.figures.paper import choose_methods, choose_sheets, write_figures
    from benchfw.report.figures.plot import extra_figure
    from benchfw.report.latex import latex_captions

    drawn = [*build_figures(summary), *map(extra_figure, draw_extra_figures(registry, summary))]
    figures = headline_first(summary, drawn)
    if methods:
        figures = choose_methods(figures, summary, methods)
    sheets = choose_sheets(figures, paper)
    files = write_figures(sheets, folder, paper)
    (folder / "captions.tex").write_text(latex_captions(sheets, summary, run), encoding="utf-8")
    print_faults(registry.broken)
    click.echo(printable(f"figures: {len(files)} in {folder}, with captions.tex"))


def write_text(text: str, output: Path | None) -> None:
    """Write a text to a file, whose folder is made, and say so; without a file, print the text."""
    if output is None:
        click.echo(text, nl=False)
        return
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text, encoding="utf-8", errors="replace")
    except OSError as fault:
        raise BenchfwError(f"{output} cannot be written ({fault}); use another --output") from None
    click.echo(printable(f"report: {output}"))
