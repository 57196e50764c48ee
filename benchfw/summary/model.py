"""The nouns of a summary: comparisons, rows with their intervals, and what was found in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

from benchfw.analysis.convergence import Axis, Floats
from benchfw.analysis.decisions import NO_VALUE, Decision, Family, Verdict
from benchfw.analysis.intervals import Interval
from benchfw.analysis.rates import Rate
from benchfw.provenance import DEFAULT_STORE
from benchfw.records import Cell, Isolation, MethodKind, Result, Status
from benchfw.search import Tuning
from benchfw.summary.claims.reader import ClaimResult
from benchfw.summary.histories import Tally
from benchfw.summary.lines import Line
from benchfw.summary.times import TimeUnit, unit_of
from benchfw.summary.tuned import TunedMethod
from benchfw.sweep import drop_shared


@dataclass(frozen=True)
class Target:
    """The value of a metric that all methods are asked to reach; `automatic` when the suite names none.

    `improved` says whether some method ends better than the best start in all of its runs, `floored` whether
    methods end at 0 up to rounding, so that the value was raised to the size of rounding. A `gain` is to rise
    to the value.
    """

    metric: str
    value: float
    automatic: bool = False
    improved: bool = True
    floored: bool = False
    gain: bool = False

    @property
    def level(self) -> float:
        """Return what the curve of the metric must fall to: those of gains are negated."""
        return -self.value if self.gain else self.value


@dataclass(frozen=True)
class Row:
    """One quantity of one method: estimate and interval, and the paired ratio to the reference method.

    Both intervals are for one row at a time; `Comparison.decision` has what all of a report allows to say.
    `reached` is (trials that met the target, trials that count), for the quantities about a target.
    """

    cell: Cell
    quantity: str
    interval: Interval
    ratio: Interval | None = None
    reached: tuple[int, int] | None = None


@dataclass(frozen=True)
class Lead:
    """A family of methods that is shown to be below another one, its `rival`, at every value of a sweep.

    `margin` is what the ratios are at least, `low` and `high` the smallest and the largest that were seen,
    one at each value: infinite where one is known from below only. So many `runs` each of them rests on.
    """

    quantity: str
    family: str
    rival: str
    margin: float
    low: float
    high: float
    runs: int


@dataclass(frozen=True)
class Sweep:
    """A parameter that was varied, and for each family of methods its members by the parameter's value.

    A family of one value is a point beside the curves of the others. `leads` is what was decided about them.
    """

    parameter: str
    families: Mapping[str, Mapping[float, Cell]]
    leads: tuple[Lead, ...] = ()

    @cached_property
    def curves(self) -> dict[str, Mapping[float, Cell]]:
        """Return the families of two values or more."""
        return {family: members for family, members in self.families.items() if len(members) > 1}

    @cached_property
    def values(self) -> tuple[float, ...]:
        """Return the values that all curves have, in order."""
        return tuple(sorted(set.intersection(*(set(members) for members in self.curves.values()))))

    def leader(self, quantity: str) -> str:
        """Return the family that is below all others at every value; empty where none is shown to be."""
        beaten = {
            family: {each.rival for each in self.leads if (each.family, each.quantity) == (family, quantity)}
            for family in self.curves
        }
        return next((name for name, rivals in beaten.items() if len(rivals) == len(self.curves) - 1), "")

    @property
    def contested(self) -> bool:
        """Whether several curves have the same values, so that they can be compared value by value."""
        return len(self.curves) > 1 and len(self.values) > 1

    @cached_property
    def _places(self) -> dict[Cell, tuple[str, float]]:
        return {
            cell: (family, value)
            for family, members in self.families.items()
            for value, cell in members.items()
        }

    def place(self, cell: Cell) -> tuple[str, float] | None:
        """Return the family of a method and its value; None where it does not have the parameter."""
        return self._places.get(cell)

    def peer(self, cell: Cell, reference: Cell) -> Cell:
        """Return what a method is compared with: the one of the reference's family at the same value."""
        (mine, theirs) = self.place(cell), self.place(reference)
        if not self.contested or mine is None or theirs is None:
            return reference
        return self.families[theirs[0]].get(mine[1], reference)


