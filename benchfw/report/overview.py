"""The page over all runs of a store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchfw.errors import BenchfwError
from benchfw.records import Run
from benchfw.report.render import fill, overview_beside


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
    text = fill("overview.html", [], None, runs=runs[::-1], links=links)
    try:
        index.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise BenchfwError(f"cannot write the overview to {index}: {error.strerror or error}") from error
    return index
