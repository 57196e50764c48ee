"""What one step of a method does, for `benchfw time --steps`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from benchfw.api.planning import Planned
from benchfw.cli.options import echo_json
from benchfw.cli.profiling import find_trial
from benchfw.measure.steps import Steps, measure_steps
from benchfw.report.text import align, figures, printable
from benchfw.summary.times import choose_unit

MOST_NAMES = 12  # kernels that are listed
LONGEST_NAME = 50  # characters of a kernel's name


def show_steps(planned: list[Planned], label: str, before: int, count: int, *, as_json: bool) -> None:
    """Print what a step of the first trial of a method does; nothing is stored."""
    suite, trial = find_trial(planned, label, "--steps")
    with suite.registry.activate():
        steps = measure_steps(trial, suite.registry, before, count)
    if as_json:
        echo_json({"trial": str(trial), "before": before, **_to_json(steps)})
        return
    click.echo(printable(f"{trial}: {count} steps, after {before} others; nothing was stored"))
    for line in _describe(steps):
        click.echo(f"  {line}")


def _to_json(steps: Steps) -> dict[str, Any]:
    on_device = {
        "device_seconds": steps.device_seconds,
        "launches": steps.launches,
        "copies": steps.copies,
        "gaps": [{"seconds": gap.seconds, "after": gap.after} for gap in steps.gaps],
        "kernels": {
            name: {"calls": calls, "seconds": seconds} for name, (calls, seconds) in steps.by_name.items()
        },
    }
    return {
        "steps": steps.count,
        "seconds": steps.seconds,
        "cpu_seconds": steps.cpu_seconds,
        "cost": steps.cost,
        **({} if steps.events is None else on_device),
    }


def _describe(steps: Steps) -> Iterator[str]:
    size, unit = choose_unit([steps.seconds])

    def shown(seconds: float) -> str:
        return f"{figures(seconds / size)} {unit}"

    rows = [("a step takes", shown(steps.seconds)), ("CPU time", shown(steps.cpu_seconds))]
    rows += [("cost", figures(steps.cost))]
    if steps.events is not None:
        share = steps.device_seconds / steps.seconds
        rows += [("device at work", f"{shown(steps.device_seconds)}, {share:.0%} of the step")]
        rows += [("launches", figures(steps.launches)), ("copies to or from the host", figures(steps.copies))]
        rows += [("longest gap", f"{shown(gap.seconds)}, after {_cut(gap.after)}") for gap in steps.gaps[:1]]
    header, *rest = rows
    yield from align(header, rest)
    if steps.by_name:
        yield ""
        yield from align(("kernel", "calls", f"{unit} a step"), _kernels(steps, size), left=1)


def _kernels(steps: Steps, size: float) -> Iterator[tuple[str, str, str]]:
    rows = list(steps.by_name.items())
    for name, (calls, seconds) in rows[:MOST_NAMES]:
        yield _cut(name), figures(calls), figures(seconds / size)
    if others := rows[MOST_NAMES:]:
        calls, seconds = (sum(each[place] for _, each in others) for place in range(2))
        yield f"{len(others)} others", figures(calls), figures(seconds / size)


def _cut(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"
