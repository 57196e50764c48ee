"""`benchfw export RUN`"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, Any

import click

from benchfw.cli import completing
from benchfw.cli.options import store_option
from benchfw.errors import BenchfwError


@click.command(name="export")
@click.argument("run", default="last", shell_complete=completing.runs)
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
    from benchfw.report.exports import RECORD_COLUMNS, record_rows, write_csv
    from benchfw.report.summary import EXPORT_COLUMNS, summarize
    from benchfw.store import Store

    with Store(store) as opened:
        chosen = opened.run(run)
        results = opened.results(chosen.id)
    columns: Sequence[str] = EXPORT_COLUMNS if summary else RECORD_COLUMNS
    rows = summarize(chosen, results).export_rows() if summary else record_rows(chosen, results)
    try:
        if form == "parquet":
            _write_parquet(output, columns, rows)
        elif output is None:
            (write_csv if form == "csv" else _write_json)(sys.stdout, columns, rows)
        else:
            with output.open("w", encoding="utf-8", newline="") as file:
                (write_csv if form == "csv" else _write_json)(file, columns, rows)
    except BrokenPipeError:  # the reader has seen enough, as in `benchfw export | head`
        raise
    except OSError as fault:
        raise BenchfwError(f"{output} cannot be written ({fault}); give another file by --output") from None


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
        raise BenchfwError("parquet needs pandas and pyarrow; pip install 'benchfw[report]'") from None
