"""The page of a run, one folder that opens from disk (or one file), and the page over all runs of a store."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import IO, Any, TypeAlias

from benchfw.analysis.claims import Standing
from benchfw.errors import BenchfwError
from benchfw.provenance import Run
from benchfw.records import Cell, Result
from benchfw.report.captions import caption
from benchfw.report.claims import MARKS, RULE, count_claims, describe_claims, warn_of_claims
from benchfw.report.commands import bundle_command, can_run_again, replay_command
from benchfw.report.figures import build_figures, method_styles
from benchfw.report.figures.chosen import headline_first
from benchfw.report.figures.overlay import overlay_figures
from benchfw.report.figures.packing import pack_figures, write_figures
from benchfw.report.figures.plot import DARK_PALETTE, PALETTE, STROKES, Figure, Style, extra_figure
from benchfw.report.figures.plot import MARKS as MARKS_OF_FIGURES
from benchfw.report.first_screen import STATUS_WORDS, Answer, describe_terms, find_answers, find_notices
from benchfw.report.side_tables import comparison_tables
from benchfw.report.tables import EXACT_COLUMNS, exact_rows, full_table, headline_table
from benchfw.report.text import flat_facts, plural
from benchfw.report.tuning.sentences import describe_tuning
from benchfw.report.tuning.tables import tuning_table
from benchfw.report.verdicts.overall import overall_sentences
from benchfw.report.verdicts.phrases import (
    caveat_sentences,
    fault_advice,
    fault_names,
    fault_sentence,
    replay_sentence,
)
from benchfw.summary.claims.tables import CLAIM_COLUMNS, claim_rows
from benchfw.summary.exports import (
    summary_columns,
    summary_rows,
    tuning_rows,
    write_csv,
    write_records,
)
from benchfw.summary.model import Fault, Summary

NO_JINJA = "needs jinja2; pip install 'benchfw[report]'"
NO_SCRIPT = "needs plotly's script, which npm brings into a checkout; pip install 'benchfw[plotly]'"
# in every wheel that was built from an sdist; in a checkout if npm was there when it was installed
SMALL = Path(__file__).parent / "html" / "assets" / "plotly-basic.min.js"
KINDS = {"scatter", "bar", "pie"}  # of marks, that the small build draws; ours are all among them

_LARGE = 100_000  # bytes; tables from here on go into a page compressed
MOST_CLAIMS = 6  # on the first screen; all are below it
MOST_ROWS = 3000  # of all numbers together; those of more are in the CSV files only
_SCRIPT = re.compile(r'<script src="([^"]+)"></script>')
_OVERVIEW = re.compile(r' · <a href="\.\./[^"]*">all runs</a>')
_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_ALLOWED = re.compile(r"script-src [^;]*;")
_DOWNLOAD = re.compile(r'href="([^"]+)" download')
TEMPLATES = Path(__file__).parent / "html" / "templates"

Writer: TypeAlias = Callable[[IO[str]], None]


def write_report(
    summary: Summary,
    run: Run,
    folder: Path,
    extra_figures: Sequence[Mapping[str, Any]] = (),
    reload: int = 0,
    against: tuple[str, Summary] | None = None,
    index: str = "",
    bundle: str = "",
) -> Path:
    """Write `folder`/index.html with its CSV files, and the shared script in `folder`/../assets once.

    Return the page's path. The page needs no network and no server; a browser loads it again every `reload`
    seconds, if that is not 0. `against` names another run that the figures lie over. The page links to
    `index`, without it to the page over all runs if that is there; and for the records to `bundle`, without
    it to the records.csv of `save_records`.
    """
    overview = overview_beside(folder, run)
    styles, answers = method_styles(summary), find_answers(summary)
    figures = [*build_figures(summary), *map(extra_figure, extra_figures)]
    if against is not None:
        other = against[1].with_units(summary.units)  # so that both lie on the same axes
        figures = overlay_figures(figures, build_figures(other), against[0])
    figures = headline_first(summary, figures)
    script = drawing_script(figures)
    page = fill(
        TEMPLATES / "page.html",
        figures,
        script,
        summary=summary,
        run=run,
        claims=_claims(summary),
        sections=list(_sections(summary, answers, styles)),
        tuning=describe_tuning(summary),
        overall=overall_sentences(summary),
        terms=describe_terms(summary, answers),
        notices=find_notices(summary, run),
        status_words=STATUS_WORDS,
        styles=styles,
        problems=list(dict.fromkeys(each.problem for each in answers if each.problem)),
        backends=list(dict.fromkeys(cell.backend for cell in styles)),
        faults=list(map(_fault, summary.faults)),
        caveats=caveat_sentences(summary),
        replays=replay_sentence(summary.replays),
        facts=list(flat_facts({**run.environment.to_json(), "claims": ()})),
        index=index or (f"../{overview.name}" if overview.is_file() else ""),
        bundle=bundle,
        rerun=_find_command(run, bundle),
        reload=reload,
    )
    files: dict[str, Writer] = {
        "summary.csv": partial(write_csv, columns=summary_columns(summary), rows=summary_rows(summary)),
    }
    for number, comparison in enumerate(summary.comparisons, 1):
        rows = exact_rows(comparison)
        files[f"table-{number}.csv"] = partial(write_csv, columns=EXACT_COLUMNS, rows=rows)
    if summary.claims:
        files["claims.csv"] = partial(write_csv, columns=CLAIM_COLUMNS, rows=claim_rows(summary.claims))
    if summary.tuned:
        columns, tried = tuning_rows(summary.tuned)
        files["tuning.csv"] = partial(write_csv, columns=columns, rows=tried)
    return write_page(page, script, folder, files)


def _find_command(run: Run, bundle: str) -> str:
    """Return the command that runs a run, or a trial of it, again; empty where no command can."""
    if not can_run_again(run):
        return ""
    if bundle:
        return bundle_command(PurePosixPath(bundle).name, run)
    if run.store.suffix == ".zip":
        return bundle_command(str(run.store), run)
    return replay_command("TRIAL", run.environment.plugins, run.store)


def save_records(
    folder: Path, run: Run, results: Iterable[Result], parameters: Sequence[str] = ()
) -> Iterator[Result]:
    """Yield results, each when its records are in `folder`/records.csv: one pass for them and the numbers."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "records.csv").open("w", encoding="utf-8", newline="") as file:
            yield from write_records(file, run, results, parameters)
    except OSError as error:
        raise BenchfwError(f"cannot write the report to {folder}: {error.strerror or error}") from error


