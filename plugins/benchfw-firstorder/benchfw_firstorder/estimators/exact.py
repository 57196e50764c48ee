"""The gradient itself, as an estimator without randomness."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

from benchfw import Rng, Smooth
from benchfw_firstorder.oracles import Array
from benchfw_firstorder.steps import known_smoothness


@dataclass(frozen=True)
class Exact:
    """The full gradient: no variance, the full cost. What the others are measured against."""

    solves: ClassVar[type] = Smooth
    estimates: ClassVar[Literal["grad"]] = "grad"
    unbiased: ClassVar[bool] = True

    def draw(self, problem: Smooth, rng: Rng) -> Callable[[Array], Array]:
        """Return ∇f."""
        return problem.grad

    def smoothness(self, problem: Smooth) -> float:
        """Return L."""
        return known_smoothness(problem)
