"""Tuning: verdicts after it, and the bias of the best row."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np
from _laws import Rng
from _surfaces import SPACE, Judged, Noise, Simulated, Tried, World, draw_surface, judge, judge_naively, tune
from _tables import Line, Table, Task, place_columns, split_tasks

from benchfw.analysis.decisions import Verdict
from benchfw.analysis.significance import MARGIN
from benchfw.search import Tuning
from benchfw.summary.attempts import choose

NOISES = {"5 %": 0.05, "20 %": 0.2, "50 %": 0.5}
SETTINGS = (4, 8, 16, 32, 64)
SHIFTED = ((-1.7, 2.3),)
RUNS = 10
TIMES = {"verdicts": 3, "best row": 4}
"""How many times the experiments of the part each has."""


def tuning_tables(experiments: int) -> Iterator[Table]:
    """Yield the tables of tuning."""
    yield _verdict_table(TIMES["verdicts"] * experiments)
    yield _best_row_table(TIMES["best row"] * experiments)


# verdicts


def _pair(rng: Rng, case: str) -> dict[str, Simulated]:
    """Return two methods that are alike when tuned."""
    first = draw_surface(rng)
    if case == "untuned":  # any step is as good as another
        return {"a": Simulated(), "b": Simulated(spaces=SPACE)}
    second = (
        Simulated(first.curvature, first.optimum, SHIFTED, edge=first.edge) if case == "shifted" else first
    )
    return {"a": first, "b": second}


def judge_pairs(case: str, how: str, noise: float, start: int, end: int) -> list[tuple[bool, bool]]:
    """Return of each report whether it claims a difference, and whether a claim of the settings is false."""
    found = []
    for number in range(start, end):
        rng = np.random.default_rng([31, number])
        world = World(rng, _pair(rng, case), Noise(0.3, 0.1, noise))
        judged = judge_naively(world, 32, RUNS) if how == "naive" else judge(world, Tuning(trials=32), RUNS)
        found.append((_differs(judged), _is_false(judged)))
    return found


def _differs(judged: Judged) -> bool:
    return any(each.differs for each in judged.summary.comparisons[0].decisions.values())


def _is_false(judged: Judged) -> bool:
    """Return whether a claim about two settings is false of just these settings."""
    effect = judged.effects["b"]
    claims = {
        Verdict.BETTER: effect < 0,
        Verdict.WORSE: effect > 0,
        Verdict.EQUAL: abs(effect) <= math.log(MARGIN),
    }
    decisions = judged.summary.comparisons[0].decisions.values()
    return not all(claims.get(each.verdict, True) for each in decisions)


def _verdict_table(experiments: int) -> Table:
    def line(name: str, case: str, how: str, which: int, most: float = 1.0) -> Line:
        columns = tuple(split_tasks(experiments, judge_pairs, case, how, noise) for noise in NOISES.values())
        return Line(name, columns, partial(_share_of, which=which), 0.0, most)

    lines = (
        line("fresh runs: false of the two settings", "equal", "fresh", 1, 0.05),
        line("fresh runs, different spaces: false of the two settings", "shifted", "fresh", 1, 0.05),
        line("fresh runs, tuned against nothing to tune: any", "untuned", "fresh", 0, 0.05),
        line("fresh runs: any", "equal", "fresh", 0),
        line("fresh runs, different spaces: any", "shifted", "fresh", 0),
        line("the runs that chose: false of the two settings", "equal", "naive", 1),
        line("the runs that chose: any", "equal", "naive", 0),
        line("the runs that chose, tuned against nothing to tune: any", "untuned", "naive", 0),
    )
    title = "Two methods that are alike when tuned: reports that claim a difference, by the noise of a run"
    return Table(("judged on, claims", *NOISES), lines, title, experiments)


def _share_of(found: list[list[tuple[bool, bool]]], which: int) -> float:
    return float(np.mean([each[which] for part in found for each in part]))


# the best row


def best_rows(curvature: float, noise: float, runs: int, start: int, end: int) -> list[list[float]]:
    """Return by how much the log of the best row is below that of its setting, by the number of settings."""
    found = []
    for number in range(start, end):
        world = World(
            np.random.default_rng([32, number]), {"a": Simulated(curvature, spaces=SPACE)}, Noise(run=noise)
        )
        tried = tune(world, "a", Tuning(trials=max(SETTINGS), repetitions=runs), seed=number)
        found.append([_too_good(world.methods["a"], tried, count) for count in SETTINGS])
    return found


def _too_good(method: Simulated, tried: Tried, count: int) -> float:
    best = tried.attempts[choose(tried.attempts[:count])]
    return method.log(best.setting) - math.log(best.score.value / 1e5)


def _best_row_table(experiments: int) -> Table:
    def lines() -> Iterator[Line]:
        cases = [(0.0, 0.1, 1), (0.0, 0.1, 3), (0.0, 0.5, 1), (0.0, 0.5, 3), (0.0, 0.5, 10), (1.0, 0.5, 3)]
        for curvature, noise, runs in cases:
            shape = "one best step" if curvature else "any step as good"
            tasks = split_tasks(experiments, best_rows, curvature, noise, runs)
            name = f"{shape}, noise {noise:.0%}, {runs} run{'s' * (runs > 1)}"
            yield _line_by_count(name, tasks, _as_percent)
            if (noise, runs) == (0.1, 1):
                over = partial(_over_normal, noise=noise)
                yield _line_by_count(f"{name}: over theory", tasks, over, 0.85, 1.15)

    title = "How much too good the best row of a sweep is, by the number of its settings"
    return Table(("response, noise of a run, runs of a setting", *map(str, SETTINGS)), tuple(lines()), title)


def _line_by_count(
    name: str,
    tasks: tuple[Task, ...],
    summarize: Callable[[np.ndarray, int], float],
    least: float = 0.0,
    most: float = 1.0,
) -> Line:
    """Return a line whose columns are places in what the same tasks found."""
    columns = place_columns(tasks, len(SETTINGS))
    return Line(name, columns, partial(_at_place, summarize=summarize), least, most)


def _at_place(found: list[Any], summarize: Callable[[np.ndarray, int], float]) -> float:
    place, *parts = found
    return summarize(np.concatenate([np.array(each)[:, place] for each in parts]), place)


def _as_percent(logs: np.ndarray, _: int) -> float:
    return 1 - math.exp(-float(np.mean(logs)))


def _over_normal(logs: np.ndarray, place: int, noise: float) -> float:
    return float(np.mean(logs)) / (noise * largest_normal(SETTINGS[place]))


@cache
def largest_normal(count: int) -> float:
    """Return the mean of the largest of so many standard normal numbers, by quadrature."""
    from scipy.special import ndtr

    grid = np.linspace(-8, 8, 4001)
    density = np.exp(-(grid**2) / 2) / math.sqrt(2 * math.pi)
    return float(np.trapezoid(grid * count * density * ndtr(grid) ** (count - 1), grid))
