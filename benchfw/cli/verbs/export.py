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

from benchfw.cli.options import store_option
from benchfw.cli.verbs.completion import complete_runs
from benchfw.errors import BenchfwError
from benchfw.provenance import Run
from benchfw.report.text import plural, printable
from benchfw.suite import SESSION_SOURCE

if TYPE_CHECKING:
    from benchfw.records import Result
    from benchfw.summary.model import Summary

TABLES = ("csv", "json", "parquet")
TOOLS = ("asv", "bmf", "github-benchmark", "coco", "comment")


@click.command(name="export")
@click.argument("run", default="last", shell_complete=complete_runs)
@click.option(
    "--format",
    "form",
    type=click.Choice([*TABLES, *TOOLS]),
    default="csv",
    show_default=True,
    help="A table; or what another tool reads: ASV, Bencher (bmf), github-action-benchmark, COCO's "
    "post-processing, or a comment on a pull request.",
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
    help="A file instead of standard output; for asv and coco the folder of their files.",
)
@click.option(
    "--bundle",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.zip",
    help="Pack the run for another machine instead: trials, records, suite, versions.",
)
@store_option
def command(
    run: str,
    form: str,
    tuning: bool,
    summary: bool,
    claims: bool,
    output: Path | None,
    bundle: Path | None,
    store: Path,
) -> None:
    """Write the records of RUN (an id from `benchfw runs`, or last) in long form.

    The trials that tuned a method's parameters are left out, unless --tuning asks for them.

    With --bundle the run is packed into one file, for `benchfw run --from-bundle` and `benchfw compare`
    elsewhere. Data sets and the code of plugins are not in it, only their names, versions and hashes.

    With --format asv the estimates are added to a folder of results of airspeed velocity, which `asv publish`
    draws over commits; RUN must have been made in a clean git checkout.

    \b
    The other forms:
      bmf               the estimates in the Bencher Metric Format, for `bencher run --adapter json`
      github-benchmark  those where lower is better, for github-action-benchmark's customSmallerIsBetter
      coco              the curves of optimizers, a folder each, for cocopp and IOHanalyzer
      comment           what was found, in Markdown that fits one screen of a pull request

    \b
    Examples:
      benchfw export last > records.csv
      benchfw export 3 --summary --format json -o summary.json
      benchfw export last --claims > claims.csv
      benchfw export last --bundle paper.zip
      benchfw export last --format asv -o .asv/results
      benchfw export last --format bmf > bencher.json
      benchfw export last --format comment | gh pr comment --body-file -
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
    if form in TOOLS and (claims or summary or tuning):
        raise BenchfwError(
            f"--format {form} has a content of its own; leave out --summary, --claims and --tuning"
        )
    with Store(store) as opened:
        chosen = opened.run(run)
        if bundle is not None:
            _pack(chosen, bundle)
            return
        results = opened.stream(chosen.id)
        if form in TOOLS:
            found = summarize(chosen, results, figures=False, best_known=opened.best_known)
            _write_for_tool(form, chosen, found, opened.stream(chosen.id), output)
            return
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


def _write_rows(
    output: Path | None, form: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]
) -> None:
    from benchfw.summary.exports import write_csv

    try:
        if form == "parquet":
            _write_parquet(output, columns, rows)
        elif output is None:
            file = cast("IO[str]", _Escaping(sys.stdout)) if sys.stdout.isatty() else sys.stdout
            (write_csv if form == "csv" else _write_json)(file, columns, rows)
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


def _write_for_tool(
    form: str, run: Run, summary: Summary, results: Iterable[Result], output: Path | None
) -> None:
    """Write a run for another tool: to a folder, a file or standard output."""
    if form in ("asv", "coco") and output is None:
        example = ".asv/results" if form == "asv" else "exdata"
        raise BenchfwError(f"name the folder of --format {form} with --output, such as {example}")
    try:
        if form == "asv" and output is not None:
            from benchfw.summary.asv_export import write_asv
            from benchfw.summary.exports import summary_rows

            click.echo(write_asv(run, summary_rows(summary), output))
        elif form == "coco" and output is not None:
            from benchfw.report.exchange.coco import write_coco

            written = write_coco(summary, run, results, output)
            click.echo(printable(f"{output}: {', '.join(each.name for each in written)}"))
        elif output is None:
            click.echo(_text_for_tool(form, run, summary), nl=False)
        else:
            output.write_text(_text_for_tool(form, run, summary), encoding="utf-8")
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as fault:
        raise _unwritable(output, fault) from None


def _text_for_tool(form: str, run: Run, summary: Summary) -> str:
    from benchfw.report.exchange.comment import comment
    from benchfw.report.exchange.estimates import bencher_metrics, github_benchmarks

    if form == "comment":
        return comment(summary, run)
    content = bencher_metrics(summary, run) if form == "bmf" else github_benchmarks(summary, run)
    return json.dumps(content, indent=1, allow_nan=False) + "\n"


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
