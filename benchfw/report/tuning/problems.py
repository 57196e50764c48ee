"""The methods that were tuned on one problem, their values and settings as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from benchfw.analysis.intervals import Interval
from benchfw.records import Cell, MethodKind
from benchfw.report.captions import heading_of
from benchfw.search import ONE_SETTING, Tuning
from benchfw.summary.model import Comparison, Summary, short_name
from benchfw.summary.times import SECONDS, TimeUnit, unit_of
from benchfw.summary.tuned import TunedMethod

NEVER, UNFINISHED = "never", "did not finish"
"""In the place of a value: the target was not reached, or the run did not finish."""


@dataclass(frozen=True, eq=False)
class TunedProblem:
    """The tuned methods of one kind on one problem; without a comparison where tuning has not ended."""

    problem: str
    kind: MethodKind
    methods: tuple[TunedMethod, ...]
    allowance: Tuning
    comparison: Comparison | None = None
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
    def value_name(self) -> str:
        """Return what the values of settings are: 'gradients to target', 'gap at the end'."""
        if not self.first.axis:
            return f"{self.first.metric} at the end"
        return f"{self._axis_name} to target{f', {self._unit.name}' if self._is_timed else ''}"

    @property
    def _axis_name(self) -> str:
        names = {"cost": self.first.cost_unit or "cost", "seconds": "time"}
        return names.get(self.first.axis, self.first.axis)

    @property
    def _is_timed(self) -> bool:
        return self.first.axis == "seconds"

    @property
    def _unit(self) -> TimeUnit:
        return unit_of(self.units, self._quantity) if self._is_timed else SECONDS

    @property
    def aim(self) -> str:
        """Return what settings are chosen for: 'gradients to gap 0.0001', 'accuracy at the end'."""
        if not self.first.axis:
            return self.value_name
        named = " and ".join(f"{name} {value:g}" for name, value in self.first.target.items())
        return f"{self._axis_name} to {named}"

    @property
    def _quantity(self) -> str:
        """Return what the verdict's table calls it."""
        return f"{self.first.axis}_to_target" if self.first.axis else self.first.metric

    @property
    def missing(self) -> str:
        """Return what stands in the place of a value that is not finite."""
        return NEVER if self.first.axis else UNFINISHED

    @property
    def is_flipped(self) -> bool:
        """Whether values are negated: those of gains at the end are."""
        return self.first.gain and not self.first.axis

    def shown(self, value: float) -> float:
        """Return a value with the sign and in the unit that readers know."""
        return -value if self.is_flipped else value / self._unit.size

    def verdict_interval(self, cell: Cell) -> Interval | None:
        """Return what the verdict's runs gave; None where there are none."""
        row = self.comparison.row(cell, self._quantity) if self.comparison else None
        return row.interval.scaled(1 / self._unit.size) if row else None


def tuned_problems(summary: Summary) -> list[TunedProblem]:
    """Return what tuning found problem by problem, in the order of the comparisons."""
    if summary.tuning is None:
        return []
    compared = {(each.problem, each.kind): each for each in summary.comparisons}
    groups: dict[tuple[str, MethodKind], list[TunedMethod]] = {place: [] for place in compared}
    for each in summary.tuned:
        groups.setdefault((each.cell.problem, each.cell.kind), []).append(each)
    return [
        TunedProblem(*place, tuple(methods), summary.tuning, compared.get(place), summary.units)
        for place, methods in groups.items()
        if methods
    ]


def settings_text(setting: Mapping[str, Any]) -> str:
    """Return 'step 1.596, momentum 0.9'."""
    return ", ".join(f"{path} {setting_value(value)}" for path, value in setting.items())


def setting_value(value: Any) -> str:
    """Return the value of a parameter: numbers to four figures, a table by what it uses."""
    if isinstance(value, Mapping):
        inside = ", ".join(_table_parts(value))
        return f"{value.get('use', '')} ({inside})" if inside else str(value.get("use", ""))
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _table_parts(table: Mapping[str, Any]) -> Iterator[str]:
    return (f"{key} {setting_value(value)}" for key, value in table.items() if key != "use")
