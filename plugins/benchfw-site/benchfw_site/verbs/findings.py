"""`benchfw findings [BUNDLE]…`"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

import click

from benchfw.cli.options import plugin_option
from benchfw.errors import BenchfwError
from benchfw.report.text import plural, printable

if TYPE_CHECKING:
    from benchfw.provenance import Run
    from benchfw.registry import Registry


@click.command(name="findings", short_help="Write a page about all claims of suites, from bundles.")
@click.argument("bundles", nargs=-1, metavar="[BUNDLE]...", type=click.Path(path_type=Path))
@click.option(
    "--suites",
    multiple=True,
    metavar="NAME",
    help="A suite, or a folder of suites, whose claims are shown; repeatable.  [default: all]",
)
@click.option(
    "--documents",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.toml",
    help="The documents that claims are from: their order, and what to say about them.",
)
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.md",
    help="Write the page to this file, and its figures to a folder beside it.  [default: standard output]",
)
@plugin_option
def command(
    bundles: tuple[Path, ...],
    suites: tuple[str, ...],
    documents: Path | None,
    output: Path | None,
    plugins: tuple[str, ...],
) -> None:
    """Write a page about all claims of suites, from BUNDLEs: files, or folders with files in them.

    Each claim has its verdict, what was found, the command that runs it again, machine, date and commit. A
    claim without a bundle is missing; one whose test was edited after its run, or whose suite was, is stale,
    and its old verdict is not shown. Nothing is run, and nothing is fetched.

    \b
    Examples:
      benchfw findings paper.zip --suites my.toml
      benchfw findings bundles -o findings.md
    """
    from benchfw.cli.execution import print_not_loaded
    from benchfw.registry import Registry
    from benchfw_site.documents import Documents, read_documents
    from benchfw_site.findings import find_findings, read_bundles, read_claiming_suites
    from benchfw_site.findings_page import build_page, count_verdicts

    about = read_documents(documents) if documents else Documents()
    registry = Registry(plugins)
    print_not_loaded([registry])
    claiming = read_claiming_suites(_find_suites(suites, registry))
    findings, unused = find_findings(claiming, read_bundles(bundles))
    for each in unused:
        click.echo(
            printable(f"benchfw: {each.path} is not used: its suite '{each.run.suite}' makes no claims here"),
            err=True,
        )
    pages = build_page(findings, claiming, about, PurePath(output.stem if output else "findings"))
    text = pages.pop(PurePath())
    if output is None:
        click.echo(text, nl=False)
        return
    _write(output, text)
    for place, drawing in pages.items():
        _write(output.parent / place, drawing)
    click.echo(printable(f"page: {output} ({count_verdicts(findings)})"))
    _say_commits([each.bundle.run for each in findings if each.bundle is not None])


def _find_suites(names: Sequence[str], registry: Registry) -> dict[str, Path]:
    """Return the files of suites by name; without names, of all."""
    from benchfw.suite import find_suites

    known = registry.suites
    if not names:
        return known
    by_path = {path: name for name, path in known.items()}
    found = (path for name in names for path in find_suites(name, registry.suite_folders))
    return {by_path.get(path, path.as_posix()): path for path in found}


def _say_commits(runs: Sequence[Run]) -> None:
    """Say how many runs are of another commit than the files here: the code may have changed since."""
    from benchfw.harness.environment import project

    here = project()
    commits = {each.store: each.environment.project for each in runs}
    others = [each for each in commits.values() if here is not None and each and each.commit != here.commit]
    if here is not None and others:
        made = f"{'was' if len(others) == 1 else 'were'} made at a commit other than {here.commit[:10]}"
        click.echo(f"{len(others)} of {plural(len(commits), 'run')} {made}")


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as fault:
        raise BenchfwError(f"{path} cannot be written ({fault}); use another --output") from None
