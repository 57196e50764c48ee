"""A run: where, with what and how it was made, how noisy the machine was, how its trials ended."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self, TypeVar

from benchfw.errors import BenchfwError
from benchfw.records import Isolation, Outcome, Status, Trial, shorten, shorten_name

DEFAULT_STORE = Path("reports/benchfw.sqlite")
"""Where runs are kept unless another file is named."""

T = TypeVar("T")


@dataclass(frozen=True)
class Changes:
    """What a command line changes in a suite."""

    only: str | None = None
    backends: tuple[str, ...] = ()
    repetitions: int | None = None
    quick: bool = False

    def __post_init__(self) -> None:
        if self.repetitions is not None and (type(self.repetitions) is not int or self.repetitions < 1):
            raise BenchfwError(f"repetitions must be a whole number from 1, got {self.repetitions!r}")
        if self.only is not None and not isinstance(self.only, str):
            raise BenchfwError(f"only must be a part of a name, got {self.only!r}")
        if not isinstance(self.quick, bool):
            raise BenchfwError(f"quick must be True or False, got {self.quick!r}")


@dataclass(frozen=True)
class Machine:
    """A computer: its load is that at the start of the run, its memory in bytes."""

    system: str = ""
    processor: str = ""
    cores: int = 0
    memory: int = 0
    load: float = 0.0
    governor: str = ""


@dataclass(frozen=True)
class Project:
    """The git commit of the folder a run was started in; `changed` is None where git could not say."""

    commit: str
    date: str = ""
    changed: bool | None = None


@dataclass(frozen=True)
class Environment:
    """Where, with what and how a run was made: what a reader needs to judge or repeat it.

    `packages` has versions, `sources` and `datasets` the start of hashes, `backends` what each says of itself
    (or why it is `unavailable`), `plugins` the sources given by hand, `trials` how many were planned (0 as
    long as that depends on what tuning finds), `reference` the method that ratios are relative to, empty for
    the first, `tuning` the allowance and the search spaces of methods that are tuned. `claims` are the tables
    of the claims, each with its hash, when it was `registered`, hashes of what it is `about`, what of it was
    `left_out`, and how many of its trials had been `seen` before. `imported` says where a run that was not
    measured here comes from.
    """

    machine: Machine = Machine()
    python: str = ""
    packages: Mapping[str, str] = field(default_factory=dict)
    threads: int = 1
    backends: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    project: Project | None = None
    jobs: int = 1
    isolation: Isolation = "trial"
    cluster: Mapping[str, Any] = field(default_factory=dict)
    clock: Literal["wall", "cpu"] = "wall"
    trials: int = 0
    reference: str = ""
    tuning: Mapping[str, Any] = field(default_factory=dict)
    claims: tuple[Mapping[str, Any], ...] = ()
    changes: Changes = Changes()
    plugins: tuple[str, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)
    datasets: Mapping[str, str] = field(default_factory=dict)
    imported: str = ""

    @property
    def absent_backends(self) -> dict[str, str]:
        """Return why a backend is not available, for those that are not."""
        return {name: each["unavailable"] for name, each in self.backends.items() if "unavailable" in each}

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Return what `to_json` wrote; anything else is a ValueError."""
        try:
            changes = dict(data["changes"])
            changes["backends"] = tuple(map(str, changes.get("backends", ())))
            parts = {
                "machine": _check_types(Machine(**data["machine"])),
                "project": Project(**data["project"]) if data["project"] else None,
                "changes": _check_types(Changes(**changes)),
                "plugins": tuple(map(str, data["plugins"])),
                "claims": tuple(map(_check_claim, data["claims"])),
            }
            data = {"imported": "", **data}  # runs of earlier versions lack it
            if set(data) != {each.name for each in fields(cls)}:
                raise KeyError(*sorted(set(data) ^ {each.name for each in fields(cls)}))
            return _check_types(cls(**{**data, **parts}))
        except (TypeError, LookupError, AttributeError, BenchfwError) as fault:
            raise ValueError(f"it does not say where and how it was run ({fault})") from None


