"""What the estimators of the bound's gradient share: batches of examples, and normals for them."""

from __future__ import annotations

from collections.abc import Callable

from benchfw import BenchfwError, Rng
from benchfw_variational.oracles import Array, LatentGaussian


def draw_batch(problem: LatentGaussian, rng: Rng, size: int | None) -> Array:
    """Return `size` distinct examples, each set as probable as the others; None is all examples."""
    count = problem.num_samples
    if size is None:
        return problem.backend.xp.arange(count)
    if size > count:
        raise BenchfwError(f"there is no batch of {size} in {count} examples; take at most {count}")
    return rng.choice(count, size=size, replace=False)


def draw_sampled(
    problem: LatentGaussian, rng: Rng, size: int | None, samples: int, kind: str
) -> Callable[[Array], Array]:
    """Draw a batch, then `samples` normals for each of its examples; return the gradient from these."""
    batch = draw_batch(problem, rng, size)
    normals = rng.standard_normal((samples, batch.shape[0]))

    def gradient(params: Array) -> Array:
        local = problem.sampled(batch, *problem.marginals(params, batch), normals, kind)
        return problem.gradient(params, batch, local)

    return gradient


def check_counts(**counts: int | None) -> None:
    """Raise ValueError unless every number that is given is at least 1."""
    for name, value in counts.items():
        if value is not None and value < 1:
            raise ValueError(f"{name} must be at least 1, got {value}")
