"""The value or the gradient itself, as an estimator without randomness."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from benchfw import Array, BenchfwError, Claims, Problem, Rng, Smooth
from benchfw_firstorder.steps import known_smoothness


@dataclass(frozen=True)
class Exact:
    """The full gradient, or the value: no variance, the full cost. What the others are measured against."""

    estimates: Literal["value", "grad", "auto"] = "auto"
    """What it gives: "value", "grad", or "auto": the gradient where the problem has one."""

    solves: ClassVar[type] = Problem
    claims: ClassVar[Claims] = Claims(unbiased=True)

    def draw(self, problem: Any, rng: Rng) -> Callable[[Array], Array]:
        """Return ∇f, or f."""
        chosen = self.estimates
        if chosen == "auto":
            chosen = "grad" if hasattr(problem, "grad") else "value"
        oracle: Callable[[Array], Array] | None = getattr(problem, chosen, None)
        if oracle is None:
            other = "value" if chosen == "grad" else "grad"
            advice = f'set estimates = "{other}"' if hasattr(problem, other) else "use another estimator"
            raise BenchfwError(f"the problem has no exact {chosen}; {advice}")
        return oracle

    def smoothness(self, problem: Smooth) -> float:
        """Return L."""
        return known_smoothness(problem)


EXACT = Exact()
"""What the other optimizers take by default."""
