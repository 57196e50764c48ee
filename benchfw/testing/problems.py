"""The small problems that methods meet in checks: how each is built, and three whose answers are known.

Those three are least squares f(x) = |Ax - b|²/(2n) with b made such that a chosen x is the optimum. Only
`grad`, `value`, `grad_batch` and their kin see the data: a method that looks elsewhere finds nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchfw.backends import Backend, Rng, get_backend
from benchfw.contract import Array, Constants, clip_gap
from benchfw.counting import CountedProblem
from benchfw.kernels import namespace
from benchfw.measure.files import begin_files
from benchfw.testing.check import restart_limit

SAMPLES = 60
SIZE = 6
DATA_SEED = 1201
VALUE_COST = 0.5  # one product with the data, where a gradient takes two


@dataclass(frozen=True)
class Effort:
    """How hard checks look: processor time a problem for a claim about chance, steps of an optimizer.

    A check that spends more than `timeout` seconds on one problem is stopped, and has failed.
    """

    seconds: float = 3.0
    iterations: int = 300
    timeout: float = 60.0


@dataclass(frozen=True)
class Setting:
    """A small problem by name: `build()` makes it anew from the same data, on any backend.

    `produces` is its class, where that is known before it is built.
    """

    name: str
    make: Callable[[Backend, Rng], Any]
    built_in: bool = False
    produces: type | None = None

    def build(self, backend: Backend | None = None, seed: int = DATA_SEED) -> Any:
        """Return the problem, on the host unless a backend is given."""
        restart_limit()
        begin_files()
        backend = backend or get_backend("numpy")
        return self.make(backend, backend.rng(seed))

    def with_options(self, **options: Any) -> Setting:
        """Return a built-in problem with other options."""
        return Setting(self.name, partial(self.make, **options), self.built_in)


class Quadratic(CountedProblem):
    """A strongly convex quadratic: a finite sum of 60 squares in 6 variables.

    With `interpolated` every sample has its minimum at the optimum too; with `settled` it is also the start.
    """

    cost_unit = "gradients"
    quadratic = True

    def __init__(
        self,
        backend: Backend,
        rng: Rng,
        *,
        interpolated: bool = False,
        settled: bool = False,
        dtype: Any = None,
    ) -> None:
        self.backend = backend
        self.num_samples = SAMPLES
        rows = 1 + 0.5 * rng.standard_normal((SAMPLES, SIZE))  # alike, so that batches vary little
        self._xp = xp = namespace(rows)
        self.optimum, slope = self._minimum(rng, interpolated=interpolated)
        hessian = rows.T @ rows / SAMPLES
        # A'b/n = H x* - slope makes `slope` the gradient at x*
        targets = rows @ (self.optimum - xp.linalg.solve(hessian, slope[:, None])[:, 0])
        if not interpolated:
            noise = 0.3 * rng.standard_normal(SAMPLES)
            along = xp.linalg.solve(hessian, (rows.T @ noise)[:, None])[:, 0] / SAMPLES
            targets = targets + noise - rows @ along  # noise that no x explains: the optimum stays
        spectrum = xp.linalg.eigvalsh(hessian)
        dtype = dtype or rows.dtype
        start = self.optimum if settled else xp.zeros_like(self.optimum)
        self.optimum, self._start = (xp.astype(each, dtype) for each in (self.optimum, start))
        self.constants = Constants(
            smoothness=float(spectrum[-1]),
            sample_smoothness=float(xp.max(xp.sum(rows * rows, axis=1))),
            strong_convexity=float(spectrum[0]),
            distance=float(xp.linalg.vector_norm(self._start - self.optimum)),
        )
        self._oracles = _Oracles(xp, xp.astype(rows, dtype), xp.astype(targets, dtype))
        self._least = self._objective(self.optimum)

    def _minimum(self, rng: Rng, *, interpolated: bool) -> tuple[Array, Array]:  # noqa: ARG002 - others need it
        """Return the optimum and the gradient there."""
        optimum = 1.0 + 0.5 * rng.standard_normal(SIZE)
        return optimum, self._xp.zeros_like(optimum)

    def start(self) -> Array:
        return self._xp.asarray(self._start, copy=True)

    def value(self, params: Array) -> float:
        """Return f."""
        self._count(VALUE_COST)
        return self._oracles.objective(params)

    def grad(self, params: Array) -> Array:
        """Return ∇f, (6,)."""
        self._count(1.0)
        return self._oracles.grad(params)

    def grad_batch(self, params: Array, batch: Array) -> Array:
        """Return the mean gradient of the samples in `batch`, (6,)."""
        self._count(batch.shape[0] / self.num_samples)
        return self._oracles.grad(params, batch)

    def project(self, params: Array) -> Array:
        """Return the parameters: every point is feasible."""
        return params

    def metrics(self, answer: Array) -> Mapping[str, float]:
        """Return the gap F(x) - F*, the objective F(x) and the distance |x - x*|."""
        distance = float(self._xp.linalg.vector_norm(answer - self.optimum))
        objective = self._objective(answer)
        gap = clip_gap(objective - self._least, self._least)
        return {"gap": gap, "objective": objective, "distance": distance}

    def _objective(self, params: Array) -> float:
        return self._oracles.objective(params)


class Box(Quadratic):
    """The quadratic over -1 <= x <= 1, with its minimum on two of the box's faces."""

    quadratic = False
    box = (-1.0, 1.0)

    def _minimum(self, rng: Rng, *, interpolated: bool) -> tuple[Array, Array]:  # noqa: ARG002
        optimum = self.backend.asarray([1.0, -1.0, 0.8, 0.6, 0.4, 0.5])
        slope = self.backend.asarray([-0.5, 0.5, 0.0, 0.0, 0.0, 0.0])  # downhill is outside
        return optimum, self._xp.zeros_like(slope) if interpolated else slope

    def project(self, params: Array) -> Array:
        """Return the nearest point of the box."""
        return self._xp.clip(params, *self.box)

    def metrics(self, answer: Array) -> Mapping[str, float]:
        """Return the same; the gap of a point outside of the box is infinite."""
        outside = float(self._xp.max(self._xp.abs(answer))) > self.box[1]
        return {**super().metrics(answer), **({"gap": math.inf} if outside else {})}


