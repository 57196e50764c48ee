"""Random probes, and the estimates that they give."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from benchfw import Array, Rng
from benchfw_spectral.oracles import Estimate, matrix_at, whole_value

Kind: TypeAlias = Literal["rademacher", "gaussian"]
AnyKind: TypeAlias = Literal["rademacher", "gaussian", "basis"]


def draw_probes(problem: Any, rng: Rng, count: int, kind: AnyKind = "rademacher") -> Array:
    """Return (size, count) independent numbers of mean 0 and variance 1, of the problem's `dtype`.

    "basis" draws nothing: the `size` columns of √size·I, whose mean form is the trace itself.
    """
    dtype = getattr(problem, "dtype", "float64")
    size = problem.size if hasattr(problem, "size") else problem.at(problem.start()).size
    if kind == "basis":
        return math.sqrt(size) * problem.backend.xp.eye(size, dtype=dtype)
    return (rng.rademacher if kind == "rademacher" else rng.standard_normal)((size, count), dtype=dtype)


def mean_of(samples: Array, kind: AnyKind = "rademacher") -> Estimate:
    """Return the mean of independent samples (count,), and its standard error from their spread.

    The forms of "basis" vectors are not samples: their mean is the trace, without error.
    """
    count = samples.shape[0]
    if kind == "basis":
        return Estimate(float(samples.mean()), 0.0)
    mean = float(samples.mean())
    squares = float(((samples - mean) ** 2).sum()) if count > 1 else math.nan
    return Estimate(mean, math.sqrt(squares / max(count - 1, 1)) / math.sqrt(count))


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
