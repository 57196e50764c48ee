"""The laws under which the audit tries every rule: logarithms of what one run of a method takes."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from benchfw.analysis.significance import MARGIN

Rng = np.random.Generator
Shape = tuple[int, ...]


def normal(rng: Rng, shape: Shape) -> np.ndarray:
    return np.log(np.maximum(1 + 0.2 * rng.standard_normal(shape), 0.02))


def log_normal(rng: Rng, shape: Shape) -> np.ndarray:
    return 0.5 * rng.standard_normal(shape)


def wide(rng: Rng, shape: Shape) -> np.ndarray:
    """A log-normal number whose mean is three times its median."""
    return 1.5 * rng.standard_normal(shape)


def skewed(rng: Rng, shape: Shape) -> np.ndarray:
    """A number whose logarithm has a skewness of 1.4."""
    return 0.5 * rng.gamma(2.0, size=shape)


def exponential(rng: Rng, shape: Shape) -> np.ndarray:
    return np.log(rng.standard_exponential(shape))


def pareto_3(rng: Rng, shape: Shape) -> np.ndarray:
    return rng.standard_exponential(shape) / 3


def pareto_12(rng: Rng, shape: Shape) -> np.ndarray:
    return rng.standard_exponential(shape) / 1.2


def bimodal(rng: Rng, shape: Shape) -> np.ndarray:
    """Half of the runs take three times as long."""
    return math.log(3) * (rng.random(shape) < 0.5) + 0.05 * rng.standard_normal(shape)


def discrete(rng: Rng, shape: Shape) -> np.ndarray:
    """A count of about ten."""
    return np.log(1 + rng.poisson(9, shape))


def rare_events(rng: Rng, shape: Shape) -> np.ndarray:
    """One run in fifty takes fifty times as long."""
    return math.log(50) * (rng.random(shape) < 0.02) + 0.02 * rng.standard_normal(shape)


LAWS: dict[str, Callable[[Rng, Shape], np.ndarray]] = {
    "normal": normal,
    "log-normal": log_normal,
    "exponential": exponential,
    "Pareto 3": pareto_3,
    "Pareto 1.2": pareto_12,
    "bimodal": bimodal,
    "discrete": discrete,
    "rare events": rare_events,
}
FOR_CLAIMS = {**LAWS, "wide log-normal": wide, "skewed logarithms": skewed}
SMOOTH = ("normal", "log-normal", "exponential")
HEAVY = ("Pareto 3", "Pareto 1.2", "rare events")
LOOKS = np.unique(np.ceil(1.05 ** np.arange(400)))


def brackets(logs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the logs of the looks around arrivals at these numbers of iterations: (before + 1, at)."""
    iterations = np.ceil(np.exp(logs))
    at = np.searchsorted(LOOKS, iterations)
    return np.log(LOOKS[at - 1] + 1), np.log(LOOKS[at])


def draw_effects(rng: Rng, shape: Shape, effects: str) -> np.ndarray:
    """Return the true log ratios: none, half of them at random, or all at the edge of what is equal."""
    if effects == "none":
        return np.zeros(shape)
    if effects == "edge":
        return math.log(MARGIN) * rng.choice([-1.0, 1.0], shape)
    return np.where(rng.random(shape) < 0.5, 0.0, 0.7 * rng.standard_normal(shape))
