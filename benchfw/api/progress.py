"""Shows a run or a download while it goes on: a bar in a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import math
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from statistics import fmean
from time import monotonic
from typing import TYPE_CHECKING, Any, Self, TextIO

from benchfw.harness.events import Advance, Begun, Finished, Phase, Replaying, Started, TakenOver
from benchfw.records import Cell, Status, Trial
from benchfw.report.text import plural, printable

if TYPE_CHECKING:
    from rich.console import Group

Shown = Callable[[Advance], None]

SECONDS_BETWEEN_LINES = 5.0
DRAWN_A_SECOND = 4  # the display shares the machine with what is being timed
MOST_RUNNING = 8  # trials named below the bar


def describe_replays(event: Replaying) -> str:
    """Return what happens while trials are run a second time."""
    whether = "it repeats" if event.trials == 1 else "they repeat"
    return f"running {plural(event.trials, 'trial')} a second time, to see whether {whether}"


@contextlib.contextmanager
def display(title: str, file: TextIO | None = None, *, live: bool = True) -> Iterator[Shown]:
    """Yield a listener that shows events on standard error; a debugger wants a screen that holds still."""
    file = file or sys.stderr
    # a terminal that cannot move its cursor gets lines too
    if live and file.isatty() and os.environ.get("TERM", "dumb") not in {"dumb", "unknown"}:
        with _bar(title) as shown:
            yield shown
    else:
        yield Lines(file)


def show_waiting(limit: float, file: TextIO | None = None) -> None:
    """Wait for a quiet machine, for so many seconds at most, and say how that goes and how it ended."""
    from benchfw.harness.noise import wait_until_quiet

    file = file or sys.stderr
    said = -SECONDS_BETWEEN_LINES

    def tell(waited: float, slowdown: float) -> None:
        nonlocal said
        if waited - said >= SECONDS_BETWEEN_LINES:
            said = waited
            file.write(
                f"benchfw: waiting for a quiet machine, {duration(waited)} of {duration(limit)}: a loop of "
                f"known work takes {slowdown:.2g} times as long as at its fastest\n"
            )
            file.flush()

    slowdown, quiet = wait_until_quiet(limit, tell)
    file.write(
        "benchfw: the machine is quiet\n"
        if quiet
        else f"benchfw: the machine was not quiet within {duration(limit)} (a loop of known work takes "
        f"{slowdown:.2g} times as long as at its fastest); running all the same\n"
    )
    file.flush()


class Lines:
    """Progress as plain lines, a few seconds apart; every fault at once."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._pace = Pace()
        self._last = monotonic()

    def __call__(self, event: Advance) -> None:
        """Show one event."""
        again = isinstance(event, Begun) and event.phase == "tuning" == self._pace.phase
        self._pace.hear(event)
        if isinstance(event, Begun) and event.pending and not again:  # a tuner may ask many times
            phase = ", tuning" if event.phase == "tuning" else ""
            self._print(
                f"run {event.run}{phase}: {plural(event.pending, 'trial')} to run, "
                f"{event.reused} in the store already"
            )
        elif isinstance(event, Finished):
            if event.outcome.status.faulty:
                self._print(fault_line(event))
            if monotonic() - self._last >= SECONDS_BETWEEN_LINES:
                self._last = monotonic()
                self._print(standing(self._pace))

    def _print(self, text: str) -> None:
        self._file.write(text + "\n")
        self._file.flush()


def standing(pace: Pace) -> str:
    """Return how far a run is: '12 of 40 trials done, 2 failed, 26 left; 41 s so far, about 3 min to go'."""
    failed = f", {pace.failed} failed" if pace.failed else ""
    seconds = pace.seconds_left()
    to_go = f", about {duration(max(1.0, seconds))} to go" if pace.left and math.isfinite(seconds) else ""
    so_far = duration(pace.elapsed(pace.began))
    phase = "tuning: " if pace.phase == "tuning" else ""
    done = f"{pace.done} of {plural(pace.total, 'trial')} done{failed}, {pace.left} left"
    return f"{phase}{done}; {so_far} so far{to_go}"


def fault_line(event: Finished) -> str:
    """Return one line on a trial that broke."""
    return printable(f"{event.outcome.status}: {event.trial}: {event.outcome.reason}")


@contextlib.contextmanager
def _bar(title: str) -> Iterator[Shown]:
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True)
    pace = Pace()
    live = Live(
        get_renderable=lambda: _draw(printable(title), pace),
        console=console,
        refresh_per_second=DRAWN_A_SECOND,
        transient=True,
        redirect_stdout=sys.stdout.isatty(),  # what a plugin prints into a file stays there
    )

    def shown(event: Advance) -> None:
        pace.hear(event)
        if isinstance(event, Finished) and event.outcome.status.faulty:
            console.print(fault_line(event), markup=False, highlight=False, style="red")

    with live:
        yield shown


