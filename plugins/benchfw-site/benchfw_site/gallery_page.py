"""A gallery as a page of a manual, in Markdown: a picture and one sentence for each suite."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import PurePath

from benchfw.report.text import escape_markdown, printable
from benchfw_site.exhibits import Exhibit, choose_slug
from benchfw_site.picture import GREY

MADE = "<!-- Made by `benchfw publish`: a change by hand is lost. -->"
WIDTH = 480  # pixels of a picture: legible on a phone, too


def build_gallery_page(exhibits: Sequence[Exhibit], title: str, folder: PurePath) -> dict[PurePath, str]:
    """Return the pictures of the page by their place below it, and last, under no name, its text."""
    newest = [next(runs) for _, runs in groupby(exhibits, key=lambda each: each.suite)]
    taken: set[str] = set()
    places = {each.slug: folder / f"{choose_slug(each.suite, taken)}.svg" for each in newest}
    pictures = {places[each.slug]: f"{drawn}\n" for each in newest if (drawn := each.draw(GREY, WIDTH))}
    lines = [MADE, "", f"# {escape_markdown(title)}", ""]
    for each in newest:
        lines += _describe(each, places[each.slug] if places[each.slug] in pictures else None)
    return {**pictures, PurePath(): "\n".join(lines).rstrip() + "\n"}


def _describe(exhibit: Exhibit, picture: PurePath | None) -> Iterator[str]:
    yield from (f"## {escape_markdown(exhibit.summary.title or exhibit.suite)}", "")
    if picture is not None:
        alt = escape_markdown(f"The first figure of {exhibit.suite}").replace("]", "")
        yield from (f"![{alt}]({picture.as_posix()})", "")
    yield from (escape_markdown(exhibit.finding), "")
    about = [exhibit.date, exhibit.machine, *exhibit.warnings]
    again = f" Run it again: `{_find_command(exhibit)}`" if exhibit.runs_again else ""
    yield f"{escape_markdown('; '.join(about))}.{again}"
    yield ""


def _find_command(exhibit: Exhibit) -> str:
    store = exhibit.run.store
    bundle = store.suffix == ".zip"
    command = exhibit.bundle_command(store.as_posix()) if bundle else exhibit.suite_command
    return printable(command).replace("`", "")
