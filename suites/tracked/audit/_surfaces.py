"""Methods whose response to their parameters is known, tuned and judged by the code of `benchfw run`.

The log of what a run takes is that of its setting, plus what the data of the run do to all methods and to
this one, plus noise. Tuners propose, attempts are scored and chosen from, and a summary is made of results in
memory.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from _laws import Rng

from benchfw.provenance import Environment, Run
from benchfw.records import Budget, Ending, Outcome, Record, Result, Spec, Status, Trial, change
from benchfw.search import Log, Tuning, settle
from benchfw.summary.attempts import Aim, Attempt, attempt_of, choose
from benchfw.summary.histories import Reader
from benchfw.summary.model import Summary
from benchfw.summary.summarize import summarize
from benchfw.tuning.searches import Search
from benchfw.tuning.tuners import Setting, Sobol

TARGET = {"gap": 0.1}
SPACE = ((-2.0, 2.0),)  # decades
LONGEST = 3.0  # the log of what a run takes at most, about 20 times as long as the best


@dataclass(frozen=True)
class Noise:
    """The standard deviations of logs: of data, the same for all methods, of a method on data, of a run.

    On half of the data a method takes `clusters` longer, as a logarithm.
    """

    data: float = 0.0
    method: float = 0.0
    run: float = 0.1
    clusters: float = 0.0


@dataclass(frozen=True)
class Simulated:
    """A method: the log of what it takes is `floor` at the best setting, and a parabola around it.

    Parameters are steps in a space, with the optimum in decades from 1; runs with the first of them beyond
    `edge` diverge. Without spaces it is run at its optimum.
    """

    curvature: float = 0.0
    optimum: tuple[float, ...] = (0.0,)
    spaces: tuple[tuple[float, float], ...] = ()
    floor: float = 0.0
    edge: float = math.inf

    @property
    def params(self) -> dict[str, Log]:
        """The search spaces, in decades."""
        return {f"step{each}": Log(10.0**low, 10.0**high) for each, (low, high) in enumerate(self.spaces)}

    def log(self, setting: Setting) -> float:
        """Return the log of what a setting takes in the median, infinite where it diverges."""
        places = [math.log10(setting[path]) for path in self.params]
        if places and places[0] > self.edge:
            return math.inf
        excess = sum((place - best) ** 2 for place, best in zip(places, self.optimum, strict=False))
        return self.floor + self.curvature * excess


def draw_surface(rng: Rng) -> Simulated:
    """Return a method whose best step, sensitivity and largest stable step are drawn."""
    optimum = float(np.clip(rng.normal(0, 0.4), -1, 1))
    curvature, beyond = math.exp(rng.normal(0, 0.7)), rng.exponential(0.7)
    return Simulated(curvature, (optimum,), SPACE, edge=optimum + 0.1 + beyond)


@dataclass
class World:
    """Runs of some methods: the data of a repetition are the same for all of them, and for all settings."""

    rng: Rng
    methods: Mapping[str, Simulated]
    noise: Noise
    _effects: dict[tuple[int, int, str], float] = field(default_factory=dict)

    def result(self, trial: Trial, number: int = 0) -> Result:
        """Return a run."""
        name = trial.method.use
        log = self.methods[name].log(trial.method.params)
        log += self._effect(trial, "", self.noise.data) + self._effect(trial, name, self.noise.method)
        log += self.rng.normal(0, self.noise.run)
        return Result(number, trial, outcome_of(log))

    def _effect(self, trial: Trial, name: str, spread: float) -> float:
        place = trial.tuning, trial.repetition, name
        if place not in self._effects:
            self._effects[place] = self.rng.normal(0, spread)
            if name and self.noise.clusters:
                self._effects[place] += self.noise.clusters * self.rng.integers(2)
        return self._effects[place]


def outcome_of(log: float) -> Outcome:
    """Return how a run ends that takes so much, in a unit of a hundred thousand iterations."""
    if math.isinf(log):
        records = (Record("gap", 0, 0.0, 0.0, 1.0), Record("gap", 10, 1e-5, 10.0, 1e9))
        return Outcome(Status.DIVERGED, Ending.NOT_FINITE, records=records)
    last = max(2, round(1e5 * math.exp(min(log, LONGEST))))
    if log > LONGEST:
        gaps = {0: 1.0, last: 0.1 + 0.01 * (log - LONGEST)}
        status, ending = Status.DONE, Ending.ITERATIONS
    else:
        gaps = {0: 1.0, last - 1: 0.11, last: 0.05}
        status, ending = Status.REACHED, Ending.TARGET
    records = tuple(Record("gap", n, n * 1e-6, float(n), gap) for n, gap in gaps.items())
    return Outcome(status, ending, records=records)


@dataclass(frozen=True)
class Judged:
    """What a report finds, and by how much the log of each method's chosen setting is above the first's."""

    summary: Summary
    effects: Mapping[str, float]


def first_trial(name: str, method: Simulated) -> Trial:
    """Return a trial with search spaces in it."""
    spec = Spec(name, method.params, name)
    return Trial("optimizer", Spec("p", {}, "p"), spec, "numpy", 0, 1, Budget(iterations=10**9), TARGET)


class Tried(NamedTuple):
    """What a tuning tried, in order, and the runs of each setting."""

    attempts: list[Attempt]
    runs: list[list[Result]]


def tune(world: World, name: str, tuning: Tuning, seed: int = 0) -> Tried:
    """Return what the tuning of a method tries; methods with equal spaces try the same settings."""
    first = first_trial(name, world.methods[name])
    text = json.dumps({path: each.table for path, each in first.method.params.items()})
    own = np.random.default_rng([seed, 1, *map(ord, text)]).integers(2**63)
    aim = Aim.of(tuning.metric, TARGET)
    search = Search(first, Sobol(), int(own), tuning, aim)
    reader, runs = Reader(), []
    while settings := search.ask():
        for setting in settings:
            trial = search.trial(setting)
            some = [world.result(change(trial, repetition=each)) for each in range(tuning.repetitions)]
            search.tell(attempt_of(setting, [*map(reader.read, some)], aim))
            runs.append(some)
    return Tried(search.attempts, runs)


def judge(world: World, tuning: Tuning, runs: int) -> Judged:
    """Tune every method that has something to tune, run what was chosen on fresh data, and summarize."""
    seed = int(world.rng.integers(2**31))
    results: list[Result] = []
    verdict: list[Result] = []
    logs = {}
    for name, method in world.methods.items():
        first = first_trial(name, method)
        chosen: Setting = {}
        if method.spaces:
            tried = tune(world, name, tuning, seed)
            results += [run for some in tried.runs for run in some]
            chosen = tried.attempts[choose(tried.attempts)].setting
        settled = change(first, method=settle(first.method, chosen))
        verdict += [world.result(change(settled, repetition=each)) for each in range(runs)]
        logs[name] = method.log(chosen)
    return _judged(world, tuning, [*results, *verdict], logs)


def judge_naively(world: World, trials: int, runs: int) -> Judged:
    """Report the best row of each method's sweep, on the very runs that it is best in."""
    seed = int(world.rng.integers(2**31))
    results: list[Result] = []
    logs = {}
    for name, method in world.methods.items():
        first = first_trial(name, method)
        if method.spaces:
            tried = tune(world, name, Tuning(trials=trials, repetitions=runs), seed)
            best = choose(tried.attempts)
            results += [replace(each, trial=change(each.trial, tuning=0)) for each in tried.runs[best]]
            logs[name] = method.log(tried.attempts[best].setting)
        else:
            some = (world.result(change(first, tuning=1, repetition=each)) for each in range(runs))
            results += [replace(each, trial=change(each.trial, tuning=0)) for each in some]
            logs[name] = method.log({})
    return _judged(world, Tuning(), results, logs)


def _judged(world: World, tuning: Tuning, results: list[Result], logs: Mapping[str, float]) -> Judged:
    base = next(iter(logs.values()))
    summary = summarize(_run(world, tuning), _numbered(results), figures=False)
    return Judged(summary, {name: each - base for name, each in logs.items()})


def _numbered(results: list[Result]) -> list[Result]:
    return [replace(each, id=number) for number, each in enumerate(results)]


def _run(world: World, tuning: Tuning) -> Run:
    spaces = {
        name: {path: each.table for path, each in method.params.items()}
        for name, method in world.methods.items()
        if method.spaces
    }
    told = {"metric": tuning.metric, "spaces": spaces}
    return Run(1, "made-up", "", Path("made-up"), "", environment=Environment(tuning=told))
