"""The draws of an estimator, step after step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from benchfw import Array, Estimator, Params, Rng


def successive_draws(estimator: Estimator, problem: Any, rng: Rng) -> Iterator[Callable[[Params], Array]]:
    """Yield a draw for each step: the estimator's own `draws` where it has them, else independent ones."""
    draws: Callable[..., Iterator[Callable[[Params], Array]]] | None = getattr(estimator, "draws", None)
    if draws is not None:
        yield from draws(problem, rng)
    while True:
        yield estimator.draw(problem, rng)
