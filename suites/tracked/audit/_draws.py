"""Laws of draws, what trials record of them, and how the audit asks questions about many reports."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchfw.analysis.draws import Pool, pool_draws

Rng = np.random.Generator
Array = np.ndarray
RUNS = (3, 5, 10, 20)
DRAWS = 100
BLOCK = 250  # reports at a time: 4 MB of draws for 20 runs
MOST_NUMBERS = 4_000_000  # draws at a time, where runs are long


@dataclass(frozen=True)
class Law:
    """A law of draws with its mean and variance, and the least share of intervals that must hold."""

    draw: Callable[[Rng, tuple[int, ...]], Array]
    mean: float
    variance: float
    least: float = 0.93
    continuous: bool = False


def truncation(rng: Rng, shape: tuple[int, ...]) -> Array:
    """Return draws of the sum of 0.6^j, cut at a geometric degree, each term over its chance 0.55^j."""
    growth = 0.6 / 0.55
    return (growth ** rng.geometric(0.45, shape) - 1) / (growth - 1)


def truncation_variance() -> float:
    degrees = np.arange(1, 1500)
    values = (np.exp(degrees * math.log(0.6 / 0.55)) - 1) / (0.6 / 0.55 - 1)
    chances = 0.45 * np.exp((degrees - 1) * math.log(0.55))
    return float(chances @ values**2 - (chances @ values) ** 2)


def event(chance: float) -> Law:
    return Law(lambda rng, shape: (rng.random(shape) < chance) * 1.0, chance, chance * (1 - chance))


LAWS = {
    "normal": Law(lambda rng, shape: rng.standard_normal(shape), 0, 1, continuous=True),
    "exponential": Law(lambda rng, shape: rng.exponential(1, shape), 1, 1, continuous=True),
    "bimodal": Law(
        lambda rng, shape: 2 * rng.choice([-1.0, 1.0], shape) + rng.normal(0, 0.5, shape),
        0, 4.25, continuous=True,
    ),
    "discrete (Poisson 1)": Law(lambda rng, shape: rng.poisson(1.0, shape).astype(float), 1, 1),
    "signs": event(0.5),
    "event of 10 %": event(0.1),
    "event of 1 %": event(0.01),
    "event of 0.1 %": event(0.001),
    "log-normal": Law(
        lambda rng, shape: rng.lognormal(0, 1, shape), math.exp(0.5), (math.e - 1) * math.e, 0.9
    ),
    "truncation": Law(truncation, 2.5, truncation_variance(), 0.9),
    "t, 3 degrees": Law(lambda rng, shape: rng.standard_t(3, shape), 0, 3, 0.9),
    "Pareto 3": Law(lambda rng, shape: 1 + rng.pareto(3, shape), 1.5, 0.75, 0.9),
    "Pareto 1.2": Law(lambda rng, shape: 1 + rng.pareto(1.2, shape), 6, math.inf, 0.9),
}  # fmt: skip


@dataclass(frozen=True)
class Trials:
    """What many reports recorded of one estimator: arrays (reports, runs)."""

    bias: Array
    variance: Array
    std_error: Array
    skewness: Array
    pool: Pool


def increments(draws: Array) -> Array:
    """Return the squares of Welford's update, (…, draws - 1), each with the variance as its mean."""
    numbers = np.arange(2, draws.shape[-1] + 1)
    means = np.cumsum(draws, axis=-1)[..., :-1] / (numbers - 1)
    return np.asarray((numbers - 1) / numbers * (draws[..., 1:] - means) ** 2)


def record_squares(squares: Array, bias: Array) -> Trials:
    """Return what trials record whose squares are (reports, runs, draws - 1)."""
    terms = squares.shape[-1]
    variance = np.mean(squares, axis=-1)
    away = squares - variance[..., None]
    spread, third = np.sum(away**2, axis=-1), np.sum(away**3, axis=-1)
    skewness = np.divide(third * math.sqrt(terms), spread**1.5, out=np.zeros_like(third), where=spread > 0)
    std_error = np.sqrt(spread / (terms - 1) / terms)
    pool = pool_draws(variance, std_error, skewness, terms + 1)
    return Trials(bias, variance, std_error, skewness, pool)


def record(draws: Array, mean: float) -> Trials:
    """Return what `DrawStatistics` finds in draws (reports, runs, draws)."""
    return record_squares(increments(draws), np.mean(draws, axis=-1) - mean)


def sample(rng: Rng, law: Law, reports: int, runs: int, draws: int = DRAWS) -> Trials:
    return record(law.draw(rng, (reports, runs, draws)), law.mean)


def judge_blocks(
    judge: Callable[..., Any], reports: int, runs: int, draws: int, seed: int, *arguments: Hashable
) -> Array:
    """Return what a judge answers about every report, (answers, reports), some of them at a time."""
    block = max(1, min(BLOCK, MOST_NUMBERS // (runs * draws)))
    found = [
        judge(np.random.default_rng([seed, runs, number]), min(block, reports - at), runs, *arguments)
        for number, at in enumerate(range(0, reports, block))
    ]
    return np.concatenate([np.stack(answers) for answers in found], axis=1)


def share_of(number: int) -> Callable[[list[Array]], float]:
    """Return what gives the share of one answer, the largest over the tasks of a column."""
    return lambda found: max(float(np.mean(each[number])) for each in found)


def two_shares(found: list[Array]) -> tuple[float, float]:
    """Return the shares of two answers, of which the second is printed in brackets."""
    first, second = np.mean(found[0], axis=1)
    return float(first), float(second)


def quotient(found: list[Array]) -> tuple[float, float]:
    """Return the share of the first answer over that of the second, and the first."""
    first, second = two_shares(found)
    return first / second, first
