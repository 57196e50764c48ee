"""Takes the metrics of an answer, as numbers."""

from __future__ import annotations

import sys
from numbers import Number
from typing import Any

from benchfw.errors import PluginError


def take_metrics(problem: Any, answer: Any) -> dict[str, float]:
    """Return the metrics of an answer; PluginError where metrics() gives anything but a number for each."""
    found = problem.metrics(answer)
    if not hasattr(found, "items"):
        raise PluginError(
            f"{_call(problem)} returned {describe(found)}; return a number for each name, "
            'as in {"gap": 0.5}'
        )
    taken = {}
    for name, value in found.items():
        try:
            taken[name] = _as_number(value)
        except (TypeError, ValueError, OverflowError):
            raise PluginError(
                f"{_call(problem)} gives {describe(value)} for {name}; each metric is one number"
            ) from None
    return taken


def _as_number(value: Any) -> float:
    if isinstance(value, str | bytes):  # float() would read some of them
        raise TypeError
    return float(value)


def _call(problem: Any) -> str:
    return f"metrics() of {type(problem).__name__}"


def describe(value: Any) -> str:
    """Return what a value is: 'None', 'an array of shape (5,)', 'a str', 'an int beyond 1.8e308'."""
    if value is None:
        return "None"
    shape = None if isinstance(value, Number) else getattr(value, "shape", None)
    if shape is not None:
        return f"an array of shape {tuple(shape)}"
    name = type(value).__name__
    beyond = " beyond 1.8e308" if isinstance(value, int) and abs(value) > sys.float_info.max else ""
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}{beyond}"
