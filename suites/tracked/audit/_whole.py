"""Whole reports: records in memory, summarized and worded by the code of `benchfw run`, against known truths.

A report has 5 optimizers on each problem, and 3 estimators, all unbiased: their comparisons and biases
share one budget. The logs of what two methods take differ by a known number, or by none.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from _laws import LAWS, Rng, draw_effects
from _tables import Line, Table, Task

from benchfw.analysis.decisions import Decision, Verdict
from benchfw.analysis.significance import MARGIN
from benchfw.provenance import Run
from benchfw.records import (
    Budget,
    Cell,
    Ending,
    MethodKind,
    Outcome,
    Record,
    Result,
    Spec,
    Status,
    Trial,
)
from benchfw.report.verdicts import verdict
from benchfw.report.verdicts.optimizers import find_leader
from benchfw.summary.model import Summary
from benchfw.summary.summarize import summarize

RUNS = (5, 10)
CHUNK = 25  # reports a task
OPTIMIZERS, ESTIMATORS, PROBLEMS = 5, 3, 4
DRAWS = 100
RUN = Run(1, "made-up", "", Path("made-up"), "")
CLAIMING = (Verdict.BETTER, Verdict.WORSE, Verdict.EQUAL)


@dataclass(frozen=True)
class Found:
    """What one report says that is false, as shares of all that it says; `leaders` of those that it names."""

    claims: bool
    false: float
    uncovered: float
    leaders: float
    equal: float


def whole_tables(reports: int) -> Iterator[Table]:
    """Yield the table: what is said, its share for each number of runs, and its limits."""
    chance = 0.05 + 2 * math.sqrt(0.05 * 0.95 / reports)
    leader = "half differ: the interval of a named leader misses the truth"
    lines = tuple(
        Line(
            name,
            tuple(
                tuple(
                    Task(judge_reports, (law, effects, runs, at, min(at + CHUNK, reports)))
                    for at in range(0, reports, CHUNK)
                )
                for runs in RUNS
            ),
            partial(_share, attribute=attribute),
            0.0,
            most,
        )
        for name, law, effects, attribute, most in (
            ("all alike: a report claims a difference or a bias", "log-normal", "none", "claims", chance),
            ("half differ: a sentence is false", "log-normal", "half", "false", 0.05),
            ("half differ: the interval misses the truth", "log-normal", "half", "uncovered", 0.05),
            (leader, "log-normal", "half", "leaders", 0.05),
            ("10 % apart: called equal", "quiet log-normal", "edge", "equal", 0.05),
        )
    )
    yield Table(("what, law", *(f"{runs} runs" for runs in RUNS)), lines)


def _share(found: list[list[Found]], attribute: str) -> float:
    return float(np.mean([getattr(each, attribute) for part in found for each in part]))


def judge_reports(law: str, effects: str, runs: int, start: int, end: int) -> list[Found]:
    seeds = ([23, runs, number] for number in range(start, end))
    return [judge_report(np.random.default_rng(seed), law, runs, effects) for seed in seeds]


def judge_report(rng: Rng, law: str, runs: int, effects: str) -> Found:
    """Return what a report says about methods of which the truth is known."""
    truth: dict[tuple[str, str], float] = {}
    results = list(_results(rng, law, runs, effects, truth))
    summary = summarize(RUN, results)
    for comparison in summary.comparisons:
        assert verdict(comparison).endswith(".")
    rows = [
        (decision, _holds(decision, effect), _covers(decision, effect))
        for cell, quantity, decision in _decisions(summary)
        if decision.verdict in CLAIMING
        # the variance of an estimator differs by the truth, its time never does
        for effect in [0.0 if quantity == "seconds_per_draw" else truth[cell.problem, cell.method]]
    ]
    biased = sum(len(each.biased) for each in summary.comparisons)
    said = max(len(rows) + biased, 1)
    equal = [holds for decision, holds, _ in rows if decision.verdict is Verdict.EQUAL]
    leaders = [
        _covers(comparison.decision(leader, quantity), truth[leader.problem, leader.method])
        for comparison in summary.comparisons
        if comparison.kind == "optimizer"
        for quantity in ("cost_to_target", "seconds_to_target")
        if (leader := find_leader(comparison, quantity)) is not None
    ]
    return Found(
        any(decision.differs for decision, *_ in rows) or biased > 0,
        (sum(not holds for _, holds, _ in rows) + biased) / said,
        (sum(not covers for *_, covers in rows) + biased) / said,
        leaders.count(False) / max(len(leaders), 1),
        equal.count(False) / max(len(equal), 1),
    )


def _decisions(summary: Summary) -> Iterator[tuple[Cell, str, Decision]]:
    for comparison in summary.comparisons:
        for (cell, quantity), decision in comparison.decisions.items():
            yield cell, quantity, decision


def _holds(decision: Decision, effect: float) -> bool:
    if decision.verdict is Verdict.EQUAL:
        return abs(effect) <= math.log(MARGIN) + 1e-9
    return effect < 0 if decision.verdict is Verdict.BETTER else effect > 0


def _covers(decision: Decision, effect: float) -> bool:
    interval, rounding = decision.interval, 1 + 1e-3  # of counts to whole iterations
    return (
        interval is not None
        and interval.low <= math.exp(effect) * rounding
        and (math.exp(effect) <= interval.high * rounding)
    )


def _results(
    rng: Rng, law: str, runs: int, effects: str, truth: dict[tuple[str, str], float]
) -> Iterator[Result]:
    number = 0
    for problem in range(PROBLEMS):
        names = [*(f"o{each}" for each in range(OPTIMIZERS)), *(f"e{each}" for each in range(ESTIMATORS))]
        apart = draw_effects(rng, (len(names),), effects)
        for name, effect in zip(names, apart, strict=True):
            kind: MethodKind = "optimizer" if name[0] == "o" else "estimator"
            alike = float(effect) if name[1] != "0" else 0.0
            truth[f"p{problem}", name] = alike
            scale = 0.05 if law.startswith("quiet") else 1.0
            logs = scale * LAWS[law.removeprefix("quiet ")](rng, (runs,)) + alike
            for repetition in range(runs):
                records = (
                    _arrival(rng, logs[repetition]) if kind == "optimizer" else _draws(rng, math.exp(alike))
                )
                trial = Trial(
                    kind, Spec(f"p{problem}", {}, f"p{problem}"), Spec(name, {}, name), "numpy",
                    repetition, 1, Budget(iterations=10**9), {"gap": 0.1},
                )  # fmt: skip
                outcome = Outcome(
                    Status.REACHED, Ending.TARGET, records=records, claims_unbiased=kind == "estimator"
                )
                yield Result(number, trial, outcome)
                number += 1


def _arrival(rng: Rng, log: float) -> tuple[Record, ...]:
    """Return a run that arrives after about a hundred thousand iterations of a microsecond."""
    last = max(2, round(1e5 * math.exp(log)))
    pace = 1e-6 * math.exp(rng.normal(0, 0.05))
    gaps = {0: 1.0, last - 1: 0.11, last: 0.05}
    return tuple(Record("gap", n, n * pace, float(n), gap) for n, gap in gaps.items())


def _draws(rng: Rng, variance: float) -> tuple[Record, ...]:
    """Return what normal draws of this variance record; times differ by 5 %."""
    found = variance * rng.chisquare(DRAWS - 1) / (DRAWS - 1)
    bias = math.sqrt(variance / DRAWS) * rng.standard_normal()
    values = {
        "bias": bias,
        "mse": found * (DRAWS - 1) / DRAWS + bias**2,
        "variance": found,
        "variance_std_error": found * math.sqrt(2 / (DRAWS - 1)),
        "variance_skewness": math.sqrt(8),
    }
    seconds = 1e-3 * DRAWS * math.exp(rng.normal(0, 0.05))
    return tuple(Record(name, DRAWS, seconds, float(DRAWS), value) for name, value in values.items())
