"""`benchfw compare A B`"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchfw.analysis.judgement import FLOOR, WORDS
from benchfw.cli.options import echo_json, echo_table, json_option, store_option
from benchfw.cli.verbs.completion import complete_runs
from benchfw.errors import BenchfwError
from benchfw.names import names_a_file
from benchfw.report.text import plural, printable

if TYPE_CHECKING:
    from benchfw.provenance import Run
    from benchfw.summary.changes import Resetting, RunComparison, RunRow
    from benchfw.summary.compare import Side


@click.command(name="compare")
@click.argument("before", metavar="A", shell_complete=complete_runs)
@click.argument("after", metavar="B", shell_complete=complete_runs)
@click.option(
    "--floor",
    type=click.FloatRange(min=0, max=10),
    default=FLOOR,
    metavar="SHARE",
    show_default=True,
    help="The smallest change to report: 0.05 is 5 %.",
)
@store_option
@json_option
def command(before: str, after: str, floor: float, store: Path, as_json: bool) -> None:
    """Say what changed from run A to run B, for every problem, method, backend and quantity in both.

    A and B are ids from `benchfw runs`, or last; PATH:RUN names a run of another store, FILE.zip the run in
    a bundle.

    \b
    regressed, improved   by more than the floor, and not by chance: at a false discovery rate of 5 %
                          over all rows (Benjamini & Hochberg)
    no change             equal within the floor, by the rule that reports use: 29 runs or more
    identical             every run has the same value in A and in B, bit for bit
    within noise          none of these; more repetitions may decide

    Runs that fail or do not reach the target count against their side: a change in their share is a row too.
    Cost and seconds to the target include what `prepare` takes. For metrics that can be negative, B - A is
    shown instead of B/A. Times are compared along with CPU seconds where both runs have these, and only if
    processor, cores, memory, governor, threads and device are alike. A line says what is not compared, and
    why. Exit code 1 if something regressed.

    \b
    Examples:
      benchfw compare 3 last
      benchfw compare main.sqlite:last last --floor 0.1 --json
      benchfw compare paper.zip last
    """
    from benchfw.summary.compare import compare_runs

    old, new = _read(before, store), _read(after, store)
    for run, _ in (old, new):
        run.check_measured("compare")
    found = compare_runs(old, new, floor)
    if as_json:
        sides = {"before": _run_data(old[0]), "after": _run_data(new[0])}
        echo_json({**sides, **comparison_data(found, floor)})
    else:
        print_comparison(found, floor)
        for run, _ in (old, new):
            if run.standing:
                click.echo(run.standing)
    if found.count("regressed"):
        sys.exit(1)


def _read(name: str, store: Path) -> Side:
    """Return a run and its trials: an id or `last`, in the store or in that of PATH:RUN; or a bundle's."""
    from benchfw.store import Store
    from benchfw.store.bundle import read_bundle

    if name.endswith(".zip"):
        return read_bundle(Path(name))
    path, _, run = name.rpartition(":")
    if not path and names_a_file(name):
        raise BenchfwError(f"{name} is a file; name a run of that store, as in {name}:last")
    with Store(Path(path) if path else store) as opened:
        chosen = opened.run(run)
        return chosen, opened.results(chosen.id)


def print_comparison(found: RunComparison, floor: float, words: Sequence[str] = WORDS) -> None:
    """Print the rows with one of these words, what was not compared, and the number of rows with each."""
    from benchfw.report.text import figures

    shown = [row for row in found.rows if row.change.word in words]
    rows = [
        (
            row.cell.problem,
            row.cell.method,
            row.cell.backend,
            row.quantity,
            *(_value_text(row, side) for side in (0, 1)),
            _change_text(row),
            row.change.ratio.count,
            ", ".join(f"{each.well}/{each.runs}" for each in row.ended),
            figures(row.change.adjusted, 2),
            row.change.word,
        )
        for row in shown
    ]
    header = (
        "problem",
        "method",
        "backend",
        "quantity",
        "A",
        "B",
        "B/A",
        "runs",
        "ended well",
        "p",
        "verdict",
    )
    for sentence in _setting_sentences(found):
        click.echo(printable(sentence))
    if rows:
        echo_table(rows, header)
    for row in shown:
        if row.sentence:
            click.echo(printable(f"{row.change.word}: {row.sentence}"))
    for sentence in _time_sentences(found):
        click.echo(printable(sentence))
    for reason in found.refused:
        click.echo(f"not compared: {printable(reason)}")
    for sentence in found.busy:
        click.echo(sentence)
    from benchfw.analysis.medians import CHECKED_PAIRS

    decided = [row for row in found.rows if row.change.word in ("regressed", "improved")]
    if any(row.change.ratio.count < CHECKED_PAIRS for row in decided):
        click.echo(
            f"verdicts from fewer than {CHECKED_PAIRS} runs assume that runs vary like normal noise: "
            f"--repetitions {CHECKED_PAIRS} or more is safer"
        )
    if found.in_both:
        click.echo(f"{plural(found.in_both, 'trial')} in both runs, not measured again (use `run --fresh`)")
    said = ", ".join(f"{found.count(word)} {word}" for word in WORDS if found.count(word))
    click.echo(f"{said} (floor {floor:.0%}, medians, p for {plural(len(found.rows), 'row')} together)")


