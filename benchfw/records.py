"""The nouns of a trial as frozen data: what was asked (Trial), and what came of it (Record, Outcome)."""

from __future__ import annotations

import functools
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, NamedTuple, TypeVar, get_args

GAP, OBJECTIVE = "gap", "objective"
"""The metrics with a meaning: the distance to the optimum, or to the best objective that is known of."""

LONGEST_NAME = 200
"""Characters of a label, a metric, a fact or a unit; two longer ones stay different when they are cut."""
LONGEST_TEXT = 1000
"""Characters of a reason, a caveat or a title."""
MOST_CAVEATS, MOST_FACTS = 20, 200
"""Of one trial."""

OVERSPENT = 0.01
"""The share of a budget by which a look may be beyond it and still be one within."""

T = TypeVar("T")

Role = Literal["metric", "gain", "bound"]
"""What a record is: a measured metric, of which lower is better; a gain, of which higher is better; or a
theorem's curve for the metric of the same name."""

ROLES = frozenset(get_args(Role))

MethodKind = Literal["optimizer", "estimator", "kernel"]

Isolation = Literal["trial", "worker", "none"]
"""What a trial has to itself: a process, or one that others had before, or nothing at all."""


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


class Ending(StrEnum):
    """Why a trial stopped."""

    ITERATIONS = "iterations"
    COST = "cost"
    SECONDS = "seconds"
    TARGET = "target"
    PRECISION = "precision"
    BY_ITSELF = "by itself"
    NOT_FINITE = "not finite"
    BLOWN_UP = "blown up"
    FAULT = "fault"
    UNTRUE = "untrue"
    ABSENT = "absent"


class Counting(StrEnum):
    """How a trial's cost came about."""

    COUNTED = "counted"
    """By the problem's oracles alone."""
    DECLARED = "declared"
    """At least in part by the method, with `problem.charge`."""
    UNCOUNTED = "uncounted"
    """Hardly: most answers changed without an oracle call, so that the cost does not measure the work."""
    UNKNOWN = "unknown"
    """Not, or in part: the method cannot say what it costs, or called oracles of which the problem cannot."""

    @property
    def measures(self) -> bool:
        """Whether the cost measures the work."""
        return self in {Counting.COUNTED, Counting.DECLARED}


_FAULTY = frozenset({Status.TIMEOUT, Status.OUT_OF_MEMORY, Status.CRASHED, Status.FAILED})


@dataclass(frozen=True)
class Spec:
    """A plugin by name with its parameters, as a suite writes it; nested specs are dicts with `use`."""

    use: str
    params: Mapping[str, Any] = field(default_factory=dict)
    label: str = ""

    def __post_init__(self) -> None:
        if len(self.label) > LONGEST_NAME:
            object.__setattr__(self, "label", shorten_name(self.label))

    @property
    def table(self) -> dict[str, Any]:
        """Return the suite table without the label: what identifies the spec."""
        return {"use": self.use, **self.params}

    @functools.cached_property
    def text(self) -> str:
        """Return the table as JSON; repetitions share it."""
        return json.dumps(self.table, separators=(",", ":"))

    @functools.cached_property
    def sorted_text(self) -> str:
        """Return the table as JSON with sorted keys, which is hashed."""
        return json.dumps(self.table, sort_keys=True, separators=(",", ":"))


@dataclass(frozen=True)
class Budget:
    """What each trial may spend; whichever limit is met first ends it."""

    seconds: float | None = None
    iterations: int | None = None
    cost: float | None = None

    def covers(self, seconds: float, cost: float) -> bool:
        """Whether so much is within the budget, or beyond it by the share OVERSPENT at most."""
        limits = ((seconds, self.seconds), (cost, self.cost))
        return all(most is None or spent <= (1 + OVERSPENT) * most for spent, most in limits)


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
    """One seeded run of one method on one problem on one backend.

    `best` is the best objective that the suite knows of, for a problem that does not know its optimum.
    `tuning` is 0 in the verdict and 1 in trials that choose a method's parameters: these draw other data, and
    where one `holds_out`, training rows stand in for the test rows.
    `key` hashes all that determines the records, `problem_key` what determines the problem except its
    seed.
    """

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
    best: float | None = None
    tuning: int = 0
    holds_out: bool = False
    key: str = ""
    problem_key: str = ""

    @functools.cached_property
    def cell(self) -> Cell:
        """Return what this trial is a repetition of."""
        return Cell(self.problem.label, self.kind, self.method.label, self.backend)

    @property
    def tables(self) -> tuple[tuple[str, Mapping[str, Any]], ...]:
        """Return the tables of what is built for it, each with its kind."""
        own = (str(self.kind), self.method.table)
        return (own,) if self.kind == "kernel" else (own, ("problem", self.problem.table))

    def __str__(self) -> str:
        tuning = "tuning, " if self.tuning else ""
        where = f"{self.backend}, {tuning}repetition {self.repetition}"
        return f"{self.method.label} on {self.problem.label} ({where})"


