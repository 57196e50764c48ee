"""`benchfw export RUN`"""

from __future__ import annotations

import csv
import json
import math
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, Any

import click

from benchfw.cli.options import store_option


@click.command(name="export")
@click.argument("run", default="last")
@click.option(
    "--format", "form", type=click.Choice(["csv", "json", "parquet"]), default="csv", show_default=True
)
@click.option("--summary", is_flag=True, help="Write estimates with intervals instead of single records.")
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A file instead of standard output.",
)
@store_option
def command(run: str, form: str, summary: bool, output: Path | None, store: Path) -> None:
    """Write the records of RUN (an id from `benchfw runs`, or last) in long form.

    \b
    Examples:
      benchfw export last > records.csv
      benchfw export 3 --summary --format json -o summary.json
    """
    from benchfw.errors import BenchfwError
    from benchfw.report.exports import RECORD_COLUMNS, record_rows
    from benchfw.report.summary import EXPORT_COLUMNS, summarize
    from benchfw.store import Store

    with Store(store) as opened:
        chosen = opened.run(run)
        results = opened.results(chosen.id)
        rows: Iterable[Sequence[Any]]
        if summary:
            columns = EXPORT_COLUMNS
            rows = (tuple(row[name] for name in columns) for row in summarize(chosen, results).export_rows())
        else:
            columns, rows = RECORD_COLUMNS, record_rows(chosen, results)
        if form == "parquet":
            _write_parquet(columns, rows, output)
            return
        write = _write_csv if form == "csv" else _write_json
        if output is None:
            write(columns, rows, sys.stdout)
            return
        try:
            with output.open("w", encoding="utf-8", newline="") as file:
                write(columns, rows, file)
        except OSError as fault:
            raise BenchfwError(
                f"{output} cannot be written ({fault}); give another file by --output"
            ) from None


def _write_csv(columns: Sequence[str], rows: Iterable[Sequence[Any]], file: IO[str]) -> None:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(value) for value in row] for row in rows)


def _cell(value: Any) -> Any:
    # a spreadsheet would take text that begins so for a formula
    return (
        f"'{value}"
        if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r"))
        else value
    )


def _write_json(columns: Sequence[str], rows: Iterable[Sequence[Any]], file: IO[str]) -> None:
    # JSON has no NaN and no infinity: they are written as text that every float() reads
    plain = (
        [str(value) if isinstance(value, float) and not math.isfinite(value) else value for value in row]
        for row in rows
    )
    json.dump([dict(zip(columns, row, strict=True)) for row in plain], file, indent=1)
    file.write("\n")


def _write_parquet(columns: Sequence[str], rows: Iterable[Sequence[Any]], output: Path | None) -> None:
    from benchfw.errors import BenchfwError

    if output is None:
        raise BenchfwError("parquet is binary; name a file with --output")
    try:
        import pandas as pd

        pd.DataFrame(list(rows), columns=list(columns)).to_parquet(output, index=False)
    except ImportError:
        raise BenchfwError("parquet needs pandas and pyarrow; pip install 'benchfw[report]'") from None
    except OSError as fault:
        raise BenchfwError(f"{output} cannot be written ({fault}); give another file by --output") from None
