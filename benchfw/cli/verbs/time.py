"""`benchfw time [KERNEL…]`"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import click

from benchfw.cli.options import echo_json, json_option, plugin_option, store_option
from benchfw.cli.verbs.completion import complete_kernels
from benchfw.errors import BackendUnavailable
from benchfw.records import Isolation
from benchfw.report.text import printable

SIZES = (10_000, 100_000, 1_000_000)


def parse_sizes(_ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> list[int]:
    """Return whole numbers from 1, also written 1e6 or 1_000_000, in order and each once."""
    sizes = set()
    for value in values:
        try:
            number = float(value)
        except ValueError:
            number = 0.0
        if not (number >= 1 and number.is_integer()):
            raise click.BadParameter(f"'{value}' is not a size; write a whole number such as 10000 or 1e6")
        sizes.add(int(number))
    return sorted(sizes)


@click.command(name="time")
@click.argument("kernels", nargs=-1, metavar="[KERNEL]...", shell_complete=complete_kernels)
@click.option(
    "--size",
    "sizes",
    callback=parse_sizes,
    multiple=True,
    metavar="SIZE",
    help="Entries of a kernel's largest argument or result; repeatable.  [default: 1e4, 1e5, 1e6]",
)
@click.option(
    "--backend",
    "backends",
    multiple=True,
    metavar="NAME",
    help="Time on this backend; repeatable.  [default: all that are here]",
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
    default=1.0,
    show_default=True,
    metavar="SECONDS",
    help="Time for each size of a kernel; sizes where a single call would take longer are skipped.",
)
@click.option(
    "--repetitions",
    type=click.IntRange(min=1),
    metavar="N",
    help="Runs of each size of a kernel.  [default: 1; 3 with two backends]",
)
@click.option(
    "--isolation",
    type=click.Choice(["trial", "worker"]),
    default="trial",
    show_default=True,
    help="Give each run of a kernel its own process (trial), or, faster with a GPU, a shared one (worker).",
)
@click.option("--no-report", is_flag=True, help="Write no page.")
@plugin_option
@store_option
@json_option
def command(
    kernels: tuple[str, ...],
    sizes: list[int],
    backends: tuple[str, ...],
    dtype: str | None,
    threads: int | None,
    limit: float,
    repetitions: int | None,
    isolation: Isolation,
    no_report: bool,
    plugins: tuple[str, ...],
    store: Path,
    as_json: bool,
) -> None:
    """Time kernels at several sizes on every backend, against what the hardware can do.

    Without KERNEL, all registered kernels are timed. The highest rates of moving bytes and of multiplying
    matrices are measured in the same run; a kernel's share of that limit follows from the operations and
    bytes that it declares. With two backends, each is timed in three runs unless --repetitions says
    otherwise, to say how many times faster one is, and at what sizes. The run is kept in the store: `benchfw
    compare` and `benchfw export` read it like any other.

    \b
    Examples:
      benchfw time
      benchfw time chebyshev-forms lanczos --size 1e4 --size 1e6 --threads 4
      benchfw time soft-threshold --backend numpy --json
    """
    from benchfw.backends.threads import default_threads

    threads = threads or default_threads()
    from benchfw.api.planning import plan_text
    from benchfw.api.running import run_planned
    from benchfw.cli.execution import (
        check_pages,
        exit_code,
        listen_to_run,
        print_faults,
        print_not_loaded,
        print_run,
    )
    from benchfw.harness.options import Options
    from benchfw.registry import Registry
    from benchfw.summary.exports import SUMMARY_COLUMNS, summary_rows

    registry = Registry(plugins)
    print_not_loaded([registry])
    for name in kernels:
        registry.get("kernel", name)  # the planner would name a place in a file that nobody wrote
    with registry.activate():
        text = suite_text(kernels, sizes or SIZES, backends or _present(), dtype, limit, repetitions)
    planned = plan_text(text, "time", registry)
    options = Options(threads=threads, fresh=True, isolation=isolation)
    with listen_to_run(None, planned.suite.title, []) as listen:
        run, summary = run_planned(planned, store, options, listen, page=check_pages(page=not no_report))
    if as_json:
        rows = [
            {name: _finite(value) for name, value in zip(SUMMARY_COLUMNS, row, strict=True)}
            for row in summary_rows(summary)
        ]
        echo_json({"run": run.id, "store": run.store, "report": run.report, "rows": rows})
    else:
        print_run(run, summary, as_json=False)
    print_faults(registry.broken)
    sys.exit(exit_code(run))


def suite_text(
    kernels: Sequence[str],
    sizes: Sequence[int],
    backends: Sequence[str],
    dtype: str | None,
    limit: float,
    repetitions: int | None = None,
) -> str:
    """Return the suite that times these kernels, as a file would have it."""
    import json

    if repetitions is None:
        repetitions = 3 if len(set(backends)) > 1 else 1  # a verdict on which is faster takes three

    quote = partial(json.dumps, ensure_ascii=False)  # strings and lists are alike in TOML
    lines = [
        'title = "Kernels"',
        f"backends = {quote(list(dict.fromkeys(backends)))}",
        f"repetitions = {repetitions}",
        f"budget = {{ seconds = {limit!r} }}",
        "[[kernel]]",
        f"use = {quote(list(dict.fromkeys(kernels)) or '*')}",
        f"size = {list(sizes)}",
        *([f'dtype = "{dtype}"'] if dtype else []),
    ]
    return "\n".join(lines) + "\n"


def _finite(value: str | float) -> str | float | None:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _present() -> list[str]:
    """Return the backends of this machine; of the others, standard error has the reason."""
    from benchfw.backends import backend_names, get_backend

    found = list[str]()
    faults = dict[str, None]()
    for name in backend_names():
        try:
            found.append(get_backend(name).name)
        except BackendUnavailable as fault:
            faults[str(fault)] = None  # in order, and each once: two backends may need one package
    for why in faults:
        click.echo(f"benchfw: {printable(why)}", err=True)
    return found
