"""How often the intervals hold what they promise, and how often `benchfw compare` is wrong.

`python suites/tracked/interval_coverage.py` prints the table of docs/statistics.md: the share of simulated
experiments in which a 95 % interval covers the truth, of A/A pairs of runs in which `compare` finds a
regression, and of pairs with a true slow-down in which it finds that one. A quarter of an hour on one core;
fixed seeds. Exit code 1 if a share is outside its limits.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from benchfw.analysis.censored import expected_running_time, median_time
from benchfw.analysis.compare import independent_difference, paired_difference
from benchfw.analysis.convergence import Curve
from benchfw.analysis.intervals import (
    Interval,
    censored_ratio_interval,
    median_interval,
    ratio_interval,
)
from benchfw.analysis.profiles import average_ranks
from benchfw.analysis.rates import rate_interval
from benchfw.records import Budget, Ending, MethodKind, Outcome, Record, Result, Spec, Status, Trial
from benchfw.runs import Run
from benchfw.summary.compare import compare_runs

Rng = np.random.Generator
REPETITIONS = 10
LOOKS = (0, 30, 60, 90, 100, 110, 120, 130, 140, 150, 160, 170, 180, 190, 200, 250, 300)


@dataclass(frozen=True)
class Case:
    """One line of the table: the share of experiments in which something holds, and what it should be."""

    group: str
    name: str
    holds: Callable[[Rng], bool]
    least: float = 0.93
    most: float = 0.97


def covers(interval: Interval, truth: float) -> bool:
    return interval.low <= truth <= interval.high


# ratios of 10 repetitions: both methods share the data's own factor


def pairs(rng: Rng, truth: float, noise: float = 0.1) -> tuple[np.ndarray, np.ndarray]:
    data = rng.normal(0, 0.5, REPETITIONS)
    below, above = np.exp(data + rng.normal(0, noise, (2, REPETITIONS)))
    return truth * above, below


def ratio_covers(rng: Rng) -> bool:
    return covers(ratio_interval(*pairs(rng, 2.3)), 2.3)


def paired_difference_covers(rng: Rng) -> bool:
    above, below = pairs(rng, 1.15)
    return covers(paired_difference(below, above).ratio, 1.15)


def independent_difference_covers(rng: Rng) -> bool:
    below, above = rng.lognormal(0, 0.1, REPETITIONS), 1.15 * rng.lognormal(0, 0.1, REPETITIONS)
    return covers(independent_difference(below, above).ratio, 1.15)


# times to a target: log-normal with median 1; a run has ended by 2, or at a time of its own


def times(rng: Rng, limit: float | None) -> tuple[np.ndarray, np.ndarray]:
    needed = rng.lognormal(0, 0.7, REPETITIONS)
    limits = rng.uniform(0.8, 4.0, REPETITIONS) if limit is None else np.full(REPETITIONS, limit)
    return np.minimum(needed, limits), needed <= limits


def mean_below(horizon: float, sigma: float = 0.7) -> float:
    """Return E min(T, horizon) of the log-normal law."""
    below = lambda value: math.erfc(-value / math.sqrt(2)) / 2  # noqa: E731
    z = math.log(horizon) / sigma
    return math.exp(sigma**2 / 2) * below(z - sigma) + horizon * (1 - below(z))


def median_covers(rng: Rng) -> bool:
    ends, reached = times(rng, 2.0)
    return covers(median_interval(np.where(reached, ends, np.inf)), 1.0)


def median_time_covers(rng: Rng, limit: float | None) -> bool:
    return covers(median_time(*times(rng, limit)), 1.0)


def running_time_covers(rng: Rng) -> bool:
    successes = math.erfc(-math.log(2.0) / 0.7 / math.sqrt(2)) / 2
    return covers(expected_running_time(*times(rng, 2.0)), mean_below(2.0) / successes)


def time_ratio_covers(rng: Rng) -> bool:
    above, below = pairs(rng, 1.5, noise=0.4)
    above[above > 3.0], below[below > 3.0] = np.inf, np.inf
    return covers(censored_ratio_interval(above, below), 1.5)


# rates and ranks


def rate_covers(rng: Rng) -> bool:
    steps = np.unique(np.geomspace(1, 1000, 60).round())
    walks = np.cumsum(rng.normal(0, 0.1, (REPETITIONS, len(steps))), axis=1)
    curves = [Curve(steps, steps, steps, np.exp(walk) / steps) for walk in walks]
    return covers(rate_interval(curves, "sublinear"), -1.0)


def like_methods_are_ranked_apart(rng: Rng) -> bool:
    found = average_ranks(rng.random((10, 5)))
    return found is not None and found.probability <= 0.05


# `compare` on made-up runs: 4 problems, 3 optimizers and 2 estimators each, 10 repetitions


@dataclass(frozen=True)
class Machine:
    """The noise of one run's times, and by how much which methods are slowed.

    `shared` is the spread from run to run of what all times of a method in a run share.
    """

    noise: float
    shared: float = 0.02
    outliers: float = 0.0
    slowed: float = 1.0
    which: str = ""

    def factor(self, rng: Rng, method: str) -> float:
        """Return by what a trial's times are multiplied."""
        slow = self.slowed if method.startswith(self.which) else 1.0
        return slow * float(
            np.exp(rng.normal(0, self.noise)) * (2.0 if rng.random() < self.outliers else 1.0)
        )


