"""Newton's method on log-sum-exp, many documents at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchfw import Array, Backend
from benchfw_variational.topic_oracles import Block, Topics
from benchfw_variational.topics.gaussians import repeated, solve


def newton_step(backend: Backend, gradient: Array, curvature: Array) -> Array:
    """Return a damped Newton step for each document, (D, K), from g (D, K) and minus the Hessian (D, K, K).

    The third derivative of log-sum-exp along s is at most d = max s - min s times the second, so that the
    curvature grows by e^(td) at most on the way to ts, and t = log(1 + d)/d is the best length under that
    bound. A full step from far away can go thousands too far.
    """
    xp = backend.xp
    move = solve(backend, curvature, gradient)
    width = xp.maximum(move.max(axis=1) - move.min(axis=1), 1e-12)
    return move * (xp.log1p(width) / width)[:, None]


def climb(
    backend: Backend, start: Array, step: Callable[[Array, Array], Array], tolerance: float, iterations: int
) -> Array:
    """Return states after moves by step(states, their numbers), each until nothing moves by the tolerance."""
    xp = backend.xp
    states, moving = start.copy(), xp.arange(len(start))
    for _ in range(iterations):
        if not len(moving):
            break
        move = step(states[moving], moving)
        states[moving] += move
        moving = moving[xp.abs(move).max(axis=1) > tolerance]
    return states


def first_means(block: Block, topics: Topics, start: Array | None) -> Array:
    """Return the means to begin with: those given, or μ for each document."""
    return repeated(topics.backend, topics.mean, len(block.counts)) if start is None else start


def softmax(xp: Any, values: Array) -> Array:
    """Return e^x over its sum, along the last axis."""
    weights = xp.exp(values - values.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)
