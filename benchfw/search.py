"""Search spaces of parameters, and the allowance that each method has to choose from them.

A suite writes a space in the place of a value: `step = { tune = "log", from = 1e-4, to = 1 }`. A method may
declare spaces of its own: `tuning = {"step": Log(1e-4, 1)}`, for tables with `tune = "default"`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from benchfw.errors import BenchfwError, SuiteError, nearest
from benchfw.records import Budget, Spec

ONE_SETTING = "one setting"
"""Follows the label of a method whose setting is the same on all problems."""

FIGURES = 4  # of a number that is tried: its neighbours do no better or worse, and a reader can copy it


@dataclass(frozen=True)
class Log:
    """Numbers from `low` to `high`, each order of magnitude as likely as any other."""

    low: float
    high: float

    def __post_init__(self) -> None:
        _check_ends(self.low, self.high)
        if self.low <= 0:
            raise BenchfwError(f"a log space is of positive numbers, got {self.low!r}; use a linear one")

    def value(self, place: float) -> float:
        """Return the number at a place between 0 and 1."""
        ends = math.log(self.low), math.log(self.high)
        return _rounded(math.exp(ends[0] + place * (ends[1] - ends[0])), self.low, self.high)

    def place(self, value: float) -> float:
        """Return where a number lies between the ends, 0 and 1."""
        return math.log(value / self.low) / math.log(self.high / self.low)

    @property
    def table(self) -> dict[str, Any]:
        """Return the space as a suite writes it."""
        return {"tune": "log", "from": self.low, "to": self.high}

    def __str__(self) -> str:
        return f"{self.low:g} to {self.high:g}, log"


@dataclass(frozen=True)
class Linear:
    """Numbers from `low` to `high`."""

    low: float
    high: float

    def __post_init__(self) -> None:
        _check_ends(self.low, self.high)

    def value(self, place: float) -> float:
        """Return the number at a place between 0 and 1."""
        return _rounded(self.low + place * (self.high - self.low), self.low, self.high)

    def place(self, value: float) -> float:
        """Return where a number lies between the ends, 0 and 1."""
        return (value - self.low) / (self.high - self.low)

    @property
    def table(self) -> dict[str, Any]:
        """Return the space as a suite writes it."""
        return {"tune": "linear", "from": self.low, "to": self.high}

    def __str__(self) -> str:
        return f"{self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class Integer:
    """Whole numbers from `low` to `high`, both included; with `log`, small ones are as likely as large."""

    low: int
    high: int
    log: bool = False

    def __post_init__(self) -> None:
        for end in (self.low, self.high):
            if isinstance(end, bool) or not isinstance(end, int):
                raise BenchfwError(f"an integer space goes between whole numbers, got {end!r}")
        _check_ends(self.low, self.high)
        if not isinstance(self.log, bool):
            raise BenchfwError(f"log of an integer space must be true or false, got {self.log!r}")
        if self.log and self.low <= 0:
            raise BenchfwError(f"a log space is of positive numbers, got {self.low!r}; leave out log")

    def value(self, place: float) -> int:
        """Return the number at a place between 0 and 1; each number has a stretch of its own."""
        low, high = self._scaled(self.low), self._scaled(self.high + 1)
        found = low + place * (high - low)
        return max(self.low, min(self.high, math.floor(math.exp(found) if self.log else found)))

    def place(self, value: int) -> float:
        """Return where a number lies between the ends, 0 and 1."""
        low, high = self._scaled(self.low), self._scaled(self.high)
        return (self._scaled(value) - low) / (high - low)

    def _scaled(self, value: int) -> float:
        return math.log(value) if self.log else float(value)

    @property
    def table(self) -> dict[str, Any]:
        """Return the space as a suite writes it."""
        log = {"log": True} if self.log else {}
        return {"tune": "integer", "from": self.low, "to": self.high, **log}

    def __str__(self) -> str:
        return f"{self.low} to {self.high}, whole{', log' if self.log else ''}"


@dataclass(frozen=True)
class Choice:
    """One of several values, in no order; a value may be a table with `use`."""

    values: tuple[Any, ...]

    def __init__(self, values: Sequence[Any]) -> None:
        if isinstance(values, str) or not isinstance(values, Sequence):
            raise BenchfwError(f"a choice needs a list of values, got {values!r}")
        if len(values) < 2:
            raise BenchfwError(f"a choice needs two values or more, got {list(values)!r}")
        if len({repr(each) for each in values}) < len(values):
            raise BenchfwError(f"a choice has one of its values twice: {list(values)!r}")
        object.__setattr__(self, "values", tuple(values))

    def value(self, place: float) -> Any:
        """Return the value at a place between 0 and 1."""
        return self.values[min(int(place * len(self.values)), len(self.values) - 1)]

    @property
    def table(self) -> dict[str, Any]:
        """Return the space as a suite writes it."""
        return {"tune": "choice", "values": list(self.values)}

    def __str__(self) -> str:
        return " or ".join(str(each["use"] if isinstance(each, Mapping) else each) for each in self.values)


Space: TypeAlias = Log | Linear | Integer | Choice
SPACES: tuple[type[Space], ...] = (Log, Linear, Integer, Choice)
KEYS = {
    "log": ("from", "to"),
    "linear": ("from", "to"),
    "integer": ("from", "to", "log"),
    "choice": ("values",),
}


def _check_ends(low: Any, high: Any) -> None:
    for end in (low, high):
        if isinstance(end, bool) or not isinstance(end, int | float) or not math.isfinite(end):
            raise BenchfwError(f"a space goes between two finite numbers, got {end!r}")
    if low >= high:
        what = (
            "is empty; give two different ends" if low == high else "is reversed; give the smaller end first"
        )
        raise BenchfwError(f"the space from {low:g} to {high:g} {what}")


def _rounded(value: float, low: float, high: float) -> float:
    """Return a number with FIGURES figures, and more where the space is narrow beside its numbers."""
    wide = math.log10(abs(value) / (high - low)) if value else 0.0
    return float(max(low, min(high, float(f"{value:.{FIGURES + max(0, math.ceil(wide))}g}"))))


def space_of(table: Mapping[str, Any], place: str) -> Space:
    """Return the space that a table of a suite describes; `place` names it in messages."""
    kind = table["tune"]
    if not isinstance(kind, str) or kind not in KEYS:
        hint = nearest(str(kind), KEYS)
        raise SuiteError(f"{place}: unknown space tune = {kind!r}{hint}")
    for key in table:
        if key not in {"tune", *KEYS[kind]}:
            raise SuiteError(f"{place}: unknown key '{key}'{nearest(key, KEYS[kind])}")
    given = [table[key] for key in KEYS[kind] if key in table]
    for key in KEYS[kind]:
        if key not in table and key != "log":
            raise SuiteError(f"{place}: a {kind} space needs '{key}'")
    kinds: dict[str, type[Any]] = {"log": Log, "linear": Linear, "integer": Integer, "choice": Choice}
    try:
        found: Space = kinds[kind](*given)
    except BenchfwError as fault:
        raise SuiteError(f"{place}: {fault}") from None
    return found


def read_spaces(table: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Return a table of a suite with spaces in the place of the tables that describe them, at any depth."""
    return {key: _read_value(key, value, place) for key, value in table.items()}


