"""`benchfw export RUN`"""

from __future__ import annotations

import io
import json
import math
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import click

from benchfw.cli.options import plugin_option, store_option
from benchfw.cli.verbs.completion import complete_exporters, complete_runs
from benchfw.errors import BenchfwError
from benchfw.provenance import Run
from benchfw.report.text import plural, printable
from benchfw.suite import SESSION_SOURCE

if TYPE_CHECKING:
    from benchfw.registry import Entry
    from benchfw.store import Store

TABLES = ("csv", "json", "parquet")


@click.command(name="export")
@click.argument("run", default="last", shell_complete=complete_runs)
@click.option(
    "--format",
    "form",
    metavar="NAME",
    default="csv",
    show_default=True,
    shell_complete=lambda context, option, word: [
        *(table for table in TABLES if table.startswith(word)),
        *complete_exporters(context, option, word),
    ],
    help="A table, csv, json or parquet; or the form of another tool, which a plugin adds: "
    "`benchfw list exporters` names them.",
)
@click.option("--tuning", is_flag=True, help="Write the records of the trials that tuned, and only those.")
@click.option("--summary", is_flag=True, help="Write estimates with intervals instead of single records.")
@click.option(
    "--claims", is_flag=True, help="Write the claims as decided: a row for each number they are about."
)
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    help="A file instead of standard output; the folder, for a form that has one.",
)
@click.option(
    "--bundle",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.zip",
    help="Pack the run for another machine instead: trials, records, suite, versions.",
)
@plugin_option
@store_option
def command(
    run: str,
    form: str,
    tuning: bool,
    summary: bool,
    claims: bool,
    output: Path | None,
    bundle: Path | None,
    plugins: tuple[str, ...],
    store: Path,
) -> None:
    """Write the records of RUN (an id from `benchfw runs`, or last) in long form.

    The trials that tuned a method's parameters are left out, unless --tuning asks for them.

    With --bundle the run is packed into one file, for `benchfw run --from-bundle` and `benchfw compare`
    elsewhere. Data sets and the code of plugins are not in it, only their names, versions and hashes.

    Forms of other tools, and services that a run is sent to, come from plugins; benchfw-exchange has some.

    \b
    Examples:
      benchfw export last > records.csv
      benchfw export 3 --summary --format json -o summary.json
      benchfw export last --claims > claims.csv
      benchfw export last --bundle paper.zip
    """
    from benchfw.store import Store
    from benchfw.summary.claims.tables import CLAIM_COLUMNS, claim_rows
    from benchfw.summary.exports import (
        RECORD_COLUMNS,
        parameter_columns,
        record_rows,
        summary_columns,
        summary_rows,
    )
    from benchfw.summary.summarize import summarize

    others = summary or claims or tuning or output or form != "csv"
    if bundle is not None and (bundle.suffix != ".zip" or others):
        raise BenchfwError("--bundle takes the name of a .zip file, and no other option of export")
    if claims and (summary or tuning):
        raise BenchfwError("--claims is a table of its own; leave out --summary and --tuning")
    exporter = None if form in TABLES else _find_exporter(form, plugins)
    if exporter and (claims or summary or tuning):
        raise BenchfwError(
            f"--format {form} has a content of its own; leave out --summary, --claims and --tuning"
        )
    with Store(store) as opened:
        chosen = opened.run(run)
        if bundle is not None:
            _pack(chosen, bundle)
            return
        if exporter:
            _hand_over(exporter, chosen, opened, output)
            return
        results = opened.stream(chosen.id)
        if claims:
            decided = summarize(chosen, results, figures=False, best_known=opened.best_known).claims
            _write_rows(output, form, CLAIM_COLUMNS, claim_rows(decided))
            return
        if summary:
            found = summarize(chosen, results, figures=False, best_known=opened.best_known)
            _write_rows(output, form, summary_columns(found), summary_rows(found))
            return
        parameters = parameter_columns(opened.specs(chosen.id))
        wanted = (each for each in results if bool(each.trial.tuning) == tuning)
        rows = record_rows(chosen, wanted, parameters)
        _write_rows(output, form, (*RECORD_COLUMNS, *parameters), rows)


