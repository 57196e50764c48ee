"""The tables of the audit about biases: of numbers, and of gradients."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator

import numpy as np
from _draws import (
    DRAWS,
    LAWS,
    RUNS,
    Array,
    Rng,
    Trials,
    judge_blocks,
    record_squares,
    sample,
    share_of,
    two_shares,
)
from _tables import Line, Table, Task

from benchfw.analysis.draws import bias_ends, length_ends, length_probability, unbiased_probability
from benchfw.analysis.significance import BUDGET

SEED = 24
COORDINATES = (2, 10, 1000)

Judge = Callable[..., Array]


# each of these returns for every report the answers to some questions: (questions, reports)


def bias_holds(rng: Rng, reports: int, runs: int, name: str) -> Array:
    """Judge the interval of an unbiased estimator: does it hold, is there one?"""
    found = sample(rng, LAWS[name], reports, runs)
    low, high = bias_ends(found.bias, found.pool)
    return np.stack([(low <= 0) & (high >= 0), np.isfinite(high)])


def called_biased(rng: Rng, reports: int, runs: int, name: str, methods: int) -> Array:
    """Judge the biases of a report that compares nothing else."""
    found = [sample(rng, LAWS[name], reports, runs) for _ in range(methods)]
    return biases(found, BUDGET)[0][None]


def biases(found: list[Trials], budget: float) -> tuple[Array, Array]:
    """Return whether a report calls any estimator biased, and how many it tests."""
    values = np.stack([unbiased_probability(each.bias, each.pool) for each in found], axis=-1)
    tested = np.sum(~np.isnan(values), axis=-1)
    return np.any(values <= budget / np.maximum(tested, 1)[:, None], axis=-1), tested


def gradient_bias(rng: Rng, reports: int, runs: int, size: int, length: float) -> Array:
    """Judge the bias of a gradient with normal coordinates of variance 1: does its interval hold, is it off?

    The squares of Welford's update are independent of each other and of the mean (Helmert 1876).
    """
    draws = 100
    squares = rng.chisquare(size, (reports, runs, draws - 1))
    noise = rng.chisquare(size - 1, (reports, runs)) / draws
    error = (length + rng.standard_normal((reports, runs)) / math.sqrt(draws)) ** 2 + noise
    found = record_squares(squares, error)
    # the mean squared error less the variance
    lengths = error - found.variance / draws
    low, high = length_ends(lengths, found.pool)
    off = length_probability(lengths, found.pool) <= BUDGET
    return np.stack([(low <= length) & (length <= high), off])


def tasks(judge: Judge, reports: int, *arguments: Hashable) -> tuple[tuple[Task, ...], ...]:
    """Return the tasks of a line, one for each number of runs."""
    return tuple((Task(judge_blocks, (judge, reports, each, DRAWS, SEED, *arguments)),) for each in RUNS)


def bias_tables(reports: int) -> Iterator[Table]:
    """Yield the tables."""
    heads = ("law", *(f"{runs} runs" for runs in RUNS))
    yield Table(
        heads,
        tuple(
            Line(name, tasks(bias_holds, reports, name), two_shares, law.least) for name, law in LAWS.items()
        ),
        "Bias, of an unbiased estimator: intervals that hold (in brackets: given at all)",
        reports,
        whole=True,
    )
    yield Table(
        heads,
        tuple(
            Line(f"{name}, {many} of them", tasks(called_biased, reports, name, many), share_of(0), 0, 0.05)
            for name in LAWS
            for many in ((1, 10) if name in ("normal", "event of 0.1 %", "Pareto 1.2") else (1,))
        ),
        "An unbiased estimator is called biased", reports, whole=True,
    )  # fmt: skip
    yield from gradient_tables(reports)


def gradient_tables(reports: int) -> Iterator[Table]:
    """Yield the tables on the length of a gradient's bias."""
    heads = ("gradient", *(f"{runs} runs" for runs in RUNS))
    lengths = {"0.05, half of a coordinate's standard error": 0.05, "0.3": 0.3, "1": 1.0}
    yield Table(
        heads,
        tuple(
            Line(
                f"{size:,} coordinates, {words}",
                tasks(gradient_bias, reports, size, length),
                share_of(0),
                0.9,
            )
            for size in COORDINATES
            for words, length in lengths.items()
        ),
        "Length of a gradient's bias, runs of 100 normal draws: intervals that hold", reports, whole=True,
    )  # fmt: skip
    yield Table(
        heads,
        tuple(
            Line(f"{size:,} coordinates", tasks(gradient_bias, reports, size, 0.0), share_of(1), 0.0, 0.05)
            for size in COORDINATES
        ),
        "An unbiased gradient is called biased", reports, whole=True,
    )  # fmt: skip
