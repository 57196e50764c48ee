"""Tuning: verdicts after it, the bias of the best row, and the regret of a choice."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np
from _allowances import allowance_tables, lead_table
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
TIMES = {"verdicts": 3, "best row": 4, "regret": 20, "regret with noise": 8, "leads": 2}
"""How many times the experiments of the part each has: some are quick, some need more of them."""


def tuning_tables(experiments: int) -> Iterator[Table]:
    """Yield the tables of tuning."""
    yield _verdict_table(TIMES["verdicts"] * experiments)
    yield _best_row_table(TIMES["best row"] * experiments)
    yield _regret_table(experiments)
    yield from allowance_tables(experiments)
    yield lead_table(TIMES["leads"] * experiments)


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
        if how == "naive":
            judged = judge_naively(world, 32, RUNS)
        elif how == "repeats":
            judged = judge(world, Tuning(trials=16, repeats=True), 6)
        else:
            judged = judge(world, Tuning(trials=32), RUNS)
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
        line("fresh runs, one tuning: any", "equal", "fresh", 0),
        line("fresh runs, one tuning, different spaces: any", "shifted", "fresh", 0),
        line("fresh runs, repeats: any", "equal", "repeats", 0, 0.05),
        line("fresh runs, repeats, different spaces: any", "shifted", "repeats", 0, 0.05),
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


# regret


def regrets(tuner: str, size: int, noise: float, start: int, end: int) -> list[list[float]]:
    """Return how far the log of the chosen setting is above the best, by the number of settings."""
    method = Simulated(1.0, (0.0,) * size, SPACE * size)
    tuning = Tuning(trials=max(SETTINGS), repetitions=3 if noise else 1, tuner=tuner)
    found = []
    for number in range(start, end):
        world = World(np.random.default_rng([33, number]), {"a": method}, Noise(run=noise))
        tried = tune(world, "a", tuning, seed=number).attempts
        found.append([method.log(tried[choose(tried[:count])].setting) for count in SETTINGS])
    return found


def expected_regret(tuner: str, size: int, noise: float, count: int) -> float:
    """Return the mean regret by theory: closed forms without noise, quadrature with it.

    The chance that a point of a square with sides of 4 is within r of the middle is v r^d, so that the v r^d
    of the nearest of k has the law Beta(1, k). Of a lattice with a random offset the distance of the nearest
    point is uniform on [0, 2/k].
    """
    if noise:
        return _noisy_regret(noise, count)
    if tuner == "sobol":
        return (4 / count) ** 2 / 12
    power, volume = 2 / size, {1: 2 / 4, 2: math.pi / 16}[size]
    moments = math.gamma(1 + power) * math.exp(math.lgamma(count + 1) - math.lgamma(count + 1 + power))
    return float(volume**-power * moments)


@cache
def _noisy_regret(noise: float, count: int) -> float:
    """Return the mean regret of the setting with the lowest median of 3 runs, of random ones in a line."""
    from scipy.special import ndtr

    excess = (2 * (np.arange(1000) + 0.5) / 1000) ** 2
    scores = np.linspace(-4 * noise, 4 + 4 * noise, 2001)
    z = (scores[:, None] - excess) / noise
    # the median of three: at least two of them are below
    density = 6 * ndtr(z) * ndtr(-z) * np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi) / noise
    above = 1 - np.mean(ndtr(z) ** 2 * (3 - 2 * ndtr(z)), axis=1)
    weight = count * above ** (count - 1)
    return float(np.trapezoid(weight * np.mean(density * excess, axis=1), scores))


def _regret_table(experiments: int) -> Table:
    def lines() -> Iterator[Line]:
        for tuner, size, noise in (
            ("random", 1, 0.0), ("random", 2, 0.0), ("sobol", 1, 0.0), ("random", 1, 0.3), ("random", 1, 1.0)
        ):  # fmt: skip
            tasks = split_tasks(
                TIMES["regret with noise" if noise else "regret"] * experiments, regrets, tuner, size, noise
            )
            parameters = "1 parameter" if size == 1 else f"{size} parameters"
            name = f"{tuner}, {parameters}, {f'noise {noise:.0%}' if noise else 'no noise'}"
            yield _line_by_count(name, tasks, lambda logs, _: float(np.mean(logs)), 0.0, 1.0)
            theory = partial(expected_regret, tuner, size, noise)
            yield _line_by_count(f"{name}: over theory", tasks, partial(_over, theory=theory), 0.8, 1.2)

    title = (
        "Regret of the chosen setting: the mean log of what it takes over the best, by the number of settings"
    )
    return Table(("tuner, space, noise of a run", *map(str, SETTINGS)), tuple(lines()), title)


def _over(logs: np.ndarray, place: int, theory: Callable[[int], float]) -> float:
    return float(np.mean(logs)) / theory(SETTINGS[place])
