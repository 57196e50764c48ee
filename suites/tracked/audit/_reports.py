"""Whole reports made from arrays, judged by the summary's own code: what share of their sentences is wrong.

A report has problems x (methods - 1) x 2 comparisons: the cost and the seconds of each method against the
reference, which share the data of a repetition. Reports are the first axis of every array.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from _laws import LAWS, Rng, brackets, draw_effects
from scipy import stats

from benchfw.analysis.decisions import Contrast, Decisions, Verdict, decide, decide_family
from benchfw.analysis.evidence import PairedLogs, PairedSigns
from benchfw.analysis.intervals import median_interval
from benchfw.analysis.significance import (
    BUDGET,
    MARGIN,
    difference_probability,
    equality_probability,
    least_equality,
    least_probability,
    log_interval,
)
from benchfw.records import Cell

RUNS = (3, 5, 10, 20)
SIZES = tuple((methods, problems) for methods in (2, 5, 20) for problems in (1, 4, 10))
QUANTITIES = 2
MOST_VALUES = 12_000_000
"""Arrays are made in blocks of at most so many numbers."""


@dataclass(frozen=True)
class Shares:
    """What was found over all reports of one kind."""

    reports: int
    claiming: float
    """Share of reports that call something different."""
    wrong: float
    """Mean share of false sentences, 'different' and 'equal' together: the false discovery rate."""
    uncovered: float
    """Mean share of sentences whose interval misses the truth: the false coverage rate."""
    leaders: float
    """Mean share of the named leaders, one a problem, whose interval misses the truth."""
    undecided: float
    """Share of the undecided comparisons whose interval covers the truth."""
    equal: float
    """Mean share of false ones among what is called equal."""


def audit(rng: Rng, law: str, runs: int, size: tuple[int, int], reports: int, effects: str) -> Shares:
    """Return the shares over reports in which the methods differ as `effects` says."""
    methods, problems = size
    block = max(1, min(reports, MOST_VALUES // (problems * methods * QUANTITIES * runs)))
    counts = [min(block, reports - start) for start in range(0, reports, block)]
    found = [_block(rng, law, (count, problems, methods, runs), effects) for count in counts]
    totals = {
        name: np.concatenate([each[name] for each in found])
        for name in ("claiming", "wrong", "uncovered", "leaders", "undecided", "equal")
    }
    means = {name: float(np.mean(values)) if len(values) else math.nan for name, values in totals.items()}
    return Shares(reports, **means)


def _block(rng: Rng, law: str, shape: tuple[int, int, int, int], effects: str) -> dict[str, np.ndarray]:
    reports, problems, methods, _ = shape
    truth = draw_effects(rng, (reports, problems, methods - 1), effects)
    low, high = _log_ratios(rng, law, shape, truth)
    both = np.repeat(truth[..., None, :, None], QUANTITIES, axis=2)[..., 0].reshape(reports, -1)
    family = low.reshape(reports, -1, low.shape[-1]), high.reshape(reports, -1, low.shape[-1])
    # two clusters of runs may set a method apart by chance, in both quantities at once
    allowed = BUDGET / (problems * (methods - 1))
    least = least_probability(shape[-1], allowed)
    decided = decide(
        np.maximum(difference_probability(*family), least),
        np.maximum(equality_probability(*family), least_equality(shape[-1], allowed)),
    )
    start, end = log_interval(*family, np.minimum(decided.level, 1 - least))
    estimate = np.mean(family[0] + family[1], axis=-1) / 2
    return _judge(decided, both, start, end, estimate, problems)


def _judge(
    decided: Decisions,
    truth: np.ndarray,
    start: np.ndarray,
    end: np.ndarray,
    estimate: np.ndarray,
    problems: int,
) -> dict[str, np.ndarray]:
    edge = math.log(MARGIN)
    rounding = 1e-9
    covered = (start <= truth + rounding) & (truth - rounding <= end)
    lied = decided.different & ~((estimate > 0) & (truth > 0) | (estimate < 0) & (truth < 0))
    alike = decided.equal & (np.abs(truth) > edge - rounding)
    said = decided.different | decided.equal
    named = np.maximum(np.sum(said, axis=1), 1)
    # the leader in cost on each problem: the lowest estimate among what is better
    ahead = np.where(decided.different & (estimate < 0), estimate, np.inf)
    cost = ahead.reshape(len(ahead), problems, QUANTITIES, -1)[:, :, 0]
    first = np.argmin(cost, axis=-1)[..., None]
    there = np.isfinite(np.take_along_axis(cost, first, -1)[..., 0])
    hit = covered.reshape(len(ahead), problems, QUANTITIES, -1)[:, :, 0]
    return {
        "claiming": np.any(decided.different, axis=1),
        "wrong": np.sum(lied | alike, axis=1) / named,
        "uncovered": np.sum(said & ~covered, axis=1) / named,
        "leaders": np.sum(~np.take_along_axis(hit, first, -1)[..., 0] & there, axis=1)
        / np.maximum(np.sum(there, axis=1), 1),
        "undecided": covered[~said],
        "equal": np.sum(alike, axis=1) / np.maximum(np.sum(decided.equal, axis=1), 1),
    }


def _log_ratios(
    rng: Rng, law: str, shape: tuple[int, int, int, int], truth: np.ndarray, noise: float = 0.05
) -> tuple[np.ndarray, np.ndarray]:
    """Return (reports, problems, quantities, rivals, runs): costs, and seconds, by `noise` more varied."""
    reports, problems, methods, runs = shape
    effect = np.concatenate([np.zeros((reports, problems, 1)), truth], axis=-1)[..., None]
    if law == "deterministic, looks":  # the same in every run; nothing is known between two looks
        logs = np.log(1000.0) + np.repeat(effect, runs, axis=-1)
        low, high = (np.repeat(each[:, :, None], QUANTITIES, axis=2) for each in brackets(logs))
        return low[:, :, :, 1:] - high[:, :, :, :1], high[:, :, :, 1:] - low[:, :, :, :1]
    if law == "mixing":  # methods have the same two modes, and differ in how often they are in the slow one
        slow = rng.random((reports, problems, methods, runs)) < 0.5 + effect / math.log(3)
        logs = math.log(3) * slow + 0.02 * rng.standard_normal(slow.shape)
        ratios = np.repeat((logs[:, :, 1:] - logs[:, :, :1])[:, :, None], QUANTITIES, axis=2)
        return ratios, ratios
    if law.startswith("seldom"):  # the others take another time in a share of their runs, as `seldom 0.1`
        share = float(law.split()[1])
        odd = rng.random((reports, problems, methods, runs)) < share
        logs = odd * effect / share + 0.02 * rng.standard_normal(odd.shape)
        ratios = np.repeat((logs[:, :, 1:] - logs[:, :, :1])[:, :, None], QUANTITIES, axis=2)
        return ratios, ratios
    scale = 0.05 if law.startswith("quiet") else 1.0
    costs = scale * LAWS[law.removeprefix("quiet ")](rng, (reports, problems, methods, runs)) + effect
    seconds = costs + noise * scale * rng.standard_normal(costs.shape)
    logs = np.stack([costs, seconds], axis=2)
    ratios = logs[:, :, :, 1:] - logs[:, :, :, :1]
    return ratios, ratios


def power(rng: Rng, law: str, runs: int, reports: int, noise: float) -> tuple[float, float]:
    """Return how often one method is found better than another, and how often by Student's test of a row.

    One problem, two methods; the factor is such that the test of a row finds about four in five.
    """
    shape = (reports, 1, 2, runs)
    spread = float(np.std(LAWS[law](rng, (100_000,))))
    factor = -3.0 * math.sqrt(2) * spread / math.sqrt(runs) * (1 + 4 / runs**2 + 1.5 / runs)
    ratios, _ = _log_ratios(rng, law, shape, np.full((reports, 1, 1), factor), noise)
    family = ratios.reshape(reports, QUANTITIES, runs)
    found = difference_probability(family, family)
    chosen = decide(found, np.ones_like(found)).different
    plain = stats.ttest_1samp(family[:, 0], 0.0, axis=-1).pvalue
    return float(np.mean(chosen[:, 0])), float(np.mean(plain <= 0.05))


def ratio_covers(rng: Rng, law: str, runs: int, experiments: int) -> float:
    """Return how often the 95 % interval of a single ratio covers 1, which it is."""
    above, below = (LAWS[law](rng, (experiments, runs)) for _ in range(2))
    low, high = log_interval(above - below, above - below, 0.95)
    return float(np.mean((low <= 1e-12) & (high >= -1e-12)))


def median_covers(rng: Rng, law: str, runs: int, experiments: int) -> float:
    """Return how often the interval of the median of a method's ends covers that of the law.

    Where nothing lies in the middle, as between two modes, every point there is a median: the least share of
    them.
    """
    around = np.quantile(LAWS[law](np.random.default_rng(5), (1_000_001,)), [0.499, 0.501])
    truths = np.exp(np.linspace(*around, 9))
    found = [median_interval(np.exp(logs)) for logs in LAWS[law](rng, (experiments, runs))]
    low, high = (np.array([getattr(each, end) for each in found]) * (1 + 1e-9) for end in ("low", "high"))
    return float(min(np.mean((low / (1 + 2e-9) <= truth) & (truth <= high)) for truth in truths))


def judge_best(
    law: str, methods: int, lead: float, never: bool, runs: int, start: int, end: int
) -> list[float]:
    """Return of each report whether the interval of the method that seems best misses the truth.

    All but the reference are so many standard deviations of a run below it; `never` says that one run of the
    reference does not arrive. NaN where a report finds no difference.
    """
    spread = float(np.std(LAWS[law](np.random.default_rng(0), (1_000_000,))))
    truth = -lead * spread
    cells = [Cell("p", "optimizer", str(number), "numpy") for number in range(methods)]
    missed = []
    for number in range(start, end):
        logs = LAWS[law](np.random.default_rng([23, runs, methods, number]), (methods, runs))
        ratios = logs[1:] - logs[0] + truth
        least = np.where(never & (np.arange(runs) == 0), -math.inf, ratios)
        law_of = PairedSigns if never else PairedLogs
        contrasts = [
            Contrast(cell, cells[0], "cost", law_of(low, high))
            for cell, low, high in zip(cells[1:], least, ratios, strict=True)
        ]
        found = [each.interval for each in decide_family(contrasts) if each.verdict is Verdict.BETTER]
        best = min((each for each in found if each is not None), key=lambda each: each.estimate, default=None)
        missed.append(math.nan if best is None else not best.low <= math.exp(truth) <= best.high)
    return missed
