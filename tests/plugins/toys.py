"""Toys: a bowl, a noisy gradient, a slide."""

from dataclasses import dataclass
from typing import Literal

import toy_helper

from benchfw import (
    Claims,
    Composite,
    CountedProblem,
    DatasetName,
    Distribution,
    Estimator,
    FiniteSum,
    NonNegative,
    Smooth,
    hookimpl,
)


class Bowl(CountedProblem):
    """Half the squared distance to a random centre."""

    cost_unit = "slopes"

    def __init__(self, backend, rng, size: int = 2, dataset: DatasetName = ""):
        self.backend = backend
        self.optimum = rng.standard_normal(size)

    def start(self):
        return self.backend.xp.zeros_like(self.optimum)

    def value(self, params):
        self._count(1)
        return float(((params - self.optimum) ** 2).sum()) / 2 * toy_helper.FACTOR

    def grad(self, params):
        self._count(1)
        return params - self.optimum

    def project(self, params):
        return params

    def metrics(self, answer):
        return {"gap": self.value(answer)}


@dataclass(frozen=True)
class Noisy:
    """The gradient plus noise."""

    scale: NonNegative = 1.0
    distribution: Distribution | None = None
    solves = Smooth
    estimates = "grad"
    claims = Claims(unbiased=True)

    def draw(self, problem, rng):
        noise = self.scale * rng.standard_normal(problem.optimum.shape)
        return lambda params: problem.grad(params) + noise


@dataclass(frozen=True)
class Batched(Noisy):
    """Asks for more than a bowl has."""

    solves = FiniteSum


@dataclass(frozen=True)
class Slide:
    """Gradient descent."""

    step: float = 0.5
    mode: Literal["fast", "slow"] = "fast"
    layers: tuple[int, ...] = ()
    estimator: Estimator | None = None
    solves = Smooth

    def __post_init__(self):
        if self.step <= 0:
            raise ValueError(f"step must be positive, got {self.step}")

    def run(self, problem, rng):
        x = problem.start()
        while True:
            yield x
            slope = self.estimator.draw(problem, rng)(x) if self.estimator else problem.grad(x)
            x = x - self.step * slope


@dataclass(frozen=True)
class Needy(Slide):
    """Asks for a proximal operator."""

    solves = Composite


@dataclass(frozen=True)
class Fixed:
    """Always cuts at one degree."""

    mean: int = 3


@hookimpl
def register_problems(register):
    register("bowl", Bowl)


@hookimpl
def register_estimators(register):
    register("noisy", Noisy)
    register("batched", Batched)


@hookimpl
def register_optimizers(register):
    register("slide", Slide)
    register("needy", Needy)


@hookimpl
def register_distributions(register):
    register("fixed", Fixed)
