"""The lines of the audit about verdicts, single rows and `benchfw compare`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from operator import attrgetter, itemgetter
from typing import Any

import numpy as np
from _censored import judge
from _laws import HEAVY, LAWS, SMOOTH
from _reports import RUNS, SIZES, Shares, audit, judge_best, median_covers, power, ratio_covers
from _rows import Case, cases
from _runs import comparisons
from _tables import Line, Table, Task, mean, split_tasks

CHUNK = 50  # pairs of runs a task
PARTS: dict[str, Callable[[], Iterator[Case]]] = {"rows": cases, "compare": comparisons}
RULES = {"ratio": ratio_covers, "median": median_covers}


def rng_of(*numbers: int) -> np.random.Generator:
    return np.random.default_rng([22, *numbers])


# what tasks run


def audit_size(law: str, effects: str, runs: int, size: tuple[int, int], reports: int, times: int) -> Shares:
    """Return what is found in reports of one size; `times` as many runs as the column says."""
    return audit(rng_of(runs, *size), law, times * runs, size, reports, effects)


def audit_edge(law: str, runs: int, reports: int) -> Shares:
    return audit(rng_of(runs), law, runs, (2, 1), reports, "edge")


def audit_censored(effects: str, runs: int, size: tuple[int, int], reports: int) -> np.ndarray:
    return judge(rng_of(runs, *size), runs, size, reports, effects)


def find_power(law: str, runs: int, reports: int, noise: float) -> float:
    """Return the power relative to that of an uncorrected test."""
    mine, other = power(rng_of(runs), law, runs, reports, noise)
    return mine / other


def covered(rule: str, law: str, runs: int, experiments: int, fewest: int) -> float:
    return RULES[rule](rng_of(runs), law, runs, experiments) if runs >= fewest else math.nan


def run_case(part: str, number: int, start: int, end: int) -> list[bool]:
    """Return in which experiments a case holds; each has a seed of its own."""
    case = list(PARTS[part]())[number]
    return [case.holds(np.random.default_rng([20, experiment])) for experiment in range(start, end)]


# the lines


def report_tables(reports: int) -> Iterator[Table]:
    """Yield the table of verdicts and intervals, a column a number of runs."""
    heads = ("what, law", *(f"{runs} runs" for runs in RUNS))
    yield Table(heads, tuple(report_lines(reports)))

    def best(law: str, methods: int, lead: float, words: str, most: float, *, never: bool = False) -> Line:
        """Return the line of how often the interval of the best misses, of methods that lead by as much."""
        rest = law, methods, lead, never
        columns = tuple(split_tasks(reports // 5, judge_best, *rest, runs) for runs in RUNS)
        count = f"{methods - 1}" if methods > 2 else "the only one,"
        return Line(f"{count} of {law} runs{words}", columns, known_mean, 0.0, most)

    # of a few runs, all may be from one cluster
    limits = dict.fromkeys((*SMOOTH, "Pareto 3"), 0.05) | {"bimodal": 1.0}
    lines = [best(law, methods, 8, "", most) for law, most in limits.items() for methods in (2, 5, 20)]
    beyond = ", of which the reference has one that does not arrive"
    lines += [best("normal", methods, 8, beyond, 0.05, never=True) for methods in (5, 20)]
    lines += [best("normal", 20, lead, f", a lead of {lead:g} σ", 1.0) for lead in (0.5, 1.0, 2.0)]
    title = "Methods that are equally far ahead of the reference: the interval of the best misses the truth"
    yield Table(("methods, law", *heads[1:]), tuple(lines), title, reports // 5)


def report_lines(reports: int) -> Iterator[Line]:
    chance = 0.05 + 2 * math.sqrt(0.05 * 0.95 / reports)
    laws, seldom = [*LAWS, "deterministic, looks"], "a third of the runs never arrives"
    for law in laws:
        yield worst(
            f"all alike: a report claims a difference; {law}", law, "none", "claiming", reports, chance
        )
    yield censored(f"all alike: a report claims a difference; {seldom}", "none", 0, reports, chance)
    for what, attribute in {
        "the interval misses the truth": "uncovered",
        "the interval of a named leader misses the truth": "leaders",
        "a sentence is false": "wrong",
    }.items():
        for law in laws:
            yield worst(f"half differ: {what}; {law}", law, "half", attribute, reports)
    for place, what in ((2, "the interval misses the truth"), (1, "a sentence is false")):
        yield censored(f"half differ: {what}; {seldom}", "half", place, reports)
    yield from equality_lines(reports)
    for law, noise in ((law, noise) for noise in (0.05, 0.1) for law in LAWS):
        name = f"power against an uncorrected test of a row; {law}, seconds {noise:.0%} more"
        # a mean between two clusters of runs is not typical: the check of the median costs power there
        least = 0.0 if law == "bimodal" else 0.9
        yield one(name, find_power, lambda runs, a=(law, noise): (a[0], runs, 2 * reports, a[1]), least)
    for law in LAWS:
        least, most = (0.9 if law in HEAVY else 0.93), (0.97 if law in SMOOTH else 1.0)
        name = f"one row: a ratio's 95 % interval covers; {law}"
        yield one(name, covered, lambda runs, law=law: ("ratio", law, runs, 4 * reports, 3), least, most)
    for law in LAWS:
        name, most = f"one row: an end's median is covered; {law}", 0.97 if law in SMOOTH else 1.0
        yield one(name, covered, lambda runs, law=law: ("median", law, runs, reports, 5), 0.93, most)


def equality_lines(reports: int) -> Iterator[Line]:
    """Yield the lines on methods at the edge of what is equal."""
    for law in ("normal", "log-normal", "Pareto 1.2", "bimodal"):
        columns = tuple((Task(audit_edge, (f"quiet {law}", runs, reports)),) for runs in RUNS)
        yield Line(f"10 % apart: called equal; {law}, small", columns, _largest("equal"), 0, 0.05)
    yield worst("10 % apart: called equal; unequally often slow", "mixing", "edge", "equal", reports)
    for share, words in ((0.25, "one run of four"), (0.1, "one run of ten")):
        for times, more in ((1, ""), (6, ", six times as many runs")):
            name, law = f"10 % apart: called equal; by {words}{more}", f"seldom {share}"
            sizes = SIZES[: 1 if times > 1 else None]
            columns = tuple(
                tuple(Task(audit_size, (law, "edge", runs, size, reports, times)) for size in sizes)
                for runs in RUNS
            )
            yield Line(name, columns, _largest("equal"), 0, 0.05)


def worst(name: str, law: str, effects: str, attribute: str, reports: int, most: float = 0.05) -> Line:
    """Return the line of the largest share over all numbers of methods and problems.

    One run in fifty decides under rare events, so that small reports are made four times as often.
    """
    columns = tuple(
        tuple(Task(audit_size, (law, effects, runs, size, reports * _often(law, size), 1)) for size in SIZES)
        for runs in RUNS
    )
    return Line(name, columns, _largest(attribute), 0, most)


def _often(law: str, size: tuple[int, int]) -> int:
    return 4 if law == "rare events" and math.prod(size) < 20 else 1


def _largest(attribute: str) -> Callable[[list[Any]], float]:
    return lambda found: max(map(attrgetter(attribute), found))


def censored(name: str, effects: str, place: int, reports: int, most: float = 0.05) -> Line:
    """Return the same where a third of the runs never arrives: claims, false sentences, missed intervals."""
    columns = tuple(
        tuple(Task(audit_censored, (effects, runs, size, reports)) for size in SIZES) for runs in RUNS
    )
    return Line(name, columns, lambda found: float(max(map(itemgetter(place), found))), 0, most)


def one(
    name: str,
    function: Callable[..., float],
    arguments: Callable[[int], Any],
    least: float,
    most: float = 1.0,
) -> Line:
    """Return a line with one task a column."""
    return Line(name, tuple((Task(function, arguments(runs)),) for runs in RUNS), itemgetter(0), least, most)


def known_mean(found: list[list[float]]) -> float:
    """Return the mean of what all tasks of a column found, of what is not NaN."""
    flat = np.concatenate(found)
    return float(np.nanmean(flat)) if np.any(np.isfinite(flat)) else math.nan


def row_tables(experiments: int) -> Iterator[Table]:
    """Yield the table of intervals of one row."""
    yield _case_table("rows", experiments, experiments)


def compare_tables(pairs: int) -> Iterator[Table]:
    """Yield the table of `benchfw compare`."""
    yield _case_table("compare", pairs, CHUNK)


def _case_table(part: str, experiments: int, chunk: int) -> Table:
    run = partial(Task, run_case)
    lines = tuple(
        Line(
            f"{case.group} | {case.name}",
            (tuple(run((part, k, at, min(at + chunk, experiments))) for at in range(0, experiments, chunk)),),
            mean,
            case.least,
            case.most,
        )
        for k, case in enumerate(PARTS[part]())
    )
    return Table(("what", "how", "share"), lines)
