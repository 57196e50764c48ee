"""Claims: what a suite says about its result before it runs, and the range of a number that decides it.

`read` makes them of [[claim]] tables, `check` finds out whether a suite has what they name.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from benchfw.records import MethodKind

Test: TypeAlias = Literal[
    "ratio", "difference", "value", "order", "bound", "rate", "unbiased", "reaches", "untestable"
]
TESTS: tuple[Test, ...] = get_args(Test)
RANGED: tuple[Test, ...] = ("ratio", "difference", "value", "rate")
PAIRED: tuple[Test, ...] = ("ratio", "difference")
QUANTIFIED: tuple[Test, ...] = ("ratio", "difference", "value", "order")
MEASURED_ALONG: tuple[Test, ...] = ("bound", "rate")

AT_THE_END, WHEN_DONE = " at the end", " when the reference is done"
QUANTITIES: Mapping[str, tuple[MethodKind, str]] = {
    "seconds to target": ("optimizer", "seconds_to_target"),
    "CPU seconds to target": ("optimizer", "cpu_seconds_to_target"),
    "cost to target": ("optimizer", "cost_to_target"),
    "iterations to target": ("optimizer", "iterations_to_target"),
    "variance": ("estimator", "variance"),
    "bias": ("estimator", "bias"),
    "mse": ("estimator", "mse"),
    "seconds a draw": ("estimator", "seconds_per_draw"),
    "CPU seconds a draw": ("estimator", "cpu_seconds_per_draw"),
    "cost a draw": ("estimator", "cost_per_draw"),
    "variance x seconds": ("estimator", "variance_x_seconds"),
    "mse x seconds": ("estimator", "mse_x_seconds"),
    "seconds a call": ("kernel", "seconds_per_call"),
}
"""What a claim may be about, beside a metric NAME of optimizers: 'NAME at the end'."""

POOLED = frozenset({"variance", "bias", "mse", "variance x seconds", "mse x seconds"})
"""Quantities whose value comes from the draws of all runs together."""

MARGIN = 0.1
"""An unbiased estimator's bias is shown to be below this part of the standard deviation of one draw."""


@dataclass(frozen=True)
class Range:
    """The numbers between two ends."""

    low: float = -math.inf
    high: float = math.inf

    @property
    def two_ended(self) -> bool:
        """Whether both ends are finite."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    def __str__(self) -> str:
        if self.two_ended:
            return f"within {self.low:g} to {self.high:g}"
        return f"below {self.high:g}" if math.isfinite(self.high) else f"above {self.low:g}"


MOST_RUNS = Range(low=0.5)


@dataclass(frozen=True)
class Claim:
    """One claim: a sentence, where it stands, and what decides it.

    `methods` are labels: the claim is about each of them, alone or compared with the one that `than` names,
    or about their order, the best first. `problems` are labels, none meaning each problem; `across` problems
    the mean over all of them counts. `inside` is where the number must lie; of an estimator that is not
    `unbiased`, where it must not. `every` says that one run on the other side refutes it.
    `reason` is why it cannot be tested. `registered` is when a bundle says that it was first part of a run.
    `left_out` is what it is about and a command leaves out. `table` is what the suite says, which is recorded
    with a run.
    """

    says: str
    test: Test
    methods: tuple[str, ...] = ()
    than: str = ""
    quantity: str = ""
    inside: Range = Range()
    problems: tuple[str, ...] = ()
    across: bool = False
    metric: str = ""
    law: Literal["sublinear", "linear"] = "sublinear"
    margin: float = MARGIN
    unbiased: bool = True
    every: bool = True
    quick: bool = True
    source: str = ""
    reason: str = ""
    registered: str = ""
    left_out: tuple[str, ...] = ()
    table: Mapping[str, Any] = field(default_factory=dict)

    @property
    def kind(self) -> MethodKind:
        """Return the kind of methods that it is about."""
        if self.test == "unbiased":
            return "estimator"
        return QUANTITIES[self.quantity][0] if self.quantity in QUANTITIES else "optimizer"

    @property
    def names(self) -> tuple[str, ...]:
        """Return all methods that it names."""
        return (*self.methods, self.than) if self.than else self.methods

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Return the methods that are looked at together: all of an order, else each, alone or in a pair."""
        if self.test == "order":
            return (self.methods,)
        return tuple((each, self.than) if self.than else (each,) for each in self.methods)

    @property
    def pooled(self) -> bool:
        """Whether it is about one number that the draws of all runs give together."""
        return self.test == "unbiased" or (self.test == "value" and self.quantity in POOLED)

    @property
    def one_run_refutes(self) -> bool:
        """Whether it says that every run does something, or none."""
        return self.every and self.test in {"reaches", "bound"}

    @property
    def to_target(self) -> bool:
        """Whether it is about reaching the target of the suite."""
        return self.test == "reaches" or self.quantity.endswith(" to target")

    @property
    def judged_by(self) -> str:
        """Return the metric that it names; nothing where it is about the target, or the leading metric."""
        return self.metric or metric_of(self.quantity)

    def is_excused(self, *, quick: bool) -> bool:
        """Whether the suite itself says that a run, a quick one or not, does not decide it."""
        return self.test == "untestable" or (quick and not self.quick)

    @property
    def digest(self) -> str:
        """Return what identifies the claim: the start of a hash of all that it says."""
        return _hash(self.table)

    def has_same_test(self, other: Claim) -> bool:
        """Whether both claims are decided by the same test, in whatever words and spelling."""
        one, two = (replace(each, says="", source="", registered="", table={}) for each in (self, other))
        return one == two


class Looks(NamedTuple):
    """At how many looks a curve is above its theorem's bound, of how many, and its largest ratio to it."""

    above: int
    total: int
    largest: float


@dataclass(frozen=True)
class Subject:
    """What one number of a claim is about: methods on a problem and a backend, and how to read the number.

    A mean over problems has no `problem`, and says of how many it is. The backend is left out where a run
    has one only, or the names of the methods say it.
    """

    methods: tuple[str, ...] = ()
    problem: str = ""
    backend: str = ""
    metric: str = ""
    cost_unit: str = ""
    problems: int = 1
    looks: Looks | None = None


NO_SUBJECT = Subject()


def _hash(table: Mapping[str, Any]) -> str:
    text = json.dumps(table, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def metric_of(quantity: str) -> str:
    """Return the metric that a quantity of optimizers names; nothing for the others."""
    end = next((each for each in (AT_THE_END, WHEN_DONE) if quantity.endswith(each)), None)
    return quantity.removesuffix(end) if end else ""
