"""SAGA."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from benchfw import Array, Count, FiniteSum, Log, Positive, Rng
from benchfw_firstorder.estimators.anchor import sample_gradients
from benchfw_firstorder.estimators.minibatch import Minibatch, draw_batch
from benchfw_firstorder.steps import backward_step, resolve_stochastic_step

SAFETY = 3.0  # Defazio et al. 2014


@dataclass(frozen=True)
class SAGA:
    """SAGA (Defazio et al. 2014): a table of every sample's last gradient reduces the variance.

    ĝ = mean_B(∇f_i(x) - table_i) + mean(table); table_B ← ∇f_B(x); x ← prox(x - a ĝ).
    The table starts with all samples' gradients at x_0 (one full gradient) and holds n x d numbers.
    """

    step: Positive | Literal["auto"] = "auto"
    """Step length, a; "auto" is 1/(3 x the smoothness of a batch)."""
    batch: Count = 32
    """Samples a step, drawn without replacement."""

    solves: ClassVar[type] = FiniteSum
    tuning: ClassVar[dict[str, Log]] = {"step": Log(1e-4, 10)}

    def run(self, problem: FiniteSum, rng: Rng) -> Iterator[Array]:
        """Yield x_0, x_1, …"""
        step = resolve_stochastic_step(self.step, problem, Minibatch(self.batch), SAFETY)
        backward = backward_step(problem)
        x = problem.start()
        yield x
        table = sample_gradients(problem, x, problem.backend.xp.arange(problem.num_samples))
        mean = table.mean(axis=0)
        while True:
            batch = draw_batch(problem, rng, self.batch, replace=False, advice="take a smaller batch")
            fresh = sample_gradients(problem, x, batch)
            news = fresh - table[batch]
            x = backward(x - step * (news.mean(axis=0) + mean), step)
            table[batch] = fresh
            mean = mean + news.sum(axis=0) / problem.num_samples
            yield x
