"""What a reader must know beside the numbers: faults, caveats, and trials that ran a second time."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from benchfw.records import Cell, Counting, Ending, Result, Status, change
from benchfw.summary.histories import FINISHED, History, Reader, Spent
from benchfw.summary.model import Caveat, Fault, Replays
from benchfw.summary.raised import find_raised

FROM_SCRATCH = (
    "each point of its curve is a call from scratch, with growing effort in the place of iterations: "
    "time and cost are of that call alone"
)

_NUMBER = re.compile(r"(?<!\w)[-+]?(0x[0-9a-f]+|\d[\d,]*(\.\d+)?(e[-+]?\d+)?|\.\d+|nan\b|inf\b)")

RAISED = "its {}: that may be noise"


@dataclass
class _Alike:
    """Trials that ended alike and not well, but for the numbers in their reasons."""

    first: Result
    cells: dict[Cell, None] = field(default_factory=dict)
    trials: list[int] = field(default_factory=list)
    reasons: dict[str, None] = field(default_factory=dict)
    at_start: bool = False

    @property
    def reason(self) -> str:
        """The first reason, and that there are others."""
        return self.first.outcome.reason + (" (one of them)" if len(self.reasons) > 1 else "")


class Findings:
    """Collects them from one trial after another, counts the trials, and sees whether some had no device."""

    def __init__(self) -> None:
        self.trials = 0
        self.seeds: set[int] = set()
        self.on_host = False
        self._totals: Counter[Cell] = Counter()
        self._alike: dict[tuple[Cell | str, Status, str], _Alike] = {}
        self._caveats: dict[str, Counter[Cell]] = {}
        self._declared: dict[Cell, None] = {}
        self._uncounted: dict[Cell, float] = {}
        self._replayed = self._same = 0
        self._different: dict[Cell, str] = {}

    def listen(self, results: Iterable[Result]) -> Iterator[History]:
        """Yield the histories of results after taking them in."""
        reader = Reader()
        for result in results:
            history = reader.read(result)
            self._add(result, history.spent)
            yield history

    def _add(self, result: Result, spent: Spent) -> None:
        cell, outcome = result.trial.cell, result.outcome
        self.trials += 1
        self.seeds.add(result.trial.seed)
        self.on_host |= not outcome.device
        self._totals[cell] += 1
        if outcome.status not in FINISHED:
            # all that a missing backend skips is one fault, whatever the cell
            place = cell.backend if outcome.status is Status.SKIPPED else cell
            # each of a method's trials that diverge does so at another iteration: they are one fault too
            reason = "" if outcome.status is Status.DIVERGED else _NUMBER.sub("#", outcome.reason)
            alike = self._alike.setdefault(
                (place, outcome.status, reason),
                _Alike(
                    change(result, outcome=change(outcome, records=())),
                    at_start=outcome.ending is Ending.NOT_FINITE and not spent.iterations,
                ),
            )
            alike.cells[cell] = None
            alike.trials.append(result.id)
            alike.reasons[outcome.reason] = None
        for text in (
            *outcome.caveats,
            *_early_end(result),
            *_raised_objective(result),
            *([FROM_SCRATCH] if outcome.from_scratch else []),
        ):
            self._caveats.setdefault(text, Counter())[cell] += 1
        if outcome.counting is Counting.DECLARED:
            self._declared[cell] = None
        elif outcome.counting is Counting.UNCOUNTED:
            self._uncounted[cell] = max(spent.iterations, self._uncounted.get(cell, 0))
        if outcome.replay is not None:
            self._replayed += 1
            self._same += not outcome.replay
            if outcome.replay:
                self._different.setdefault(cell, outcome.replay)

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Return the faults in order of first appearance; a cell and a reason, numbers aside, make one."""
        return tuple(
            Fault(
                tuple(alike.cells),
                status,
                alike.reason,
                tuple(alike.trials),
                sum(self._totals[cell] for cell in alike.cells),
                alike.first,
                alike.at_start,
            )
            for (_, status, _), alike in self._alike.items()
        )

    @property
    def caveats(self) -> tuple[Caveat, ...]:
        """Return the caveats in order of first appearance, each once for problems with the same methods."""
        on_cost: dict[str, dict[Cell, int]] = {}
        for cell, text in self._cost_caveats():
            on_cost.setdefault(text, {})[cell] = self._totals[cell]
        said = [each for text, cells in self._caveats.items() for each in self._grouped(text, cells)]
        for text, cells in on_cost.items():
            said.extend(self._grouped(text, cells, on_cost=True))
        return tuple(said)

    def _grouped(self, text: str, cells: Mapping[Cell, int], *, on_cost: bool = False) -> Iterator[Caveat]:
        """Yield a caveat for each set of methods that it is about on some problems."""
        methods: dict[str, dict[str, None]] = {}
        for cell in cells:
            methods.setdefault(cell.problem, {})[cell.method] = None
        alike: dict[tuple[str, ...], list[str]] = {}
        for problem, found in methods.items():
            alike.setdefault(tuple(found), []).append(problem)
        for names, problems in alike.items():
            about = [cell for cell in cells if cell.problem in problems]
            total = sum(self._totals[cell] for cell in about)
            yield Caveat(names, tuple(problems), text, sum(cells[cell] for cell in about), total, on_cost)

    def _cost_caveats(self) -> Iterator[tuple[Cell, str]]:
        """Yield a caveat for each cell whose cost was declared by the method, or not counted at all."""
        for cell in self._declared:
            yield cell, "its cost is declared by the method, not counted by the problem"
        for cell, number in self._uncounted.items():
            noun = "draw" if cell.kind == "estimator" else "answer"
            what = f"most of {int(number):,} {noun}s" if number > 1 else f"its only {noun}"
            yield cell, f"{what} came without a counted oracle call: cost does not measure its work"

    @property
    def replays(self) -> Replays:
        """Return what came of the trials that ran a second time."""
        return Replays(self._replayed, self._same, self._different)


def _early_end(result: Result) -> Iterator[str]:
    """Yield a caveat on a method that stopped although its budget would have let it go on to the target."""
    outcome = result.outcome
    known = result.trial.target.keys() <= {each.metric for each in outcome.records}  # else it could not tell
    if known and result.trial.target and (outcome.status, outcome.ending) == (Status.DONE, Ending.BY_ITSELF):
        yield "it ended by itself, before the target and before its budget was spent"


def _raised_objective(result: Result) -> Iterator[str]:
    """Yield a caveat on a method that made the objective worse and got better in what judges it."""
    found = find_raised(result)
    if found is not None:
        yield RAISED.format(found)
