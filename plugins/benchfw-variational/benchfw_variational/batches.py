"""Batches of examples, what they say of q, and checks of their sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

from benchfw import Array, BenchfwError, Rng
from benchfw_variational.oracles import LatentGaussian, Local

Order = Literal["independent", "passes"]
Expectation = Literal["exact", "score-function", "reparameterization"]


def passes(order: Callable[[], Array], size: int) -> Iterator[Array]:
    """Yield batches of `size`, pass after pass, each pass in an order of all examples that is asked for anew.

    The last batch of a pass may be smaller.
    """
    while True:
        examples = order()
        for first in range(0, examples.shape[0], size):
            yield examples[first : first + size]


def draw_batch(problem: LatentGaussian, rng: Rng, size: int | None) -> Array:
    """Return `size` distinct examples, each set as probable as the others; None is all examples."""
    count = problem.num_samples
    if size is None:
        return problem.backend.xp.arange(count)
    _check_size(size, count)
    return rng.choice(count, size=size, replace=False)


def draw_batches(problem: LatentGaussian, rng: Rng, size: int | None, order: Order) -> Iterator[Array]:
    """Yield batches for the steps of a method: independent ones, or pass after pass."""
    while order == "independent" or size is None:
        yield draw_batch(problem, rng, size)
    _check_size(size, problem.num_samples)
    yield from passes(lambda: rng.permutation(problem.num_samples), size)


def batch_local(
    problem: LatentGaussian,
    rng: Rng,
    batch: Array,
    mean: Array,
    variance: Array,
    expectation: Expectation,
    samples: int,
) -> Local:
    """Return what a batch says of its marginals, exactly or from `samples` fresh normals of each example."""
    if expectation == "exact":
        return problem.local(batch, mean, variance)
    normals = rng.standard_normal((samples, batch.shape[0]))
    return problem.sampled(batch, mean, variance, normals, expectation)


def _check_size(size: int, count: int) -> None:
    if size > count:
        raise BenchfwError(f"there is no batch of {size} in {count} examples; take at most {count}")
