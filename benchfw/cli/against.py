"""What `benchfw run --against REV` does: the suites on two revisions in turn, and what changed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from benchfw.analysis.compare import FLOOR
from benchfw.api import Planned, run_against
from benchfw.cli.execution import listening, make_ready
from benchfw.cli.options import echo_json
from benchfw.cli.verbs.compare import comparison_data, print_comparison
from benchfw.errors import BenchfwError
from benchfw.harness.run import Options
from benchfw.records import Run
from benchfw.store import Store
from benchfw.summary.compare import compare_pairs


def run_and_compare(
    planned: Sequence[Planned],
    revision: str,
    store: Path,
    options: Options,
    events: Path | None,
    *,
    as_json: bool,
) -> int:
    """Run, compare, print; return the exit code: 1 if something regressed, or fails in the present files."""
    if options.jobs != 1:
        raise BenchfwError("--against runs one trial at a time; leave out --jobs")
    make_ready(planned)
    with listening(events, f"against {revision}", []) as listen:
        runs = run_against(planned, revision, store, options, listen)
    with Store(store) as opened:
        pairs = [tuple((run, opened.results(run.id)) for run in both) for both in runs]
    found = compare_pairs([(before, after) for before, after in pairs], FLOOR)
    if as_json:
        echo_json({"revision": revision, "runs": _numbers(runs), **comparison_data(found, FLOOR)})
    else:
        print_comparison(found, FLOOR, ("regressed", "improved"))
        numbers = ", ".join(f"`benchfw compare {before.id} {after.id}`" for before, after in runs)
        click.echo(f"A is {revision}, B the files as they are; all rows: {numbers}")
    return 1 if found.count("regressed") or any(after.faults for _, after in runs) else 0


def _numbers(runs: Sequence[tuple[Run, Run]]) -> list[dict[str, object]]:
    return [{"suite": before.suite, "before": before.id, "after": after.id} for before, after in runs]
