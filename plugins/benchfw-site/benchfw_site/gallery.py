"""Writes a static site of many runs: an index to search, a page a suite and a problem, reports and bundles.

Everything in a run may be a stranger's: names are escaped by the templates, names of files are chosen here,
and a browser runs the pages' own script alone.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchfw.report.page import fill, write_report
from benchfw.store.bundle import write_bundle
from benchfw_site.exhibits import Exhibit, choose_slug
from benchfw_site.leaderboards import RULE, Leaderboard

TEMPLATES = Path(__file__).with_name("templates")


def write_run(exhibit: Exhibit, folder: Path, extra_figures: Sequence[Mapping[str, Any]] = ()) -> None:
    """Write the report of a run, and its bundle, which has its records, into the folder of a gallery."""
    page, bundle = folder / "runs" / exhibit.slug, folder / "bundles" / f"{exhibit.slug}.zip"
    bundle.parent.mkdir(parents=True, exist_ok=True)
    if exhibit.run.store.suffix != ".zip":
        write_bundle(exhibit.run.store, exhibit.run, bundle)
    elif exhibit.run.store.resolve() != bundle.resolve():
        shutil.copyfile(exhibit.run.store, bundle)
    packed = f"../../bundles/{bundle.name}"
    write_report(exhibit.summary, exhibit.run, page, extra_figures, index="../../index.html", bundle=packed)


def write_gallery(exhibits: Sequence[Exhibit], folder: Path, title: str) -> Path:
    """Write the index of a gallery and the pages of its suites and problems; return the index."""
    suites, problems = _group_by_suite(exhibits), _group_by_problem(exhibits)
    pictures = {each.slug: _picture(each) for each in exhibits}
    shared = {"pictures": pictures, "rule": RULE}
    for slug, (suite, runs) in suites.items():
        _write(folder / "suites" / f"{slug}.html", "suite.html", suite=suite, runs=runs, **shared)
    for slug, (problem, boards) in problems.items():
        own = {"problem": problem, "boards": boards}
        _write(folder / "problems" / f"{slug}.html", "problem.html", **own, **shared)
    names = {slug: problem for slug, (problem, _) in problems.items()}
    index = folder / "index.html"
    _write(index, "gallery.html", title=title, suites=suites, problems=names, **shared)
    return index


def _write(path: Path, template: str, **context: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(fill(TEMPLATES / template, [], None, **context), encoding="utf-8", errors="replace")


def _picture(exhibit: Exhibit) -> Any:
    from markupsafe import Markup

    return Markup(exhibit.draw())  # noqa: S704 - it escapes every name in it


def _group_by_suite(exhibits: Sequence[Exhibit]) -> dict[str, tuple[str, list[Exhibit]]]:
    """Return the runs of each suite, the newest first, by the name of its page."""
    names = dict.fromkeys(each.suite for each in exhibits)
    taken: set[str] = set()
    return {
        choose_slug(name, taken): (name, [each for each in exhibits if each.suite == name]) for name in names
    }


def _group_by_problem(
    exhibits: Sequence[Exhibit],
) -> dict[str, tuple[str, list[tuple[Exhibit, Leaderboard]]]]:
    """Return the leaderboards of each problem, one for each run, by the name of its page."""
    found: dict[str, list[tuple[Exhibit, Leaderboard]]] = {}
    for exhibit in exhibits:
        for board in exhibit.leaderboards:
            found.setdefault(board.problem or "kernels", []).append((exhibit, board))
    taken: set[str] = set()
    return {choose_slug(name, taken): (name, found[name]) for name in sorted(found)}
