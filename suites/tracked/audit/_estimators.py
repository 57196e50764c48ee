"""The tables of the audit about variances: intervals, ratios, whole reports, sweeps and power."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator

import numpy as np
from _bias import biases
from _draws import (
    DRAWS,
    LAWS,
    RUNS,
    Array,
    Rng,
    Trials,
    judge_blocks,
    quotient,
    sample,
    share_of,
    two_shares,
)
from _tables import Line, Table, Task
from scipy import stats

from benchfw.analysis.decisions import ASIDE, Family, decide
from benchfw.analysis.draws import log_ratios, spread_ends
from benchfw.analysis.significance import (
    BUDGET,
    difference_probability,
    equality_probability,
    least_probability,
    log_interval,
)

SEED = 20
UNLIKE = (
    ("exponential", "normal"),
    ("log-normal", "normal"),
    ("t, 3 degrees", "bimodal"),
    ("t, 3 degrees", "exponential"),
    ("log-normal", "truncation"),
    ("Pareto 3", "truncation"),
    ("Pareto 3", "t, 3 degrees"),
)
PLAIN = (("log-normal", "log-normal"), ("log-normal", "exponential"), ("log-normal", "normal"))
SWEPT = (("normal", "normal"), ("log-normal", "log-normal"), ("normal", "log-normal"))
SKEWED = ("exponential", "discrete (Poisson 1)", "log-normal", "Pareto 3")
"""Laws under which reports withhold ends that an uncorrected test uses."""


# a fourth moment that is infinite, and draws that seldom show it: the ends of Student's interval are too near
LEAST = {name: law.least for name, law in LAWS.items()} | {"t, 3 degrees": 0.87}

FIRST = share_of(0)
Judge = Callable[..., tuple[Array, Array]]


# each of these returns for every report two answers, such as whether it holds, and whether it is said at all


def variance_holds(rng: Rng, reports: int, runs: int, name: str, data: float = 0.0) -> tuple[Array, Array]:
    """Judge a variance; the data of a repetition multiply it by a log-normal factor of mean 1."""
    law, found = LAWS[name], sample(rng, LAWS[name], reports, runs)
    factor = np.exp(rng.normal(-(data**2) / 2, data, (reports, runs))) if data else 1.0
    low, high = spread_ends(found.variance * factor, found.pool)
    return (low <= law.variance) & (law.variance <= high), np.isfinite(high)


def one_run_holds(rng: Rng, reports: int, draws: int, name: str) -> tuple[Array, Array]:
    law = LAWS[name]
    found = sample(rng, law, reports, 1, draws)
    low, high = spread_ends(found.variance, found.pool)
    return (low <= law.variance) & (law.variance <= high), np.isfinite(high)


def ratio_holds(rng: Rng, reports: int, runs: int, name: str, other: str) -> tuple[Array, Array]:
    """Judge the ratio of two variances; the data of a repetition scale both by a factor of their own."""
    law, second = LAWS[name], LAWS[other]
    above, below = sample(rng, law, reports, runs), sample(rng, second, reports, runs)
    data = np.exp(rng.normal(0, 0.5, (reports, runs)))
    ends = log_ratios(above.variance * data, above.pool, below.variance * data, below.pool)
    low, high = log_interval(*ends, 0.95)
    truth = math.log(law.variance / second.variance) if math.isfinite(law.variance) else 0.0
    return (low <= truth) & (truth <= high), np.isfinite(low) & np.isfinite(high)


def report_claims(rng: Rng, reports: int, runs: int, name: str, methods: int) -> tuple[Array, Array]:
    """Judge a whole report on methods that are alike: what it claims is false."""
    found = [sample(rng, LAWS[name], reports, runs) for _ in range(methods)]
    biased, tested = biases(found, ASIDE)
    seconds = np.exp(rng.normal(0, 0.1, (methods, reports, runs)))
    claimed = _claims(found, seconds, tested) | biased
    return claimed, claimed


def factor_found(rng: Rng, reports: int, runs: int, name: str, factor: float) -> tuple[Array, Array]:
    """Judge whether a report, and an uncorrected test of its row, find a factor between two variances."""
    found = [sample(rng, LAWS[name], reports, runs) for _ in range(2)]
    _, tested = biases(found, ASIDE)
    seconds = np.exp(rng.normal(0, 0.1, (2, reports, runs)))
    seconds[1] *= factor
    return _claims(found, seconds, tested), _plain_claims(found, seconds)


def plain_differs(rng: Rng, reports: int, runs: int, name: str, other: str) -> tuple[Array, Array]:
    """Judge two laws of the same variance by the uncorrected test."""
    first, second = sample(rng, LAWS[name], reports, runs), sample(rng, LAWS[other], reports, runs)
    seconds = np.exp(rng.normal(0, 0.1, (2, reports, runs)))
    seconds /= np.reshape([LAWS[name].variance, LAWS[other].variance], (2, 1, 1))
    claimed = _plain_claims([first, second], seconds)
    return claimed, claimed


def _claims(found: list[Trials], seconds: Array, tested: Array) -> Array:
    """Return whether a report calls the variance x seconds of some method different from the first's."""
    first, *others = found
    runs, budget = first.variance.shape[-1], np.where(tested > 0, BUDGET - ASIDE, BUDGET)[:, None]
    ends = [
        log_ratios(each.variance * mine, each.pool, first.variance * seconds[0], first.pool)
        for each, mine in zip(others, seconds[1:], strict=True)
    ]
    least = least_probability(runs, (BUDGET - ASIDE) / len(others))
    different, equal = (
        np.maximum(np.stack([test(*each) for each in ends], axis=-1), least)
        for test in (difference_probability, equality_probability)
    )
    return np.any(decide(different, equal, budget).different, axis=-1)


