"""One good plugin of each kind."""

from dataclasses import dataclass

import numpy as np

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
        return self.grad_batch(params, self.backend.xp.arange(self.num_samples))

    def grad_batch(self, params, batch):
        self._count(batch.shape[0] / self.num_samples)
        moved = params - self._centres[batch]
        return (moved / (1 + (moved**2).sum(axis=1, keepdims=True)) ** 0.5).mean(axis=0)

    def project(self, params):
        return params / max(1.0, float((params @ params) ** 0.5) / 2)

    def metrics(self, answer):
        return {"objective": self._value(answer)}

    def _value(self, params):
        return float(((1 + ((params - self._centres) ** 2).sum(axis=1)) ** 0.5).mean())


@dataclass(frozen=True)
class Batch:
    """The mean gradient of `size` samples."""

    size: int = 8
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
class Again:
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
class Geometric:
    """P(n >= j) = (N/(N+1))^j for the mean N."""

    mean: float = 4.0
    """The mean degree."""

    def survival(self, degree, decay):
        return (self.mean / (self.mean + 1)) ** np.asarray(degree)

    def sample(self, rng, decay, size=None):
        uniforms = 1 - np.asarray(rng.random(size))
        found = np.floor(np.log(uniforms) / np.log(self.mean / (self.mean + 1))).astype(np.int64)
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


@hookimpl
def register_estimators(register):
    register("batch", Batch)
    register("shrinking", Shrinking)


@hookimpl
def register_optimizers(register):
    register("good-slide", Slide)
    register("good-walk", Walk)
    register("good-again", Again)
    register("good-calling", calling)


@hookimpl
def register_distributions(register):
    register("good-geometric", Geometric)


@hookimpl
def register_kernels(register):
    register(squares, lambda backend, rng, size: (rng.standard_normal(size),))
    register(total, lambda backend, rng, size: (rng.standard_normal(size),))
