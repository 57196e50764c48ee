"""`benchfw time [KERNEL…]`"""

from __future__ import annotations

import contextlib
import math
import os
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchfw.cli import completing
from benchfw.cli.options import echo_json, json_option, plugin_option, printable
from benchfw.records import DEFAULT_STORE

if TYPE_CHECKING:
    from benchfw.analysis.timings import Timing
    from benchfw.backends import Backend
    from benchfw.registry import Registry

SIZES = (10_000, 100_000, 1_000_000)
PAGE = DEFAULT_STORE.parent / "time"
WIDTH = 110


class Count(click.ParamType[int]):
    """A whole number from 1, also written 1e6 or 1_000_000."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number."""
        try:
            number = float(value)
        except ValueError:
            number = 0.0
        if not (number >= 1 and number.is_integer()):
            self.fail(f"'{value}' is no size; write a whole number such as 10000 or 1e6", param, ctx)
        return int(number)


@click.command(name="time")
@click.argument("kernels", nargs=-1, metavar="[KERNEL...]", shell_complete=completing.kernels)
@click.option(
    "--size",
    "sizes",
    type=Count(),
    multiple=True,
    help="Entries of a kernel's largest argument; repeatable.  [default: 1e4, 1e5, 1e6]",
)
@click.option(
    "--backend",
    "backends",
    multiple=True,
    metavar="NAME",
    help="Time on this backend; repeatable.  [default: all]",
)
@click.option(
    "--dtype",
    type=click.Choice(["float32", "float64"]),
    help="The type of floating-point arguments.  [default: the samples' own]",
)
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    metavar="N",
    help="Threads of the native libraries.  [default: OMP_NUM_THREADS, else 1]",
)
@click.option(
    "--limit",
    type=click.FloatRange(min=0, min_open=True),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="Spend about so long on a kernel and backend; sizes that would take longer are left out.",
)
@click.option(
    "--report",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=PAGE,
    show_default=True,
    help="The folder of the page.",
)
@click.option("--no-report", is_flag=True, help="Write no page.")
@plugin_option
@json_option
def command(
    kernels: tuple[str, ...],
    sizes: tuple[int, ...],
    backends: tuple[str, ...],
    dtype: str | None,
    threads: int | None,
    limit: float,
    folder: Path,
    no_report: bool,
    plugins: tuple[str, ...],
    as_json: bool,
) -> None:
    """Time kernels at several sizes on every backend, beside what the hardware can do.

    Without KERNEL, all that are registered. The highest rates of moving bytes and of multiplying matrices are
    measured in the same run; a kernel's share of that limit follows from the operations and bytes that it
    declares. With two backends: how many times faster, and from what size on.

    \b
    Examples:
      benchfw time
      benchfw time chebyshev-forms lanczos --size 1e4 --size 1e6 --threads 4
      benchfw time soft-threshold --backend numpy --json
    """
    from benchfw.harness.environment import THREAD_VARIABLES, default_threads, gather

    threads = threads or default_threads()
    # before NumPy and SciPy are imported: their thread pools are made then
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(threads)))
    from benchfw.registry import Registry

    registry = Registry(plugins)
    click.get_current_context().with_resource(registry.activate())
    for fault in registry.broken:
        click.echo(f"benchfw: not loaded: {printable(fault)}", err=True)
    timings, absent = measure(registry, kernels, tuple(dict.fromkeys(sizes or SIZES)), backends, limit, dtype)
    environment = gather([*dict.fromkeys(each.backend for each in timings), *absent], threads)
    page = None if no_report else _page(timings, absent, environment, folder)
    if as_json:
        echo_json({**as_data(timings, absent), "environment": environment, "report": page})
    else:
        _print(timings, absent)
        if page:
            click.echo(f"\nreport: {printable(str(page))}")
    if any(each.status.faulty for each in timings):
        sys.exit(1)