CPU_TIMES = {
    "seconds_to_target": "cpu_seconds_to_target",
    "seconds_per_draw": "cpu_seconds_per_draw",
    "seconds_per_call": "cpu_seconds_per_call",
    "setup_seconds": "setup_cpu_seconds",
    "variance_x_seconds": "variance_x_cpu_seconds",
    "mse_x_seconds": "mse_x_cpu_seconds",
}
"""Times, and the quantities in CPU seconds that are compared instead where other work would decide."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """All methods of one kind on one problem; or one kernel at all of its sizes.

    `lines` are what figures draw of each metric, `hits` when each method met each of some targets, by axis;
    both are empty where no figure is wanted. `gains` are the metrics of which higher is better. `by_cpu` says
    that CPU seconds stand for times; so many `jobs` ran at a time. `replaced` is the method that ratios would
    be relative to, had it ever met the target. `best` says where the best objective comes from that gaps are
    the distance to, for a problem that does not know its optimum; `falling` are the methods that ended there
    while it was still falling. `at_start` counts the runs of a method that begin at the target, `at_zero`
    those in which a quantity is 0 up to rounding, and of how many. `paired` says that runs of one repetition
    are known to share their seeds; without that there are no ratios.
    `family` counts the tests of the whole report, which share 5 %. Of estimators, `tested` are those whose
    bias is one of them, `biased` those whose bias is not noise, each with the interval that decided it;
    `narrow` are those of whose draws too few carry the variance to test a bias, `scarce` those of which they
    are too few to say anything; `claims` are those that call themselves unbiased, `repeated` those that
    drew the same numbers in all of their runs, and `draws` how many all runs of one made. `units` are those
    of the times of the whole report.
    """

    problem: str
    kind: MethodKind
    tallies: Mapping[Cell, Tally]
    reference: Cell
    rows: tuple[Row, ...] = ()
    metrics: tuple[str, ...] = ()
    gains: frozenset[str] = frozenset()
    targets: tuple[Target, ...] = ()
    cost_unit: str = "gradients"
    biased: Mapping[Cell, Interval] = field(default_factory=dict)
    narrow: tuple[Cell, ...] = ()
    scarce: tuple[Cell, ...] = ()
    claims: tuple[Cell, ...] = ()
    repeated: tuple[Cell, ...] = ()
    draws: Mapping[Cell, int] = field(default_factory=dict)
    family: Family = field(default_factory=Family)
    tested: tuple[Cell, ...] = ()
    rates: tuple[Rate, ...] = ()
    sweep: Sweep | None = None
    decisions: Mapping[tuple[Cell, str], Decision] = field(default_factory=dict)
    by_cpu: bool = False
    lines: Mapping[str, tuple[Line, ...]] = field(default_factory=dict)
    hits: Mapping[Axis, Floats] = field(default_factory=dict)
    jobs: int = 1
    replaced: Cell | None = None
    best: Literal["", "given", "run", "store"] = ""
    falling: tuple[Cell, ...] = ()
    at_start: Mapping[Cell, int] = field(default_factory=dict)
    at_zero: Mapping[tuple[Cell, str], tuple[int, int]] = field(default_factory=dict)
    paired: bool = True
    units: Mapping[str, TimeUnit] = field(default_factory=dict)

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Return the methods on their backends, in the order of the suite."""
        return tuple(self.tallies)

    @cached_property
    def _index(self) -> dict[tuple[Cell, str], Row]:
        return {(row.cell, row.quantity): row for row in self.rows}

    def row(self, cell: Cell, quantity: str) -> Row | None:
        """Return the row, or None where the method never gave that quantity."""
        return self._index.get((cell, quantity))

    def decision(self, cell: Cell, quantity: str) -> Decision:
        """Return what the report's family of comparisons says about a method and its reference."""
        return self.decisions.get((cell, quantity), NO_VALUE)

    def verdict(self, cell: Cell, quantity: str) -> Verdict:
        """Return the word of the decision."""
        return self.decision(cell, quantity).verdict

    @cached_property
    def measured(self) -> tuple[Cell, ...]:
        """Return the methods that gave some number: not those that only failed or were skipped."""
        found = {row.cell for row in self.rows}
        return tuple(cell for cell in self.cells if cell in found)

    def runs(self, cell: Cell) -> tuple[int, int]:
        """Return (runs that did not finish, runs that were started) of a method."""
        return self.tallies[cell].unfinished, self.tallies[cell].started

    @property
    def product(self) -> str:
        """Return what estimators are ranked by: mean squared error x seconds, where all of them know it."""
        known = all(self.row(cell, "mse_x_seconds") for cell in self.measured)
        return self.clocked("mse_x_seconds" if known else "variance_x_seconds")

    def clocked(self, quantity: str) -> str:
        """Return the quantity by which times are compared: in CPU seconds where the machine was busy."""
        return CPU_TIMES[quantity] if self.by_cpu else quantity

    @property
    def time(self) -> str:
        """Return what sentences call a time."""
        return "CPU time" if self.by_cpu else "time"

    def unit(self, quantity: str) -> TimeUnit:
        """Return the unit in which the report shows a time."""
        return unit_of(self.units, quantity)

    def is_gain(self, quantity: str) -> bool:
        """Return whether more is better: of a metric at the end."""
        return quantity in self.gains

    def declares_cost(self, cell: Cell) -> bool:
        """Return whether the method declared what it cost, in some trial."""
        return self.tallies[cell].declares_cost

    def from_scratch(self, cell: Cell) -> bool:
        """Return whether the points of the method's curve are calls of their own, of growing effort."""
        return self.tallies[cell].from_scratch

    def name(self, cell: Cell) -> str:
        """Return the method's label without what all methods share, with its backend where there are several.

        In a sweep of several families: 'optimal at mean 5'.
        """
        label = f"{self.size(cell):,}" if self.by_size else self._labels.get(cell, cell.method)
        return f"{label} ({cell.backend})" if self._has_several_backends else label

    @cached_property
    def _has_several_backends(self) -> bool:
        return len({cell.backend for cell in self.measured}) > 1

    @cached_property
    def _labels(self) -> dict[Cell, str]:
        """Return the short label of each method."""
        labels = dict(zip(self.cells, drop_shared([cell.method for cell in self.cells]), strict=True))
        if self.sweep is not None and self.sweep.contested:
            for cell in self.cells:
                place = self.sweep.place(cell)
                if place is not None and place[0] in self.sweep.curves:
                    labels[cell] = f"{place[0]} at {self.sweep.parameter} {place[1]:g}"
        return labels

    @cached_property
    def shared_name(self) -> str:
        """Return the name that all labels begin with, which short labels leave out; empty where none is."""
        bare = self.cells[0].method.partition(" (")[0]
        return bare if all(self.name(cell) != cell.method for cell in self.cells) and not self.by_size else ""

    def reference_for(self, cell: Cell) -> Cell:
        """Return what the method is measured against.

        A kernel against itself on its first backend; a member of a family of a sweep against that of the
        reference's family at the same value.
        """
        if self.kind != "kernel":
            return self.sweep.peer(cell, self.reference) if self.sweep else self.reference
        return next(other for other in self.cells if other[:3] == cell[:3])

    @property
    def by_size(self) -> bool:
        """Whether this is one kernel at several sizes, which are its problems."""
        return self.kind == "kernel" and self.problem != self.cells[0].problem

    def size(self, cell: Cell) -> int:
        """Return the number of entries of a kernel's largest argument or result."""
        return int(self.tallies[cell].first.problem.params.get("size", 0))


