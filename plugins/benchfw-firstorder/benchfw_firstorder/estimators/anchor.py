"""The anchor of the control variates: a point, and what is known there."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from benchfw import Array, FiniteSum
from benchfw_firstorder.steps import resolve_step

_gradients: WeakKeyDictionary[Any, dict[int, tuple[Array, Array]]] = WeakKeyDictionary()
_tables: WeakKeyDictionary[Any, dict[int, Array]] = WeakKeyDictionary()


def anchor_gradient(problem: FiniteSum, steps: int) -> tuple[Array, Array]:
    """Return the point that so many gradient steps of length 1/L reach from the start, and ∇f there.

    Found once a problem, at the first draw, and charged to it: steps + 1 gradients, spread over all draws.
    """
    known = _gradients.setdefault(problem, {})
    if steps not in known:
        x = problem.start()
        length = resolve_step("auto", problem) if steps else 0.0
        for _ in range(steps):
            x = problem.project(x - length * problem.grad(x))
        known[steps] = (x, problem.grad(x))
    return known[steps]


def anchor_table(problem: FiniteSum, steps: int) -> Array:
    """Return ∇f_i at the anchor for every sample, (n, d); found once a problem, for one gradient more."""
    known = _tables.setdefault(problem, {})
    if steps not in known:
        x, _ = anchor_gradient(problem, steps)
        known[steps] = sample_gradients(problem, x, problem.backend.xp.arange(problem.num_samples))
    return known[steps]


def sample_gradients(problem: Any, params: Array, batch: Array) -> Array:
    """Return ∇f_i for each sample in `batch`, (B, d): at once where the problem can, else one by one."""
    if hasattr(problem, "grad_samples"):
        return problem.grad_samples(params, batch)
    rows = [problem.grad_batch(params, batch[i : i + 1]) for i in range(batch.shape[0])]
    return problem.backend.xp.stack(rows)