class Record(NamedTuple):
    """One measured value: the metric after so many iterations, seconds and oracle calls.

    `cpu_seconds` are the processor's for the trial's process, all threads together, without the processes
    that it starts; on a device without those in which the processor only waits for an answer.
    """

    metric: str
    iteration: int
    seconds: float
    cost: float
    value: float
    role: Role = "metric"
    cpu_seconds: float | None = None


@dataclass(frozen=True)
class Outcome:
    """How a trial ended and all that it measured, also when it did not end well.

    `facts` are numbers that explain the trial and are never ranked; `caveats` are sentences that a reader
    must know to believe its records. `reason` is for people: no code reads it. `peak_memory` is in bytes,
    where it was asked for; `device` is the GPU. `prepare_seconds` and `prepare_cost` are what the method's
    `prepare` used before the clock started, None where it has none. `reads` are the files, variables and
    other things that it read beyond what its key knows, with a hash of each. `replay` is what differed when
    the trial ran a second time: nothing where all was the same, None where it ran once. `from_scratch` says
    that each look is a call of its own, of growing effort: seconds and cost are of that call alone.
    All texts, which may be a plugin's, are cut to the lengths above: every table and page repeats them.
    """

    status: Status
    ending: Ending
    reason: str = ""
    records: tuple[Record, ...] = field(default=(), repr=False)  # a prompt would print all of them
    facts: Mapping[str, float] = field(default_factory=dict)
    caveats: tuple[str, ...] = ()
    claims_unbiased: bool = False
    peak_memory: int | None = None
    seconds: float = 0.0
    cost_unit: str = ""
    device: str = ""
    counting: Counting = Counting.COUNTED
    prepare_seconds: float | None = None
    prepare_cost: float | None = None
    reads: Mapping[str, str] = field(default_factory=dict)
    replay: str | None = None
    from_scratch: bool = False

    def __post_init__(self) -> None:
        metrics = self.records and {each.metric for each in self.records}
        names = (self.cost_unit, self.device, *self.facts, *metrics)
        texts = (self.reason, self.replay or "", *self.caveats)
        if (
            max(map(len, names)) > LONGEST_NAME
            or max(map(len, texts)) > LONGEST_TEXT
            or len(self.facts) > MOST_FACTS
            or len(self.caveats) > MOST_CAVEATS
        ):
            self._cut()

    def _cut(self) -> None:
        caveats = [shorten(each) for each in self.caveats]
        if len(self.facts) > MOST_FACTS:
            caveats.insert(0, f"{len(self.facts) - MOST_FACTS} more facts were left out")
        if len(caveats) > MOST_CAVEATS:
            caveats[MOST_CAVEATS - 1 :] = [f"{len(caveats) - MOST_CAVEATS + 1} more caveats were left out"]
        facts = {shorten_name(name): value for name, value in list(self.facts.items())[:MOST_FACTS]}
        vars(self).update(
            reason=shorten(self.reason),
            replay=self.replay and shorten(self.replay),
            records=tuple(each._replace(metric=shorten_name(each.metric)) for each in self.records),
            facts=facts,
            caveats=tuple(caveats),
            cost_unit=shorten_name(self.cost_unit),
            device=shorten_name(self.device),
            # what has too long a name is never found as it was
            reads={
                shorten(name): shorten_name(state if len(name) <= LONGEST_TEXT else name)
                for name, state in self.reads.items()
            },
        )


def change(frozen: T, **changes: Any) -> T:
    """Return a copy with some fields changed; `dataclasses.replace` is much slower.

    Cached properties stay as they were: what one is made of is changed by `replace`.
    """
    copy = object.__new__(type(frozen))
    vars(copy).update(vars(frozen), **changes)
    check = getattr(copy, "__post_init__", None)
    if check is not None:
        check()
    return copy


def shorten(text: str, longest: int = LONGEST_TEXT) -> str:
    """Return a text, cut where it is too long."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def shorten_name(name: str) -> str:
    """Return a name; one that is too long ends in a number of its own, so that two of them stay two."""
    if len(name) <= LONGEST_NAME:
        return name
    return f"{shorten(name, LONGEST_NAME - 8)}{zlib.crc32(name.encode(errors='replace')):08x}"


@dataclass(frozen=True)
class Stored:
    """A trial in a store, as far as is needed to decide whether it is run again."""

    id: int
    status: Status
    reads: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Result:
    """A trial as the store keeps it; `reused` when the run found it there instead of running it.

    `ended` is when it entered the store.
    """

    id: int
    trial: Trial
    outcome: Outcome
    reused: bool = False
    ended: str = ""
