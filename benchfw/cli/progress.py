"""Shows a run while it goes on: a bar in a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from time import monotonic
from typing import TextIO

from benchfw.cli.options import counted, printable
from benchfw.harness.executors.events import Event, Finished, Started
from benchfw.harness.run import Begun

Shown = Callable[[Begun | Event], None]

SECONDS_BETWEEN_LINES = 5.0


@contextlib.contextmanager
def display(title: str, file: TextIO | None = None) -> Iterator[Shown]:
    """Yield a listener that shows events on standard error."""
    file = file or sys.stderr
    if file.isatty():
        with _bar(title) as shown:
            yield shown
    else:
        yield Lines(file)


class Lines:
    """Progress as plain lines, a few seconds apart; every fault at once."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._total = 0
        self._done = 0
        self._last = monotonic()

    def __call__(self, event: Begun | Event) -> None:
        """Show one event."""
        if isinstance(event, Begun):
            self._total = event.total - event.reused
            if self._total:
                self._print(
                    f"run {event.run}: {counted(self._total)} to run, {event.reused} in the store already"
                )
        elif isinstance(event, Finished):
            self._done += 1
            if event.outcome.status.faulty:
                self._print(fault_line(event))
            if monotonic() - self._last >= SECONDS_BETWEEN_LINES:
                self._last = monotonic()
                self._print(f"{self._done}/{self._total} trials")

    def _print(self, text: str) -> None:
        self._file.write(text + "\n")
        self._file.flush()


def fault_line(event: Finished) -> str:
    """Return one line on a trial that broke."""
    return printable(f"{event.outcome.status}: {event.trial}: {event.outcome.reason}")


@contextlib.contextmanager
def _bar(title: str) -> Iterator[Shown]:
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, refresh_per_second=8) as progress:
        task = progress.add_task(escape(printable(title)), total=None)

        def shown(event: Begun | Event) -> None:
            if isinstance(event, Begun):
                progress.update(task, total=event.total - event.reused)
            elif isinstance(event, Started):
                label = f"{event.trial.method.label} on {event.trial.problem.label}"
                progress.update(task, description=f"{escape(printable(title))} · {escape(printable(label))}")
            else:
                progress.advance(task)
                if event.outcome.status.faulty:
                    console.print(fault_line(event), markup=False, highlight=False, style="red")

        yield shown
