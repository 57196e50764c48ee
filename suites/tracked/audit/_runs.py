"""`benchfw compare` on made-up runs: how often it is wrong, and how often it finds a slow-down."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from _rows import REPETITIONS, Case, Rng

from benchfw.provenance import Burst, Noise, Run
from benchfw.records import Budget, Ending, MethodKind, Outcome, Record, Result, Spec, Status, Trial
from benchfw.summary.compare import compare_runs

BURSTS = 20
LOOKS = (0, 30, 60, 90, 100, 110, 120, 130, 140, 150, 160, 170, 180, 190, 200, 250, 300)

# `compare` on made-up runs: 4 problems, 3 optimizers and 2 estimators each, 10 repetitions


@dataclass(frozen=True)
class Machine:
    """The noise of one run's times, and by how much which methods are slowed.

    `shared` is the spread from run to run of what all times of a method in a run share, `fails` the share of
    trials that break. Others' work makes times up to `busy` times as long as the CPU seconds. Costs are 1 %
    apart where `rare` is given, and 20 times as high in that share of the runs.
    """

    noise: float
    shared: float = 0.02
    outliers: float = 0.0
    slowed: float = 1.0
    which: str = ""
    fails: float = 0.0
    busy: float = 1.0
    rare: float | None = None

    def factor(self, rng: Rng, method: str) -> float:
        """Return by what a trial's times are multiplied."""
        slow = self.slowed if method.startswith(self.which) else 1.0
        return slow * float(
            np.exp(rng.normal(0, self.noise)) * (2.0 if rng.random() < self.outliers else 1.0)
        )


def made_up_run(
    rng: Rng, seed: int, machine: Machine, trials: Sequence[Trial] | None = None
) -> tuple[Run, list[Result]]:
    """Return a run whose data and randomness hang on the seed, and whose times on the machine."""
    results = []
    effects = {method: math.exp(rng.normal(0, machine.shared)) for method in "abcde"}
    for trial in trials or made_up_trials(seed):
        coordinates = [seed, *map(ord, trial.problem.use + trial.method.use), trial.repetition]
        own = np.random.default_rng(coordinates)
        pace = float(own.lognormal(0, 0.3)) * machine.factor(rng, trial.method.use + trial.problem.use)
        pace *= effects[trial.method.use]
        if trial.kind == "estimator":
            variance = float(own.lognormal(0, 0.1))
            metrics = {"variance": variance, "variance_std_error": 0.05 * variance, "mse": 1.1 * variance}
            records = [Record(name, 500, 500 * pace, 500, value) for name, value in metrics.items()]
        else:
            rate = float(own.normal(0.05, 0.005))
            records = [Record("gap", n, n * pace, n, math.exp(-rate * n)) for n in LOOKS]
        if machine.rare is not None:
            dearer = math.exp(rng.normal(0, 0.01)) * (20 if rng.random() < machine.rare else 1)
            records = [each._replace(cost=dearer * each.cost) for each in records]
        if machine.busy > 1:
            slow = float(rng.uniform(1, machine.busy))
            records = [
                each._replace(seconds=slow * each.seconds, cpu_seconds=each.seconds) for each in records
            ]
        outcome = Outcome(Status.DONE, Ending.ITERATIONS, "", tuple(records))
        if machine.fails and rng.random() < machine.fails:
            outcome = Outcome(Status.FAILED, Ending.FAULT, "it broke", tuple(records[:2]))
        results.append(Result(len(results), trial, outcome))
    loop = [0.001 * float(rng.uniform(1, machine.busy)) for _ in range(BURSTS if machine.busy > 1 else 0)]
    noise = Noise(tuple(Burst(float(k), seconds, 0.001, 0.001) for k, seconds in enumerate(loop)))
    return Run(seed, "made-up", "", Path(str(seed)), "", noise=noise), results