def _change_text(row: RunRow) -> str:
    """Return the ratio, or the difference of what can be negative."""
    from benchfw.report.text import interval_text, ratio_text

    if row.sentence:
        return "—"
    return f"B - A {interval_text(row.change.ratio)}" if row.change.signed else ratio_text(row.change.ratio)


def _setting_sentences(found: RunComparison) -> Iterator[str]:
    """Yield 'sgd: step 0.1 in A, 9 in B (tuned with …): rows compare the settings, too'."""
    from benchfw.report.text import join_names

    texts: dict[str, dict[str, list[str]]] = {}
    for each in found.resettings:
        problems = texts.setdefault(each.cell.method, {}).setdefault(_setting_text(each), [])
        problems += [] if each.cell.problem in problems else [each.cell.problem]
    for method, by_text in texts.items():
        for text, problems in by_text.items():
            where = f" on {join_names(problems)}" if len(by_text) > 1 else ""
            yield f"{method}{where}: {text}: rows compare the settings, too"


def _setting_text(found: Resetting) -> str:
    parts = (
        f"{path} {_values_text(mine)} in A, {_values_text(theirs)} in B"
        for path, (mine, theirs) in found.values.items()
    )
    old, new = found.tuned
    if not old and not new:
        return "; ".join(parts)
    both = f"{old} in both" if old == new else f"{old} in A, {new} in B"
    tuned = both if old and new else f"{old or new} in {'A' if old else 'B'} only"
    return f"{'; '.join(parts)} (tuned with {tuned})"


def _values_text(values: Sequence[Any]) -> str:
    """Return a value, the range of several numbers, or 'not given'."""
    from benchfw.report.tuning.problems import setting_value

    if len(values) > 1 and all(isinstance(each, int | float) for each in values):
        return f"{setting_value(min(values))} to {setting_value(max(values))}"
    return " or ".join(map(setting_value, values)) or "not given"


def _time_sentences(found: RunComparison) -> Iterator[str]:
    """Yield a sentence on each time that did not change as its CPU seconds did."""
    from benchfw.report.text import ratio_text

    for time, used in found.times_apart():
        mine, other = time.change.ratio, used.change.ratio
        longer = "longer" if mine.low > 1 else "as long"
        why = (
            "the work moved to other processes, or it waits"
            if mine.low > other.high
            else "it waits less, for other processes say, or more threads work at a time"
        )
        yield (
            f"{time.change.word}: {time.cell}: wall time ({time.quantity}) is {ratio_text(mine)} times "
            f"{longer}, CPU seconds {ratio_text(other)} times: {why}"
        )


def _value_text(row: RunRow, side: int) -> str:
    """Return a median, or how many runs of how many."""
    from benchfw.report.text import figures

    badly, runs = row.ended[side].badly
    return f"{badly} of {runs}" if row.sentence else figures((row.before, row.after)[side])


def _run_data(run: Run) -> dict[str, Any]:
    return {"store": str(run.store), "run": run.id, "suite": run.suite, "started": run.started}


def comparison_data(found: RunComparison, floor: float) -> dict[str, Any]:
    """Return a comparison as plain data."""
    return {
        "floor": floor,
        "counts": {word: found.count(word) for word in WORDS},
        "rows": [
            {
                **row.cell._asdict(),
                "quantity": row.quantity,
                "before": _plain(row.before),
                "after": _plain(row.after),
                "difference" if row.change.signed else "ratio": _plain(row.change.ratio.estimate),
                "low": _plain(row.change.ratio.low),
                "high": _plain(row.change.ratio.high),
                "count": row.change.ratio.count,
                "probability": row.change.probability,
                "adjusted": row.change.adjusted,
                "ended_well": [each._asdict() for each in row.ended],
                "verdict": row.change.word,
                "sentence": row.sentence,
            }
            for row in found.rows
        ],
        "not_compared": list(found.refused),
        "in_both": found.in_both,
        "settings": [
            {
                **each.cell._asdict(),
                "before": {path: list(mine) for path, (mine, _) in each.values.items()},
                "after": {path: list(theirs) for path, (_, theirs) in each.values.items()},
                "tuned_with": list(each.tuned),
            }
            for each in found.resettings
        ],
        "settings_apart": list(_setting_sentences(found)),
        "busy": list(found.busy),
        "times_apart": list(_time_sentences(found)),
    }


def _plain(value: float) -> float | str:
    # JSON has no infinity: it is written as text that every float() reads, as by `benchfw export`
    return value if math.isfinite(value) else str(value)
