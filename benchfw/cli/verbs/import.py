"""`benchfw import FILE`"""

from __future__ import annotations

from pathlib import Path
from shlex import quote

import click

from benchfw.cli.options import plugin_option, store_option
from benchfw.errors import BenchfwError, nearest
from benchfw.packages import install_command
from benchfw.provenance import DEFAULT_STORE
from benchfw.report.text import plural, printable

SQLITE = b"SQLite format 3\0"  # the first bytes of a store


@click.command(name="import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--from", "program", metavar="NAME", help="The program that wrote FILE, if several are known.")
@plugin_option
@store_option
def command(file: Path, program: str | None, plugins: tuple[str, ...], store: Path) -> None:
    """Import the results in FILE, which another program measured, into the store as a run.

    Reports show its tables and curves and say that it was not measured here. They call no method better than
    another: the seeds of its runs and the noise of the machine are not known. For the same reason it cannot
    be compared with another run or replayed. What reads the file comes from a plugin: benchfw-bridges has
    one for result files of benchopt (.parquet).

    \b
    Examples:
      benchfw import outputs/benchopt_run.parquet
      benchfw report last
    """
    from benchfw.cli.execution import print_not_loaded
    from benchfw.registry import Registry
    from benchfw.store import Store

    if not file.is_file():
        raise BenchfwError(f"no file '{file}'; give a path that exists")
    check_foreign(file)
    registry = Registry(plugins)
    print_not_loaded([registry])
    known = registry.entries("importer")
    if not known:
        command = install_command("benchfw-bridges[benchopt]")
        raise BenchfwError(f"no installed plugin can import results; {command}")
    if program is None and len(known) > 1:
        raise BenchfwError(f"say what wrote {file}: --from {' or --from '.join(known)}")
    name = program or next(iter(known))
    if name not in known:
        raise BenchfwError(f"nothing imports results of '{name}'{nearest(name, known)}")
    found = known[name].factory().read_run(file)
    with Store(store, create=True) as opened:
        run = opened.add_run(found.suite, found.title, found.environment, found.trials)
    click.echo(printable(f"run {run}: {plural(len(found.trials), 'trial')} of {file}, kept in {store}"))
    elsewhere = "" if store == DEFAULT_STORE else f" --store {quote(str(store))}"
    click.echo(printable(f"next: benchfw report {run}{elsewhere}"))


def check_foreign(file: Path) -> None:
    """Raise BenchfwError for a file that benchfw itself wrote, with the commands that read it."""
    from benchfw.store.bundle import is_bundle

    name = quote(str(file))
    with file.open("rb") as opened:
        start = opened.read(len(SQLITE))
    if start == SQLITE:
        raise BenchfwError(
            f"{file} is a store, as `benchfw run` writes; read it with `benchfw report last --store {name}`"
        )
    if is_bundle(file):
        raise BenchfwError(
            f"{file} is a bundle, as `benchfw export --bundle` writes; `benchfw report {name}` shows it, "
            f"`benchfw run --from-bundle {name}` runs it again, and `benchfw compare {name} last` compares "
            f"it with your last run"
        )
