"""What did not go well, put together by cause, and what a reader must know to believe the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from benchfw.records import Cell, Ending, Result, Status
from benchfw.summary.model import FINISHED, Caveat, Fault


def find_faults(results: Sequence[Result]) -> tuple[Fault, ...]:
    """Return the faults in order of first appearance; trials of one cell with one reason are one fault.

    So are all trials that a missing backend skips, whatever their cell.
    """
    totals = Counter(result.trial.cell for result in results)
    groups: dict[tuple[Cell | str, Status, str], list[Result]] = {}
    for result in results:
        status, trial = result.outcome.status, result.trial
        if status not in FINISHED:
            place = trial.backend if status is Status.SKIPPED else trial.cell
            groups.setdefault((place, status, result.outcome.reason), []).append(result)
    found = []
    for (_, status, reason), group in groups.items():
        cells = tuple(dict.fromkeys(result.trial.cell for result in group))
        numbers = tuple(result.id for result in group)
        found.append(Fault(cells, status, reason, numbers, sum(totals[cell] for cell in cells), group[0]))
    return tuple(found)


def find_caveats(results: Sequence[Result]) -> tuple[Caveat, ...]:
    """Return the caveats in order of first appearance, each once."""
    found: dict[str, list[Cell]] = {}
    for result in results:
        for text in (*result.outcome.caveats, *_early_end(result)):
            found.setdefault(text, []).append(result.trial.cell)
    return tuple(
        Caveat(
            tuple(dict.fromkeys(cell.method for cell in cells)),
            tuple(dict.fromkeys(cell.problem for cell in cells)),
            text,
        )
        for text, cells in found.items()
    )


def _early_end(result: Result) -> Iterator[str]:
    """Yield a caveat on a method that stopped although its budget would have let it go on to the target."""
    outcome = result.outcome
    if result.trial.target and outcome.status is Status.DONE and outcome.ending is Ending.BY_ITSELF:
        yield "it ended by itself, before the target and before its budget was spent"
