"""Shows a run that was started from Python: a bar in a notebook or a terminal, nothing elsewhere."""

from __future__ import annotations

import contextlib
import html
import os
import sys
from collections.abc import Callable, Iterator
from time import monotonic
from typing import Any

from benchfw.api.progress import DRAWN_A_SECOND, Pace, describe_replays, display, fault_line, standing
from benchfw.harness.events import Awaited, Finished, Listener, Replaying, Told
from benchfw.report.text import plural

Shown = Callable[[Told], None]

_BAR = (
    '<div style="font-size:13px;max-width:46em"><b>{title}</b> &nbsp;{said}'
    '<div style="height:5px;border-radius:3px;margin:4px 0;background:rgba(127,127,127,.25)">'
    '<div style="height:5px;border-radius:3px;width:{share:.1f}%;background:#0072b2"></div></div></div>'
)


@contextlib.contextmanager
def watch_run(title: str, progress: bool | None, *, live: bool = True) -> Iterator[Listener]:
    """Yield a listener that shows the events of a run; without a wish, where a person would see it."""
    in_notebook = _notebook_display() is not None
    tested = "PYTEST_CURRENT_TEST" in os.environ
    if progress is None:
        progress = (in_notebook or sys.stderr.isatty()) and not tested
    if not progress:
        yield lambda _: None
    elif in_notebook:
        with _in_notebook(title) as shown:
            yield shown
    else:
        with display(title, live=live) as lines:

            def listen(event: Told) -> None:
                if not isinstance(event, Awaited | Replaying):
                    lines(event)

            yield listen


def _notebook_display() -> Any:
    """Return IPython's `display` in a notebook, None elsewhere."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is None or not hasattr(shell, "kernel"):
        return None
    from IPython.display import display as show

    return show


@contextlib.contextmanager
def _in_notebook(title: str) -> Iterator[Shown]:
    """Yield a listener that draws a bar below the cell, which is gone when the run ends; faults stay."""
    pace, last = Pace(), -1.0
    handle = _notebook_display()(_bar(title, "preparing", 0), raw=True, display_id=True)

    def shown(event: Told) -> None:
        nonlocal last
        if isinstance(event, Awaited):
            said = f"waiting for {plural(event.trials, 'trial')} of another run"
        elif isinstance(event, Replaying):
            said = describe_replays(event)
        else:
            pace.hear(event)
            said = standing(pace)
            if isinstance(event, Finished) and event.outcome.status.faulty:
                sys.stderr.write(f"{fault_line(event)}\n")
            if monotonic() - last < 1 / DRAWN_A_SECOND:
                return
        last = monotonic()
        share = 100 * pace.ended / max(1, pace.total)
        handle.update(_bar(title, said, share), raw=True)

    try:
        yield shown
    finally:
        handle.update({"text/html": ""}, raw=True)


def _bar(title: str, said: str, share: float) -> dict[str, str]:
    drawn = _BAR.format(title=html.escape(title), said=html.escape(said), share=share)
    return {"text/html": drawn, "text/plain": f"{title}: {said}"}
