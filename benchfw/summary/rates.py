"""How fast the error of each method falls, beside what its theorem says."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchfw.analysis.convergence import Curve, curves_by_metric
from benchfw.analysis.intervals import Interval
from benchfw.analysis.rates import Law, likelier_law, rate_interval
from benchfw.records import BOUND_PREFIX, Result
from benchfw.summary.model import Method
from benchfw.summary.quantities import finished_trials

FALLS = 100.0
"""A metric that no theorem is about is taken for an error if some run brings it down so many times."""


@dataclass(frozen=True)
class Rate:
    """The slope of log metric against log iterations (sublinear) or iterations (linear), over repetitions."""

    method: Method
    metric: str
    law: Law
    measured: Interval
    theorem: Interval | None

    @property
    def intervals(self) -> Iterator[tuple[str, Interval]]:
        """Yield the slopes by the names that exports have for them."""
        name = f"{self.metric}_{self.law}_rate"
        yield name, self.measured
        if self.theorem is not None:
            yield f"{name}_of_theorem", self.theorem


def find_rates(groups: Mapping[Method, Sequence[Result]], metrics: Sequence[str]) -> tuple[Rate, ...]:
    """Return the rate of each method: of the metric that its theorem is about, or else of the first error.

    The law is the theorem's where there is one, since a slope has a meaning under its own law only.
    """
    traced = {
        method: [curves_by_metric(result.outcome.records) for result in finished_trials(group)]
        for method, group in groups.items()
    }
    bounded = {method: _bounded(trials) for method, trials in traced.items()}
    first = next(filter(None, bounded.values()), "") or _falling(traced, metrics)
    found = (_rate(method, bounded[method] or first, trials) for method, trials in traced.items())
    return tuple(rate for rate in found if rate is not None)


def _rate(method: Method, metric: str, trials: Sequence[Mapping[str, Curve]]) -> Rate | None:
    measured = [curves[metric] for curves in trials if metric in curves]
    bounds = [curves[BOUND_PREFIX + metric] for curves in trials if BOUND_PREFIX + metric in curves]
    law = likelier_law(bounds) or likelier_law(measured)
    if law is None:
        return None
    slope = rate_interval(measured, law)
    theorem = rate_interval(bounds, law) if bounds else None
    return None if math.isnan(slope.estimate) else Rate(method, metric, law, slope, theorem)


def _bounded(trials: Sequence[Mapping[str, Curve]]) -> str:
    names = (name for curves in trials for name in curves if name.startswith(BOUND_PREFIX))
    return next(names, "").removeprefix(BOUND_PREFIX)


def _falling(traced: Mapping[Method, Sequence[Mapping[str, Curve]]], metrics: Sequence[str]) -> str:
    """Return the first metric if it is positive and some run brings it down far, else nothing."""
    curves = [each[metrics[0]].values for trials in traced.values() for each in trials if metrics[0] in each]
    falls = (float(values[0]) >= FALLS * float(values[-1]) > 0 for values in curves)
    positive = all(bool(np.all(values[np.isfinite(values)] >= 0)) for values in curves)
    return metrics[0] if positive and any(falls) else ""
