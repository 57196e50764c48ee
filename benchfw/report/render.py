"""The page of a run: one folder that opens from disk, with the drawing script beside it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

from benchfw.errors import BenchfwError
from benchfw.records import Result, Run
from benchfw.report.convergence_figures import convergence_figures
from benchfw.report.dot_figures import estimator_figures, kernel_figures, target_figures
from benchfw.report.drawing import Figure, Style, extra_figure, styles_of
from benchfw.report.exports import RECORD_COLUMNS, record_rows, write_csv
from benchfw.report.methods import Method
from benchfw.report.summary import EXPORT_COLUMNS, Comparison, Summary
from benchfw.report.sweep_figures import sweep_figures
from benchfw.report.tables import caption, full_table, heading, headline_table
from benchfw.report.wording import verdict

_TEMPLATES = Path(__file__).parent / "templates"
_INSTALL = "pip install 'benchfw[report]'"

Rows: TypeAlias = tuple[Sequence[str], Iterable[Sequence[Any]]]


def write_report(
    summary: Summary,
    run: Run,
    results: Sequence[Result],
    folder: Path,
    extra_figures: Sequence[Mapping[str, Any]] = (),
) -> Path:
    """Write `folder`/index.html with its CSV files, and the shared script in `folder`/../assets once.

    Return the page's path. The page needs no network and no server.
    """
    page = _render(summary, run, results, extra_figures)
    tables: dict[str, Rows] = {
        "summary.csv": (EXPORT_COLUMNS, summary.export_rows()),
        "records.csv": (RECORD_COLUMNS, record_rows(run, results)),
    }
    return write_page(page, folder, tables)


def write_page(page: str, folder: Path, tables: Mapping[str, Rows]) -> Path:
    """Write a page, its CSV files, and the drawing script beside its folder; return the page's path."""
    script = _plotly_script()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _share(script, folder.parent / "assets" / script.name)
        for name, (columns, rows) in tables.items():
            with (folder / name).open("w", encoding="utf-8", newline="") as file:
                write_csv(file, columns, rows)
        index = folder / "index.html"
        index.write_text(page, encoding="utf-8")
    except OSError as error:
        raise BenchfwError(f"cannot write the report to {folder}: {error.strerror or error}") from error
    return index


def build_figures(summary: Summary, results: Sequence[Result]) -> list[Figure]:
    """Return the figures of all comparisons, in the order of the page."""
    styles = method_styles(summary)
    figures: list[Figure] = []
    for comparison in summary.comparisons:
        chosen = styles[comparison.kind]
        if comparison.kind == "optimizer":
            mine = [result for result in results if _belongs(result, comparison)]
            figures += convergence_figures(comparison, mine, chosen)
            figures += target_figures(comparison, chosen)
        elif comparison.kind == "estimator":
            figures += sweep_figures(comparison)
            figures += estimator_figures(comparison, chosen)
        else:
            figures += kernel_figures(comparison, chosen)
    return figures


def method_styles(summary: Summary) -> dict[str, dict[Method, Style]]:
    """Return the style of every method, by kind: the same on every problem of the run."""
    kinds = {comparison.kind for comparison in summary.comparisons}
    return {
        kind: styles_of(
            method
            for comparison in summary.comparisons
            if comparison.kind == kind
            for method in comparison.methods
        )
        for kind in kinds
    }


def script_json(data: Any) -> str:
    """Return JSON that may stand inside a <script> element: no character in it can end the element."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _render(
    summary: Summary, run: Run, results: Sequence[Result], extra_figures: Sequence[Mapping[str, Any]]
) -> str:
    return fill(
        "page.html",
        [*build_figures(summary, results), *map(extra_figure, extra_figures)],
        summary=summary,
        run=run,
        sections=list(_sections(summary)),
        facts=list(flat_facts(run.environment)),
        seeds=sorted({result.trial.seed for result in results}),
        trials=len(results),
    )


def fill(template: str, figures: Sequence[Figure], **context: Any) -> str:
    """Return a page from its template."""
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
        from markupsafe import Markup
    except ImportError as error:
        raise BenchfwError(f"the report needs jinja2, which is not installed: {_INSTALL}") from error
    environment = Environment(
        autoescape=True,
        loader=FileSystemLoader(_TEMPLATES),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(
        figures=figures,
        # safe: script_json leaves no character that HTML could read
        figure_data=Markup(script_json([figure.as_data() for figure in figures])),  # noqa: S704
        **context,
    )


def _sections(summary: Summary) -> Iterator[dict[str, Any]]:
    styles = method_styles(summary)
    for comparison in summary.comparisons:
        yield {
            "heading": heading(comparison),
            "verdict": verdict(comparison),
            "caption": caption(comparison),
            "table": headline_table(comparison),
            "all": full_table(comparison),
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


def _belongs(result: Result, comparison: Comparison) -> bool:
    return result.trial.kind == comparison.kind and result.trial.problem.label == comparison.problem


def _plotly_script() -> Path:
    """Return the drawing script that the plotly package ships, without importing the package."""
    spec = find_spec("plotly")
    if spec is None or spec.origin is None:
        raise BenchfwError(f"the report needs plotly, which is not installed: {_INSTALL}")
    script = Path(spec.origin).parent / "package_data" / "plotly.min.js"
    if not script.is_file():
        raise BenchfwError(f"the installed plotly has no {script.name}; reinstall it: {_INSTALL}")
    return script


def _share(script: Path, asset: Path) -> None:
    """Copy the script beside the reports unless the same one lies there."""
    if asset.is_file() and asset.stat().st_size == script.stat().st_size:
        return
    asset.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(script, asset)
