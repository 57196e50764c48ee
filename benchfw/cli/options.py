"""Options that several verbs share."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click

from benchfw.report.text import align, flat_facts, printable
from benchfw.system import CAN_SUPERVISE

Command = TypeVar("Command", bound=Callable[..., Any])

SURVIVED = 93  # the exit code of a process that has imported a plugin, whatever that raised


def store_option(command: Command) -> Command:
    from benchfw.provenance import DEFAULT_STORE  # of which `list` and `show` need nothing

    return click.option(
        "--store",
        type=click.Path(dir_okay=False, path_type=Path),
        default=DEFAULT_STORE,
        show_default=True,
        help="The SQLite file that keeps trials and records.",
    )(command)


def plugin_option(command: Command) -> Command:
    return click.option(
        "--plugin",
        "plugins",
        multiple=True,
        metavar="FILE.py|MODULE",
        callback=_try_plugins,
        help="Load a plugin from a file or module; may be given several times.",
    )(command)


def _try_plugins(ctx: click.Context, param: click.Parameter, sources: tuple[str, ...]) -> tuple[str, ...]:
    for source in sources:
        if not ctx.resilient_parsing:
            try_plugin(source)
    return sources


def try_plugin(source: str) -> None:
    """Raise PluginError if a file kills the process that imports it; that is tried in one that may die."""
    import tempfile

    from benchfw.errors import PluginError
    from benchfw.harness.workers.deaths import describe_end, find_place
    from benchfw.loading import is_file_name

    if not (is_file_name(source) and Path(source).is_file()):
        return
    with tempfile.TemporaryFile() as log:
        code = _try_in_fork(source, log.fileno()) if CAN_SUPERVISE else _try_in_process(source, log.fileno())
        if code != SURVIVED:
            log.seek(0)
            place = find_place(log.read().decode(errors="replace"))
            raise PluginError(
                f"plugin '{source}' cannot be loaded: the process that imports it {describe_end(code)}{place}"
            )


def _try_in_fork(source: str, log: int) -> int:
    import signal

    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        import_and_end(source, log)
    try:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)  # and what the plugin started


def _try_in_process(source: str, log: int) -> int:
    import subprocess

    code = "import sys; from benchfw.cli.options import import_and_end; import_and_end(sys.argv[1], 2)"
    nowhere = subprocess.DEVNULL
    words = [sys.executable, "-c", code, source]
    return subprocess.run(words, stdin=nowhere, stdout=nowhere, stderr=log, check=False).returncode


def import_and_end(source: str, log: int) -> NoReturn:
    """Import a plugin, and end the process; what it raises, it raises once more where that is said."""
    from benchfw.loading import load_source

    faulthandler.enable(log)
    with contextlib.suppress(BaseException):
        load_source(source)
    os._exit(SURVIVED)


def json_option(command: Command) -> Command:
    return click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")(command)


def parse_bytes(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """Return the bytes that a text such as 500MB or 2G means."""
    from benchfw.api.arguments import read_size

    size = None if value is None else read_size(value)
    if size == 0:
        raise click.BadParameter(f"'{value}' is not a size; write 500MB or 2G")
    return size


def echo_json(value: Any) -> None:
    """Print a value as JSON."""
    import json

    lines = json.dumps(value, indent=2, ensure_ascii=False, default=str).split("\n")
    click.echo("\n".join(line if line.isprintable() else _escape(line) for line in lines))


def _escape(line: str) -> str:
    """Return a line of JSON without what could steer a terminal; the letters of all languages stay."""
    import json

    return "".join(each if each.isprintable() else json.dumps(each)[1:-1] for each in line)


def echo_table(rows: Iterable[Sequence[Any]], header: Sequence[str]) -> None:
    """Print rows in aligned columns; plain text, since drawing would cost more than the verb itself."""
    for line in align(header, rows):
        click.echo(line)


def echo_facts(facts: Mapping[str, Any]) -> None:
    """Print nested facts, a line each: 'machine.cores: 8'."""
    for name, text in flat_facts(facts):
        click.echo(f"{name}: {printable(text)}")
