"""Optimizers in the data format of COCO, for its post-processing cocopp and for IOHanalyzer.

A folder for each method has an .info file for each problem and, beside it, the values that improved on all
before (.dat) and those at each look (.tdat). Evaluations are the cost, rounded up. benchfw does not know the
dimension of a problem: DIM is 2, the smallest that cocopp draws, so what it divides by DIM is half the cost.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from benchfw.errors import BenchfwError
from benchfw.names import choose_name
from benchfw.provenance import Run
from benchfw.records import GAP, OBJECTIVE, Ending, Result
from benchfw.report.text import printable
from benchfw.summary.model import Comparison, Summary

DIMENSION = 2
PRECISION = 1e-8
MOST_PROBLEMS = 24
"""Functions of the suite bbob, under whose name cocopp reads the files."""
HEADER = (
    "% function evaluation | noise-free fitness - Fopt | best noise-free fitness - Fopt | measured fitness "
    "| best measured fitness | x1 | x2\n"
)


class Look(NamedTuple):
    """The value at a look, the best until then, and what had been spent."""

    evaluations: int
    value: float
    best: float


class Coco:
    """The curves of optimizers, a folder each, for COCO's cocopp and for IOHanalyzer."""

    ending = "/"

    def export(self, run: Run, summary: Summary, results: Iterable[Result], destination: Path) -> str:
        """Write a folder for each method."""
        written = write_coco(summary, run, results, destination)
        return f"{destination}: {', '.join(each.name for each in written)}"


def write_coco(summary: Summary, run: Run, results: Iterable[Result], folder: Path) -> list[Path]:
    """Write a folder for each optimizer below `folder`; return these folders."""
    problems = _numbered_problems(summary)
    trials = [each for each in results if each.trial.kind == "optimizer" and not each.trial.tuning]
    trials = [each for each in trials if each.trial.problem.label in problems]
    trials = [each for each in trials if each.outcome.ending is not Ending.UNTRUE]
    trials.sort(key=lambda each: (*_names(each), each.trial.repetition))
    lowest = _lowest_objectives(trials)
    written: list[Path] = []
    taken: set[str] = set()
    names = dict.fromkeys((method, backend) for method, backend, _ in map(_names, trials))
    places = {each: folder / choose_name(_slug("-".join(each)), taken) for each in names}
    for (method, backend, problem), found in groupby(trials, key=_names):
        comparison, number = problems[problem]
        curves = {
            each.trial.repetition + 1: looks
            for each in found
            if (looks := list(_looks(_curve(each, _metric(comparison), lowest))))
        }
        place = places[method, backend]
        if curves:
            _write_problem(place, run, (method, comparison, number), curves)
            written += [place] * (place not in written)
    if not written:
        raise BenchfwError(f"run {run.id} has no optimizer with a curve, which is what COCO's format has")
    return written


def _names(result: Result) -> tuple[str, str, str]:
    return result.trial.method.label, result.trial.backend, result.trial.problem.label


def _numbered_problems(summary: Summary) -> dict[str, tuple[Comparison, int]]:
    """Return the problems with optimizers by name, numbered in the order of the suite."""
    chosen = [each for each in summary.comparisons if each.kind == "optimizer" and each.metrics]
    gains = [each.problem for each in chosen if _metric(each) in each.gains]
    if gains:
        raise BenchfwError(f"COCO's format is for values to be minimized; of '{gains[0]}' higher is better")
    if len(chosen) > MOST_PROBLEMS:
        raise BenchfwError(
            f"COCO's format has at most {MOST_PROBLEMS} problems here, the run has {len(chosen)}; "
            "run a part of the suite with --only"
        )
    return {each.problem: (each, number) for number, each in enumerate(chosen, 1)}


def _metric(comparison: Comparison) -> str:
    return comparison.targets[0].metric if comparison.targets else comparison.metrics[0]


def _lowest_objectives(trials: Iterable[Result]) -> dict[tuple[str, int], float]:
    """Return the lowest objective that any method reached, by problem and repetition."""
    lowest: dict[tuple[str, int], float] = {}
    for each in trials:
        key = each.trial.problem.label, each.trial.repetition
        values = (record.value for record in each.outcome.records if record.metric == OBJECTIVE)
        lowest[key] = min([lowest.get(key, math.inf), *filter(math.isfinite, values)])
    return lowest


def _curve(
    result: Result, metric: str, lowest: Mapping[tuple[str, int], float]
) -> list[tuple[float, int, float]]:
    """Return (cost, iteration, value) of the looks; a gap not recorded is to the lowest objective."""
    records = [each for each in result.outcome.records if each.role == "metric"]
    base = 0.0
    if metric == GAP and all(each.metric != GAP for each in records):
        metric, base = OBJECTIVE, lowest[result.trial.problem.label, result.trial.repetition]
    return [(each.cost, each.iteration, each.value - base) for each in records if each.metric == metric]


def _looks(curve: Iterable[tuple[float, int, float]]) -> Iterator[Look]:
    """Yield a look for each number of evaluations: of those that round to the same one, the last."""
    best = math.inf
    found = sorted(curve)
    for evaluations, looks in groupby(found, key=lambda each: max(1, math.ceil(each[0]))):
        for _, _, value in looks:
            best = min(best, value)
        if math.isfinite(best):
            yield Look(evaluations, value, best)


def _write_problem(
    place: Path,
    run: Run,
    what: tuple[str, Comparison, int],
    curves: Mapping[int, Sequence[Look]],
) -> None:
    method, comparison, number = what
    data = Path(f"data_f{number}") / f"bbobexp_f{number}_DIM{DIMENSION}"
    (place / data.parent).mkdir(parents=True, exist_ok=True)
    ends = ", ".join(
        f"{instance}:{looks[-1].evaluations}|{looks[-1].best:.1e}" for instance, looks in curves.items()
    )
    about = printable(
        f"benchfw run {run.id} of suite {run.suite}: {comparison.problem}, {_metric(comparison)}"
    )
    (place / f"bbobexp_f{number}.info").write_text(
        f"suite = 'bbob', funcId = {number}, DIM = {DIMENSION}, Precision = {PRECISION:.3e}, "
        f"algId = '{_quote(method)}'\n% {about}\n{data.as_posix()}.dat, {ends}\n",
        encoding="utf-8",
    )
    for suffix, improving in ((".dat", True), (".tdat", False)):
        text = "".join(HEADER + "".join(_lines(looks, improving=improving)) for looks in curves.values())
        (place / data).with_suffix(suffix).write_text(text, encoding="utf-8")


def _lines(looks: Sequence[Look], *, improving: bool) -> Iterator[str]:
    before = math.inf
    for look in looks:
        if not improving or look.best < before or look is looks[-1]:
            numbers = (look.value, look.best, look.value, look.best)
            yield f"{look.evaluations} {' '.join(f'{each:.9e}' for each in numbers)} 0 0\n"
        before = look.best


def _quote(name: str) -> str:
    """Return a name that can stand between single quotes in an .info file."""
    return re.sub(r"['\",\\=]", "_", printable(name))


def _slug(name: str) -> str:
    return re.sub(r"[^\w.+-]+", "-", name).strip("-.")[:80] or "method"
