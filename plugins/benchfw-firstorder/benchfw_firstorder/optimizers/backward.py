"""The backward half of a step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchfw import Array


def backward_step(problem: Any) -> Callable[[Array, float], Array]:
    """Return (x, a) ↦ prox_{a g}(x) where the problem has a penalty g, else the projection of x."""
    prox: Callable[[Array, float], Array] | None = getattr(problem, "prox", None)
    return prox or (lambda params, _: problem.project(params))
