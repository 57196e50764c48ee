"""What this family asks of a problem beyond the shared protocols."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

from benchfw import Smooth

Array: TypeAlias = Any
"""An array of the problem's backend."""


class Subdifferentiable(Smooth, Protocol):
    """A convex function with some subgradient of all of it, penalty included, at any point."""

    def subgrad(self, params: Array) -> Array: ...