def short_name(cell: Cell, among: Iterable[Cell]) -> str:
    """Return what a cell is called where its problem is known: its method, and its backend if they differ."""
    several = len({other.backend for other in among}) > 1
    return f"{cell.method} ({cell.backend})" if several else cell.method


@dataclass(frozen=True)
class Fault:
    """Trials that ended alike and not well: of one cell, or all that were skipped alike.

    `trials` are their numbers, `total` counts all trials of those `cells`, `first` is the first of them, and
    diverged `at_start` if it took no step, `plugins` are those that were given by hand, `store` is where the
    trials are.
    """

    cells: tuple[Cell, ...]
    status: Status
    reason: str
    trials: tuple[int, ...]
    total: int
    first: Result
    at_start: bool = False
    plugins: tuple[str, ...] = ()
    store: Path = DEFAULT_STORE


@dataclass(frozen=True)
class Caveat:
    """A sentence that a reader must know to believe the numbers, and what it is about.

    It is said of so many `trials` of the `total` that each of these methods has on these problems, all
    together. Those `on_cost` say that it was not counted by the problem.
    """

    methods: tuple[str, ...]
    problems: tuple[str, ...]
    text: str
    trials: int = 0
    total: int = 0
    on_cost: bool = False


@dataclass(frozen=True)
class Replays:
    """Trials that ran a second time, how many came out the same, and what first differed, by cell."""

    count: int = 0
    same: int = 0
    different: Mapping[Cell, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Summary:
    """Everything that the terminal and the page say in numbers.

    `trials` counts the trials, `seeds` are theirs; so many `jobs` ran at a time where that made times longer.
    `busy` is a sentence on a machine that had other work to do meanwhile, empty for a quiet one. `tuned`
    is what tuning found, of each method on each problem that had something to tune, within the allowance
    `tuning`. `claims` are those that were registered before the run, decided. `imported` says where a run
    comes from that was not measured here: nothing is decided about it. `units` are those of its times.
    """

    title: str
    comparisons: tuple[Comparison, ...]
    faults: tuple[Fault, ...] = ()
    caveats: tuple[Caveat, ...] = ()
    isolation: Isolation = "trial"
    replays: Replays = field(default_factory=Replays)
    busy: str = ""
    trials: int = 0
    seeds: tuple[int, ...] = ()
    jobs: int = 1
    tuned: tuple[TunedMethod, ...] = ()
    tuning: Tuning | None = None
    claims: tuple[ClaimResult, ...] = ()
    imported: str = ""
    units: Mapping[str, TimeUnit] = field(default_factory=dict)

    def with_units(self, units: Mapping[str, TimeUnit]) -> Summary:
        """Return the summary with its times in these units."""
        return replace(
            self,
            comparisons=tuple(replace(each, units=units) for each in self.comparisons),
            claims=tuple(replace(each, units=units) for each in self.claims),
            units=units,
        )

    @property
    def measured(self) -> list[Comparison]:
        """Return the comparisons in which some method gave a number."""
        return [comparison for comparison in self.comparisons if comparison.rows]
