"""Random data with a given spectrum."""

from __future__ import annotations

from benchfw import Array, Backend, Rng


def log_spaced(backend: Backend, largest: float, condition: float, size: int) -> Array:
    """Return `size` numbers from largest/condition to largest, evenly spaced in the logarithm."""
    xp = backend.xp
    exponents = xp.linspace(-1.0, 0.0, size) if size > 1 else xp.zeros(1)
    return largest * condition**exponents


def reflect(rows: Array, direction: Array) -> Array:
    """Return the rows reflected at the hyperplane normal to the direction: a cheap orthogonal map."""
    return rows - (rows @ direction)[:, None] * (2 / (direction @ direction) * direction)


def gaussian_rows(backend: Backend, rng: Rng, samples: int, features: int, condition: float) -> Array:
    """Return (samples, features) normal rows whose covariance has the spectrum 1/condition … 1.

    Reflected at random, so that no coordinate is an eigenvector: else methods that scale each coordinate
    would look better than they are.
    """
    rows = rng.standard_normal((samples, features)) * log_spaced(backend, 1.0, condition, features) ** 0.5
    return reflect(rows, rng.standard_normal(features))
