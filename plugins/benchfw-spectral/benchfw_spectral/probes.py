"""Random probes, and the estimates that they give."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from benchfw import Rng
from benchfw_spectral.oracles import Array, Estimate, matrix_at, whole_value

Kind: TypeAlias = Literal["rademacher", "gaussian", "basis"]


def draw_probes(problem: Any, rng: Rng, count: int, kind: Kind = "rademacher") -> Array:
    """Return (size, count) independent numbers of mean 0 and variance 1, in the order products like.

    "basis" is no draw: the `size` columns of √size·I, whose mean form is the trace itself.
    """
    check_probes(count)
    size = problem.size if hasattr(problem, "size") else problem.at(problem.start()).size
    if kind == "basis":
        return math.sqrt(size) * problem.backend.xp.eye(size)
    sample = rng.rademacher if kind == "rademacher" else rng.standard_normal
    by_column = sample((count, size)).T  # the same numbers on every backend, whatever order it likes
    order = getattr(getattr(problem, "operator", None), "order", "F")
    return problem.backend.xp.ascontiguousarray(by_column) if order == "C" else by_column


def check_probes(count: int, least: int = 1) -> None:
    """Raise ValueError where there are too few probes."""
    if count < least:
        raise ValueError(f"probes must be at least {least}, got {count}")


def mean_of(samples: Array) -> Estimate:
    """Return the mean of independent samples (count,), and its standard error from their spread."""
    count = samples.shape[0]
    spread = float(samples.std(ddof=1)) if count > 1 else math.nan
    return Estimate(float(samples.mean()), spread / math.sqrt(count))


@dataclass(frozen=True)
class ValueDraw:
    """One draw of a value: the randomness is in `trace`, which estimates tr f(A) of the matrix given."""

    problem: Any
    trace: Callable[[Any], Estimate]

    def __call__(self, params: Array) -> float:
        """Return the estimate of the problem's value."""
        return self.estimate(params).value

    def estimate(self, params: Array) -> Estimate:
        """Return the estimate with its standard error."""
        return whole_value(self.problem, params, self.trace(matrix_at(self.problem, params)))