def measure(
    registry: Registry,
    kernels: Sequence[str],
    sizes: Sequence[int],
    names: Sequence[str],
    limit: float,
    dtype: str | None,
) -> tuple[list[Timing], dict[str, str]]:
    """Return the timings, and why a backend is absent; a bar shows how far it is."""
    from benchfw.measure.timing import time_kernels

    entries = [registry.get("kernel", name) for name in dict.fromkeys(kernels)]
    entries = entries or list(registry.entries("kernel").values())
    opened, absent = _open(names)
    timings = []
    with _bar(len(entries) * len(opened) * len(sizes)) as advance:
        for timing in time_kernels(entries, opened, sizes, limit, dtype):
            timings.append(timing)
            advance(timing.kernel)
    return timings, absent


def as_data(timings: Sequence[Timing], absent: Mapping[str, str]) -> dict[str, Any]:
    """Return the timings as plain data."""
    from benchfw.analysis.timings import break_evens
    from benchfw.report.timing_tables import EXPORT_COLUMNS, export_rows

    ceilings = dict.fromkeys((each.backend, each.ceilings) for each in timings if each.ceilings)
    words = {0.0: "always", math.inf: "never"}
    return {
        "ceilings": [{"backend": backend, **vars(found)} for backend, found in ceilings if found],
        "timings": [dict(zip(EXPORT_COLUMNS, row, strict=True)) for row in export_rows(timings)],
        "break_even": [
            {"kernel": kernel, "backend": backend, "size": words.get(size, size)}
            for (kernel, backend), size in break_evens(timings).items()
            if not math.isnan(size)
        ],
        "absent": dict(absent),
    }


def _open(names: Sequence[str]) -> tuple[list[Backend], dict[str, str]]:
    """Return the backends that are here, and why the others are not; an unknown name is an error."""
    from benchfw.backends import backend_names, get_backend
    from benchfw.errors import BackendUnavailable, BenchfwError, nearest

    opened, absent = [], {}
    for name in dict.fromkeys(names or backend_names()):
        if name not in backend_names():
            raise BenchfwError(f"unknown backend '{name}'{nearest(name, backend_names())}")
        try:
            opened.append(get_backend(name))
        except BackendUnavailable as fault:
            absent[name] = str(fault)
    if not opened:
        raise BackendUnavailable("; ".join(absent.values()))
    return opened, absent


def _page(
    timings: Sequence[Timing], absent: Mapping[str, str], environment: Mapping[str, Any], folder: Path
) -> Path | None:
    from benchfw.api import can_write_pages

    if not can_write_pages():
        click.echo("benchfw: no page without jinja2 and plotly; pip install 'benchfw[report]'", err=True)
        return None
    from benchfw.report.timing_page import write_timing_page

    return write_timing_page(timings, absent, environment, folder)


def _print(timings: Sequence[Timing], absent: Mapping[str, str]) -> None:
    from benchfw.report.terminal import aligned, visible
    from benchfw.report.timing_tables import (
        CAPTION,
        by_kernel,
        ceiling_sentences,
        heading,
        kernel_table,
        missing_sentences,
        sentence,
    )

    for line in ceiling_sentences(timings):
        click.echo(line)
    for name, reason in absent.items():
        click.echo(visible(f"{name}: skipped: {reason}"))
    click.echo(textwrap.fill(CAPTION, WIDTH))
    for mine in by_kernel(timings).values():
        said = visible(f"{heading(mine)}: {sentence(mine)}")
        click.echo(f"\n{textwrap.fill(said, WIDTH, break_on_hyphens=False)}")
        for line in aligned(kernel_table(mine)):
            click.echo(line)
        for line in missing_sentences(mine):
            click.echo(f"  {visible(line)}")


@contextlib.contextmanager
def _bar(total: int) -> Iterator[Any]:
    """Yield what moves a progress bar on by one; it is drawn only on a terminal."""
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as progress:
        task = progress.add_task("ceilings", total=total)
        yield lambda name: progress.update(task, advance=1, description=escape(printable(name)))
