"""What a gallery shows of a run: its first finding, its picture, its leaderboards, words to find it by."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from benchfw.names import choose_name
from benchfw.provenance import Run
from benchfw.report.claims import count_claims
from benchfw.report.commands import bundle_command, can_run_again, suite_command
from benchfw.report.figures import build_figures
from benchfw.report.figures.chosen import find_headline
from benchfw.report.first_screen import describe_extent, describe_machine, describe_overall, find_answers
from benchfw.summary.model import Summary
from benchfw_site.leaderboards import Leaderboard, find_leaderboards
from benchfw_site.picture import draw_picture

NOTHING = "Nothing was compared."
MOST_POINTS = 60  # of a line of a picture


@dataclass(frozen=True, eq=False)
class Exhibit:
    """A run in a gallery; `slug` names its files.

    `suite` is the name that it can be run by where its suite is `installed`, else that of its author's file.
    """

    slug: str
    suite: str
    run: Run
    summary: Summary
    installed: bool = True

    @cached_property
    def answers(self) -> list[tuple[str, str]]:
        """Return what was found on each problem: (heading, text)."""
        return [(each.heading, each.text) for each in find_answers(self.summary) if each.text]

    @property
    def finding(self) -> str:
        """Return the first sentence of what was found, over all problems where there are several."""
        overall = describe_overall(self.summary)
        if overall:
            return first_sentence(overall)
        return first_sentence(self.answers[0][1]) if self.answers else NOTHING

    @property
    def claims(self) -> str:
        """Return how many claims hold, or nothing where there are none."""
        return count_claims(self.summary.claims) if self.summary.claims else ""

    @cached_property
    def leaderboards(self) -> list[Leaderboard]:
        """Return the order of the methods on each problem."""
        return find_leaderboards(self.summary)

    @property
    def machine(self) -> str:
        """Return the processor, its cores and its devices."""
        return describe_machine(self.run)

    @property
    def date(self) -> str:
        """Return the day on which the run started."""
        return self.run.started[:10]

    @property
    def commit(self) -> str:
        """Return the start of the commit that was measured, where it is known."""
        project = self.run.environment.project
        return project.commit[:10] if project else ""

    @property
    def warnings(self) -> list[str]:
        """Return what a reader should know before the numbers."""
        found = describe_extent(self.run)
        found += ["busy machine"] if self.summary.busy else []
        total = sum(self.run.counts.values())
        found += [f"{self.run.faults} of {total} trials failed"] if self.run.faults else []
        found += [f"imported from {self.summary.imported}"] if self.summary.imported else []
        return [*found, *([self.run.standing] if self.run.standing else [])]

    @cached_property
    def problems(self) -> list[str]:
        """Return the names of the problems."""
        return list(dict.fromkeys(each.problem for each in self.summary.comparisons if each.problem))

    @cached_property
    def methods(self) -> list[str]:
        """Return the names of the methods."""
        cells = (cell for each in self.summary.comparisons for cell in each.cells)
        return list(dict.fromkeys(cell.method for cell in cells))

    @property
    def datasets(self) -> list[str]:
        """Return the data sets that were read."""
        return list(self.run.environment.datasets)

    @property
    def words(self) -> str:
        """Return what a search looks into, in lower case."""
        parts = [self.suite, self.summary.title, *self.problems, *self.methods, *self.datasets]
        return " ".join(dict.fromkeys(each.lower() for each in parts))

    @property
    def runs_again(self) -> bool:
        """Return whether a command can run it again."""
        return can_run_again(self.run)

    @property
    def suite_command(self) -> str:
        """Return the command that runs the suite as it is now."""
        return suite_command(self.suite if self.installed else f"{self.suite}.toml", self.run)

    def bundle_command(self, bundle: str) -> str:
        """Return the command that runs its bundle again."""
        return bundle_command(bundle, self.run)

    def draw(self, ink: str = "currentColor", width: int = 400) -> str:
        """Return the picture as an SVG element: the first figure that can be drawn small."""
        first = find_headline(self.summary, MOST_POINTS)
        views = [first] if first else []
        views += [
            (figure, view) for figure in build_figures(self.summary, MOST_POINTS) for view in figure.views
        ]
        drawn = (draw_picture(view, figure.alt, ink, width) for figure, view in views)
        return next(filter(None, drawn), "")


def sort_exhibits(exhibits: Iterable[Exhibit], suites: Iterable[str]) -> list[Exhibit]:
    """Return exhibits in the order of suites, then of their names; of one suite the newest first."""
    order = {name: number for number, name in enumerate(suites)}
    newest = sorted(exhibits, key=lambda each: each.run.started, reverse=True)
    return sorted(newest, key=lambda each: (order.get(each.suite, len(order)), each.suite))


def choose_slug(text: str, taken: set[str]) -> str:
    """Return a text as the name of a file that is not taken yet, and take it."""
    slug = re.sub(r"[^a-z0-9_]+", "-", text.lower()).strip("-")[:80] or "run"
    return choose_name(slug, taken)


def first_sentence(text: str) -> str:
    """Return the text up to the end of its first sentence."""
    return text.partition(". ")[0].rstrip(".") + "."
