"""`benchfw report [RUN]`"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

import click

from benchfw.cli.options import json_option, plugin_option, store_option
from benchfw.cli.papers import PAPER, check_paper, paper_options, write_for_paper, write_text
from benchfw.cli.verbs.completion import complete_runs
from benchfw.errors import BenchfwError
from benchfw.report.text import printable

if TYPE_CHECKING:
    from benchfw.provenance import Run
    from benchfw.registry import Registry
    from benchfw.store import Store
    from benchfw.summary.model import Summary

PAGE_SECONDS = 5  # between two pages, and between two loadings by a browser
MARKDOWN = ("md", "comment")
IDLE_SHARE = 20  # a page takes at most a 20th of a core: what is watched is being timed


@click.command(name="report")
@click.argument("run", default="last", shell_complete=complete_runs)
@click.option(
    "--format",
    "form",
    type=click.Choice(["html", *MARKDOWN, *PAPER]),
    default="html",
    show_default=True,
    help="The page; Markdown; a comment of one screen on a pull request; for a paper, the tables in LaTeX, "
    "or the figures as files with their captions.",
)
@paper_options
@click.option("--single-file", is_flag=True, help="Put the page's script and tables into one HTML file.")
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    help="The file to write with --single-file, or with --format md, comment or latex (instead of standard "
    "output); with the other formats, the folder for the figures.",
)
@click.option(
    "--watch",
    is_flag=True,
    help="Write the page every few seconds until the run ends; it reloads itself. Ctrl-C stops watching.",
)
@click.option(
    "--require-claims",
    is_flag=True,
    help="Exit code 1 if a claim is refuted, undecided or could not be tested, unless the suite itself says "
    "that it cannot.",
)
@click.option(
    "--against",
    metavar="RUN",
    shell_complete=complete_runs,
    help="Another run in the store, which the figures of the page show behind this one.",
)
@plugin_option
@store_option
@json_option
def command(
    run: str,
    form: str,
    single_file: bool,
    output: Path | None,
    watch: bool,
    require_claims: bool,
    against: str | None,
    plugins: tuple[str, ...],
    store: Path,
    as_json: bool,
    **asked: Any,
) -> None:
    """Print the summary of RUN and write its page.

    RUN is an id from `benchfw runs`, or last; or FILE.zip, a bundle, whose page goes to the folder
    bundle-FILE beside the store. A run that is still going is shown as far as it has got. Figures come from
    installed plugins and from those given by --plugin; nothing that a store or a bundle names is imported.

    \b
    Examples:
      benchfw report --watch
      benchfw report --single-file -o result.html
      benchfw report last --against 3
      benchfw report colleague.zip
      benchfw report last --format comment | gh pr comment --body-file -
      benchfw report 3 --format pdf --width 3.25 --font-size 8 --x cost -o paper/figures
      benchfw report 3 --format latex --methods gd,svrg -o paper/tables.tex
      benchfw report last --json --require-claims

    With --json it prints the run and its claims as decided, and writes no page. Exit codes: 0 done;
    1 --require-claims found a claim that is not shown to hold; 2 bad input, or no claims to require.
    """
    from benchfw.api.running import page_folder
    from benchfw.registry import Registry

    _check_options(form, output, single_file=single_file, watch=watch, as_json=as_json, against=against)
    check_paper(form, asked)
    bundle = Path(run) if run.endswith(".zip") else None
    _check_bundle(run, against, watch=watch)
    registry = Registry(plugins)
    with _open(store, bundle) as opened:
        chosen = replace(opened.run("last"), store=bundle) if bundle else opened.run(run)
        other = None if against is None else _find_other(opened, chosen, against)
        apart = store.parent / f"bundle-{bundle.stem}" if bundle else None
        if require_claims:
            _check_claims_required(chosen)
        if as_json:
            summary = _data(opened, chosen)
        elif form in MARKDOWN:
            summary = _markdown(opened, chosen, form, output)
        elif form in PAPER:
            folder = apart or page_folder(opened.path, chosen)
            summary = write_for_paper(opened, chosen, registry, form, asked, output, folder)
        else:
            summary = _page(
                opened, chosen, registry, apart, output, single_file=single_file, watch=watch, against=other
            )
    if require_claims:
        from benchfw.cli.claims import require_claims as require_shown

        sys.exit(require_shown(chosen, summary.claims))


def _check_options(
    form: str, output: Path | None, *, single_file: bool, watch: bool, as_json: bool, against: str | None
) -> None:
    """Refuse options that do not go together."""
    if single_file and form != "html":
        raise BenchfwError(f"--single-file is for the page; leave it out with --format {form}")
    if watch and (single_file or form != "html"):
        raise BenchfwError("--watch is for the page; leave out --single-file and --format")
    if form == "html" and output is not None and not single_file:
        raise BenchfwError(
            "the page is always written beside the store; --output needs --single-file or --format"
        )
    if as_json and (single_file or watch or form != "html"):
        raise BenchfwError("--json prints no report; leave out --single-file, --watch and --format")
    if against is not None and (watch or as_json or form != "html"):
        raise BenchfwError("--against is for the page; leave out --watch, --json and --format")


def _check_bundle(run: str, against: str | None, *, watch: bool) -> None:
    """Refuse what only runs of a store have."""
    if against is not None and any(name.endswith(".zip") for name in (run, against)):
        raise BenchfwError(
            f"--against is for two runs of a store; `benchfw compare {run} {against}` compares a bundle"
        )
    if run.endswith(".zip") and watch:
        raise BenchfwError("--watch is for a run that is going; leave it out with a bundle")


@contextlib.contextmanager
def _open(store: Path, bundle: Path | None) -> Iterator[Store]:
    """Open the store, or that of a bundle."""
    from benchfw.store import Store
    from benchfw.store.bundle import open_bundle

    with open_bundle(bundle) if bundle else Store(store) as opened:
        yield opened


def _find_other(opened: Store, chosen: Run, against: str) -> Run:
    """Return the run that the page is laid over."""
    other = opened.run(against)
    if other.id == chosen.id:
        raise BenchfwError(f"--against is run {other.id} itself; `benchfw runs` lists the others")
    return other


def _check_claims_required(run: Run) -> None:
    from benchfw.cli.claims import refuse_without_claims
    from benchfw.summary.claims.reader import read_registered

    claims = [claim for claim, _ in read_registered(run)]
    refuse_without_claims(claims, f"run {run.id}", quick=run.environment.changes.quick)


def _data(opened: Store, chosen: Run) -> Summary:
    from benchfw.cli.execution import print_run
    from benchfw.summary.summarize import summarize

    summary = summarize(chosen, opened.stream(chosen.id), figures=False, best_known=opened.best_known)
    print_run(chosen, summary, as_json=True)
    return summary


def _page(
    opened: Store,
    chosen: Run,
    registry: Registry,
    apart: Path | None,
    output: Path | None,
    *,
    single_file: bool,
    watch: bool,
    against: Run | None,
) -> Summary:
    """Print the summary and write the page, beside the store or in a folder apart, as that of a bundle."""
    from benchfw.api.planning import describe_absent
    from benchfw.api.running import describe_lack, page_folder, report_run
    from benchfw.cli.execution import print_faults
    from benchfw.report.terminal import print_summary

    lack = describe_lack()
    page = not lack
    absent = describe_absent(chosen, registry)
    if absent and page:
        registry.note(f"figures of {absent[0]}, neither installed nor given, are left out; {absent[1]}")
    if watch and page:
        _follow(opened, chosen, registry)
        chosen = opened.run(chosen.id)
    reported, summary = report_run(opened, chosen, registry, page=page, against=against, folder=apart)
    print_faults(registry.broken)
    print_summary(summary, sys.stdout)
    if chosen.standing and not apart:  # nothing goes on in a bundle
        click.echo(chosen.standing)
    if not reported.report:
        click.echo(f"benchfw: no page is written: it {lack}", err=True)
    elif single_file:
        from benchfw.report.page import single_file as inlined

        folder = apart or page_folder(opened.path, chosen)
        whole = output or folder.with_name(f"{folder.name}.html")
        write_text(inlined(reported.report), whole)
    else:
        click.echo(printable(f"report: {reported.report}"))
    return summary


def _markdown(opened: Store, chosen: Run, form: str, output: Path | None) -> Summary:
    from benchfw.report.comment import comment
    from benchfw.report.markdown import markdown
    from benchfw.summary.summarize import summarize

    summary = summarize(chosen, opened.stream(chosen.id), figures=False, best_known=opened.best_known)
    write_text((markdown if form == "md" else comment)(summary, chosen), output)
    return summary


def _follow(store: Store, run: Run, registry: Registry) -> None:
    """Write the page of a run whenever it has new trials, until the run ends or the user has seen enough."""
    from benchfw.api.running import page_folder, report_run

    page = page_folder(store.path, run) / "index.html"
    with contextlib.suppress(KeyboardInterrupt):
        if run.going:
            where = f"its page, rewritten every {PAGE_SECONDS} s: {page} (Ctrl-C stops watching, not the run)"
            click.echo(f"{run.standing}; {where}")
        drawn = None
        while run.going:
            began = monotonic()
            if (run.counts, run.tuning_counts) != drawn:
                report_run(store, run, registry, reload=PAGE_SECONDS)
                drawn = run.counts, run.tuning_counts
            sleep(max(PAGE_SECONDS, IDLE_SHARE * (monotonic() - began)))
            run = store.run(run.id)