class Sparse(Quadratic):
    """The quadratic plus w|x|₁, with a minimum of which half the entries are 0."""

    quadratic = False
    penalized = True
    weight = 0.2

    def _minimum(self, rng: Rng, *, interpolated: bool) -> tuple[Array, Array]:
        xp = self._xp
        if interpolated:  # all samples and the penalty agree only on 0
            return xp.zeros(SIZE), xp.zeros(SIZE)
        optimum = self.backend.asarray([1.0, 1.5, 0.7, 0.0, 0.0, 0.0])
        inside = self.weight * (rng.random(3) - 0.5)
        return optimum, xp.concat([-self.weight * xp.sign(optimum[:3]), inside])

    def prox(self, params: Array, step: float) -> Array:
        """Return the soft threshold at step · w."""
        xp = self._xp
        return xp.sign(params) * xp.clip(xp.abs(params) - step * self.weight, 0.0, None)

    def penalty(self, params: Array) -> float:
        """Return w|x|₁."""
        return self.weight * float(self._xp.sum(self._xp.abs(params)))

    def _objective(self, params: Array) -> float:
        return self._oracles.objective(params) + self.penalty(params)


class _Oracles:
    """f and its gradients; the data are known to these functions alone."""

    def __init__(self, xp: Any, rows: Array, targets: Array) -> None:
        def objective(params: Array) -> float:
            residuals = rows @ params - targets
            return float(xp.sum(residuals * residuals)) / (2 * SAMPLES)

        def grad(params: Array, batch: Array | None = None) -> Array:
            some = rows if batch is None else xp.take(rows, batch, axis=0)
            known = targets if batch is None else xp.take(targets, batch)
            return some.T @ (some @ params - known) / some.shape[0]

        self.objective, self.grad = objective, grad


BUILT_IN = (Quadratic, Box, Sparse)
