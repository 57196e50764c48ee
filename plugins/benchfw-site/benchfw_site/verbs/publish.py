"""`benchfw publish RUN…`"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

import click

from benchfw.cli.options import plugin_option, store_option
from benchfw.cli.verbs.completion import complete_runs
from benchfw.errors import BenchfwError
from benchfw.report.text import plural, printable

if TYPE_CHECKING:
    from benchfw.provenance import Run
    from benchfw.summary.model import Summary
    from benchfw_site.exhibits import Exhibit

OURS = " · benchfw</title>"


@click.command(name="publish", short_help="Make a static site of runs, with pictures, a search and bundles.")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", shell_complete=complete_runs)
@click.option(
    "--to",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="The folder of the site, created if needed.  [required, unless --markdown is given]",
)
@click.option("--title", default="Gallery", show_default=True, help="The heading of the index.")
@click.option(
    "--markdown",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.md",
    help="Write a page for a manual, with a picture and one sentence for each suite; its pictures go to a "
    "folder beside it.",
)
@plugin_option
@store_option
def command(
    runs: tuple[str, ...],
    folder: Path | None,
    title: str,
    markdown: Path | None,
    plugins: tuple[str, ...],
    store: Path,
) -> None:
    """Make a static site of runs: an index with pictures and a search, and pages for suites and problems.

    A RUN is an id from `benchfw runs`, or last; PATH:RUN, a run of another store; FILE.zip, a bundle; or a
    folder, for all bundles in it. Each run has its whole report and its bundle in the site. The pages open
    from disk and from any web server; nothing is fetched, and nothing that a bundle names is imported.

    Leaderboards have the methods of one run: runs of different machines are never put into one table.

    \b
    Examples:
      benchfw publish last --to site
      benchfw publish 3 7 paper.zip --to site --title "Our experiments"
      benchfw publish findings --to site
    """
    if folder is None and markdown is None:
        raise BenchfwError("name the folder of the site with --to, or a page with --markdown")
    if folder is not None:
        _check_folder(folder)
    from benchfw.api.running import draw_extra_figures
    from benchfw.cli.execution import print_faults, print_not_loaded
    from benchfw.provenance import identify
    from benchfw.registry import Registry
    from benchfw.suite import read_suite
    from benchfw_site.exhibits import Exhibit, choose_slug, sort_exhibits
    from benchfw_site.findings import find_suite_name
    from benchfw_site.gallery import write_gallery, write_run

    registry = Registry(plugins)
    print_not_loaded([registry])
    suites = {name: read_suite(path) for name, path in registry.suites.items()}
    exhibits: list[Exhibit] = []
    taken: set[str] = set()
    try:
        places: dict[tuple[object, ...], Path] = {}
        for run, summary in _read_runs(runs, store):
            identity = identify(run)
            if identity in places:
                _say_repeated(run, places[identity])
                continue
            places[identity] = run.store
            name = find_suite_name(run, suites)
            suite = name or run.suite
            slug = choose_slug(f"{suite}-{run.started[:10]}", taken)
            exhibit = Exhibit(slug, suite, run, summary, installed=name is not None)
            if folder is not None:
                write_run(exhibit, folder, draw_extra_figures(registry, summary))
            exhibits.append(exhibit)
        here = [name for name, path in registry.suites.items() if path.is_relative_to("suites")]
        exhibits = sort_exhibits(exhibits, [*(name for name in suites if name not in here), *here])
        if folder is not None:
            index = write_gallery(exhibits, folder, title)
            number = plural(len({each.suite for each in exhibits}), "suite")
            click.echo(printable(f"site: {index} ({number}, {plural(len(exhibits), 'run')})"))
        if markdown is not None:
            _write_markdown(exhibits, title, markdown)
        print_faults(registry.broken)
    except OSError as fault:
        place = fault.filename or folder or markdown
        reason = fault.strerror or fault
        raise BenchfwError(f"{place} cannot be written ({reason}); use another folder") from None


def _say_repeated(run: Run, first: Path) -> None:
    line = f"run {run.id} of {run.store} is that of {first}: it is shown once"
    click.echo(printable(f"benchfw: {line}"), err=True)


def _check_folder(folder: Path) -> None:
    """Raise BenchfwError where a site would replace a page that is not one of ours."""
    index = folder / "index.html"
    if index.is_file() and OURS not in index.read_text(encoding="utf-8", errors="replace"):
        raise BenchfwError(f"{index} was not written by benchfw and would be replaced; use another --to")


def _read_runs(names: Sequence[str], store: Path) -> Iterator[tuple[Run, Summary]]:
    """Yield the runs with their summaries, one at a time."""
    from benchfw.store import Store
    from benchfw.store.bundle import read_bundle
    from benchfw.summary.summarize import summarize

    for name in names:
        path = Path(name)
        if path.is_dir() or path.suffix == ".zip":
            bundles = sorted(path.rglob("*.zip")) if path.is_dir() else [path]
            if not bundles:
                raise BenchfwError(f"no bundle in {path}; `benchfw export --bundle` makes one")
            for each in bundles:
                run, results = read_bundle(each)
                yield run, summarize(run, results)
            continue
        other, _, number = name.rpartition(":")
        with Store(Path(other) if other else store) as opened:
            run = opened.run(number)
            results = opened.results(run.id)
            yield run, summarize(run, results, best_known=opened.best_known)


def _write_markdown(exhibits: Sequence[Exhibit], title: str, markdown: Path) -> None:
    from benchfw_site.gallery_page import build_gallery_page

    pages = build_gallery_page(exhibits, title, PurePath(markdown.stem))
    text = pages.pop(PurePath())
    for place, drawing in pages.items():
        (markdown.parent / place).parent.mkdir(parents=True, exist_ok=True)
        (markdown.parent / place).write_text(drawing, encoding="utf-8")
    markdown.write_text(text, encoding="utf-8")
    click.echo(printable(f"page: {markdown} ({plural(len(pages), 'picture')})"))
