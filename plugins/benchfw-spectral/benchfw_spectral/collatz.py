"""An upper bound of the spectrum of a matrix without negative entries."""

from __future__ import annotations

from collections.abc import Callable

from benchfw import Array, Backend

FLOOR = 1e-3  # of the vector's largest entry: it must stay positive


def collatz_bound(backend: Backend, product: Callable[[Array], Array], size: int, steps: int) -> float:
    """Return max_i (Gx)_i/x_i, x being `steps` - 1 products from 1: no eigenvalue of G >= 0 is larger.

    It holds for every x > 0 and falls towards the largest eigenvalue with each product. Collatz 1942. It
    depends on G alone, so that what is computed with it remains a function of the parameters.
    """
    xp = backend.xp
    x = xp.ones(size)
    for _ in range(steps):
        image = product(x)
        bound = float((image / x).max())
        x = xp.maximum(image / (bound or 1.0), FLOOR)
    return bound
