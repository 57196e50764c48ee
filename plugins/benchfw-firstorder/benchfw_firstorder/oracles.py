"""What this family asks of a problem beyond the shared protocols."""

from __future__ import annotations

from typing import Protocol

from benchfw import Array, Smooth


class Subdifferentiable(Smooth, Protocol):
    """A convex function with some subgradient of all of it, penalty included, at any point."""

    def subgrad(self, params: Array) -> Array: ...
