"""Fewer trials of tuning: what they would have given, with its band, and who would lead."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import numpy as np
from _surfaces import SPACE, Noise, Simulated, World, draw_surface, tune
from _tables import Line, Table, mean, place_columns, split_tasks

from benchfw.records import Cell
from benchfw.search import Tuning
from benchfw.summary.tuned import TunedMethod, find_leads

COUNTS = (1, 2, 4, 8, 16)
CURVES = {
    "noise 5 %": Noise(0, 0, 0.05),
    "noise 30 %": Noise(0, 0, 0.3),
    "noise 20 %, data 30 %": Noise(0.3, 0.1, 0.2),
}
STABLE = Simulated(2.0, (0.2,), SPACE, edge=1.0)


def curves(tuner: str, law: str, runs: int, start: int, end: int) -> list[list[tuple[float, bool]]]:
    """Return whether each point of a curve is below the truth, a half for equal, and within its band."""
    found = []
    for number in range(start, end):
        world = World(np.random.default_rng([34, number]), {"a": STABLE}, CURVES[law])
        tuned = _tuned(world, "a", Tuning(trials=32, repetitions=runs, tuner=tuner), number)
        points = []
        for point in tuned.by_allowance:
            truth, value = true_best(law, runs, point.trials), point.value
            below = 0.5 if value.estimate == truth else float(value.estimate < truth)
            points.append((below, value.low <= truth <= value.high))
        found.append(points)
    return found


def _tuned(world: World, name: str, tuning: Tuning, seed: int) -> TunedMethod:
    method = world.methods[name]
    tried = tuple(tune(world, name, tuning, seed=seed).attempts)
    return TunedMethod(Cell("p", "optimizer", name, "numpy"), method.params, (tried,), "cost")


@cache
def true_best(law: str, runs: int, count: int) -> float:
    """Return the median cost, in fresh runs, of the best of random settings, by a simulation of its own."""
    noise, many = CURVES[law], 40_000
    rng = np.random.default_rng([35, runs, count])
    places = rng.uniform(*SPACE[0], (many, count))
    logs = STABLE.curvature * (places - STABLE.optimum[0]) ** 2
    logs[places > STABLE.edge] = math.inf
    data = rng.normal(0, math.hypot(noise.data, noise.method), (many, 1, runs))
    scores = np.sort(logs[..., None] + data + rng.normal(0, noise.run, (many, count, runs)), axis=2)
    chosen = np.argmin(scores[..., runs // 2], axis=1)
    fresh = logs[np.arange(many), chosen] + rng.normal(
        0, math.hypot(noise.data, noise.method, noise.run), many
    )
    found = float(np.median(fresh))
    return math.inf if found > 3 else 1e5 * math.exp(found)


def allowance_tables(experiments: int) -> Iterator[Table]:
    """Yield the tables of what fewer trials give."""
    cases = [("random", law, 3) for law in CURVES] + [
        ("sobol", "noise 20 %, data 30 %", 3),
        ("random", "noise 20 %, data 30 %", 5),
    ]
    for which, title, least, most in (
        (0, "What fewer trials give: points of the curve that are below the truth", 0.35, 0.65),
        (1, "What fewer trials give: bands that hold the truth", 0.9, 1.0),
    ):
        lines = []
        for tuner, law, runs in cases:
            tasks = split_tasks(experiments, curves, tuner, law, runs)
            columns = place_columns(tasks, len(COUNTS))
            combine = partial(_curve_share, which=which)
            lines.append(Line(f"{tuner}, {law}, {runs} runs", columns, combine, least, most))
        yield Table(
            ("settings, noise, runs of a setting", *map(str, COUNTS)), tuple(lines), title, experiments
        )


def _curve_share(found: list[Any], which: int) -> float:
    place, *parts = found
    # two settings may be equal: of 31 the best of 16 is not shown
    return float(np.mean([each[place][which] for part in parts for each in part if place < len(each)]))


def leads(case: str, count: int, runs: int, noise: Noise, start: int, end: int) -> list[float]:
    """Return of each report whether it names a leader; where one is slower, whether that is the other."""
    found = []
    for number in range(start, end):
        rng = np.random.default_rng([36, count, number])
        first = draw_surface(rng)
        methods = {"a": first}
        for each in range(1, count):
            spaces = SPACE if case == "equal" else ((-2 + 0.05 * each, 2 + 0.05 * each),)
            slower = math.log(2) if case == "twice" else 0.0
            methods[f"m{each}"] = Simulated(first.curvature, first.optimum, spaces, slower, first.edge)
        world = World(rng, methods, noise)
        tuned = [_tuned(world, name, Tuning(trials=32, repetitions=runs), number) for name in methods]
        named = {each.leader.method for each in find_leads(tuned) if each.leader}
        found.append(float(named == {"a"} if case == "twice" else bool(named)))
    return found


def lead_table(experiments: int) -> Table:
    """Return the table of who leads."""
    runs = (3, 5)
    quiet, loud = Noise(0.3, 0.05, 0.1), Noise(0.3, 0.2, 0.3)

    def line(name: str, case: str, count: int, noise: Noise, most: float = 1.0) -> Line:
        columns = tuple(split_tasks(experiments, leads, case, count, each, noise) for each in runs)
        return Line(name, columns, mean, 0.0, most)

    clustered = Noise(0.3, 0.02, 0.05, math.log(3))
    lines = (
        line("2 alike, noise 10 %", "equal", 2, quiet, 0.05),
        line("2 alike, noise 30 %", "equal", 2, loud, 0.05),
        line("2 alike, different spaces, noise 10 %", "shifted", 2, quiet, 0.05),
        line("2 alike, different spaces, noise 30 %", "shifted", 2, loud, 0.05),
        line("5 alike, different spaces, noise 30 %", "shifted", 5, loud, 0.05),
        line(
            "2 alike, noise 5 %, three times longer on half of the data of each",
            "shifted",
            2,
            clustered,
            0.05,
        ),
        line(
            "5 alike, noise 5 %, three times longer on half of the data of each",
            "shifted",
            5,
            clustered,
            0.05,
        ),
        line("2, one takes twice as much, noise 10 %: found", "twice", 2, quiet),
        line("2, one takes twice as much, noise 30 %: found", "twice", 2, loud),
    )
    title = "Who leads with fewer trials: reports that name one"
    return Table(("methods", *(f"{each} runs of a setting" for each in runs)), lines, title, experiments)
