"""Reports in which a third of the runs never arrives: signs of pairs, and counts of arrivals.

The arrays below follow `decide_family`; a test holds the two together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from _laws import Rng, draw_effects

from benchfw.analysis.decisions import Contrast, Decisions, decide
from benchfw.analysis.evidence import Arrivals, Evidence
from benchfw.analysis.medians import sign_probability
from benchfw.analysis.pairing import pair_brackets
from benchfw.analysis.significance import (
    BUDGET,
    FEWEST_PAIRS,
    difference_probability,
    equality_probability,
    least_equality,
    least_probability,
    share_probability,
)
from benchfw.records import Cell
from benchfw.summary.contrasts import ARRIVALS

END = 0.2
"""The logarithm of the budget: a third of the runs of the reference would take longer."""

BLOCK = 250  # reports at a time: 8 MB an array for the largest


def judge(rng: Rng, runs: int, size: tuple[int, int], reports: int, effects: str) -> np.ndarray:
    """Return the shares of reports that claim something, of false sentences, and of missed intervals."""
    methods, problems = size
    found = []
    for start in range(0, reports, BLOCK):
        count = min(BLOCK, reports - start)
        truth = draw_effects(rng, (count, problems, methods - 1), effects)
        found.append(judge_reports(draw_runs(rng, (count, problems, methods, runs), truth), truth))
    return np.mean(np.concatenate(found, axis=1), axis=1)


def draw_runs(rng: Rng, shape: tuple[int, ...], effects: np.ndarray) -> np.ndarray:
    """Return the logs of what runs take, (reports, problems, methods, runs); the first is the reference."""
    logs = 0.5 * rng.standard_normal(shape)
    logs[:, :, 1:] += effects[..., None]
    return logs


def judge_reports(logs: np.ndarray, effects: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return whether each report claims something, and its shares of false sentences and missed intervals."""
    reports, runs = logs.shape[0], logs.shape[-1]
    mine, theirs = (part.reshape(reports, -1, runs) for part in _pairs(logs))
    truth = effects.reshape(reports, -1)
    low = np.where(theirs > END, -np.inf, np.minimum(mine, END) - theirs)
    high = np.where(mine > END, np.inf, mine - np.minimum(theirs, END))
    known = (mine <= END) | (theirs <= END)
    low, high = np.where(known, low, -np.inf), np.where(known, high, np.inf)
    known = np.broadcast_to(np.any(known, axis=-1, keepdims=True), known.shape)
    arrived, reference = (np.sum(part <= END, axis=-1) for part in (mine, theirs))
    times = _times(low, high, known)
    counts = _counts(arrived, reference, runs)
    either = np.isfinite(times[0]) | np.isfinite(counts)
    methods = np.sum(either, axis=-1, keepdims=True)
    pairs = np.sum(known, axis=-1)
    least = np.where(times[2], 0.0, _least(least_probability, pairs, methods))
    difference = np.concatenate([np.maximum(times[0], least), counts], axis=-1)
    unlike = np.where(np.isfinite(counts), 1.0, np.inf)
    near = np.maximum(times[1], _least(least_equality, pairs, methods))
    equality = np.concatenate([near, unlike], axis=-1)
    found = _decide_tested(difference, equality)
    rows = np.zeros((3, reports))
    for report, place in zip(*np.nonzero(found.different | found.equal), strict=True):
        number, count = place % truth.shape[1], place >= truth.shape[1]
        effect = truth[report, number]
        if count:
            lower = arrived[report, number] > reference[report, number]
            wrong, missed = effect == 0 or lower == (effect > 0), False
        else:
            evidence = pair_brackets(*_brackets(mine[report, number], theirs[report, number]))
            interval = evidence.interval(float(found.level[report, place]))
            missed = not interval.low <= math.exp(effect) <= interval.high
            wrong = effect == 0 or (interval.estimate > 1) != (effect > 0)
            if found.equal[report, place]:
                wrong = abs(effect) > math.log(1.1)
        rows[:, report] += found.different[report, place], wrong, missed
    said = np.maximum(np.sum(found.different | found.equal, axis=-1), 1)
    return rows[0] > 0, rows[1] / said, rows[2] / said