def _read_value(key: str, value: Any, place: str) -> Any:
    if isinstance(value, Mapping):
        inside = f"{place}, {key}"
        return space_of(value, inside) if is_space(value) else read_spaces(value, inside)
    if isinstance(value, list):
        return [_read_value(key, each, place) for each in value]
    return value


def is_space(value: Any) -> bool:
    """Return whether a table of a suite describes a space."""
    return isinstance(value, Mapping) and "tune" in value and "use" not in value


def spaces_in(params: Mapping[str, Any], prefix: str = "") -> dict[str, Space]:
    """Return the spaces in parameters by their paths: {"estimator.size": Integer(1, 100)}."""
    return dict(_walk(params, prefix))


def _walk(params: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Space]]:
    for key, value in params.items():
        if isinstance(value, SPACES):
            yield f"{prefix}{key}", value
        elif isinstance(value, Mapping):
            yield from _walk(value, f"{prefix}{key}.")


def has_value(space: Space, value: Any) -> bool:
    if isinstance(space, Choice):
        return any(type(value) is type(each) and value == each for each in space.values)
    legal = int if isinstance(space, Integer) else (int, float)
    return isinstance(value, legal) and not isinstance(value, bool) and space.low <= value <= space.high


def settle(spec: Spec, setting: Mapping[str, Any]) -> Spec:
    """Return a spec with the values of a setting, by path, in the place of its spaces."""
    return Spec(spec.use, _settled(spec.params, setting, ""), spec.label)


def _settled(params: Mapping[str, Any], setting: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    return {
        key: setting[f"{prefix}{key}"]
        if isinstance(value, SPACES)
        else _settled(value, setting, f"{prefix}{key}.")
        if isinstance(value, Mapping)
        else value
        for key, value in params.items()
    }


def setting_at(spaces: Mapping[str, Space], place: float) -> dict[str, Any]:
    """Return the setting with every parameter at the same place between the ends of its space."""
    return {path: space.value(place) for path, space in spaces.items()}


@dataclass(frozen=True)
class Tuning:
    """What each method that has something to tune may spend on it, and how its setting is chosen.

    Each of `trials` settings has `repetitions` runs. `metric` is what is minimized: "cost to target",
    "seconds to target", "iterations to target", or a metric at the end of the budget; empty is "cost to
    target" where the suite has a target. With `across = "problems"`, one setting for all problems is judged
    beside one a problem.
    """

    trials: int = 32
    repetitions: int = 3
    budget: Budget | None = None
    metric: str = ""
    tuner: str = "sobol"
    across: Literal["", "problems"] = ""
