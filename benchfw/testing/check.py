"""A check: a small named statement about a plugin, with what to do where it does not hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchfw.testing.subject import Subject

ROLES = ("problem", "estimator", "optimizer", "distribution", "kernel")
METHODS = ("estimator", "optimizer")
FIRST = ("defaults", "documented", "picklable", "meets-a-problem")  # then those of the most roles
NEEDED = ("defaults", "meets-a-problem")  # where one of them fails, those after it would only say the same

Body = Callable[["Subject"], "str | None"]


class CheckFailed(AssertionError):
    """What a check raises: the message says what was seen, in one sentence.

    `advice` says what to do, where that is another thing than the check's own advice.
    """

    def __init__(self, message: str, advice: str = "") -> None:
        super().__init__(message)
        self.advice = advice


class NotApplicable(Exception):
    """What a check raises where it has nothing to say, with the reason."""


@dataclass(frozen=True)
class Check:
    """One statement; `body(subject)` raises CheckFailed or returns what more there is to say."""

    name: str
    roles: tuple[str, ...]
    statement: str
    advice: str
    body: Body


CHECKS: list[Check] = []


def check(*roles: str, advice: str, name: str = "") -> Callable[[Body], Body]:
    """Make a check of a function: its name with hyphens, the first line of its docstring the statement."""

    def register(body: Body) -> Body:
        statement = (body.__doc__ or "").strip().partition("\n")[0]
        CHECKS.append(Check(name or body.__name__.replace("_", "-"), roles, statement, advice, body))
        return body

    return register


def checks_for(role: str) -> list[Check]:
    """Return the checks of one role, in the order in which they run."""
    # importing them fills CHECKS
    from benchfw.testing.checks import (  # noqa: F401
        arrays,
        distributions,
        estimators,
        general,
        kernels,
        optimizers,
        problems,
        randomness,
    )

    found = [each for each in CHECKS if role in each.roles]
    places = {name: place for place, name in enumerate(FIRST)}
    return sorted(found, key=lambda each: (places.get(each.name, len(FIRST)), -len(each.roles)))


def require(condition: bool, why: str, advice: str = "") -> None:
    """Raise CheckFailed unless the condition holds."""
    if not condition:
        raise CheckFailed(why, advice)
