"""Takes the metrics of an answer, as numbers."""

from __future__ import annotations

from typing import Any

from benchfw.errors import PluginError


def take_metrics(problem: Any, answer: Any) -> dict[str, float]:
    """Return the metrics of an answer; PluginError where metrics() gives anything but a number for each."""
    found = problem.metrics(answer)
    if not hasattr(found, "items"):
        raise PluginError(
            f"{_call(problem)} returned {_describe(found)}; return a number for each name, "
            'as in {"gap": 0.5}'
        )
    try:
        return {name: float(value) for name, value in found.items()}
    except (TypeError, ValueError):
        name, value = next((name, value) for name, value in found.items() if not _is_number(value))
        raise PluginError(
            f"{_call(problem)} gives {_describe(value)} for {name}; each metric is one number"
        ) from None


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _call(problem: Any) -> str:
    return f"metrics() of {type(problem).__name__}"


def _describe(value: Any) -> str:
    """Return what a value is: 'None', 'an array of shape (5,)', 'a str'."""
    if value is None:
        return "None"
    shape = getattr(value, "shape", None)
    return f"a {type(value).__name__}" if shape is None else f"an array of shape {tuple(shape)}"
