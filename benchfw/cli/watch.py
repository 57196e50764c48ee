"""Follows a run that is going: its page is written again and again."""

from __future__ import annotations

import contextlib
from time import monotonic, sleep

import click

from benchfw.api import page_folder, report_run
from benchfw.records import Run
from benchfw.registry import Registry
from benchfw.store import Store

EVERY = 5  # seconds between two looks, and between two loadings by a browser
SHARE = 20  # a page takes at most a 20th of a core: what is watched is being timed


def follow(store: Store, run: Run, registry: Registry) -> None:
    """Write the page of a run whenever it has new trials, until the run ends or the user has seen enough."""
    page = page_folder(store.path, run) / "index.html"
    if run.going:
        click.echo(f"{run.standing}; its page, new every {EVERY} s: {page} (Ctrl-C ends the watching only)")
    with contextlib.suppress(KeyboardInterrupt):
        drawn = None
        while run.going:
            began = monotonic()
            if run.counts != drawn:
                report_run(store, run, registry, reload=EVERY)
                drawn = run.counts
            sleep(max(EVERY, SHARE * (monotonic() - began)))
            run = store.run(run.id)
