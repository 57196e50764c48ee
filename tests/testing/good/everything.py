"""One good plugin of each kind but a backend; broken.toml breaks each in turn."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

import benchfw
from benchfw import Claims, CountedProblem, Estimator, FiniteSum, Smooth, from_callback, hookimpl
from benchfw.kernels import kernel, namespace


class Valley(CountedProblem):
    """A smooth convex function over a ball: a mean of logarithms, from a corner.

    Parameters:
      size: how many logarithms.
    """

    cost_unit = "gradients"

    def __init__(self, backend, rng, *, size: int = 8):
        self.backend, self.num_samples = backend, size
        self._centres = rng.standard_normal((size, 3))

    def start(self):
        return self.backend.xp.full(3, 0.5)

    def value(self, params):
        self._count(1.0)
        return self._value(params)

    def grad(self, params):
        self._count(1.0)
        return self._slopes(params, self._centres).mean(axis=0)

    def grad_batch(self, params, batch):
        self._count(batch.shape[0] / self.num_samples)
        return self._slopes(params, self._centres[batch]).mean(axis=0)

    def project(self, params):
        length = float((params @ params) ** 0.5)
        return params / max(1.0, length / 2)

    def metrics(self, answer):
        return {"objective": self._value(answer)}

    def _value(self, params):
        return float(((1 + ((params - self._centres) ** 2).sum(axis=1)) ** 0.5).mean())

    def _slopes(self, params, centres):
        moved = params - centres
        return moved / (1 + (moved**2).sum(axis=1, keepdims=True)) ** 0.5


class Tours(benchfw.Problem, Protocol):
    """Cities, and the length of a tour through them."""

    def length(self, tour): ...


class Tour:
    """An order of the cities."""

    def __init__(self, order):
        self.order = order


class Salesman(CountedProblem):
    """Random cities."""

    cost_unit = "tours"

    def __init__(self, backend, rng):
        self.backend, self.places = backend, backend.to_numpy(rng.standard_normal((12, 2)))

    def length(self, tour):
        self._count(1)
        return self._length(tour)

    def _length(self, tour):
        places = self.places[tour.order]
        return float(np.linalg.norm(places - np.roll(places, 1, axis=0), axis=1).sum())

    def metrics(self, answer):
        return {"length": self._length(answer)}


@dataclass(frozen=True)
class Batch:
    """The mean gradient of `size` samples."""

    size: int = 32
    """Samples per draw."""

    solves = FiniteSum
    estimates = "grad"
    claims = Claims(unbiased=True, averages="size")

    def draw(self, problem, rng):
        batch = rng.integers(problem.num_samples, size=self.size)
        return lambda params: problem.grad_batch(params, batch)


@dataclass(frozen=True)
class Shrinking:
    """The value with a bias of 1/`samples`, as it says, and a little noise."""

    samples: int = 4
    """The bias is one over this."""

    solves = Smooth
    estimates = "value"
    claims = Claims(unbiased=False, bias_order=("samples", 1.0))

    def draw(self, problem, rng):
        noise = 0.01 * rng.standard_normal()
        return lambda params: problem.value(params) + 1 / self.samples + noise


@dataclass(frozen=True)
class Slide:
    """Projected gradient descent of a given `step`."""

    step: float = 0.1
    """Step length."""

    solves = Smooth

    def run(self, problem, rng):
        x = problem.start()
        while True:
            yield x
            x = problem.project(x - self.step * problem.grad(x))


@dataclass(frozen=True)
class Walk:
    """Steps along what an estimator draws, which has no default."""

    estimator: Estimator
    """What draws the gradient."""

    solves = Smooth
    check_with = ({"estimator": {"use": "batch"}},)

    def run(self, problem, rng):
        x = problem.start()
        while True:
            yield x
            x = problem.project(x - 0.1 * self.estimator.draw(problem, rng)(x))


@dataclass(frozen=True)
class Solver:
    """Gradient descent from the start, of so many steps as it is asked for."""

    solves = Smooth

    def solve(self, problem, rng, effort):
        x = problem.start()
        for _ in range(effort):
            x = problem.project(x - 0.1 * problem.grad(x))
        return x


@from_callback
def calling(problem, rng, callback):
    """Gradient descent without a projection, in one array."""
    x = problem.start()
    while True:
        x = x - 0.1 * problem.grad(x)
        callback(x)


@dataclass(frozen=True)
class Reversing:
    """Reverses a piece of the tour where that makes it shorter."""

    solves = Tours

    def run(self, problem, rng):
        best = Tour(list(range(12)))
        value = problem.length(best)
        while True:
            yield best
            first, last = sorted((rng.integers(12), rng.integers(12)))
            order = [*best.order[:first], *best.order[first:last][::-1], *best.order[last:]]
            length = problem.length(Tour(order))
            if length < value:
                best, value = Tour(order), length


@dataclass(frozen=True)
class Law:
    """P(n >= j) = (N/(N+1))^j for the mean N."""

    mean: float = 4.0
    """The mean degree."""

    @property
    def ratio(self):
        return self.mean / (self.mean + 1)

    def survival(self, degree, decay):
        return self.ratio ** np.asarray(degree)

    def sample(self, rng, decay, size=None):
        uniforms = 1 - np.asarray(rng.random(size))
        found = np.floor(np.log(uniforms) / np.log(self.ratio)).astype(np.int64)
        return int(found) if size is None else found


@kernel("squares", counts=lambda x: (2.0 * x.size, 8.0 * x.size))
def squares(x):
    """Return x²."""
    return x * x


@squares.on("numpy")
def _squares_numpy(x):
    return np.square(x)


@kernel("total")
def total(x):
    """Return the sum of x."""
    return namespace(x).sum(x)


@hookimpl
def register_problems(register):
    register("valley", Valley)
    register("salesman", Salesman)


@hookimpl
def register_estimators(register):
    register("batch", Batch)
    register("shrinking", Shrinking)


@hookimpl
def register_optimizers(register):
    register("slide", Slide)
    register("walk", Walk)
    register("solver", Solver)
    register("calling", calling)
    register("reversing", Reversing)


@hookimpl
def register_distributions(register):
    register("law", Law)


@hookimpl
def register_kernels(register):
    register(squares, lambda backend, rng, size: (rng.standard_normal(size),))
    register(total, lambda backend, rng, size: (rng.standard_normal(size),))