def _check_claim(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a claim as a run records it; anything else is a LookupError or a TypeError."""
    found = {"hash": data["hash"], "registered": data["registered"], "table": data["table"]}
    known = {"about": [], "left_out": [], "seen": 0}  # runs of earlier versions lack these
    found |= {key: data.get(key, usual) for key, usual in known.items()}
    if not set(data) <= set(found) or not (
        isinstance(data["hash"], str) and isinstance(data["table"], Mapping)
    ):
        raise TypeError("a claim has a hash, a table, and when it was registered")
    lists = [each for key in ("about", "left_out") for each in list(found[key])]
    if not all(isinstance(each, str) for each in lists) or type(found["seen"]) is not int:
        raise TypeError("a claim says what it is about, and how many of its trials were there before")
    try:
        datetime.fromisoformat(data["registered"])
    except ValueError:
        raise TypeError(f"a claim was registered {shorten(repr(data['registered']), 60)}") from None
    return found


def _check_types(found: T) -> T:
    """Return an object each of whose fields has the type of its default; the others are a TypeError."""
    usual = type(found)()
    for name, value in vars(usual).items():
        if value is not None and not isinstance(getattr(found, name), type(value)):
            raise TypeError(f"{name} is {getattr(found, name)!r}")
    return found


class Burst(NamedTuple):
    """A loop of known work, several turns of it: when it began, and what one turn took.

    `began` is in seconds since 1970, `seconds` and `cpu_seconds` are means over the turns.
    """

    began: float
    seconds: float
    fastest: float
    cpu_seconds: float


@dataclass(frozen=True)
class Noise:
    """How fast the machine was before, between and after the trials of a run, in order of time.

    `others` is how many cores other processes kept busy meanwhile, None where that is not known.
    """

    bursts: tuple[Burst, ...] = ()
    others: float | None = None

    @property
    def quiet(self) -> float:
        """Return the seconds of the fastest turn."""
        return min((each.fastest for each in self.bursts), default=math.inf)

    def to_json(self) -> dict[str, Any]:
        return {"bursts": self.bursts, "others": self.others}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Return what `to_json` wrote, nothing for nothing; anything else is a ValueError."""
        try:
            bursts = tuple(Burst(*map(float, each)) for each in data.get("bursts", ()))
            others = data.get("others")
            found = cls(bursts, None if others is None else float(others))
        except (TypeError, ValueError, AttributeError) as fault:
            raise ValueError(f"it does not say how noisy its machine was ({fault})") from None
        if not all(0 < each < math.inf for burst in bursts for each in burst):
            raise ValueError("it does not say how noisy its machine was (a time is not positive)")
        return found


@dataclass(frozen=True)
class Run:
    """One call of `benchfw run`: where it is kept and how its trials ended, those of tuning apart."""

    id: int
    suite: str
    title: str
    store: Path
    started: str
    finished: str | None = None
    going: bool = False
    counts: Mapping[str, int] = field(default_factory=dict)
    tuning_counts: Mapping[str, int] = field(default_factory=dict)
    reused: int = 0
    report: Path | None = None
    text: str = ""
    environment: Environment = field(default_factory=Environment)
    noise: Noise = Noise()

    def __post_init__(self) -> None:
        object.__setattr__(self, "suite", shorten_name(self.suite))
        object.__setattr__(self, "title", shorten(self.title))

    @property
    def faults(self) -> int:
        """Return the number of trials that broke."""
        return sum(n for status, n in self.counts.items() if Status(status).faulty)

    @property
    def ended(self) -> int:
        """Return the number of trials that have ended, those of tuning among them."""
        return sum(self.counts.values()) + sum(self.tuning_counts.values())

    @property
    def all_skipped(self) -> bool:
        """Return whether there were trials and none was run: nothing was measured."""
        return set(self.counts) == {Status.SKIPPED.value}

    @property
    def standing(self) -> str:
        """Return the sentence on a run that has not finished; nothing for one that has."""
        if self.finished:
            return ""
        planned = self.environment.trials
        there = f"{self.ended} of {planned} trials" if planned else f"{self.ended} trials so far"
        if self.going:
            return f"run {self.id} is still going: {there}"
        return f"run {self.id} was stopped: {there}; the same command continues from there"

    def check_measured(self, what: str) -> None:
        """Raise BenchfwError if the run was imported: `what` needs one that was measured by benchfw."""
        if self.environment.imported:
            raise BenchfwError(
                f"run {self.id} was imported from {self.environment.imported}; "
                f"{what} needs a run that benchfw measured"
            )


def identify(run: Run) -> tuple[object, ...]:
    """Return what a run and its bundle share, and no other run has: the times in its noise are exact."""
    return run.id, run.suite, run.started, run.finished, run.noise


class ImportedRun(NamedTuple):
    """What an importer returns: a run that another program measured.

    Each trial has a key that no trial of a suite has; `environment.imported` says what was read.
    """

    suite: str
    title: str
    environment: Environment
    trials: Sequence[tuple[Trial, Outcome]]
