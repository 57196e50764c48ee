"""Methods whose pace is known, so that a claim about it is true, false, or within noise."""

from dataclasses import dataclass

import numpy as np

from benchfw import CountedProblem, Smooth, hookimpl


class Slope(CountedProblem):
    """One number, which begins at 1, or elsewhere, and is best at 0."""

    def __init__(self, backend, rng, start: float = 1.0):
        self.backend, self.optimum, self._start = backend, np.zeros(1), start

    def start(self):
        return np.full(1, self._start)

    def value(self, params):
        return float(abs(params[0]))

    def grad(self, params):
        self._count(1)
        return params

    def project(self, params):
        return params

    def metrics(self, answer):
        return {"gap": self.value(answer)}


@dataclass(frozen=True)
class Shrink:
    """The gap falls by the factor exp(-pace) an iteration; `noise` is the spread of log(pace) over runs."""

    pace: float = 0.1
    noise: float = 0.02
    promise: float = 0.05
    solves = Smooth
    bounds = "gap"

    def bound(self, problem, iterations):
        return np.exp(-self.promise * iterations)

    def run(self, problem, rng):
        pace = self.pace * np.exp(self.noise * rng.standard_normal())
        answer = problem.start()
        while True:
            yield answer
            problem.grad(answer)
            answer = answer * np.exp(-pace)


@dataclass(frozen=True)
class Guess:
    """The value, off by `bias`, plus normal noise."""

    bias: float = 0.0
    scale: float = 1.0
    solves = Smooth
    estimates = "value"

    def draw(self, problem, rng):
        noise = self.scale * rng.standard_normal()
        return lambda params: problem.value(params) + self.bias + noise


@hookimpl
def register_problems(register):
    register("slope", Slope)


@hookimpl
def register_optimizers(register):
    register("shrink", Shrink)


@hookimpl
def register_estimators(register):
    register("guess", Guess)