def write_overview(runs: Sequence[Run], pages: Mapping[int, Path]) -> Path | None:
    """Write the page over all runs beside their folders: the newest first, with links to theirs.

    `pages` says where the page of a run is or would be. Return the path; None where there is no run.
    """
    if not runs:
        return None
    index = overview_beside(pages[runs[0].id].parent, runs[0])
    links = {
        number: page.relative_to(index.parent).as_posix() for number, page in pages.items() if page.is_file()
    }
    text = fill(TEMPLATES / "overview.html", [], None, runs=runs[::-1], links=links)
    try:
        index.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise BenchfwError(f"cannot write the overview to {index}: {error.strerror or error}") from error
    return index


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
        written.unlink(missing_ok=True)
        with written.open("x", encoding="utf-8", errors="replace") as file:  # names of files need not be text
            file.write(page)
        written.replace(index)  # at once: a browser may be loading it
    except OSError as error:
        raise BenchfwError(f"cannot write the report to {folder}: {error.strerror or error}") from error
    return index


def fill(template: Path, figures: Sequence[Figure], script: Path | None, **context: Any) -> str:
    """Return a page from its template, which may extend those here; `script` draws its figures, if any."""
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
        from markupsafe import Markup
    except ImportError as error:
        raise BenchfwError(f"the report {NO_JINJA}") from error
    environment = Environment(
        autoescape=True,
        loader=FileSystemLoader([template.parent, TEMPLATES]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["plural"] = plural
    data, kind = pack_figures(figures[1:])
    page = environment.get_template(template.name).render(
        figures=figures,
        palettes={"light": PALETTE, "dark": DARK_PALETTE},
        marks=MARKS_OF_FIGURES,
        strokes=STROKES,
        script=script.name if script else "",
        figure_type=kind,
        # safe: neither script_json nor base64 has a character that HTML could read
        first_figure=Markup(write_figures(figures[0].as_data()) if figures else ""),  # noqa: S704
        figure_data=Markup(data),  # noqa: S704
        **context,
    )
    return allow_scripts(page)


def _claims(summary: Summary) -> dict[str, Any]:
    texts = describe_claims(summary.claims)
    return {
        "count": count_claims(summary.claims),
        "warnings": warn_of_claims(summary.claims),
        "texts": texts,
        # those that say something first; the order of the suite otherwise
        "first": sorted(texts, key=lambda each: each.standing is Standing.NOT_TESTABLE)[:MOST_CLAIMS],
        "marks": MARKS,
        "rule": RULE,
    }


def _sections(
    summary: Summary, answers: Sequence[Answer], styles: Mapping[Cell, Style]
) -> Iterator[dict[str, Any]]:
    few = sum(len(comparison.rows) for comparison in summary.comparisons) <= MOST_ROWS
    for answer in answers:
        comparison = answer.comparison
        yield {
            "answer": answer,
            "heading": answer.heading,
            "problem": answer.problem,
            "caption": caption(comparison) if comparison else "",
            "table": headline_table(comparison) if comparison else None,
            "all": full_table(comparison) if comparison and few else None,
            "sides": list(comparison_tables(comparison)) if comparison else [],
            "tuning": [tuning_table(answer.tuned)] if answer.tuned else [],
            "reference": comparison.reference if comparison else None,
            "styles": styles,
        }


def _fault(fault: Fault) -> dict[str, str]:
    methods, problems = fault_names(fault)
    return {
        "methods": methods,
        "problems": problems,
        "problem": problems if len(fault.cells) == 1 else "",
        "backend": fault.cells[0].backend,
        "status": fault.status.value,
        "sentence": fault_sentence(fault),
        "advice": fault_advice(fault),
    }


def _share(script: Path, asset: Path) -> None:
    """Copy the script beside the reports unless the same one lies there."""
    if asset.is_file() and asset.stat().st_size == script.stat().st_size:
        return
    asset.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(script, asset)


def drawing_script(figures: Iterable[Figure]) -> Path:
    """Return the smallest script at hand that draws these figures."""
    marks = [mark for each in figures for view in each.views for mark in view.data]
    if SMALL.is_file() and all(str(mark.get("type", "scatter")) in KINDS for mark in marks):
        return SMALL
    whole = _whole()
    if whole is None and SMALL.is_file():
        others = sorted({str(mark["type"]) for mark in marks if mark.get("type", "scatter") not in KINDS})
        raise BenchfwError(f"figures with {' and '.join(others)} need plotly; pip install 'benchfw[plotly]'")
    if whole is None or not whole.is_file():
        raise BenchfwError(f"the report {NO_SCRIPT}")
    return whole


def can_draw() -> bool:
    """Return whether there is a script."""
    return SMALL.is_file() or _whole() is not None


def _whole() -> Path | None:
    """Return where the plotly package has its script, without importing the package."""
    spec = find_spec("plotly")
    return Path(spec.origin).parent / "package_data" / "plotly.min.js" if spec and spec.origin else None


def allow_scripts(page: str) -> str:
    """Return a page whose own scripts alone a browser runs: no other, and no attribute such as `onload`."""
    digests = [hashlib.sha256(text.encode()).digest() for text in _INLINE.findall(page)]
    hashes = "".join(f" 'sha256-{base64.b64encode(each).decode()}'" for each in digests)
    return _ALLOWED.sub(lambda _: f"script-src 'self' file:{hashes};", page, count=1)


def single_file(index: Path) -> str:
    """Return the text of a page with its script and its downloads put in."""
    folder = index.parent

    def script(found: re.Match[str]) -> str:
        text = (folder / found[1]).read_text(encoding="utf-8").replace("</script", "<\\/script")
        return f"<script>{text}</script>"

    def download(found: re.Match[str]) -> str:
        name, data, kind = html.unescape(found[1]), (folder / found[1]).read_bytes(), "text/csv"
        if len(data) > _LARGE:
            name, data, kind = f"{name}.gz", gzip.compress(data, mtime=0), "application/gzip"
        return f'href="data:{kind};base64,{base64.b64encode(data).decode()}" download="{html.escape(name)}"'

    page = _OVERVIEW.sub("", index.read_text(encoding="utf-8"))
    # the page's own text has no such tags: names are escaped in it, and its data has no angle brackets
    return allow_scripts(_SCRIPT.sub(script, _DOWNLOAD.sub(download, page)))