def _find_exporter(name: str, plugins: Sequence[str]) -> Entry:
    """Return the exporter of a format; for an unknown one a BenchfwError says what to install."""
    from benchfw.errors import nearest
    from benchfw.packages import advise_install
    from benchfw.registry import Registry

    registry = Registry(plugins)
    for fault in registry.broken:
        click.echo(f"benchfw: not loaded: {printable(fault)}", err=True)
    known = registry.entries("exporter")
    if name not in known:
        names = [*TABLES, *known]
        command = advise_install("exporter", name)
        hint = f"; {command}" if command else nearest(name, names, f"; choose from: {', '.join(names)}")
        raise BenchfwError(f"unknown format '{name}'{hint}")
    return known[name]


def _hand_over(entry: Entry, run: Run, store: Store, output: Path | None) -> None:
    """Let an exporter write a run: to a folder, a file or standard output, or to a service."""
    from benchfw.loading import fault_text
    from benchfw.summary.summarize import summarize

    exporter = entry.factory()
    makes_file = exporter.ending not in {"", "/"}
    if exporter.ending == "/" and output is None:
        raise BenchfwError(f"--format {entry.name} writes a folder; name it, as in --output {entry.name}")
    if exporter.ending == "" and output is not None:
        raise BenchfwError(f"--format {entry.name} sends the run and writes no file; leave out --output")
    if makes_file and output is not None and output.is_dir():
        file = output / f"run-{run.id}{exporter.ending}"
        raise BenchfwError(f"{output} is a folder; name a file, as in --output {file}")
    summary = summarize(run, store.stream(run.id), figures=False, best_known=store.best_known)
    try:
        text = exporter.export(run, summary, store.stream(run.id), output)
        if not makes_file:
            click.echo(printable(text))
        elif output is None:
            _standard_output().write(text)
        else:
            output.write_text(text, encoding="utf-8")
    except (BenchfwError, BrokenPipeError):
        raise
    except OSError as fault:
        raise _unwritable(output, fault) from None
    except Exception as fault:
        raise BenchfwError(f"the {entry} raised {fault_text(fault)}") from fault


def _standard_output() -> IO[str]:
    return cast("IO[str]", _Escaping(sys.stdout)) if sys.stdout.isatty() else sys.stdout


def _write_rows(
    output: Path | None, form: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]
) -> None:
    from benchfw.summary.exports import write_csv

    try:
        if form == "parquet":
            _write_parquet(output, columns, rows)
        elif output is None:
            (write_csv if form == "csv" else _write_json)(_standard_output(), columns, rows)
        else:
            with output.open("w", encoding="utf-8", newline="") as file:
                (write_csv if form == "csv" else _write_json)(file, columns, rows)
    except BrokenPipeError:  # the reader has seen enough, as in `benchfw export | head`
        raise
    except OSError as fault:
        raise _unwritable(output, fault) from None


def _unwritable(output: Path | None, fault: Exception) -> BenchfwError:
    if output is None:
        return BenchfwError(f"standard output cannot be written ({fault}); name a file with --output")
    return BenchfwError(f"{output} cannot be written ({fault}); use another --output")


class _Escaping(io.TextIOBase):
    """A terminal that what a plugin or somebody else's store says cannot steer; files get it as it is."""

    def __init__(self, terminal: IO[str]) -> None:
        self._terminal = terminal

    def write(self, text: str) -> int:
        """Write text without what could move the cursor or change colours."""
        return self._terminal.write("\n".join(map(printable, text.split("\n"))))


def _pack(run: Run, bundle: Path) -> None:
    from benchfw.store.bundle import write_bundle

    write_bundle(run.store, run, bundle)
    trials = plural(run.ended, "trial")
    source = "; the suite has the source of its session's objects as a comment"
    said = f"{trials} with suite and versions, without data sets and plugins' code"
    click.echo(printable(f"bundle: {bundle} ({said}{source if SESSION_SOURCE in run.text else ''})"))
    if run.standing:
        click.echo(run.standing)


def _write_json(file: IO[str], columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    # JSON has no NaN and no infinity: they are written as text that every float() reads
    plain = (
        [str(value) if isinstance(value, float) and not math.isfinite(value) else value for value in row]
        for row in rows
    )
    json.dump([dict(zip(columns, row, strict=True)) for row in plain], file, indent=1)
    file.write("\n")


def _write_parquet(output: Path | None, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    if output is None:
        raise BenchfwError("parquet is binary; name a file with --output")
    try:
        import pandas as pd

        pd.DataFrame(list(rows), columns=list(columns)).to_parquet(output, index=False)
    except ImportError:
        raise BenchfwError("parquet needs pandas and pyarrow; pip install 'benchfw[parquet]'") from None