def _plain_claims(found: list[Trials], seconds: Array) -> Array:
    """Return what Student's paired test of the log ratios at 5 % says, whatever the draws."""
    above, below = (each.variance * mine for each, mine in zip(found[::-1], seconds[::-1], strict=True))
    with np.errstate(divide="ignore"):
        logs = np.log(above) - np.log(below)
    return np.asarray(stats.ttest_1samp(logs, 0.0, axis=-1).pvalue <= BUDGET)


def family_leads(
    rng: Rng, reports: int, runs: int, name: str, other: str, values: int
) -> tuple[Array, Array]:
    """Judge a sweep of two families, equal at one value: is one said to have less variance at every value?

    At the others the second is a hundred times above: the hardest case. Nothing else is tested.
    """
    level = Family(others=1).others_level
    ends = []
    for number in range(values):
        first, second = (sample(rng, LAWS[law], reports, runs) for law in (name, other))
        scale = 1.0 / LAWS[other].variance * LAWS[name].variance * (100.0 if number else 1.0)
        logs = log_ratios(scale * second.variance, second.pool, first.variance, first.pool)
        ends.append(log_interval(*logs, level))
    above, below = (
        np.all([low > 0 for low, _ in ends], axis=0),
        np.all([high < 0 for _, high in ends], axis=0),
    )
    return above | below, above | below


def runs_lead(rng: Rng, reports: int, runs: int, name: str, values: int) -> tuple[Array, Array]:
    """Judge the same of what runs take to a target: one number a run, of a law that both families have."""
    level = Family(others=1).others_level
    if least_probability(runs, 1 - level) > 1 - level:  # too few to exclude clusters
        return np.zeros(reports, dtype=bool), np.zeros(reports, dtype=bool)
    ends = []
    for number in range(values):
        first, second = (_logs_of_runs(rng, reports, runs, name) for _ in range(2))
        logs = second - first + (math.log(100.0) if number else 0.0)
        ends.append(log_interval(logs, logs, level))
    above, below = (
        np.all([low > 0 for low, _ in ends], axis=0),
        np.all([high < 0 for _, high in ends], axis=0),
    )
    return above | below, above | below


