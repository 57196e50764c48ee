"""The check of CDSG: the largest step that its inequality allows, and what follows from it."""

from __future__ import annotations

import numpy as np
import pytest

from benchfw.backends import get_backend
from benchfw_kernelmachines.kernels.block_check import largest_steps

BODIES = pytest.mark.parametrize("body", ["portable", "numpy"])
CASES = 2000


def body_of(body):
    return largest_steps.portable if body == "portable" else largest_steps.bodies["numpy"]


def excess(steps, beta, gradient, step, noise):
    """Return 2|β - s g|² + 2 s² v - |β|² - γ²|g|²: not positive where the step is allowed."""
    moved = beta - steps[:, None] * gradient
    bound = (beta**2).sum(axis=1) + step**2 * (gradient**2).sum()
    return 2 * (moved**2).sum(axis=1) + 2 * steps**2 * noise - bound


def by_bisection(beta, gradient, step, noise):
    """Return the largest allowed steps: the inequality is convex in s, and least at ⟨β,g⟩/(|g|² + v)."""
    lowest = beta @ gradient / (gradient @ gradient + noise)
    low, high = np.maximum(lowest, 0.0), np.abs(lowest) + 1.0
    none = excess(low, beta, gradient, step, noise) > 0
    while (excess(high, beta, gradient, step, noise) <= 0).any():
        high *= 2.0
    for _ in range(100):
        middle = (low + high) / 2
        allowed = excess(middle, beta, gradient, step, noise) <= 0
        low, high = np.where(allowed, middle, low), np.where(allowed, high, middle)
    return np.where(none, 0.0, low)


@BODIES
@pytest.mark.parametrize("outputs", [1, 2, 10])
@pytest.mark.parametrize("noise", [0.0, 0.05, 0.5, 4.0])
def test_it_is_a_bisection_of_the_inequality(outputs, noise, body):
    rng = get_backend("numpy").rng(7)
    gradient = rng.standard_normal(outputs)
    # from far below γ|g| to far above it, along the gradient and across
    sizes = np.exp(2.0 * rng.standard_normal((CASES, 1)))
    beta = sizes * (rng.standard_normal((CASES, outputs)) + rng.standard_normal((CASES, 1)) * gradient)
    found = body_of(body)(beta, gradient, 0.7, noise)
    assert 0.05 < (found == 0).mean() < 0.95
    np.testing.assert_allclose(found, by_bisection(beta, gradient, 0.7, noise), rtol=1e-10, atol=1e-10)


@BODIES
def test_with_one_output_and_no_noise_it_is_a_function_of_the_ratio(body):
    ratio, step, gradient = np.linspace(-3.0, 3.0, 601), 0.3, np.array([-1.7])
    found = body_of(body)((ratio * step * gradient)[:, None], gradient, step, 0.0)
    np.testing.assert_allclose(found / step, np.maximum(ratio + np.sqrt((ratio**2 + 1) / 2), 0.0), atol=1e-12)
    np.testing.assert_array_equal(found > step, ratio > 2 - np.sqrt(3))


def test_an_empty_block_is_never_accepted():
    gradient = np.array([1.0, -2.0, 0.5])
    for noise in (0.0, 0.1, 10.0):
        assert largest_steps(np.zeros((1, 3)), gradient, 0.4, noise)[0] < 0.4


def test_a_block_that_the_gradient_does_not_shrink_is_never_accepted():
    rng = get_backend("numpy").rng(8)
    gradient = rng.standard_normal(4)
    beta = rng.standard_normal((CASES, 4))
    beta *= -np.sign(beta @ gradient)[:, None]
    assert (largest_steps(beta, gradient, 0.4, 0.0) < 0.4).all()


def test_noise_of_one_and_a_half_gradients_accepts_nothing():
    rng = get_backend("numpy").rng(9)
    gradient, step = rng.standard_normal(3), 0.4
    square = float(gradient @ gradient)
    # multiples of the gradient are what the check likes best
    beta = np.linspace(0.0, 5.0, CASES)[:, None] * step * gradient
    rounding = 1 + 1e-12  # at 1.5 the best of them just reaches the step
    assert largest_steps(beta, gradient, step, 1.5 * square).max() <= step * rounding
    assert largest_steps(beta, gradient, step, 1.45 * square).max() > step


@BODIES
def test_single_precision_is_checked_in_double(body):
    rng = get_backend("numpy").rng(10)
    beta, gradient = rng.standard_normal((50, 10), np.float32), rng.standard_normal(10, np.float32)
    found = body_of(body)(beta, gradient, 2.0, 0.1)
    assert found.dtype == np.float64
    np.testing.assert_allclose(
        found, largest_steps(beta.astype(float), gradient.astype(float), 2.0, 0.1), rtol=1e-12
    )


@BODIES
def test_without_blocks_or_without_a_gradient_there_is_no_step(body):
    assert body_of(body)(np.zeros((0, 3)), np.ones(3), 1.0, 0.0).shape == (0,)
    np.testing.assert_array_equal(body_of(body)(np.ones((4, 3)), np.zeros(3), 1.0, 0.0), 0.0)
