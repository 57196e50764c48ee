"""A check: a small named statement about a plugin, with what to do where it does not hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

ROLES = ("problem", "estimator", "optimizer", "distribution", "kernel")
METHODS = ("estimator", "optimizer")

Body = Callable[[Any], str | None]
"""Takes a Subject, which is built on this file."""


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


def define_check(*roles: str, advice: str, name: str = "") -> Callable[[Body], Check]:
    """Make a check of a function: its name with hyphens, the first line of its docstring the statement."""

    def make(body: Body) -> Check:
        statement = (body.__doc__ or "").strip().partition("\n")[0]
        return Check(name or body.__name__.replace("_", "-"), roles, statement, advice, body)

    return make


def require(condition: bool, why: str, advice: str = "") -> None:
    """Raise CheckFailed unless the condition holds."""
    if not condition:
        raise CheckFailed(why, advice)
