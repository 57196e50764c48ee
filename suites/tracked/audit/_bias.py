"""The tables of the audit about biases: of numbers, of gradients, and of runs that stop by what they drew."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator

import numpy as np
from _draws import (
    LAWS,
    RUNS,
    Array,
    Rng,
    Trials,
    increments,
    judge_blocks,
    record,
    record_squares,
    sample,
    share_of,
    two_shares,
)
from _tables import Line, Table, Task

from benchfw.analysis.bias import (
    batch_scatter,
    bias_ends,
    dependence_probability,
    length_ends,
    length_probability,
    single_probability,
    unbiased_probability,
)
from benchfw.analysis.draws import pool_draws, spread_ends
from benchfw.analysis.significance import BUDGET
from benchfw.analysis.variance import FEWEST_DRAWS
from benchfw.measure.meter import next_look
from benchfw.summary.draws import DEPENDENT

SEED = 24
LENGTHS = (20, 100, 500)
STOPPED_RUNS = (5, 10, 40, 100)
COORDINATES = (2, 10, 1000)
MOST_DRAWS = 1000
DEPENDENT_DRAWS = (50, 300)

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
    """Return whether a report calls any estimator biased, in the mean or in single runs, and its tests."""
    values = np.stack([test for each in found for test in bias_tests(each)], axis=-1)
    tested = np.sum(~np.isnan(values), axis=-1)
    return np.any(values <= budget / np.maximum(tested, 1)[:, None], axis=-1), tested


def bias_tests(found: Trials) -> tuple[Array, Array]:
    return (
        unbiased_probability(found.bias, found.pool),
        single_probability(found.bias, found.variance, found.draws, found.pool),
    )


def single_runs_off(rng: Rng, reports: int, runs: int, name: str, draws: int) -> Array:
    """Judge by the test of single runs alone, at 5 and at 0.5 %."""
    _, single = bias_tests(sample(rng, LAWS[name], reports, runs, draws))
    return np.stack([single <= 0.05, single <= 0.005])


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


def called_dependent(rng: Rng, reports: int, runs: int, name: str, offset: float, draws: int) -> Array:
    """Judge whether the draws of a run are said to depend on each other; an offset is drawn once a run."""
    drawn = LAWS[name].draw(rng, (reports, runs, draws)) + offset * rng.standard_normal((reports, runs, 1))
    return _called_dependent(drawn)


def chain_called_dependent(rng: Rng, reports: int, runs: int, correlation: float, draws: int) -> Array:
    """Judge the same of normal draws each of which has this correlation with the one before."""
    drawn = rng.standard_normal((reports, runs, draws))
    for each in range(1, draws):
        drawn[..., each] *= math.sqrt(1 - correlation**2)
        drawn[..., each] += correlation * drawn[..., each - 1]
    return _called_dependent(drawn)


def _called_dependent(drawn: Array) -> Array:
    looks = np.array([*_looks_before(drawn.shape[-1]), drawn.shape[-1]])
    means = np.cumsum(drawn, axis=-1)[..., looks - 1] / looks
    found = [
        dependence_probability([batch_scatter(looks, each) for each in report], record(draws, 0.0).pool)
        for report, draws in zip(means, drawn, strict=True)
    ]
    return np.array([found]) <= DEPENDENT


def _looks_before(draws: int) -> list[int]:
    """Return after how many draws a run that makes so many records what it has found, but for the last."""
    looks = [2]
    while next_look(looks[-1]) < draws:
        looks.append(next_look(looks[-1]))
    return looks


def stopped_off(rng: Rng, reports: int, runs: int, name: str, limit: float) -> Array:
    """Judge runs that stop by what they drew: mean off, single runs off, interval of variance misses."""
    law = LAWS["exponential" if name == "cost" else name]
    most = int(limit + 12 * math.sqrt(limit) + 20) if name == "cost" else MOST_DRAWS
    draws = law.draw(rng, (reports, runs, most))
    found = record_stopped(draws, law.mean, *_stops(draws, name, limit))
    mean, single = bias_tests(found) if runs > 1 else (np.full(reports, np.nan),) * 2
    low, high = spread_ends(found.variance, found.pool)
    return np.stack([mean <= BUDGET, single <= BUDGET, ~((low <= law.variance) & (law.variance <= high))])


def _stops(draws: Array, name: str, limit: float) -> tuple[Array, tuple[Array, Array, Array]]:
    """Return after how many draws each run stops, and the sums of the powers of its squares so far.

    A budget of cost is used up by draws that cost what they are; a precision is looked for at looks.
    """
    squares = increments(draws)
    sums = tuple(np.cumsum(squares**power, axis=-1) for power in (1, 2, 3))
    if name == "cost":
        spent = np.cumsum(draws, axis=-1) >= limit
        return np.maximum(np.argmax(spent, axis=-1) + 1, 2), sums
    at = np.array([each for each in _looks_before(MOST_DRAWS) if each >= FEWEST_DRAWS])
    variance, error, _ = _moments(*(each[..., at - 2] for each in sums), at)
    known = 1.959963984540054 * error <= limit * variance
    return np.where(np.any(known, axis=-1), at[np.argmax(known, axis=-1)], MOST_DRAWS), sums


def record_stopped(draws: Array, mean: float, count: Array, sums: tuple[Array, Array, Array]) -> Trials:
    """Return what trials record that stop after so many draws."""
    last = count[..., None]
    at = (np.take_along_axis(each, last - 2, -1)[..., 0] for each in sums)
    variance, error, skewness = _moments(*at, count)
    total = np.take_along_axis(np.cumsum(draws, axis=-1), last - 1, -1)[..., 0]
    pool = pool_draws(variance, error, skewness, count)
    return Trials(total / count - mean, variance, error, skewness, pool, count)


def _moments(first: Array, second: Array, third: Array, count: Array) -> tuple[Array, Array, Array]:
    """Return variance, its standard error and the skewness of the squares from sums of their powers."""
    terms = count - 1
    mean = first / terms
    spread = np.maximum(second - terms * mean**2, 0.0)
    cubes = third - 3 * mean * second + 2 * terms * mean**3
    with np.errstate(divide="ignore", invalid="ignore"):
        skewness = np.where(spread > 0, cubes * np.sqrt(terms) / spread**1.5, 0.0)
        error = np.sqrt(spread / np.maximum(terms - 1, 1) / terms)
    return mean, error, skewness


def tasks(
    judge: Judge, reports: int, *sets: tuple[Hashable, ...], runs: tuple[int, ...] = RUNS, draws: int = 0
) -> tuple[tuple[Task, ...], ...]:
    """Return the tasks of a line: in each column one for each set of arguments; `draws` are a run's most."""
    draws = draws or (MOST_DRAWS if judge is stopped_off else max(LENGTHS))
    return tuple(
        tuple(Task(judge_blocks, (judge, reports, each, draws, SEED, *one)) for one in sets) for each in runs
    )


