"""How often the sentences on estimators are right: intervals of variance and bias, ratios, whole reports.

`python suites/tracked/estimator_coverage.py` simulates draws with known variance, mean and ratio, judges them
with the code of the summary, and writes the tables into docs/statistics.md, between its two markers. Fixed
seeds; some minutes on one core. Exit code 1 if a share is outside its limits. `--print` writes nothing.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from benchfw.analysis.bias import bias_ends, single_probability, unbiased_probability
from benchfw.analysis.decisions import ASIDE, Family, decide
from benchfw.analysis.draws import Pool, log_ratios, pool_draws, spread_ends
from benchfw.analysis.significance import (
    BUDGET,
    difference_probability,
    equality_probability,
    least_probability,
    log_interval,
)

Rng = np.random.Generator
Array = np.ndarray
DOCUMENT = Path(__file__).parents[2] / "docs" / "statistics.md"
MARKERS = "<!-- estimator coverage: start -->", "<!-- estimator coverage: end -->"
RUNS = (3, 5, 10, 20)
DRAWS = 100
BLOCK = 250  # reports at a time: 4 MB of draws for 20 runs


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
UNLIKE = (
    ("exponential", "normal"),
    ("log-normal", "normal"),
    ("t, 3 degrees", "bimodal"),
    ("t, 3 degrees", "exponential"),
    ("log-normal", "truncation"),
    ("Pareto 3", "t, 3 degrees"),
)


@dataclass(frozen=True)
class Trials:
    """What many reports recorded of one estimator: arrays (reports, runs)."""

    bias: Array
    variance: Array
    std_error: Array
    pool: Pool
    draws: int

    @property
    def relative_error(self) -> Array:
        return np.divide(
            self.std_error, self.variance, out=np.zeros_like(self.variance), where=self.variance > 0
        )


def record(draws: Array, mean: float) -> Trials:
    """Return what `DrawStatistics` finds in draws (reports, runs, draws)."""
    count = draws.shape[-1]
    numbers = np.arange(2, count + 1)
    means = np.cumsum(draws, axis=-1)[..., :-1] / (numbers - 1)
    squares = (numbers - 1) / numbers * (draws[..., 1:] - means) ** 2
    terms = count - 1
    variance = np.mean(squares, axis=-1)
    away = squares - variance[..., None]
    spread = np.sum(away**2, axis=-1)
    third = np.sum(away**3, axis=-1)
    skewness = np.divide(third * math.sqrt(terms), spread**1.5, out=np.zeros_like(third), where=spread > 0)
    std_error = np.sqrt(spread / (terms - 1) / terms)
    pool = pool_draws(variance, std_error, skewness, count)
    return Trials(np.mean(draws, axis=-1) - mean, variance, std_error, pool, count)


def sample(rng: Rng, law: Law, reports: int, runs: int, draws: int = DRAWS) -> Trials:
    return record(law.draw(rng, (reports, runs, draws)), law.mean)


# each of these returns for every report whether it holds, and whether it is said at all


def variance_holds(rng: Rng, reports: int, runs: int, law: Law, draws: int = DRAWS) -> tuple[Array, Array]:
    found = sample(rng, law, reports, runs, draws)
    low, high = spread_ends(found.variance, found.pool)
    return (low <= law.variance) & (law.variance <= high), np.isfinite(high)


def bias_holds(rng: Rng, reports: int, runs: int, law: Law) -> tuple[Array, Array]:
    found = sample(rng, law, reports, runs)
    low, high = bias_ends(found.bias, found.pool)
    return (low <= 0) & (high >= 0), np.isfinite(high)


def called_biased(rng: Rng, reports: int, runs: int, law: Law, methods: int) -> tuple[Array, Array]:
    """Judge the biases of a report that compares nothing else."""
    found = [sample(rng, law, reports, runs) for _ in range(methods)]
    biased, tested = biases(found, BUDGET)
    return biased, tested > 0


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


def ratio_holds(rng: Rng, reports: int, runs: int, law: Law, other: Law) -> tuple[Array, Array]:
    """Judge the ratio of two variances; the data of a repetition scale both by a factor of their own."""
    above, below = sample(rng, law, reports, runs), sample(rng, other, reports, runs)
    data = np.exp(rng.normal(0, 0.5, (reports, runs)))
    ends = log_ratios(
        above.variance * data, above.relative_error, above.pool,
        below.variance * data, below.relative_error, below.pool,
    )  # fmt: skip
    low, high = log_interval(*ends, 0.95)
    truth = math.log(law.variance / other.variance) if math.isfinite(law.variance) else 0.0
    return (low <= truth) & (truth <= high), np.isfinite(low) & np.isfinite(high)


def products(rng: Rng, found: list[Trials], factor: float) -> Iterator[tuple[Array, Array]]:
    """Yield the log ratios of variance x seconds to the first method's; a factor is between their variances.

    Times differ by 10 % from run to run.
    """
    first, *others = found
    seconds = np.exp(rng.normal(0, 0.1, (len(found), *first.variance.shape)))
    for each, mine in zip(others, seconds[1:], strict=True):
        yield log_ratios(
            factor * each.variance * mine, each.relative_error, each.pool,
            first.variance * seconds[0], first.relative_error, first.pool,
        )  # fmt: skip


def report_claims(
    rng: Rng, reports: int, runs: int, law: Law, methods: int, factor: float = 1.0
) -> tuple[Array, Array]:
    """Judge a whole report, as the summary does: the products and biases of all methods are one family."""
    found = [sample(rng, law, reports, runs) for _ in range(methods)]
    ends = list(products(rng, found, factor))
    biased, tested = biases(found, ASIDE)
    budget = np.where(tested > 0, BUDGET - ASIDE, BUDGET)[:, None]
    least = least_probability(runs, (BUDGET - ASIDE) / (methods - 1))
    different, equal = (
        np.maximum(np.stack([test(*each) for each in ends], axis=-1), least)
        for test in (difference_probability, equality_probability)
    )
    claimed = np.any(decide(different, equal, budget).different, axis=-1)
    return claimed | biased if factor == 1 else claimed, np.ones(reports, bool)


def plain_claims(rng: Rng, reports: int, runs: int, law: Law, factor: float) -> tuple[Array, Array]:
    """Judge one row by the uncorrected paired t test of the log ratios, whatever the draws."""
    above, below = (sample(rng, law, reports, runs).variance for _ in range(2))
    logs = np.log(factor * above / below) + rng.normal(0, 0.1 * math.sqrt(2), (reports, runs))
    return difference_probability(logs, logs) <= 0.05, np.ones(reports, bool)


def family_leads(rng: Rng, reports: int, runs: int, law: Law, values: int) -> tuple[Array, Array]:
    """Judge a sweep of two families, equal at one value: has one the smallest variance at every value?

    At the others one is a hundred times below: the hardest case. Nothing else is tested in the report.
    """
    level = Family(others=2).others_level
    ends = []
    for number in range(2 * values):
        found = sample(rng, law, reports, runs)
        scale = 100.0 if number > 1 and number % 2 else 1.0
        ends.append(spread_ends(scale * found.variance, found.pool, level))
    first, second = ends[::2], ends[1::2]
    below, above = (
        np.all([mine[1] < other[0] for mine, other in zip(*pair, strict=True)], axis=0)
        for pair in ((first, second), (second, first))
    )
    return below | above, np.ones(reports, bool)


@dataclass(frozen=True)
class Row:
    """One line of a table: what is judged for each number of runs, and between what shares must lie."""

    name: str
    judge: Callable[..., tuple[Array, Array]]
    least: float = 0.0
    most: float = 1.0
    runs: tuple[int, ...] = RUNS


@dataclass(frozen=True)
class Table:
    """Rows under one heading; `beside` puts the share in which something is said into brackets."""

    title: str
    rows: tuple[Row, ...]
    beside: bool = False
    columns: tuple[str, ...] = tuple(f"{runs} runs" for runs in RUNS)


def tables() -> Iterator[Table]:
    intervals = {law: (each.least, 0.97 if each.continuous else 1.0) for law, each in LAWS.items()}
    yield Table(
        f"The variance, runs of {DRAWS} draws: statements that hold (in brackets: with an upper end)",
        tuple(
            Row(name, partial(variance_holds, law=LAWS[name]), *limits) for name, limits in intervals.items()
        ),
        beside=True,
    )
    yield Table(
        "The variance, one run: statements that hold (in brackets: with an upper end)",
        tuple(
            Row(name, partial(_one_run, law=law), law.least, 1.0, (100, 400, 1000))
            for name, law in LAWS.items()
        ),
        beside=True,
        columns=("100 draws", "400 draws", "1,000 draws"),
    )
    yield Table(
        "Bias, of an unbiased estimator: intervals that hold (in brackets: given at all)",
        tuple(Row(name, partial(bias_holds, law=law), law.least) for name, law in LAWS.items()),
        beside=True,
    )
    yield Table(
        "An unbiased estimator is called biased",
        tuple(
            Row(f"{name}, {many} of them", partial(called_biased, law=LAWS[name], methods=many), 0.0, 0.05)
            for name in LAWS
            for many in ((1, 10) if name in ("normal", "event of 0.1 %", "Pareto 1.2") else (1,))
        ),
    )
    alike = [(name, name) for name in LAWS]
    yield Table(
        "Ratio of two variances, paired: statements that hold (in brackets: with both ends)",
        tuple(
            Row(
                f"{above} / {below}", partial(ratio_holds, law=LAWS[above], other=LAWS[below]),
                min(LAWS[above].least, LAWS[below].least),
            )
            for above, below in (*alike, *UNLIKE)
        ),
        beside=True,
    )  # fmt: skip
    yield Table(
        "Equal methods without bias, times 10 % apart: reports that claim a difference or a bias",
        tuple(
            Row(f"{name}, {many} methods", partial(report_claims, law=LAWS[name], methods=many), 0.0, 0.05)
            for name in LAWS
            for many in ((2, 5, 20) if name in ("normal", "log-normal") else (5,))
        ),
    )
    yield Table(
        "A sweep of two families, equal at one value: one is said to be lower at every value",
        tuple(
            Row(
                f"{name}, {values} value{'s' if values > 1 else ''}",
                partial(family_leads, law=LAWS[name], values=values),
                0.0,
                0.05,
            )
            for name in ("normal", "log-normal")
            for values in (1, 3)
        ),
    )
    yield Table(
        "Two methods, variances a factor of 1.5 apart: reports that say so, and one uncorrected test",
        tuple(
            row
            for name in ("normal", "exponential")
            for row in (
                Row(name, partial(report_claims, law=LAWS[name], methods=2, factor=1.5)),
                Row(f"{name}, uncorrected", partial(plain_claims, law=LAWS[name], factor=1.5)),
            )
        ),
    )


def _one_run(rng: Rng, reports: int, runs: int, law: Law) -> tuple[Array, Array]:
    return variance_holds(rng, reports, 1, law, draws=runs)


def judge(row: Row, runs: int, reports: int, seed: int = 20) -> tuple[float, float]:
    """Return the shares of reports in which a row holds, and in which it is said."""
    found = [
        row.judge(np.random.default_rng([seed, runs, number]), min(BLOCK, reports - BLOCK * number), runs)
        for number in range(math.ceil(reports / BLOCK))
    ]
    holds, said = (np.concatenate(part) for part in zip(*found, strict=True))
    return float(np.mean(holds)), float(np.mean(said))


def lines(table: Table, reports: int, missed: list[str]) -> Iterator[str]:
    yield f"**{table.title}**\n"
    yield f"| law | {' | '.join(table.columns)} | asked for |"
    yield "|---" * (len(table.columns) + 2) + "|"
    for row in table.rows:
        cells = []
        for runs in row.runs:
            share, said = judge(row, runs, reports)
            slack = 2 * math.sqrt(max(share * (1 - share), 0.002) / reports)
            outside = not row.least - slack <= share <= row.most + slack
            beside = f" ({said:.0%})" if table.beside else ""
            cells.append(f"{share:.1%}{beside}{' !' if outside else ''}")
            if outside:
                missed.append(f"{table.title}: {row.name}, {runs}: {share:.1%}")
        yield f"| {row.name} | {' | '.join(cells)} | {_asked(row)} |"


def _asked(row: Row) -> str:
    if (row.least, row.most) == (0, 1):
        return "—"
    if row.least == 0:
        return f"at most {row.most:.0%}"
    return f"at least {row.least:.0%}" if row.most == 1 else f"{row.least:.0%} to {row.most:.0%}"


def main() -> None:
    """Write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reports", type=int, default=2000)
    parser.add_argument("--only", default="", help="A part of a table's title.")
    parser.add_argument("--print", action="store_true", help="Print the tables and write nothing.")
    asked = parser.parse_args()
    missed: list[str] = []
    text = []
    for table in tables():
        if asked.only in table.title:
            for line in lines(table, asked.reports, missed):
                text.append(line)
                print(line, flush=True)
            text.append("")
            print(flush=True)
    if not asked.print and not asked.only:
        start, end = MARKERS
        before, rest = DOCUMENT.read_text(encoding="utf-8").split(start)
        written = "\n".join([start, *text, end])
        DOCUMENT.write_text(before + written + rest.split(end)[1], encoding="utf-8")
    print("\n".join(missed), file=sys.stderr)
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
