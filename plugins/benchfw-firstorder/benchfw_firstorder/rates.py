"""The theorems that measured curves are held against, as functions of the problem's constants.

Every curve is an upper bound of the (expected) gap F(x_k) - F*. At k = 0, where most theorems say nothing,
it is the gap of the start. No curve goes below the rounding of the objective: a theorem is about real
numbers, and a measured gap below that level is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchfw import constants_of

Curve = NDArray[np.float64]
Iterations = NDArray[np.int64]


def contraction_rate(problem: Any, iterations: Iterations, step: float) -> Curve | None:
    """Return max(|1-aμ|, |1-aL|)^2k (F(x_0) - F*): gradient descent on a quadratic.

    From x_k - x* = (I - aH)^k (x_0 - x*). None where the steps are too long for it to contract.
    """
    smoothness, convexity = _known(problem, "smoothness", "strong_convexity")
    contraction = max(abs(1 - step * convexity), abs(1 - step * smoothness))
    if contraction > 1:
        return None
    gap, rounding = _start_gap(problem)
    # the contraction is known to rounding only, and its power 2k carries that 2k times
    slack = 1 + 8 * iterations * float(np.finfo(np.float64).eps) / max(contraction, 1e-3)
    return _at_least(gap * contraction ** (2.0 * iterations) * slack, rounding)


def momentum_rate(problem: Any, iterations: Iterations, step: float, momentum: float) -> Curve | None:
    """Return m^k (1 + k(1 + √m))² (F(x_0) - F*): heavy ball on a quadratic, all modes oscillating.

    With x_{-1} = x_0 the error in the eigenvalue λ is multiplied by
    p_k = m^{k/2} (U_k(c) - √m U_{k-1}(c)), c = (1 + m - aλ)/(2√m), and |U_k| <= k + 1 on [-1, 1].
    None where some c lies outside [-1, 1].
    """
    root = momentum**0.5
    smoothness, convexity = _known(problem, "smoothness", "strong_convexity")
    if step * convexity < (1 - root) ** 2 or step * smoothness > (1 + root) ** 2:
        return None
    gap, rounding = _start_gap(problem)
    return _at_least(gap * momentum ** (1.0 * iterations) * (1 + iterations * (1 + root)) ** 2, rounding)


def proximal_gradient_rate(problem: Any, iterations: Iterations, step: float) -> Curve | None:
    """Return |x_0-x*|²/(2a) min(1/k, (1-aμ)^k): (proximal or projected) gradient descent with a <= 1/L.

    Both follow from F(x⁺) - F* + |x⁺-x*|²/(2a) <= (1-aμ)|x-x*|²/(2a). Beck 2017, theorems 10.21 and 10.29.
    """
    if not _at_most_one_over_smoothness(step, problem):
        return None
    convexity, distance = _known(problem, "strong_convexity", "distance")
    decay = np.maximum(1 - step * convexity, 0.0)
    later = np.maximum(iterations, 1)
    factor = np.minimum(1 / later, decay ** (1.0 * later))
    return _with_start(problem, iterations, distance**2 / (2 * step) * factor)


def accelerated_rate(problem: Any, iterations: Iterations, step: float) -> Curve | None:
    """Return 2|x_0-x*|²/(a(k+1)²): Nesterov's sequence and FISTA, a <= 1/L. Beck & Teboulle 2009, thm 4.4."""
    if not _at_most_one_over_smoothness(step, problem):
        return None
    (distance,) = _known(problem, "distance")
    curve = np.asarray(2 * distance**2 / (step * (iterations + 1.0) ** 2), dtype=np.float64)
    return _with_start(problem, iterations, curve)


def averaged_sgd_rate(problem: Any, iterations: Iterations, step: float) -> Curve:
    """Return |x_0-x*|²/(2aM) + aC²/2, M = k+1: the mean of x_0 … x_k under projected SGD with constant steps.

    C² bounds the mean square of the stochastic gradient. With a = G/(C√M) and |x_0-x*| <= G this is CG/√M.
    """
    points = iterations + 1.0
    distance, bound = _known(problem, "distance", "gradient_bound")
    curve = np.asarray(distance**2 / (2 * step * points) + step * bound**2 / 2, dtype=np.float64)
    return _at_least(curve, 0.0)


def smallest(curves: Sequence[Curve | None]) -> Curve | None:
    """Return the pointwise smallest of the curves that apply, or None."""
    known = [curve for curve in curves if curve is not None]
    return np.minimum.reduce(known) if known else None


def knows(problem: Any, *constants: str) -> bool:
    """Return whether the problem has all of these constants."""
    found = asdict(constants_of(problem))
    return all(found[constant] is not None for constant in constants)


def penalized(problem: Any) -> bool:
    """Return whether the objective has a part that neither `grad` nor `project` sees, like a lasso's |x|₁.

    A composite problem is taken to have one unless it says otherwise: a box's penalty is its projection.
    """
    return bool(getattr(problem, "penalized", hasattr(problem, "prox")))


def _at_most_one_over_smoothness(step: float, problem: Any) -> bool:
    (smoothness,) = _known(problem, "smoothness")
    return step * smoothness <= 1 + 1e-12


def _known(problem: Any, *constants: str) -> list[float]:
    found = asdict(constants_of(problem))
    return [found[constant] for constant in constants]


def _start_gap(problem: Any) -> tuple[float, float]:
    start = problem.metrics(problem.start())
    return start["gap"], 8 * float(np.finfo(np.float64).eps) * max(abs(start["objective"]), start["gap"])


def _with_start(problem: Any, iterations: Iterations, curve: Curve) -> Curve:
    gap, rounding = _start_gap(problem)
    return np.where(iterations == 0, gap, _at_least(curve, rounding))


def _at_least(curve: Curve, rounding: float) -> Curve:
    return np.maximum(curve, rounding)
