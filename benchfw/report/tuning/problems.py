"""The methods that were tuned on one problem, the verdict on them, their values and settings as text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import median
from typing import Any

from benchfw.analysis.decisions import Decision, Reason, Verdict
from benchfw.analysis.intervals import Interval
from benchfw.records import Cell, MethodKind
from benchfw.report.captions import heading_of
from benchfw.report.text import interval_text, plural
from benchfw.report.verdicts.phrases import choose_measure
from benchfw.search import ONE_SETTING, Choice, Space, Tuning
from benchfw.summary.attempts import Attempt
from benchfw.summary.contrasts import ARRIVALS
from benchfw.summary.model import Comparison, Summary, short_name
from benchfw.summary.times import SECONDS, TimeUnit, unit_of
from benchfw.summary.tuned import TunedMethod

NEVER, UNFINISHED = "never", "did not finish"
"""In the place of a value: the target was not reached, or the run did not finish."""

_OPEN = frozenset({Verdict.UNDECIDED, Verdict.EQUAL, Verdict.ALIKE})


@dataclass(frozen=True, eq=False)
class TunedProblem:
    """The tuned methods of one kind on one problem; without a comparison where tuning has not ended."""

    problem: str
    kind: MethodKind
    methods: tuple[TunedMethod, ...]
    allowance: Tuning
    comparison: Comparison | None = None
    among: int = 1
    """How many such problems the report has."""
    units: Mapping[str, TimeUnit] = field(default_factory=dict)
    """Those of the report's times."""

    @property
    def heading(self) -> str:
        """Return what it is about: 'least-squares, optimizers'."""
        return heading_of(self.problem, self.kind)

    def name(self, cell: Cell) -> str:
        """Return the method's label, with its backend where several are compared."""
        return self.comparison.name(cell) if self.comparison else short_name(cell, among=self.cells)

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Return the methods on their backends."""
        return tuple(each.cell for each in self.methods)

    @property
    def untuned(self) -> list[Cell]:
        """Return the other methods of the comparison that ran: those that have nothing to tune."""
        if self.comparison is None:
            return []
        return [
            cell
            for cell in self.comparison.cells
            if self.comparison.runs(cell)[1] and cell not in self.cells
            if not cell.method.endswith(f"({ONE_SETTING})")
        ]

    @property
    def first(self) -> TunedMethod:
        """Return the first method; what is measured is the same for all."""
        return self.methods[0]

    @property
    def whole(self) -> str:
        """Return the most settings that a method tried; "all" where the allowance is not a number of them."""
        most = max(len(each.rounds[0]) for each in self.methods)
        return "all" if self.allowance.trials is None else str(most)

    @property
    def value_name(self) -> str:
        """Return what the values of settings are: 'gradients to target', 'gap at the end'."""
        if not self.first.axis:
            return f"{self.first.metric} at the end"
        return f"{self._axis_name} to target{f', {self._unit.name}' if self._is_timed else ''}"

    @property
    def _axis_name(self) -> str:
        return {"cost": self.first.cost_unit or "cost", "seconds": "time"}.get(
            self.first.axis, self.first.axis
        )

    @property
    def _is_timed(self) -> bool:
        return self.first.axis == "seconds"

    @property
    def _unit(self) -> TimeUnit:
        return unit_of(self.units, self.quantity) if self._is_timed else SECONDS

    @property
    def aim(self) -> str:
        """Return what settings are chosen for: 'gradients to gap 0.0001', 'accuracy at the end'."""
        if not self.first.axis:
            return self.value_name
        named = " and ".join(f"{name} {value:g}" for name, value in self.first.target.items())
        return f"{self._axis_name} to {named}"

    @property
    def quantity(self) -> str:
        """Return what the verdict's table calls it."""
        return f"{self.first.axis}_to_target" if self.first.axis else self.first.metric

    @cached_property
    def is_flipped(self) -> bool:
        """Whether values are negated: those of gains at the end are."""
        return self.first.gain and not self.first.axis

    def shown(self, value: float) -> float:
        """Return a value with the sign and in the unit that readers know."""
        return -value if self.is_flipped else value / self._unit.size

    def shown_interval(self, interval: Interval) -> Interval:
        """Return an interval with the sign and in the unit that readers know."""
        return interval.negated() if self.is_flipped else interval.scaled(1 / self._unit.size)

    def value_text(self, interval: Interval) -> str:
        """Return a value with its interval; one that is infinite in words."""
        missing = NEVER if self.first.axis else UNFINISHED
        found = self.shown_interval(interval)
        if not math.isfinite(found.estimate):
            return missing
        return interval_text(found).replace("-∞", missing).replace("∞", missing)

    def verdict_interval(self, cell: Cell) -> Interval | None:
        """Return what the verdict's runs gave; None where there are none."""
        row = self.comparison.row(cell, self.quantity) if self.comparison else None
        return row.interval.scaled(1 / self._unit.size) if row else None

    @cached_property
    def leader(self) -> Cell | None:
        """Return the tuned method that the verdict puts before all others of them; None where none is."""
        comparison = self.comparison
        if comparison is None or len(self.methods) < 2:
            return None
        rivals = {cell: [each for each in self.cells if each != cell] for cell in self.cells}
        ahead = (
            cell
            for cell in self.cells
            if all(self._is_ahead(comparison, cell, each) for each in rivals[cell])
        )
        return next(ahead, None)

    @property
    def lacks_runs(self) -> bool:
        """Whether who leads is open because the verdict has too few runs, and not for noise."""
        comparison = self.comparison
        if comparison is None or self.leader is not None:
            return False
        names = (self._judged(comparison), ARRIVALS) if self.first.axis else (self._judged(comparison),)
        short = False
        for cell in (each for each in self.cells if each != comparison.reference_for(each)):
            decisions = [comparison.decision(cell, each) for each in names]
            if any(each.verdict in _OPEN and not _is_short(each) for each in decisions):
                return False
            if not any(each.differs for each in decisions):
                short = short or any(_is_short(each) for each in decisions)
        return short

    @property
    def is_main(self) -> bool:
        """Whether settings are chosen by what the verdict is about first."""
        comparison = self.comparison
        return comparison is None or self._judged(comparison) == choose_measure(comparison).quantity

    @property
    def judged_by(self) -> str:
        """Return what the verdict is about where it says nothing of what settings are chosen by."""
        comparison = self.comparison
        if comparison is None or self._judged(comparison) == self._chosen_by(comparison):
            return ""
        return f"{choose_measure(comparison).noun} to target"

    def _judged(self, comparison: Comparison) -> str:
        """Return what decides who leads: what settings are chosen by, where the verdict speaks of it."""
        name = self._chosen_by(comparison)
        known = any(quantity == name for _, quantity in comparison.decisions)
        return name if known else choose_measure(comparison).quantity

    def _chosen_by(self, comparison: Comparison) -> str:
        return comparison.clocked(self.quantity) if self._is_timed else self.quantity

    def _is_ahead(self, comparison: Comparison, cell: Cell, other: Cell) -> bool:
        """Return whether a method is better than another, by the decisions on both and the reference."""
        reference = comparison.reference_for(cell)
        if comparison.reference_for(other) != reference:
            return False
        quantity = self._judged(comparison)
        for each in (quantity, ARRIVALS) if self.first.axis else (quantity,):
            if other == reference and comparison.verdict(cell, each) is Verdict.BETTER:
                return True
            if cell == reference and comparison.verdict(other, each) is Verdict.WORSE:
                return True
        if reference in (cell, other):
            return False
        # both are known relative to the reference only: apart where these intervals are
        mine, theirs = (comparison.decision(each, quantity).interval for each in (cell, other))
        return mine is not None and theirs is not None and mine.high < theirs.low


