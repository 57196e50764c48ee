"""Tables of shares, each found by simulations with fixed seeds, which any number of processes may share."""

from __future__ import annotations

import math
import multiprocessing
import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

CHUNK = 50  # experiments a task
_SHARE = re.compile(r"\d+\.\d%|—$")
PAGE = Path(__file__).parents[3] / "docs" / "statistics.md"


@dataclass(frozen=True)
class Task:
    """A simulation: a function of the audit and its arguments, the seed among them or fixed by them."""

    function: Callable[..., Any]
    arguments: tuple[Hashable, ...]

    def run(self) -> Any:
        """Return what the simulation finds."""
        return self.function(*self.arguments)


@dataclass(frozen=True)
class Line:
    """A line of a table: for each column the tasks that find its share, and between what it should lie.

    `combine` makes a share of what the tasks of a column found: a number, or the share and another number
    that is printed in brackets beside it.
    """

    name: str
    columns: tuple[tuple[Task, ...], ...]
    combine: Callable[[list[Any]], Any]
    least: float = 0.0
    most: float = 1.0


@dataclass(frozen=True)
class Table:
    """Lines under the heads of their columns; a share may miss its limits by two standard errors.

    `experiments` is of how many a share is the mean; 0 if the limits allow for that already. `whole` prints
    limits without decimals.
    """

    heads: tuple[str, ...]
    lines: tuple[Line, ...]
    title: str = ""
    experiments: int = 0
    whole: bool = False

    def tasks(self, only: str = "") -> Iterator[Task]:
        """Yield the tasks of the lines whose title or name has `only` in it."""
        for line in self.lines:
            if self.has(line, only):
                yield from (task for column in line.columns for task in column)

    def has(self, line: Line, only: str) -> bool:
        """Return whether a line was asked for."""
        return only in self.title or only in line.name


def mean(found: list[Any]) -> float:
    """Return the mean of what all tasks of a column found."""
    return float(np.mean(np.concatenate([np.atleast_1d(each) for each in found])))


def split_tasks(experiments: int, function: Callable[..., Any], *arguments: Hashable) -> tuple[Task, ...]:
    """Return tasks for numbers of experiments, from a first to before a last, which end the arguments."""
    starts = range(0, experiments, CHUNK)
    return tuple(Task(function, (*arguments, at, min(at + CHUNK, experiments))) for at in starts)


def place_columns(tasks: tuple[Task, ...], count: int) -> tuple[tuple[Task, ...], ...]:
    """Return columns of the same tasks; what a column's tasks find begins with the column's place."""
    return tuple((Task(int, (place,)), *tasks) for place in range(count))


def run_tasks(tasks: Sequence[Task], jobs: int) -> dict[Task, Any]:
    """Return what each task finds, each run once; the results do not depend on the number of jobs."""
    once = list(dict.fromkeys(tasks))
    if jobs <= 1:
        return {task: task.run() for task in once}
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        return dict(zip(once, pool.map(Task.run, once), strict=True))


def format_table(
    table: Table, found: Mapping[Task, Any], printed: Mapping[tuple[str, str], str], only: str
) -> tuple[list[str], int]:
    """Return the lines of a table in Markdown and how many shares are outside their limits.

    A line that was not asked for is taken as it was printed.
    """
    lines = [f"**{table.title}**", ""] if table.title else []
    lines += [f"| {' | '.join(table.heads)} | asked for |", "|---" * (len(table.heads) + 1) + "|"]
    missed = 0
    for line in table.lines:
        if not table.has(line, only):
            lines.append(printed[table.title, line.name])
            continue
        cells = []
        for column in line.columns:
            share, *beside = np.atleast_1d(line.combine([found[task] for task in column]))
            outside = not (math.isnan(share) or _within(float(share), line, table.experiments))
            missed += outside
            text = "—" if math.isnan(share) else f"{share:.1%}"
            cells.append(text + "".join(f" ({each:.0%})" for each in beside) + (" missed" if outside else ""))
        lines.append(f"| {line.name} | {' | '.join(cells)} | {_limits(line, 0 if table.whole else 1)} |")
    return lines, missed


def _within(share: float, line: Line, experiments: int) -> bool:
    slack = 2 * math.sqrt(max(share * (1 - share), 0.002) / experiments) if experiments else 0.0
    return line.least - slack <= share <= line.most + slack or line.most == 1 < share


def _limits(line: Line, decimals: int) -> str:
    least, most = f"{line.least:.{decimals}%}", f"{line.most:.{decimals}%}"
    if (line.least, line.most) == (0, 1):
        return "—"
    if line.least == 0:
        return f"at most {most}"
    return f"at least {least}" if line.most == 1 else f"{least} to {most}"


def split_page(part: str) -> tuple[str, str, str]:
    """Return the manual up to the tables of a part, these, and the rest."""
    start, end = f"<!-- audit: {part} -->\n", f"<!-- end of audit: {part} -->"
    before, rest = PAGE.read_text(encoding="utf-8").split(start)
    tables, after = rest.split(end)
    return before + start, tables, end + after


def printed_lines(part: str) -> dict[tuple[str, str], str]:
    """Return the lines of a part's tables as they are printed, by title and name."""
    found, title = {}, ""
    for line in split_page(part)[1].splitlines():
        if line.startswith("**"):
            title = line.strip("*")
        elif line.startswith("| "):
            # the last column is the limits, those before it are shares
            cells = line.strip("| ").split(" | ")
            names = [cell for cell in cells[:-1] if not _SHARE.match(cell)]
            found[title, " | ".join(names)] = line
    return found


def write_page(part: str, lines: Sequence[str]) -> None:
    """Put the tables of a part into the manual."""
    before, _, after = split_page(part)
    PAGE.write_text(before + "\n" + "\n".join(lines) + "\n\n" + after, encoding="utf-8")