def made_up_run(rng: Rng, seed: int, machine: Machine) -> tuple[Run, list[Result]]:
    """Return a run whose data and randomness hang on the seed, and whose times on the machine."""
    results = []
    effects = {method: math.exp(rng.normal(0, machine.shared)) for method in "abcde"}
    for trial in made_up_trials(seed):
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
        outcome = Outcome(Status.DONE, Ending.ITERATIONS, "", tuple(records))
        results.append(Result(len(results), trial, outcome))
    return Run(seed, "made-up", "", Path(str(seed)), ""), results


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


def cases() -> Iterator[Case]:
    yield Case("ratio", "10 pairs, t of logs", ratio_covers)
    yield Case("ratio", "compare, 10 pairs", paired_difference_covers)
    yield Case("ratio", "compare, 10 and 10 unpaired", independent_difference_covers)
    yield Case("time to target", "median, never = infinity", median_covers)
    for name, limit in {"one end for all": 2.0, "ends differ": None}.items():
        yield Case("time to target", f"Kaplan-Meier median; {name}", partial(median_time_covers, limit=limit))
    yield Case("time to target", "expected running time", running_time_covers)
    yield Case("time to target", "ratio of censored pairs", time_ratio_covers)
    yield Case("rate", "slope of 10 correlated curves", rate_covers)
    # 5 % and two standard errors of a thousand experiments
    yield Case("errors", "ranks: 5 equal methods found different", like_methods_are_ranked_apart, 0.0, 0.065)


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
    slowed = {"": "all methods", "a": "one optimizer", "ap": "one optimizer on one problem"}
    for name, machine in MACHINES.items():
        for which, said in slowed.items():
            least = 0.90 if which != "ap" and not machine.outliers else 0.0
            found = partial(slow_down_is_found, machine=replace(machine, which=which))
            yield Case("30 % slower", f"{said}, {name}", found, least, 1.0)


def share(case: Case, experiments: int) -> float:
    """Return the share of experiments in which the case holds; each has a seed of its own."""
    return float(np.mean([case.holds(np.random.default_rng([20, number])) for number in range(experiments)]))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--experiments", type=int, default=1000)
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--only", default="", help="A part of the group or the name.")
    asked = parser.parse_args()
    plan = [(case, asked.experiments) for case in cases()] + [(case, asked.pairs) for case in comparisons()]
    missed = 0
    print("| what | how | share | asked for |\n|---|---|---|---|")
    for case, experiments in plan:
        if asked.only in f"{case.group} {case.name}":
            found = share(case, experiments)
            within = case.least <= found <= case.most
            missed += not within
            asked_for = "—" if (case.least, case.most) == (0, 1) else f"{case.least:.1%} to {case.most:.1%}"
            remark = "" if within else ": missed"
            print(
                f"| {case.group} | {case.name} | {found:.1%} | {asked_for}{remark} |",
                flush=True,
            )
    sys.exit(missed > 0)


if __name__ == "__main__":
    main()
