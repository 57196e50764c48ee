"""The page of a run: one folder that opens from disk, with the drawing script beside it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any, TypeAlias

from benchfw.errors import BenchfwError
from benchfw.records import Result, Run
from benchfw.report.figures.build import build_figures, method_styles
from benchfw.report.figures.plot import Figure, extra_figure
from benchfw.report.script import INSTALL, drawing_script
from benchfw.report.side_tables import comparison_tables, summary_tables
from benchfw.report.tables import EXACT_COLUMNS, caption, exact_rows, full_table, heading, headline_table
from benchfw.report.verdicts.verdict import verdict
from benchfw.summary.rows import write_csv, write_records
from benchfw.summary.summarize import EXPORT_COLUMNS, Summary

_TEMPLATES = Path(__file__).parent / "templates"

Writer: TypeAlias = Callable[[IO[str]], None]


def write_report(
    summary: Summary,
    run: Run,
    results: Sequence[Result],
    folder: Path,
    extra_figures: Sequence[Mapping[str, Any]] = (),
    reload: int = 0,
) -> Path:
    """Write `folder`/index.html with its CSV files, and the shared script in `folder`/../assets once.

    Return the page's path. The page needs no network and no server; a browser loads it again every `reload`
    seconds, if that is not 0.
    """
    overview = overview_beside(folder, run)
    figures = [*build_figures(summary, results), *map(extra_figure, extra_figures)]
    script = drawing_script(figures)
    page = fill(
        "page.html",
        figures,
        script,
        summary=summary,
        run=run,
        sections=list(_sections(summary)),
        ranks=summary_tables(summary),
        optimizer_styles=method_styles(summary).get("optimizer", {}),
        problems=list(dict.fromkeys(each.problem for each in summary.comparisons if each.problem)),
        backends=list(
            dict.fromkeys(method.backend for each in summary.comparisons for method in each.methods)
        ),
        facts=list(flat_facts(run.environment)),
        seeds=sorted({result.trial.seed for result in results}),
        trials=len(results),
        overview=overview.name if overview.is_file() else "",
        reload=reload,
    )
    files: dict[str, Writer] = {
        "summary.csv": partial(write_csv, columns=EXPORT_COLUMNS, rows=summary.export_rows()),
        "records.csv": partial(write_records, run=run, results=results),
    }
    for number, comparison in enumerate(summary.comparisons, 1):
        rows = exact_rows(comparison)
        files[f"table-{number}.csv"] = partial(write_csv, columns=EXACT_COLUMNS, rows=rows)
    return write_page(page, script, folder, files)


def overview_beside(folder: Path, run: Run) -> Path:
    """Return where the page over all runs goes: beside their folders, with the prefix of their store."""
    return folder.parent / f"{folder.name.removesuffix(f'run-{run.id}')}index.html"


def write_page(page: str, script: Path, folder: Path, files: Mapping[str, Writer]) -> Path:
    """Write a page, its CSV files, and the drawing script beside its folder; return the page's path."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _share(script, folder.parent / "assets" / script.name)
        for name, write in files.items():
            with (folder / name).open("w", encoding="utf-8", newline="") as file:
                write(file)
        index = folder / "index.html"
        written = index.with_suffix(".new")
        written.write_text(page, encoding="utf-8", errors="replace")  # names of files need not be text
        written.replace(index)  # at once: a browser may be loading it
    except OSError as error:
        raise BenchfwError(f"cannot write the report to {folder}: {error.strerror or error}") from error
    return index


def script_json(data: Any) -> str:
    """Return JSON that may stand inside a <script> element: no character in it can end the element."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def fill(template: str, figures: Sequence[Figure], script: Path | None, **context: Any) -> str:
    """Return a page from its template; `script` draws its figures, if it has any."""
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
        from markupsafe import Markup
    except ImportError as error:
        raise BenchfwError(f"the report needs jinja2, which is not installed: {INSTALL}") from error
    environment = Environment(
        autoescape=True,
        loader=FileSystemLoader(_TEMPLATES),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(
        figures=figures,
        script=script.name if script else "",
        # safe: script_json leaves no character that HTML could read
        figure_data=Markup(script_json([figure.as_data() for figure in figures])),  # noqa: S704
        **context,
    )


def _sections(summary: Summary) -> Iterator[dict[str, Any]]:
    styles = method_styles(summary)
    for comparison in summary.comparisons:
        yield {
            "heading": heading(comparison),
            "problem": comparison.problem,
            "verdict": verdict(comparison),
            "caption": caption(comparison),
            "table": headline_table(comparison),
            "all": full_table(comparison),
            "sides": list(comparison_tables(comparison)),
            "reference": comparison.reference,
            "styles": styles[comparison.kind],
        }


def flat_facts(environment: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Return the machine's facts as flat pairs: ('cpu.model', '…')."""
    for name, value in environment.items():
        if isinstance(value, Mapping):
            yield from flat_facts(value, f"{prefix}{name}.")
        elif isinstance(value, list | tuple):
            yield f"{prefix}{name}", ", ".join(map(str, value))
        else:
            yield f"{prefix}{name}", str(value)


def _share(script: Path, asset: Path) -> None:
    """Copy the script beside the reports unless the same one lies there."""
    if asset.is_file() and asset.stat().st_size == script.stat().st_size:
        return
    asset.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(script, asset)