def _is_short(decision: Decision) -> bool:
    """Return whether a comparison has too few runs to be decided."""
    if decision.verdict is not Verdict.UNDECIDED or decision.interval is None or decision.evidence is None:
        return decision.reason is Reason.TOO_FEW
    return not decision.interval.low <= decision.evidence.null <= decision.interval.high


def tuned_problems(summary: Summary) -> list[TunedProblem]:
    """Return what tuning found problem by problem, in the order of the comparisons."""
    if summary.tuning is None:
        return []
    compared = {(each.problem, each.kind): each for each in summary.comparisons}
    groups: dict[tuple[str, MethodKind], list[TunedMethod]] = {place: [] for place in compared}
    for each in summary.tuned:
        groups.setdefault((each.cell.problem, each.cell.kind), []).append(each)
    tuned = {place: methods for place, methods in groups.items() if methods}
    return [
        TunedProblem(*place, tuple(methods), summary.tuning, compared.get(place), len(tuned), summary.units)
        for place, methods in tuned.items()
    ]


def settings_text(method: TunedMethod, chosen: Sequence[Attempt]) -> str:
    """Return 'step 1.596, momentum 0.9'; of several tunings the middle and the range of each parameter."""
    found = (_parameter_text(method, path, [each.setting[path] for each in chosen]) for path in method.spaces)
    return ", ".join(found)


def _parameter_text(method: TunedMethod, path: str, values: Sequence[Any]) -> str:
    texts = [setting_value(value) for value in values]
    if len(set(texts)) == 1:
        return f"{path} {texts[0]}"
    if isinstance(method.spaces[path], Choice):
        most = max(texts, key=texts.count)
        return f"{path} {most} ({texts.count(most)} of {plural(len(texts), 'tuning')})"
    middle = setting_value(median(values))
    return f"{path} {middle} ({setting_value(min(values))} to {setting_value(max(values))})"


def ends_text(space: Space) -> str:
    """Return '0.001 to 10'."""
    return str(space) if isinstance(space, Choice) else f"{space.low:g} to {space.high:g}"


def setting_value(value: Any) -> str:
    """Return the value of a parameter: numbers to four figures, a table by what it uses."""
    if isinstance(value, Mapping):
        inside = ", ".join(_table_parts(value))
        return f"{value.get('use', '')} ({inside})" if inside else str(value.get("use", ""))
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _table_parts(table: Mapping[str, Any]) -> Iterator[str]:
    return (f"{key} {setting_value(value)}" for key, value in table.items() if key != "use")
