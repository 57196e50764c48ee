"""A problem, an estimator and optimizers that are easy to predict; some of them break."""

import ctypes
import os
import time
from dataclasses import dataclass

import numpy as np

from benchfw import Claims, Composite, CountedProblem, Smooth, hookimpl


class Bowl(CountedProblem):
    """Half the squared distance to a random point."""

    def __init__(self, backend, rng, size: int = 5, pause: float = 0.0):
        self.backend = backend
        self.optimum = rng.standard_normal(size)
        self.pause = pause

    def start(self):
        return self.backend.xp.zeros_like(self.optimum)

    def value(self, params):
        return float(((params - self.optimum) ** 2).sum()) / 2

    def grad(self, params):
        self._count(1)
        return params - self.optimum

    def project(self, params):
        return params

    def metrics(self, answer):
        time.sleep(self.pause)
        return {"gap": self.value(answer)}


@dataclass(frozen=True)
class Noisy:
    """The gradient plus noise."""

    scale: float = 1.0
    solves = Smooth
    estimates = "grad"
    claims = Claims(unbiased=True)

    def draw(self, problem, rng):
        noise = self.scale * rng.standard_normal(problem.optimum.size)
        return lambda params: problem.grad(params) + noise


@dataclass(frozen=True)
class Slide:
    """Gradient descent, with a nap in every step."""

    step: float = 0.5
    """Step length."""
    nap: float = 0.0
    solves = Smooth

    def __post_init__(self):
        if self.step <= 0:
            raise ValueError(f"step must be positive, got {self.step}")

    def run(self, problem, rng):
        answer = problem.start()
        while True:
            yield answer
            time.sleep(self.nap)
            answer = answer - self.step * problem.grad(answer)


@dataclass(frozen=True)
class Needy:
    """Needs a proximal operator."""

    solves = Composite

    def run(self, problem, rng):
        yield problem.start()


@dataclass(frozen=True)
class Faulty:
    """Gives two answers, the second after a nap, then breaks."""

    how: str = "raise"
    nap: float = 0.0
    solves = Smooth

    def run(self, problem, rng):
        answer = problem.start()
        yield answer
        time.sleep(self.nap)
        yield answer - 0.5 * problem.grad(answer)
        match self.how:
            case "raise":
                raise RuntimeError("third time unlucky")
            case "exit":
                os._exit(3)
            case "segfault":
                ctypes.string_at(0)
            case "hang":
                time.sleep(600)
            case "nan":
                yield answer * float("nan")
            case "memory":
                kept = []
                while True:
                    kept.append(np.ones(10_000_000))


@hookimpl
def register_problems(register):
    register("bowl", Bowl)


@hookimpl
def register_estimators(register):
    register("noisy", Noisy)


@hookimpl
def register_optimizers(register):
    register("slide", Slide)
    register("needy", Needy)
    register("faulty", Faulty)
