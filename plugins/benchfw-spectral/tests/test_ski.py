"""Structured kernel interpolation against the dense matrices that it stands for."""

from __future__ import annotations

import numpy as np
import pytest

from benchfw import BenchfwError
from benchfw_spectral.problems.ski import Interpolation

NOISE, SCALE, LENGTH = 0.3, 0.8, 1.7


def keys(distance):
    """Return the cubic convolution kernel with a = -1/2 at distances in grid cells (Keys 1981, eq. 15)."""
    s = np.abs(distance)
    near = 1.5 * s**3 - 2.5 * s**2 + 1
    far = -0.5 * s**3 + 2.5 * s**2 - 4 * s + 2
    return np.where(s <= 1, near, np.where(s <= 2, far, 0.0))


def dense(inputs, tests, grid, scale=SCALE, length=LENGTH):
    """Return W, W_* and T by their definitions."""
    spacing = (inputs.max() - inputs.min()) / (grid - 5)
    nodes = inputs.min() + spacing * (np.arange(grid) - 2)
    weights, test_weights = (keys((each - nodes) / spacing) for each in (inputs, tests))
    return weights, test_weights, scale**2 * np.exp(-((nodes[:, None] - nodes) ** 2) / (2 * length**2))


def scattered(rng):
    return np.sort(10 * rng.random(80))[:, None]


def clustered(rng):
    """Two clusters, and no input in most of the cells between them."""
    return np.concatenate([rng.random(30), 9 + rng.random(50)])[:, None]


def fewer_than_nodes(rng):
    return 10 * rng.random(12)[:, None]


@pytest.fixture(params=[scattered, clustered, fewer_than_nodes], ids=lambda inputs: inputs.__name__)
def case(request, backend):
    rng = np.random.default_rng(4)
    inputs = request.param(rng)
    tests = rng.uniform(inputs.min(), inputs.max(), (7, 1))
    covariance = Interpolation(backend, inputs, tests, 25).covariance(SCALE, LENGTH)
    return covariance, *dense(inputs, tests, 25)


def test_products_are_those_of_the_dense_matrix(case):
    covariance, weights, _, toeplitz = case
    block = np.random.default_rng(1).standard_normal((len(weights), 3))
    whole = weights @ toeplitz @ weights.T + NOISE**2 * np.eye(len(weights))
    operator = covariance.operator(NOISE)
    np.testing.assert_allclose(operator.matmat(block), whole @ block, atol=1e-13)
    updated = operator.update(block, 2 * block, -0.5, 3.0)
    np.testing.assert_allclose(updated, -0.5 * whole @ block + 6 * block, atol=1e-13)
    shifted = operator.shifted(2.0, -0.7)
    np.testing.assert_allclose(shifted.matmat(block), 2 * whole @ block - 0.7 * block, atol=1e-13)


def test_on_a_device_products_with_a_small_grid_are_those_of_the_dense_matrix(case, monkeypatch):
    covariance, weights, _, toeplitz = case
    monkeypatch.setattr(type(covariance.inputs.backend), "on_device", True)
    block = np.random.default_rng(1).standard_normal((len(weights), 3))
    whole = weights @ toeplitz @ weights.T + NOISE**2 * np.eye(len(weights))
    np.testing.assert_allclose(covariance.operator(NOISE).matmat(block), whole @ block, atol=1e-13)
    assert "_spectrum" not in vars(covariance)  # no transform was made


def test_a_matrix_written_out_is_the_dense_one(case):
    covariance, weights, _, toeplitz = case
    found = covariance.operator(NOISE).shifted(2.0, -0.7).whole()
    written = found.scale * found.matrix + found.shift * np.eye(len(weights))
    expected = 2 * (weights @ toeplitz @ weights.T + NOISE**2 * np.eye(len(weights))) - 0.7 * np.eye(
        len(weights)
    )
    np.testing.assert_allclose(written, expected, atol=1e-13)


def test_a_product_leaves_its_block_alone(case):
    covariance, weights, *_ = case
    block = np.ones((len(weights), 2))
    covariance.operator(NOISE).matmat(block)
    np.testing.assert_array_equal(block, 1.0)