def _logs_of_runs(rng: Rng, reports: int, runs: int, name: str) -> Array:
    noise = 0.1 * rng.normal(size=(reports, runs))
    if name == "log-normal times":
        return np.asarray(10 * noise)
    return np.asarray(noise + math.log(3.0) * rng.integers(0, 2, (reports, runs)))


def line(
    name: str,
    judge: Judge,
    arguments: tuple[Hashable, ...],
    reports: int,
    least: float = 0.0,
    most: float = 1.0,
    *,
    combine: Callable[..., object] = FIRST,
    runs: tuple[int, ...] = RUNS,
) -> Line:
    """Return a line with a task for each number of runs."""
    columns = tuple((Task(judge_blocks, (judge, reports, each, 1, SEED, *arguments)),) for each in runs)
    return Line(name, columns, combine, least, most)


def _pair(names: tuple[str, str]) -> str:
    return names[0] if names[0] == names[1] else " and ".join(names)


def estimator_tables(reports: int) -> Iterator[Table]:
    """Yield the tables."""

    def table(
        title: str, *lines: Line, heads: tuple[str, ...] = tuple(f"{each} runs" for each in RUNS)
    ) -> Table:
        return Table(("law", *heads), lines, title, reports, whole=True)

    yield table(
        f"The variance, runs of {DRAWS} draws: statements that hold (in brackets: with an upper end)",
        *(
            line(
                name, variance_holds, (name,), reports, LEAST[name], 0.97 if law.continuous else 1.0,
                combine=two_shares,
            )
            for name, law in LAWS.items()
        ),
    )  # fmt: skip
    yield table(
        "The variance, one run: statements that hold (in brackets: with an upper end)",
        *(
            line(
                name, one_run_holds, (name,), reports, LEAST[name], combine=two_shares, runs=(100, 400, 1000)
            )
            for name in LAWS
        ),
        heads=("100 draws", "400 draws", "1,000 draws"),
    )
    yield table(
        "The variance of normal draws, data that differ by a log-normal factor: statements that hold",
        *(line(f"a factor of {data}", variance_holds, ("normal", data), reports) for data in (0.2, 0.6)),
    )
    yield table(
        "Ratio of two variances, paired: statements that hold (in brackets: with both ends)",
        *(
            line(
                f"{above} / {below}", ratio_holds, (above, below), reports,
                min(LEAST[above], LEAST[below]), combine=two_shares,
            )
            for above, below in (*((name, name) for name in LAWS), *UNLIKE)
        ),
    )  # fmt: skip
    yield table(
        "Equal methods without bias, times 10 % apart: reports that claim a difference or a bias",
        *(
            line(f"{name}, {many} methods", report_claims, (name, many), reports, 0.0, 0.05)
            for name in LAWS
            for many in ((2, 5, 20) if name in ("normal", "log-normal") else (5,))
        ),
    )
    yield table(
        "Two laws of the same variance, times 10 % apart: an uncorrected test calls them different",
        *(line(f"{name} / {other}", plain_differs, (name, other), reports) for name, other in PLAIN),
    )
    yield table(
        "A sweep of two families, equal at one value: one is said to be lower at every value",
        *(
            line(
                f"{_pair(pair)}, {many} values",
                family_leads,
                (*pair, many),
                reports,
                0.0,
                0.05,
            )
            for pair in SWEPT
            for many in (2, 5)
        ),
        *(
            line(f"{name}, {many} values", runs_lead, (name, many), reports, 0.0, 0.05)
            for name in ("log-normal times", "times in two clusters")
            for many in (2, 5)
        ),
    )
    yield table(
        "Two methods, variances 1.5 times apart: power against one uncorrected test (in brackets: found)",
        *(
            line(
                name, factor_found, (name, 1.5), 2 * reports, 0.0 if name in SKEWED else 0.9, combine=quotient
            )
            for name in ("normal", *SKEWED)
        ),
    )
