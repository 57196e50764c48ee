"""What the repetitions of an estimator gave: bias, variance, and what its draws allow to say about them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from benchfw.analysis.draws import (
    Moments,
    Pool,
    bias_ends,
    length_ends,
    length_probability,
    pair_spreads,
    pool_moments,
    spread_interval,
    unbiased_probability,
)
from benchfw.analysis.evidence import Evidence, PairedLogs
from benchfw.analysis.intervals import LEVEL, Interval
from benchfw.analysis.variance import FEWEST_DRAWS
from benchfw.summary.quantities import Sample

_PRODUCTS = ("variance_x_seconds", "mse_x_seconds", "variance_x_cpu_seconds", "mse_x_cpu_seconds")
SPREADS = frozenset({"variance", "worst_variance", "mse", *_PRODUCTS})
"""What is proportional to the variance of an estimator's draws."""

_ROUNDING = 1e-9  # of moments of the same draws about different means


@dataclass(frozen=True)
class DrawSample(Sample):
    """The sample of an estimator; `moments` says of each repetition what its draws were like."""

    moments: Mapping[int, Moments] = field(default_factory=dict)

    @cached_property
    def pool(self) -> Pool | None:
        """Return the draws of all repetitions together; None where some repetition had too few."""
        if not self.moments or len(self.moments) < len(self.values.get("variance", ())):
            return None
        return pool_moments(list(self.moments.values()))

    @property
    def scalar(self) -> bool:
        """Whether an estimator's draws are numbers."""
        return "worst_variance" not in self.values

    @property
    def repeats(self) -> bool:
        """Whether the draws vary within a run, and are the same in all runs, or the same up to a shift.

        The moments of their squares then agree; those of other draws differ even in another order.
        """
        found = list(self.moments.values())
        if len(found) < 2 or found[0].variance == 0 or found[0].draws < FEWEST_DRAWS:
            return False
        columns = [(each.variance, each.std_error, each.skewness, each.draws) for each in found]
        return bool(np.allclose(columns, columns[0], rtol=_ROUNDING, atol=0.0))

    def as_one_run(self) -> DrawSample:
        """Return the sample with the draws of its first run alone; times are still those of all runs."""
        first = min(self.moments)
        values = {
            name: {first: found[first]} if name in (*SPREADS, "bias") and first in found else found
            for name, found in self.values.items()
        }
        return replace(self, values=values, moments={first: self.moments[first]})

    def varies(self) -> bool:
        """Whether enough draws of an estimator differ to say something about its variance."""
        return self.pool is not None and bool(self.pool.decisive)

    def interval(self, quantity: str) -> Interval:
        """Return the mean of bias, variance and what is proportional to it; else the geometric mean."""
        if quantity in SPREADS:
            return self.spread_interval(quantity)
        return self.bias_interval() if quantity == "bias" else super().interval(quantity)

    def evidence(self, reference: Sample, quantity: str) -> Evidence | None:
        """Return what the repetitions that both have say about the ratio to the reference."""
        if quantity not in SPREADS or not isinstance(reference, DrawSample):
            return super().evidence(reference, quantity)
        shared = [each for each in self.values[quantity] if each in reference.values[quantity]]
        if self.pool is None or reference.pool is None or not shared:
            return None
        mine, theirs = ([each.values[quantity][one] for one in shared] for each in (self, reference))
        found = pair_spreads(mine, self.pool, theirs, reference.pool)
        if found is None:
            return None
        own, other = (np.log([each.stretch(quantity, one) for one in shared]).T for each in (self, reference))
        return PairedLogs(found.low + own[0] - other[1], found.high + own[1] - other[0], found.middle)

    def ratio(self, reference: Sample, quantity: str, level: float = LEVEL) -> Interval | None:
        """Return the ratio to the reference over the repetitions that both have; a bias has none."""
        if quantity == "bias":
            return None
        if quantity not in SPREADS:
            return super().ratio(reference, quantity, level)
        evidence = self.evidence(reference, quantity) if quantity in reference.values else None
        return None if evidence is None else evidence.interval(level)

    def spread_interval(self, quantity: str, level: float = LEVEL) -> Interval:
        """Return the mean of an estimator's variance, or of what is proportional to it."""
        values = list(self.values[quantity].values())
        # one repetition knows its own variance, but not by how much its times vary from run to run
        if self.pool is None or (len(values) == 1 and quantity in _PRODUCTS):
            return Interval(float(np.mean(values)), 0.0, math.inf, len(values))
        found = spread_interval(values, self.pool, level)
        low, high = (
            np.mean([self.stretch(quantity, each)[side] for each in self.moments]) for side in (0, 1)
        )
        return replace(found, low=found.low * float(low), high=found.high * float(high))

    def stretch(self, quantity: str, repetition: int) -> tuple[float, float]:
        """Return by what factors a value may be off, where it is known between two numbers only."""
        value = self.values[quantity][repetition]
        low, high = self.brackets.get(quantity, {}).get(repetition, (value, value))
        return (low / value, high / value) if value else (1.0, 1.0)

    def bias_interval(self, level: float = LEVEL) -> Interval:
        """Return the mean bias of an estimator over the repetitions; of a vector, the length of the bias."""
        values = list(self.values["bias"].values())
        estimate = float(np.mean(values))
        if self.pool is None:
            return Interval(estimate, -math.inf, math.inf, len(values))
        if self.scalar:
            low, high = bias_ends(values, self.pool, level)
        else:
            squares = self._squared_lengths()
            estimate = math.sqrt(max(float(np.mean(squares)), 0.0))
            low, high = length_ends(squares, self.pool, level)
        return Interval(estimate, float(low), float(high), len(values))

    def unbiased_probability(self) -> float:
        """Return the p-value of 'there is no bias'; NaN where the draws cannot decide."""
        if self.pool is None:
            return math.nan
        if self.scalar:
            return float(unbiased_probability(list(self.values["bias"].values()), self.pool))
        return float(length_probability(self._squared_lengths(), self.pool))

    def _squared_lengths(self) -> list[float]:
        """Return by repetition an unbiased estimate of a vector's squared bias.

        The mean squared error is variance + |bias|², and both are recorded about the mean of the same draws.
        """
        variances = self.values["variance"]
        return [value - variances[each] for each, value in self.values["mse"].items()]
