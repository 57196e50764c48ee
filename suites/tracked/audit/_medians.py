"""The table of the audit about the check of the median: what it prevents, and what power it leaves."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator

import numpy as np
from _draws import Array, Rng, judge_blocks, share_of
from _tables import Line, Table, Task
from scipy import optimize, stats

from benchfw.analysis.decisions import decide
from benchfw.analysis.medians import sign_probability
from benchfw.analysis.significance import BUDGET, difference_probability

SEED = 29
PAIRS = (6, 8, 10, 15, 20, 40)
SLOWER, FASTER, FAST_SHARE = 1.1, 0.37, 0.45

Judge = Callable[..., Array]


# each of these returns for every experiment what Student's test says, and what the check leaves of it


def mixture_called_shorter(rng: Rng, experiments: int, pairs: int) -> Array:
    """Judge ratios most of which are above 1, and whose geometric mean is below."""
    fast = rng.random((experiments, pairs)) < FAST_SHARE
    # a little noise: no ratio occurs twice
    logs = np.log(np.where(fast, FASTER, SLOWER)) + rng.normal(0, 0.01, (experiments, pairs))
    return _findings(logs) & (np.mean(logs, axis=-1) < 0)


def some_mixture_called_shorter(rng: Rng, experiments: int, pairs: int, methods: int) -> Array:
    """Judge reports on so many methods with such ratios: is one of them called shorter?"""
    shape = experiments, methods, pairs
    logs = np.log(np.where(rng.random(shape) < FAST_SHARE, FASTER, SLOWER)) + rng.normal(0, 0.01, shape)
    said = decide(difference_probability(logs, logs), np.ones(shape[:2])).different
    return np.any(said & (np.mean(logs, axis=-1) < 0), axis=-1)[None]


def shift_found(rng: Rng, experiments: int, pairs: int, power: float) -> Array:
    """Judge normal logarithms with the shift that Student's test finds with this chance."""
    return _findings(rng.standard_normal((experiments, pairs)) + _shift(pairs, power))


def _findings(logs: Array) -> Array:
    above = np.sum(logs > 0, axis=-1)
    agreeing = np.maximum(above, logs.shape[-1] - above)
    return np.stack(
        [
            stats.ttest_1samp(logs, 0.0, axis=-1).pvalue <= BUDGET,
            difference_probability(logs, logs) <= BUDGET,
            sign_probability(agreeing, logs.shape[-1]) <= BUDGET,
        ]
    )


def _shift(pairs: int, power: float) -> float:
    edge = stats.t.isf(BUDGET / 2, pairs - 1)

    def excess(shift: float) -> float:
        return float(stats.nct.sf(edge, pairs - 1, shift * np.sqrt(pairs))) - power

    return float(optimize.brentq(excess, 0.0, 10.0))


def kept_by(number: int) -> Callable[[list[Array]], float]:
    """Return what gives the share of Student's findings that another test has, too."""
    return lambda found: float(np.sum(found[0][0] & found[0][number]) / np.sum(found[0][0]))


def median_tables(experiments: int) -> Iterator[Table]:
    """Yield the table."""

    def line(
        name: str, judge: Judge, arguments: tuple[Hashable, ...], combine: Callable[..., float],
        least: float = 0.0, most: float = 1.0,
    ) -> Line:  # fmt: skip
        columns = tuple(
            (Task(judge_blocks, (judge, experiments, pairs, 1, SEED, *arguments)),) for pairs in PAIRS
        )
        return Line(name, columns, combine, least, most)

    mixture = f"{100 * FAST_SHARE:g} % of the ratios are {FASTER}, the others {SLOWER}: called below 1"
    yield Table(
        ("pairs", *map(str, PAIRS)),
        (
            line(f"{mixture}; Student's test alone", mixture_called_shorter, (), share_of(0)),
            line(f"{mixture}; with the check", mixture_called_shorter, (), share_of(1), 0.0, 0.025),
            *(
                line(
                    f"{mixture}; with the check, one of {methods} methods",
                    some_mixture_called_shorter,
                    (methods,),
                    share_of(0),
                )
                for methods in (4, 19)
            ),
            *(
                line(
                    f"normal logarithms, found by Student's test in {100 * power:g} %: of these, {words}",
                    shift_found,
                    (power,),
                    kept_by(number),
                    least,
                )
                for power in (0.5, 0.8)
                for number, words, least in ((1, "with the check", 0.9), (2, "by the sign test alone", 0.0))
            ),
        ),
        "",
        experiments,
    )
