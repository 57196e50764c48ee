"""A kernel machine on random features that are drawn once: a linear model, for any method of a finite sum."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from benchfw import Array, Backend, BenchfwError, Constants, Optimizer, Rng
from benchfw_kernelmachines.features import FeatureKind, get_frequencies
from benchfw_kernelmachines.oracles import Batch, Frequencies, KernelRisk
from benchfw_kernelmachines.predictor import FeaturePredictor

AT_A_TIME = 4096  # rows of a pass over all of them


@dataclass(frozen=True)
class FixedFeatures:
    """f(x) = z(x)'w with z = [cos ω'x, sin ω'x]/√m: minimize λ/2 |w|² + mean ℓ(f(x_i), y_i) over w (2m, C).

    The m frequencies are the first block of `frequencies`. The z(x_i) are found at the first gradient and
    kept if they need at most `memory` bytes; if not they are made anew for each batch. |z(x)| = 1.
    """

    problem: KernelRisk
    frequencies: Frequencies
    memory: float

    @property
    def backend(self) -> Backend:
        """Where the rows are."""
        return self.problem.backend

    @property
    def num_samples(self) -> int:
        """The number of rows."""
        return self.problem.num_samples

    @property
    def cost(self) -> float:
        """What the problem has counted."""
        return self.problem.cost

    @cached_property
    def constants(self) -> Constants:
        """Lipschitz constants, that of the whole with the covariance in place of its features."""
        bend, penalty = self._loss_smoothness, self.problem.penalty
        whole = bend * self.problem.top_eigenvalue() + penalty
        return Constants(smoothness=whole, sample_smoothness=bend + penalty)

    @property
    def _loss_smoothness(self) -> float:
        loss = self.problem.loss
        if loss.smoothness is None:
            raise BenchfwError(
                f"the loss '{loss.name}' has a kink, so that step = \"auto\" is not known; give a step"
            )
        return loss.smoothness

    def start(self) -> Array:
        """Return w = 0, (2m, C)."""
        xp = self.backend.xp
        return xp.zeros((2 * self.frequencies.count, self.problem.num_outputs), dtype=xp.float32)

    def project(self, params: Array) -> Array:
        """Return w: every point is feasible."""
        return params

    def value(self, params: Array) -> float:
        """Return the objective."""
        losses = [
            self.problem.loss.value(features @ params, targets).sum() for features, targets in self._passes()
        ]
        penalty = self.problem.penalty / 2 * float((params * params).sum())
        return float(sum(losses)) / self.num_samples + penalty

    def grad(self, params: Array) -> Array:
        """Return the gradient over all rows, (2m, C)."""
        total = sum(self._slope(params, *batch) for batch in self._passes())
        return total / self.num_samples + self.problem.penalty * params

    def grad_batch(self, params: Array, batch: Array) -> Array:
        """Return the mean gradient over the rows of these numbers, (2m, C)."""
        slope = self._slope(params, *self._samples(batch))
        return slope / batch.shape[0] + self.problem.penalty * params

    def predictor(self, params: Array) -> FeaturePredictor:
        """Return f as an answer."""
        count, outputs = self.frequencies.count, self.problem.num_outputs
        return FeaturePredictor(self.frequencies, (params.reshape(2, count, outputs),), count**-0.5, outputs)

    def _slope(self, params: Array, features: Array, targets: Array) -> Array:
        return features.T @ self.problem.loss.derivative(features @ params, targets)

    def _passes(self) -> Iterator[tuple[Array, Array]]:
        """Yield the features and targets of all rows, a few at a time."""
        for first in range(0, self.num_samples, AT_A_TIME):
            last = min(first + AT_A_TIME, self.num_samples)
            if self._kept is None:
                yield self._made(self.backend.xp.arange(first, last))
            else:
                self.problem.spend(rows=last - first)
                yield self._kept.rows[first:last], self._kept.targets[first:last]

    def _samples(self, numbers: Array) -> tuple[Array, Array]:
        """Return the features (B, 2m) and targets of the rows of these numbers."""
        if self._kept is None:
            return self._made(numbers)
        self.problem.spend(rows=numbers.shape[0])
        return self._kept.rows[numbers], self._kept.targets[numbers]

    def _made(self, numbers: Array) -> tuple[Array, Array]:
        rows, targets = self.problem.rows(numbers)
        return self._features(rows), targets

    @cached_property
    def _kept(self) -> Batch | None:
        """The features and targets of all rows, or nothing where they are too many."""
        width = 2 * self.frequencies.count
        if 4 * width * self.num_samples > self.memory:
            return None
        xp = self.backend.xp
        features, targets = xp.empty((self.num_samples, width), dtype=xp.float32), []
        for first in range(0, self.num_samples, AT_A_TIME):
            last = min(first + AT_A_TIME, self.num_samples)
            features[first:last], some = self._made(xp.arange(first, last))
            targets.append(some)
        return Batch(features, xp.concatenate(targets))

    @cached_property
    def _weights(self) -> Array:
        return self.frequencies.block(0)

    def _features(self, rows: Array) -> Array:
        """Return z of rows, (B, d) -> (B, 2m)."""
        xp, count = self.backend.xp, self.frequencies.count
        self.problem.spend(pairs=rows.shape[0] * count)
        phases = rows @ self._weights
        features = xp.empty((rows.shape[0], 2 * count), dtype=phases.dtype)
        xp.cos(phases, out=features[:, :count])
        xp.sin(phases, out=features[:, count:])
        features *= count**-0.5
        return features


def run_on_features(
    method: Optimizer, problem: KernelRisk, rng: Rng, count: int, kind: FeatureKind, memory: float
) -> Iterator[FeaturePredictor]:
    """Yield the answers of a method for finite sums on `count` fixed frequencies."""
    space = problem.covariance, problem.dimension
    frequencies = get_frequencies(kind, problem.backend, *space, count, rng.seed)
    fixed = FixedFeatures(problem, frequencies, memory)
    problem.spend(features=count)
    return map(fixed.predictor, method.run(fixed, rng))