def _draw(title: str, pace: Pace) -> Group:
    """Return the bar, how far the run is, and the trials now running, the longest first."""
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    bar = Table.grid(padding=(0, 1), expand=True)
    bar.add_column(no_wrap=True, overflow="ellipsis")
    bar.add_column(ratio=1, min_width=10)
    bar.add_row(Text(title, style="bold"), ProgressBar(max(1, pace.total), pace.ended, pulse=not pace.total))
    said = Text(standing(pace) if pace.total else "preparing")
    said.highlight_regex(r"\d+ failed", "red")
    running = Table.grid(padding=(0, 2))
    running.add_column(justify="right", no_wrap=True, min_width=7)
    running.add_column(no_wrap=True, overflow="ellipsis")
    trials = list(pace.running.values())
    for trial, began in trials[:MOST_RUNNING]:
        running.add_row(duration(pace.elapsed(began)), Text(printable(str(trial)), style="dim"))
    if len(trials) > MOST_RUNNING:
        running.add_row("", Text(f"and {len(trials) - MOST_RUNNING} more", style="dim"))
    return Group(bar, said, running)


class Pace:
    """Counts a run's events and estimates the time left from what each method has taken so far.

    What its trials do not account for, such as starting their processes, is shared by all of them.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self.total = self.done = self.failed = 0
        self.phase: Phase = "verdict"
        self.began = self._started = clock()
        self.running: dict[str, tuple[Trial, float]] = {}
        """The trials now running by their keys, each with the moment of its start."""
        self._clock = clock
        self._jobs = 1
        self._waiting: Counter[Cell] = Counter()
        self._budget: float | None = None
        self._taken: dict[Cell, tuple[float, int]] = {}
        """The seconds of a method's trials together, and their number."""
        self._own = self._between = 0.0
        """The seconds of all trials together, and those of a job that each takes beyond its own."""

    @property
    def ended(self) -> int:
        """Return the trials that have ended, well or not."""
        return self.done + self.failed

    @property
    def left(self) -> int:
        """Return the trials that have not ended, the running ones among them."""
        return self.total - self.ended

    def hear(self, event: Advance) -> None:
        """Take in one event."""
        if isinstance(event, Begun):
            self.total, self._jobs = event.pending, max(1, event.jobs)
            self.done = self.failed = 0
            self.phase = event.phase
            self._own = self._between = 0.0
            self._started = self._clock()
            self._waiting = Counter(event.by_cell)
            self._budget = event.seconds
        elif isinstance(event, TakenOver):
            self.total -= sum(event.by_cell.values())
            self._waiting.subtract(event.by_cell)
        elif isinstance(event, Started):
            if event.trial.key not in self.running:  # else its worker did not start, and another tries
                self._waiting[event.trial.cell] -= 1
            self.running[event.trial.key] = event.trial, self._clock()
        elif isinstance(event, Finished):
            self._end(event)

    def _end(self, event: Finished) -> None:
        cell, outcome = event.trial.cell, event.outcome
        if self.running.pop(event.trial.key, None) is None:
            self._waiting[cell] -= 1  # skipped, never started
        if outcome.status is not Status.SKIPPED:
            self._own += outcome.seconds
            seconds, count = self._taken.get(cell, (0.0, 0))
            self._taken[cell] = seconds + outcome.seconds, count + 1
        if outcome.status.faulty:
            self.failed += 1
        else:
            self.done += 1
        # meanwhile the other jobs are at the trials that were started first
        own, jobs = self._own, min(self._jobs, self.total)
        if jobs > 1:
            own += sum(self.elapsed(each) for _, each in islice(self.running.values(), jobs - 1))
        spent = jobs * self.elapsed(self._started)
        self._between = max(0.0, spent - own) / self.ended

    def elapsed(self, since: float) -> float:
        """Return the seconds since a moment."""
        return self._clock() - since

    def seconds_left(self) -> float:
        """Return the seconds that the rest may take with all jobs busy; infinity while nothing is known."""
        # copies: the display asks from a thread of its own
        rest = [
            max(0.0, self._expected(trial.cell) + self._between - self.elapsed(began))
            for trial, began in list(self.running.values())
        ]
        waiting = [(cell, count) for cell, count in list(self._waiting.items()) if count]
        work = sum(rest) + sum((self._expected(cell) + self._between) * count for cell, count in waiting)
        return max(work / self._jobs, *rest, 0.0)

    def _expected(self, cell: Cell) -> float:
        """Return the seconds of one trial: as its method took so far, else the budget, else as any took."""
        if cell in self._taken:
            seconds, count = self._taken[cell]
            return seconds / count
        if self._budget is not None:
            return self._budget
        means = [seconds / count for seconds, count in list(self._taken.values())]
        return fmean(means) if means else math.inf


def duration(seconds: float) -> str:
    """Return a time as a person would say it: 41 s, 3 min, 2.5 h."""
    if seconds < 100:
        return f"{round(seconds)} s"
    return f"{round(seconds / 60)} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


class DownloadBar:
    """A progress bar of the downloads, drawn only on a terminal."""

    def __enter__(self) -> Self:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
        console = Console(stderr=True)
        self._progress = Progress(*columns, console=console, disable=not console.is_terminal, transient=True)
        self._tasks: dict[str, Any] = {}
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def show(self, name: str, received: int, total: int | None) -> None:
        """Draw how far a file is."""
        if name not in self._tasks:
            self._tasks[name] = self._progress.add_task(name)
        self._progress.update(self._tasks[name], completed=received, total=total)
