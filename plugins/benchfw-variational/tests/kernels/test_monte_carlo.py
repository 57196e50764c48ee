"""Score-function gradients: the formula, unbiased, on every array library."""

from __future__ import annotations

import numpy as np
import pytest

from benchfw.backends import get_backend
from benchfw_variational.kernels.monte_carlo import sample_score_function_gradients, score_function_gradients


def sampled(size, seed=31):
    backend = get_backend("numpy")
    return sample_score_function_gradients(backend, backend.rng(seed), size)


@pytest.mark.parametrize("body", [score_function_gradients.portable, score_function_gradients])
def test_they_are_the_means_of_the_formula(body):
    losses, normals, variance = sampled(4000)
    slope, curvature = body(losses, normals, variance)
    np.testing.assert_allclose(slope, (losses * normals / np.sqrt(variance)).mean(axis=0), rtol=0, atol=1e-14)
    np.testing.assert_allclose(
        curvature, (losses * (normals**2 - 1) / variance).mean(axis=0), rtol=0, atol=1e-13
    )


def test_they_are_unbiased_for_a_quadratic():
    _, normals, variance = sampled(160_000)
    mean = np.linspace(-2, 2, 8)
    latent = mean + np.sqrt(variance) * normals
    losses = latent**2
    slope, curvature = score_function_gradients(losses, normals, variance)
    for estimate, terms, exact in (
        (slope, losses * normals / np.sqrt(variance), 2 * mean),
        (curvature, losses * (normals**2 - 1) / variance, 2.0),
    ):
        assert (np.abs(estimate - exact) < 4 * terms.std(axis=0) / np.sqrt(len(terms))).all()
