"""Shows a run while it goes on: a bar in a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import math
import os
import sys
from collections.abc import Callable, Iterator
from time import monotonic
from typing import TYPE_CHECKING, TextIO

from benchfw.cli.pace import Pace, duration
from benchfw.harness.events import Event, Finished
from benchfw.harness.run import Begun
from benchfw.report.text import plural, printable

if TYPE_CHECKING:
    from rich.console import Group

Shown = Callable[[Begun | Event], None]

SECONDS_BETWEEN_LINES = 5.0
DRAWN_A_SECOND = 4  # the display shares the machine with what is being timed
MOST_RUNNING = 8  # trials named below the bar


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


class Lines:
    """Progress as plain lines, a few seconds apart; every fault at once."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._pace = Pace()
        self._last = monotonic()

    def __call__(self, event: Begun | Event) -> None:
        """Show one event."""
        self._pace.hear(event)
        if isinstance(event, Begun) and event.pending:
            self._print(
                f"run {event.run}: {plural(len(event.pending), 'trial')} to run, "
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
    return (
        f"{pace.done} of {plural(pace.total, 'trial')} done{failed}, {pace.left} left; {so_far} so far{to_go}"
    )


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
        get_renderable=lambda: _drawn(printable(title), pace),
        console=console,
        refresh_per_second=DRAWN_A_SECOND,
        transient=True,
        redirect_stdout=sys.stdout.isatty(),  # what a plugin prints into a file stays there
    )

    def shown(event: Begun | Event) -> None:
        pace.hear(event)
        if isinstance(event, Finished) and event.outcome.status.faulty:
            console.print(fault_line(event), markup=False, highlight=False, style="red")

    with live:
        yield shown


def _drawn(title: str, pace: Pace) -> Group:
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
