"""The oracles of a problem: how each is called, and what is wrong with them whichever method calls them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchfw.errors import PluginError
from benchfw.measure.audit import is_array
from benchfw.measure.metrics import describe, take_metrics

GRADIENTS = ("grad", "grad_batch")
LIKE_PARAMETERS = (*GRADIENTS, "project", "prox")
"""The oracles whose results are like the parameters."""


def oracle_calls(problem: Any, place: Any) -> dict[str, Callable[[], Any]]:
    """Return a call of each of the shared oracles that a problem has."""
    xp = problem.backend.xp
    calls: dict[str, Callable[[], Any]] = {
        "value": lambda: problem.value(place),
        "grad": lambda: problem.grad(place),
        "grad_batch": lambda: problem.grad_batch(place, xp.arange(1)),
        "matmat": lambda: problem.matmat(xp.ones((problem.size, 2))),
        "project": lambda: problem.project(place),
        "prox": lambda: problem.prox(place, 0.1),
    }
    return {name: call for name, call in calls.items() if hasattr(problem, name)}


def find_wrong_shape(problem: Any, place: Any) -> str:
    """Return which oracle gives another shape than that of the parameters; nothing where none does.

    A gradient that belongs to no value, of a functional say, may be of another shape.
    """
    wanted = tuple(place.shape)
    for name, call in oracle_calls(problem, place).items():
        if name not in LIKE_PARAMETERS or (name in GRADIENTS and not hasattr(problem, "value")):
            continue
        result = call()
        if not is_array(result):
            return f"{name} returned {describe(result)}, the parameters are an array of shape {wanted}"
        found = tuple(getattr(result, "shape", ()))
        if found != wanted:
            return f"{name} has shape {found}, the parameters have {wanted}"
    return ""


def find_fault(problem: Any) -> str:
    """Return what no method could make up for: metrics that are not numbers, or results of a wrong shape."""
    if not hasattr(problem, "start"):
        return ""
    try:
        start = problem.start()
        if not is_array(start):
            return ""
        take_metrics(problem, start)
        return find_wrong_shape(problem, start) if hasattr(start, "shape") else ""
    except PluginError as fault:
        return str(fault)
    except Exception:  # noqa: BLE001 - it may want answers of another kind; else the checks of problems say so
        return ""
