"""Where the time of one trial goes: a profile of a method, off the record."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from benchfw.api.planning import Planned
from benchfw.errors import BenchfwError, SuiteError, nearest
from benchfw.measure.trial import collector, run_trial, warm_up
from benchfw.records import Trial
from benchfw.report.text import printable
from benchfw.search import setting_at, settle, spaces_in

INTERVAL = 0.0002  # seconds between looks at the stack
SMALLEST = 0.05  # share of the time that is printed; the file has everything


def profile_trial(planned: Sequence[Planned], label: str, folder: Path) -> int:
    """Run the first trial of a method in this process, print and write its profile; return an exit code."""
    try:
        from pyinstrument import Profiler
        from pyinstrument.renderers import ConsoleRenderer
    except ImportError:
        raise BenchfwError("--profile needs pyinstrument; pip install 'benchfw[profile]'") from None
    suite, trial = find_trial(planned, label, "--profile")
    profiler = Profiler(interval=INTERVAL)
    with suite.registry.activate():
        warm_up(trial, suite.registry, collector()[1])  # imports and compilation are not the method's
        profiler.start()
        outcome = run_trial(trial, suite.registry, collector()[1], traceback.print_exception)
        profiler.stop()
    click.echo(printable(f"{trial}: {outcome.status} ({outcome.reason})"))
    renderer = ConsoleRenderer(unicode=True, processor_options={"filter_threshold": SMALLEST})
    _, _, tree = profiler.output(renderer).strip().rpartition("\n\n")  # without the banner above it
    for line in tree.splitlines():
        click.echo(printable(line))
    path = folder / f"profile-{''.join(c if c.isalnum() else '-' for c in trial.method.label)}.html"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(profiler.output_html(), encoding="utf-8")
    except OSError as fault:
        raise BenchfwError(f"{path} cannot be written: {fault.strerror}; use --store") from None
    click.echo(printable(f"profile: {path}; nothing was stored"))
    return int(outcome.status.faulty)


def find_trial(planned: Sequence[Planned], label: str, option: str) -> tuple[Planned, Trial]:
    """Return the first trial of the method with this label, and its suite; errors name the option."""
    labels = set()
    for each in planned:
        for trial in each.trials:
            if trial.method.label == label:
                middle = setting_at(spaces_in(trial.method.params), 0.5)  # of what would be tuned
                return each, replace(trial, method=settle(trial.method, middle))
            labels.add(trial.method.label)
    raise SuiteError(f"{option} '{label}' is not the label of a method{nearest(label, labels)}")