def bias_tables(reports: int) -> Iterator[Table]:
    """Yield the tables."""
    heads = ("law", *(f"{runs} runs" for runs in RUNS))
    yield Table(
        heads,
        tuple(
            Line(name, tasks(bias_holds, reports, (name,)), two_shares, law.least)
            for name, law in LAWS.items()
        ),
        "Bias, of an unbiased estimator: intervals that hold (in brackets: given at all)",
        reports,
        whole=True,
    )
    yield Table(
        heads,
        tuple(
            Line(f"{name}, {many} of them", tasks(called_biased, reports, (name, many)), share_of(0), 0, 0.05)
            for name in LAWS
            for many in ((1, 10) if name in ("normal", "event of 0.1 %", "Pareto 1.2") else (1,))
        ),
        "An unbiased estimator is called biased", reports, whole=True,
    )  # fmt: skip
    yield Table(
        heads,
        tuple(
            Line(
                f"{name}, at {100 * level:g} %",
                tasks(single_runs_off, reports, *((name, draws) for draws in LENGTHS)),
                share_of(number),
                0.0,
                1.0 if name == "Pareto 1.2" else most,
            )
            for name in LAWS
            for number, (level, most) in enumerate(((0.05, 0.06), (0.005, 0.01)))
        ),
        "Single runs of an unbiased estimator are called off; the largest share with 20, 100 and 500 draws",
        reports,
    )
    yield dependence_table(reports)
    yield from stopping_tables(max(reports // 4, 1))
    yield from gradient_tables(reports)


def dependence_table(reports: int) -> Table:
    """Return the table on draws that are said to depend on each other, where single runs seem off."""
    columns = [(draws, runs) for draws in DEPENDENT_DRAWS for runs in (5, 20)]

    def line(name: str, judge: Judge, arguments: tuple[Hashable, ...], least: float, most: float) -> Line:
        found = [
            tasks(judge, reports, (*arguments, draws), runs=(runs,), draws=draws) for draws, runs in columns
        ]
        return Line(name, tuple(column for each in found for column in each), share_of(0), least, most)

    return Table(
        ("draws", *(f"{runs} runs of {draws}" for draws, runs in columns)),
        (
            *(
                line(f"independent, {name}", called_dependent, (name, 0.0), 0.0, 0.02)
                for name in ("normal", "exponential", "log-normal")
            ),
            line("independent, normal, an offset for each run", called_dependent, ("normal", 1.0), 0.0, 0.02),
            *(
                line(f"correlation {each:g}", chain_called_dependent, (each,), 0.9, 1.0)
                for each in (0.5, 0.8, 0.95, 0.99)
            ),
        ),
        "The draws of a run are said to depend on each other",
        reports,
        whole=True,
    )


def stopping_tables(reports: int) -> Iterator[Table]:
    """Yield the tables on runs that stop by what they drew."""
    rules = {f"a budget of {limit} that exponential draws use up": ("cost", limit) for limit in (10, 30)}
    rules |= {
        f"a precision of {limit}, {name} draws": (name, limit)
        for name in ("normal", "exponential", "log-normal")
        for limit in (0.1, 0.3)
    }
    heads = ("runs stop by", *(f"{runs} runs" for runs in STOPPED_RUNS))
    for number, what in enumerate(
        ("the mean is called off", "single runs are called off", "the interval of the variance misses it")
    ):
        yield Table(
            heads,
            tuple(
                Line(name, tasks(stopped_off, reports, rule, runs=STOPPED_RUNS), share_of(number), 0.0, most)
                for name, rule in rules.items()
                for most in [0.1 if rule[0] == "log-normal" and number == 2 else 0.05]
            ),
            f"Runs that stop by what they drew, an unbiased estimator: {what}", reports, whole=True,
        )  # fmt: skip
    yield Table(
        ("runs stop by", "1 run"),
        tuple(
            Line(name, tasks(stopped_off, 4 * reports, rule, runs=(1,)), share_of(2), 0.0, 0.07)
            for name, rule in rules.items()
            if rule[0] != "cost"
        ),
        "One run that stops by what it drew: the interval of the variance misses it", 4 * reports, whole=True,
    )  # fmt: skip


def gradient_tables(reports: int) -> Iterator[Table]:
    """Yield the tables on the length of a gradient's bias."""
    heads = ("gradient", *(f"{runs} runs" for runs in RUNS))
    lengths = {"0.05, half of a coordinate's standard error": 0.05, "0.3": 0.3, "1": 1.0}
    yield Table(
        heads,
        tuple(
            Line(
                f"{size:,} coordinates, {words}",
                tasks(gradient_bias, reports, (size, length)),
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
            Line(f"{size:,} coordinates", tasks(gradient_bias, reports, (size, 0.0)), share_of(1), 0.0, 0.05)
            for size in COORDINATES
        ),
        "An unbiased gradient is called biased", reports, whole=True,
    )  # fmt: skip