def _decide_tested(difference: np.ndarray, equality: np.ndarray) -> Decisions:
    """Return what is decided in each report; what is not tested is not part of its family."""
    different, equal = np.zeros((2, *difference.shape), dtype=bool)
    level = np.zeros(difference.shape)
    for report, tested in enumerate(np.isfinite(difference)):
        found = decide(difference[report, tested], equality[report, tested])
        different[report, tested], equal[report, tested] = found.different, found.equal
        level[report, tested] = found.level
    return Decisions(different, equal, level)


def contrasts(logs: np.ndarray) -> Iterator[Contrast]:
    """Yield the comparisons of one report, (problems, methods, runs), as objects."""
    for problem, methods in enumerate(logs):
        runs = methods.shape[-1]
        reference = Cell(str(problem), "optimizer", "0", "numpy")
        for number, each in enumerate(methods[1:], 1):
            cell = reference._replace(method=str(number))
            evidence: Evidence | None = pair_brackets(*_brackets(each, methods[0]))
            yield Contrast(cell, reference, "cost_to_target", evidence)
            here, there = (int(np.sum(part <= END)) for part in (each, methods[0]))
            if 0 < here + there < 2 * runs:
                yield Contrast(cell, reference, ARRIVALS, Arrivals(here, runs, there, runs))


def _pairs(logs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    mine = logs[:, :, 1:]
    return mine, np.broadcast_to(logs[:, :, :1], mine.shape)


def _brackets(mine: np.ndarray, theirs: np.ndarray) -> tuple[np.ndarray, ...]:
    spent = [np.exp(np.minimum(each, END)) for each in (mine, theirs)]
    costs = [np.where(each > END, np.inf, part) for each, part in zip((mine, theirs), spent, strict=True)]
    return spent[0], costs[0], spent[1], costs[1]


def _times(low: np.ndarray, high: np.ndarray, known: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the p-values of difference and equality, infinite where untested, and where signs decide."""
    order = np.argsort(~known, axis=-1, kind="stable")
    low, high = (np.take_along_axis(each, order, -1) for each in (low, high))
    count = np.sum(known, axis=-1)
    one_sided = np.all(np.isfinite(low) | ~np.sort(known)[..., ::-1], axis=-1) | np.all(
        np.isfinite(high) | ~np.sort(known)[..., ::-1], axis=-1
    )
    difference, equality = np.full(count.shape, np.inf), np.full(count.shape, np.inf)
    for pairs in range(1, low.shape[-1] + 1):
        logs = one_sided & (count == pairs)
        if pairs >= FEWEST_PAIRS and np.any(logs):
            ends = low[logs][:, :pairs], high[logs][:, :pairs]
            difference[logs] = difference_probability(*ends)
            equality[logs] = equality_probability(*ends)
        signs = ~one_sided & (count == pairs)
        if sign_probability(pairs, pairs) <= BUDGET and np.any(signs):
            ahead, behind = low[signs][:, :pairs] > 0, high[signs][:, :pairs] < 0
            wins = np.maximum(np.sum(ahead, axis=-1), np.sum(behind, axis=-1))
            difference[signs] = sign_probability(wins, pairs)
            equality[signs] = 1.0
    return difference, equality, ~one_sided


def _counts(arrived: np.ndarray, reference: np.ndarray, runs: int) -> np.ndarray:
    """Return the p-values of Fisher's test, infinite where no split of as many would be beyond chance."""
    table = np.full((runs + 1, runs + 1), np.inf)
    for here in range(runs + 1):
        for there in range(runs + 1):
            if 0 < here + there < 2 * runs and Arrivals(here, runs, there, runs).testable:
                table[here, there] = share_probability(here, runs, there, runs)
    return table[arrived, reference]


def _least(rule: Callable[[int, float], float], counts: np.ndarray, methods: np.ndarray) -> np.ndarray:
    table = np.array(
        [
            [rule(count, BUDGET / max(many, 1)) for many in range(int(np.max(methods)) + 1)]
            for count in range(int(np.max(counts)) + 1)
        ]
    )
    return table[counts, np.broadcast_to(methods, counts.shape)]