def test_forms_are_those_of_the_covariance_and_its_length_derivative(case):
    covariance, weights, _, toeplitz = case
    left, right = np.random.default_rng(2).standard_normal((2, len(weights), 4))
    signal, longer = covariance.forms(left, right)
    np.testing.assert_allclose(signal, np.trace(left.T @ weights @ toeplitz @ weights.T @ right), rtol=1e-12)
    slope = -2 * toeplitz * np.log(toeplitz / SCALE**2)  # ∂/∂ log ℓ of exp(-r²/(2ℓ²)) is r²/ℓ² times it
    np.testing.assert_allclose(longer, np.trace(left.T @ weights @ slope @ weights.T @ right), rtol=1e-12)


def test_determinant_and_traces_need_the_grid_alone(case):
    covariance, weights, _, toeplitz = case
    whole = weights @ toeplitz @ weights.T + NOISE**2 * np.eye(len(weights))
    np.testing.assert_allclose(covariance.log_determinant(NOISE), np.linalg.slogdet(whole)[1], rtol=1e-10)
    inverse = np.linalg.inv(whole)
    slope = weights @ (-2 * toeplitz * np.log(toeplitz / SCALE**2)) @ weights.T
    traces = np.trace(inverse), np.trace(inverse @ slope)
    np.testing.assert_allclose(covariance.inverse_traces(NOISE), traces, rtol=1e-9)


@pytest.mark.parametrize(("length", "banded"), [(0.02, True), (0.1, True), (3.0, False)])
def test_a_short_length_makes_them_banded_and_changes_nothing_else(backend, length, banded):
    inputs = scattered(np.random.default_rng(6))
    grid = 400
    covariance = Interpolation(backend, inputs, inputs[1:2], grid).covariance(SCALE, length)
    assert (covariance._bands(NOISE) is not None) == banded
    whole = covariance.operator(NOISE).matmat(np.eye(len(inputs)))
    np.testing.assert_allclose(covariance.log_determinant(NOISE), np.linalg.slogdet(whole)[1], rtol=1e-9)
    found = covariance.inverse_traces(NOISE)
    longer, shorter = (
        Interpolation(backend, inputs, inputs[1:2], grid).covariance(SCALE, length * factor).operator(NOISE)
        for factor in (1 + 1e-5, 1 - 1e-5)
    )
    slope = (longer.matmat(np.eye(len(inputs))) - shorter.matmat(np.eye(len(inputs)))) / 2e-5
    inverse = np.linalg.inv(whole)
    np.testing.assert_allclose(found, (np.trace(inverse), np.trace(inverse @ slope)), rtol=1e-7)


def test_predictions_interpolate_from_the_grid(case):
    covariance, weights, test_weights, toeplitz = case
    alpha = np.random.default_rng(3).standard_normal(len(weights))
    expected = test_weights @ toeplitz @ weights.T @ alpha
    np.testing.assert_allclose(covariance.predict(alpha), expected, atol=1e-12)


@pytest.mark.parametrize("length", [0.05, 0.4, 1.7, 10.0])
def test_top_bounds_the_spectrum_and_is_near_it_for_evenly_spaced_inputs(backend, length):
    inputs = np.arange(300.0)[:, None] / 30
    covariance = Interpolation(backend, inputs, inputs[1:2], 60).covariance(SCALE, length)
    weights, _, toeplitz = dense(inputs, inputs[1:2], 60, length=length)
    top = np.linalg.eigvalsh(weights @ toeplitz @ weights.T)[-1]
    assert top <= covariance.top <= 1.3 * top


def test_a_finer_grid_comes_nearer_to_the_exact_covariance_by_the_third_power(backend):
    inputs = scattered(np.random.default_rng(5))
    exact = SCALE**2 * np.exp(-((inputs - inputs.T) ** 2) / (2 * LENGTH**2))
    errors = []
    for cells in (40, 80, 160):
        covariance = Interpolation(backend, inputs, inputs[1:2], cells + 5).covariance(SCALE, LENGTH)
        errors.append(abs(covariance.operator(0.0).matmat(np.eye(80)) - exact).max())
    assert errors[0] > 7 * errors[1] > 49 * errors[2]


@pytest.mark.parametrize(
    ("inputs", "grid", "words"),
    [
        (np.ones((9, 2)), 50, 'needs one input column, not 2; use "dense"'),
        (np.arange(9.0)[:, None], 5, "grid must have at least 6 nodes, got 5"),
        (np.ones((9, 1)), 50, "all inputs are the same"),
    ],
)
def test_inputs_that_no_grid_holds_are_refused(backend, inputs, grid, words):
    with pytest.raises(BenchfwError, match=words):
        Interpolation(backend, inputs, inputs, grid)
