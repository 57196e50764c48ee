"""Gaussians over topic strengths, many at once."""

from __future__ import annotations

from benchfw import Array, Backend
from benchfw_variational.topic_oracles import Gaussians, Topics


def transpose(matrices: Array) -> Array:
    """Return the transposed of each matrix."""
    return matrices.swapaxes(-1, -2)


def solve(backend: Backend, matrices: Array, vectors: Array) -> Array:
    """Return A⁻¹v for each A of (D, K, K) and v of (D, K)."""
    return backend.xp.linalg.solve(matrices, vectors[:, :, None])[:, :, 0]


def repeated(backend: Backend, array: Array, count: int) -> Array:
    """Return `count` copies of an array, along a new first axis."""
    return backend.xp.broadcast_to(array, (count, *array.shape)).copy()


def prior(topics: Topics, count: int) -> Gaussians:
    """Return N(μ, Σ) for each of `count` documents."""
    return Gaussians(
        repeated(topics.backend, topics.mean, count), repeated(topics.backend, topics.covariance, count)
    )


def prior_slope(mean: Array, topics: Topics) -> Array:
    """Return the gradient of log N(m | μ, Σ) at each m of (D, K)."""
    return (topics.mean - mean) @ topics.precision


def samples(backend: Backend, found: Gaussians, normals: Array) -> Array:
    """Return samples (D, S, K) made of standard normals of that shape."""
    factors = backend.xp.linalg.cholesky(found.covariance)
    return found.mean[:, None, :] + normals @ transpose(factors)


def divergence(found: Gaussians, topics: Topics) -> Array:
    """Return KL(q | N(μ, Σ)) of each document, (D,)."""
    linalg = topics.backend.xp.linalg
    away = found.mean - topics.mean
    trace = (found.covariance * topics.precision).sum(axis=(1, 2))
    distance = ((away @ topics.precision) * away).sum(axis=1)
    volume = linalg.slogdet(topics.covariance)[1] - linalg.slogdet(found.covariance)[1]
    return 0.5 * (trace + distance - away.shape[1] + volume)
