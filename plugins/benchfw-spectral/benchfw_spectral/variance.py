"""The Chebyshev-weighted variance of a randomly cut series: Lemma 2 of Han, Avron & Shin (2018)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchfw import BenchfwError
from benchfw_spectral.functions import get_function
from benchfw_spectral.functions.function import Function, Interval, Vector

MOST_TERMS = 1 << 22
LARGEST_LOG = 709.0  # e^709 is the largest float, or nearly so


def weighted_variance(function: str | Function, interval: Interval, law: Any) -> float:
    """Return (π/2) Σ_{j>=1} b_j² (1/t_j - 1), the mean of ∫ (p_n - f)²/√(1-x²) over n; inf if it diverges.

    Also for the deterministic law, whose 1/t_j is inf beyond its degree: its error is a bias.
    """
    logarithm = log_weighted_variance(function, interval, law)
    return math.exp(logarithm) if logarithm < LARGEST_LOG else math.inf


def log_weighted_variance(function: str | Function, interval: Interval, law: Any) -> float:
    """Return the logarithm of `weighted_variance`, which is often too small for a float."""
    function = get_function(function)
    law = fitted(law, function, interval)
    if _diverges(function, interval, law):
        return math.inf
    return math.log(math.pi / 2) + _log_sum(function, interval, law)


def partial_variance(function: str | Function, interval: Interval, law: Any) -> float:
    """Return the sum of `weighted_variance` up to its smallest term where it diverges, else the whole of it.

    That is what a simulation sees: the terms fall, and those that rise again are drawn too seldom to show.
    """
    function = get_function(function)
    law = fitted(law, function, interval)
    if not _diverges(function, interval, law):
        return weighted_variance(function, interval, law)
    degree = _first_degree(law)
    while _falls(terms := _log_terms(function, interval, law, degree)) and degree < MOST_TERMS:
        degree *= 2
    terms = terms[np.isfinite(terms)]
    # the end of the last fall, not the least of all: where t_j is nearly 1 the first terms are small too
    falls = np.flatnonzero(np.diff(terms) < 0)
    smallest = falls[-1] + 1 if falls.size else 0
    return math.pi / 2 * math.exp(np.logaddexp.reduce(terms[: smallest + 1]))


def fitted(law: Any, function: Function, interval: Interval) -> Any:
    """Return the law for this series, where it asks to see it."""
    return law.for_series(function, interval) if hasattr(law, "for_series") else law


def _log_ratio(function: Function, interval: Interval, law: Any) -> float:
    """Return the limit of log(term_{j+1} / term_j)."""
    series, tails = function.falloff(interval), law.falloff(function.decay(interval, law.mean))
    if series.factorials == math.inf:
        return -math.inf  # a polynomial has finitely many terms
    factorials = 2 * series.factorials - tails.factorials
    return float(2 * series.log_rate - tails.log_rate) if factorials == 0 else -math.inf * factorials


def _diverges(function: Function, interval: Interval, law: Any) -> bool:
    """Say whether b_j² / t_j grows, by how both fall in the end and not by any terms."""
    return _log_ratio(function, interval, law) >= 0


def _log_terms(function: Function, interval: Interval, law: Any, degree: int) -> Vector:
    """Return log(b_j² (1/t_j - 1)) for j = 1 … degree."""
    _, logs = function.log_coefficients(interval, degree)
    drops = -law.log_survival(np.arange(1, degree + 1), function.decay(interval, law.mean))
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = 2 * logs[1:] + drops + np.log(-np.expm1(-drops))
    return np.where(logs[1:] == -np.inf, -np.inf, terms)


def _first_degree(law: Any) -> int:
    """Return a power of two, at least 2N: a degree where the tails fall."""
    return 64 << int(law.mean / 32).bit_length()


def _falls(terms: Vector) -> bool:
    """Say whether the last quarter of the terms falls; some of them may be 0."""
    late = terms[-len(terms) // 4 :]
    late = late[late > -np.inf]
    return late.size > 1 and bool(late[-1] < late[0])


def _log_sum(function: Function, interval: Interval, law: Any) -> float:
    """Return log Σ_j b_j² (1/t_j - 1) for a sum that converges."""
    left_out = -math.log(-math.expm1(_log_ratio(function, interval, law)))
    degree = _first_degree(law)
    while degree <= MOST_TERMS:
        terms = _log_terms(function, interval, law, degree)
        total = float(np.logaddexp.reduce(terms))
        # a whole quarter of them: single coefficients may be 0
        if terms[-degree // 4 :].max() + left_out <= total - 40:
            return total
        degree *= 2
    raise BenchfwError(f"the variance of {function.name} under {law} needs more than {MOST_TERMS} terms")
