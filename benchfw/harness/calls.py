"""Whether a method can be called as its role demands."""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple

from benchfw.callbacks import CallbackRun


class WrongCall(NamedTuple):
    """What is wrong with how a method is called, and the definition that it needs."""

    fault: str
    advice: str


def find_wrong_call(method: Any, kind: str) -> WrongCall | None:
    """Return why a method cannot be called as its role demands; None where it can."""
    name, given = "draw", ["problem", "rng"]
    if kind == "optimizer":
        name = "run" if hasattr(method, "run") or not hasattr(method, "solve") else "solve"
    call: Any = getattr(method, name, None)
    if name == "solve":
        given.append("effort")
    if isinstance(call, CallbackRun):
        call, given = call.solve, [*given, "callback"]
    words = ", ".join(given)
    advice = f"define {name}(self, {words})"
    if not callable(call):
        if name == "run" and call is None:
            advice += ", or solve(self, problem, rng, effort) of a solver that cannot yield"
        return WrongCall(f"{type(method).__name__} has no {name}()", advice)
    try:
        signature = inspect.signature(call)
    except ValueError:
        return None  # compiled code may have none
    try:
        signature.bind(*given)
    except TypeError as fault:
        return WrongCall(f"{name}{signature} does not take ({words}): {fault}", advice)
    return None
