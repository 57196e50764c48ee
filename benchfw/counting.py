"""The count of a problem's oracle calls: problems add to it, methods only read it."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Iterator
from typing import Any, Never, Self, SupportsIndex

from benchfw.errors import PluginError


class Counter:
    """The cost so far, the part of it that was declared, and oracles whose cost is not known.

    Copies of a problem share one.
    """

    __slots__ = ("cost", "declared", "unknown")

    def __init__(self) -> None:
        self.cost = self.declared = 0.0
        self.unknown: dict[str, None] = {}

    def __reduce__(self) -> tuple[type[Counter], tuple[()]]:
        return Counter, ()  # elsewhere nothing was asked yet

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _memo: object) -> Self:
        return self


class CountedProblem:
    """Base class of problems: each oracle calls `self._count(amount)`, and `cost` is the sum.

    A method that works through another library declares what that used by `charge`; the report then says
    that the cost was declared. What a copy of the problem is asked counts too.
    """

    @functools.cached_property
    def _counter(self) -> Counter:
        return Counter()

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        _ = self._counter  # made now at the latest, so that a copy has the same
        return super().__reduce_ex__(protocol)

    @property
    def cost(self) -> float:
        """What the oracles have cost so far; read-only."""
        return self._counter.cost

    @cost.setter
    def cost(self, _value: Never) -> None:
        raise PluginError(
            f"problem.cost is read-only: the oracles of {type(self).__name__} count their calls; "
            "a method that works through another library declares its cost by problem.charge(amount)"
        )

    @property
    def declared_cost(self) -> float:
        """The part of the cost that methods declared."""
        return self._counter.declared

    @property
    def unknown_oracles(self) -> tuple[str, ...]:
        """The oracles that were called and whose cost is not known."""
        return tuple(self._counter.unknown)

    def charge(self, amount: float) -> None:
        """Add the cost of work that no oracle of this problem sees; the report calls it declared."""
        self._count(amount)
        self._counter.declared += amount

    def _count(self, amount: float) -> None:
        """Add to the cost; for the problem's own oracles."""
        if not 0 <= amount < math.inf:  # also false for NaN
            raise PluginError(f"a call of {type(self).__name__} costs {amount}; a cost is a number from 0")
        self._counter.cost += amount

    @contextlib.contextmanager
    def _uncounted(self) -> Iterator[None]:
        """Count nothing of what the problem itself asks for in here, such as its optimum."""
        counter = self._counter
        before = counter.cost, counter.declared
        try:
            yield
        finally:
            counter.cost, counter.declared = before


def check_counted(made: type) -> None:
    """Raise PluginError if methods could set `cost` of problems of this class by accident."""
    found = getattr(made, "cost", None)
    if type(found) is property:  # almost always
        return
    found = next((vars(each)["cost"] for each in made.__mro__ if "cost" in vars(each)), None)
    if not hasattr(type(found), "__set__"):
        raise PluginError(
            f"methods could write the cost of {made.__name__}; derive it from benchfw.CountedProblem, "
            "and call self._count(amount) in each oracle instead of adding to self.cost"
        )
