"""The nouns of a run as frozen data: what was asked (Trial), what came of it (Record, Outcome, Result, Run).

SCHEMA_VERSION numbers the store's layout; its history:
  1  runs, trials, the link between them with labels, records in long form;
  2  a digest of every run, link and trial (with its records); claims of the runs that are going on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, NamedTuple

SCHEMA_VERSION = 2

DEFAULT_STORE = Path("reports/benchfw.sqlite")
"""Where runs are kept unless another file is named."""

BOUND_PREFIX = "bound:"
"""A metric `bound:gap` holds a theorem's curve for the metric `gap`, at the same iterations."""

FACT_PREFIX = "fact:"
"""A metric `fact:decay` holds a number that explains a trial: shown beside the others, never ranked."""

CLAIM = "claims_unbiased"
"""A metric of an estimator's trial: 1 if the method calls itself unbiased, else 0."""

PEAK_MEMORY = FACT_PREFIX + "peak_memory"
"""The most bytes that a trial's process held in memory, where revisions are compared."""

CAVEAT = "; caveat: "
"""What stands in a trial's reason before each sentence that a reader must know to believe its numbers."""

ENDED_BY_ITSELF = "method ended by itself"
"""How the reason begins of a trial whose method had no further answer: an exact solver, say."""

MethodKind = Literal["optimizer", "estimator", "kernel"]


class Status(StrEnum):
    """How a trial ended."""

    DONE = "done"
    REACHED = "reached"
    DIVERGED = "diverged"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out-of-memory"
    CRASHED = "crashed"
    FAILED = "failed"
    SKIPPED = "skipped"

    @property
    def faulty(self) -> bool:
        """Whether the method or the machine broke: such a trial makes the run exit with 1."""
        return self in _FAULTY


_FAULTY = frozenset({Status.TIMEOUT, Status.OUT_OF_MEMORY, Status.CRASHED, Status.FAILED})


@dataclass(frozen=True)
class Spec:
    """A plugin by name with its parameters, as a suite writes it; nested specs are dicts with `use`."""

    use: str
    params: Mapping[str, Any] = field(default_factory=dict)
    label: str = ""

    @property
    def table(self) -> dict[str, Any]:
        """Return the suite table without the label: what identifies the spec."""
        return {"use": self.use, **self.params}


@dataclass(frozen=True)
class Budget:
    """What each trial may spend; whichever limit is met first ends it."""

    seconds: float | None = None
    iterations: int | None = None
    cost: float | None = None


class Cell(NamedTuple):
    """What the repetitions of a trial share, by labels: a row of a table, a line of a figure."""

    problem: str
    kind: MethodKind
    method: str
    backend: str

    def __str__(self) -> str:
        return f"{self.method} on {self.problem or 'kernels'} ({self.backend})"


@dataclass(frozen=True)
class Trial:
    """One seeded run of one method on one problem on one backend."""

    kind: MethodKind
    problem: Spec
    method: Spec
    backend: str
    repetition: int
    seed: int
    budget: Budget
    target: Mapping[str, float] = field(default_factory=dict)
    precision: float | None = None
    at: Literal["start", "optimum"] = "start"
    key: str = ""

    @property
    def cell(self) -> Cell:
        """Return what this trial is a repetition of."""
        return Cell(self.problem.label, self.kind, self.method.label, self.backend)

    def __str__(self) -> str:
        return f"{self.method.label} on {self.problem.label} ({self.backend}, repetition {self.repetition})"


@dataclass(frozen=True, slots=True)
class Record:
    """One measured value: the metric after so many iterations, seconds and oracle calls."""

    metric: str
    iteration: int
    seconds: float
    cost: float
    value: float


@dataclass(frozen=True)
class Outcome:
    """How a trial ended and all that it measured, also when it did not end well; `device` is its GPU."""

    status: Status
    reason: str
    records: tuple[Record, ...] = ()
    seconds: float = 0.0
    cost_unit: str = ""
    device: str = ""

    @property
    def caveats(self) -> tuple[str, ...]:
        """Return the caveats that the reason carries."""
        return tuple(self.reason.split(CAVEAT)[1:])


@dataclass(frozen=True)
class Result:
    """A trial as the store keeps it; `reused` when the run found it there instead of running it."""

    id: int
    trial: Trial
    outcome: Outcome
    reused: bool = False


@dataclass(frozen=True)
class Run:
    """One call of `benchfw run`: where it is kept and how its trials ended."""

    id: int
    suite: str
    title: str
    store: Path
    started: str
    finished: str | None = None
    going: bool = False
    counts: Mapping[str, int] = field(default_factory=dict)
    reused: int = 0
    report: Path | None = None
    text: str = ""
    environment: Mapping[str, Any] = field(default_factory=dict)

    @property
    def faults(self) -> int:
        """Return the number of trials that broke."""
        return sum(n for status, n in self.counts.items() if Status(status).faulty)

    @property
    def standing(self) -> str:
        """Return the sentence on a run that has not finished; nothing for one that has."""
        if self.finished:
            return ""
        planned = self.environment.get("trials")  # a run of an early version did not note it
        there = f"{sum(self.counts.values())}{'' if planned is None else f' of {planned}'} trials"
        if self.going:
            return f"run {self.id} is still going: {there}"
        return f"run {self.id} was stopped: {there}; the same command goes on from there"