def made_up_trials(seed: int) -> Iterator[Trial]:
    for problem in "pqrs":
        for method in "abcde":
            kind: MethodKind = "optimizer" if method in "abc" else "estimator"
            specs = Spec(problem, {}, problem), Spec(method, {}, method)
            yield from (
                Trial(kind, *specs, "numpy", repetition, seed, Budget(iterations=300), {"gap": 1e-3})
                for repetition in range(REPETITIONS)
            )


def regressions(
    rng: Rng, before: Machine, after: Machine, *, same_seed: bool = True
) -> set[tuple[str, str, str]]:
    """Return (problem, method, quantity) of what `compare` calls regressed between two runs."""
    seed = int(rng.integers(2**31))
    other = seed if same_seed else seed + 1
    found = compare_runs(made_up_run(rng, seed, before), made_up_run(rng, other, after), 0.05)
    return {
        (row.cell.problem, row.cell.method, row.quantity)
        for row in found.rows
        if row.change.word == "regressed"
    }


def like_runs_differ(rng: Rng, machine: Machine, *, same_seed: bool) -> bool:
    return bool(regressions(rng, machine, machine, same_seed=same_seed))


def slow_down_is_found(rng: Rng, machine: Machine) -> bool:
    """Return whether the time to target of optimizer a on problem p is called regressed."""
    return ("p", "a", "seconds_to_target") in regressions(rng, machine, replace(machine, slowed=1.3))


def cost_has_not_changed(rng: Rng, rare: float, runs: int) -> bool:
    """Return whether the cost of one method is called unchanged; some runs of B are 20 times as costly."""
    first = next(made_up_trials(int(rng.integers(2**31))))
    trials = [replace(first, repetition=each) for each in range(runs)]
    sides = [made_up_run(rng, first.seed, Machine(0.03, rare=share), trials) for share in (0.0, rare)]
    rows = {row.quantity: row for row in compare_runs(*sides, 0.05).rows}
    return rows["cost_to_target"].change.word == "no change"


MACHINES = {
    "times 3 % apart": Machine(0.03),
    "times 5 % apart": Machine(0.05),
    "5 % apart, 1 in 20 doubled": Machine(0.05, outliers=0.05),
}


def comparisons() -> Iterator[Case]:
    for name, machine in MACHINES.items():
        for same, seeds in {True: "the same seed", False: "other seeds"}.items():
            differ = partial(like_runs_differ, machine=machine, same_seed=same)
            yield Case("A/A", f"{name}, {seeds}", differ, 0.0, 0.05)
    for fails in (0.1, 0.5):
        for same, seeds in {True: "the same seed", False: "other seeds"}.items():
            differ = partial(like_runs_differ, machine=Machine(0.03, fails=fails), same_seed=same)
            yield Case("A/A", f"{fails:.0%} of the trials fail, {seeds}", differ, 0.0, 0.05)
    for busy in (1.5, 3.0):
        differ = partial(like_runs_differ, machine=Machine(0.03, busy=busy), same_seed=True)
        yield Case("A/A", f"times up to {busy:g} times the CPU seconds", differ, 0.0, 0.05)
    slowed = {"": "all methods", "a": "one optimizer", "ap": "one optimizer on one problem"}
    for name, machine in MACHINES.items():
        for which, said in slowed.items():
            least = 0.90 if which != "ap" and not machine.outliers else 0.0
            found = partial(slow_down_is_found, machine=replace(machine, which=which))
            yield Case("30 % slower", f"{said}, {name}", found, least, 1.0)
    for runs in (10, 29, 40):
        found = partial(cost_has_not_changed, rare=0.1, runs=runs)
        yield Case("called no change", f"20 times the cost in 1 run of 10, {runs} runs", found, 0.0, 0.05)
    for runs in (10, 29, 40):
        found = partial(cost_has_not_changed, rare=0.0, runs=runs)
        yield Case("called no change", f"costs 1 % apart, {runs} runs", found, 0.0 if runs < 29 else 0.9, 1.0)
