"""Spectral bounds: the interval holds every eigenvalue, and is not much wider than it must be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.linalg import eigsh

from benchfw.backends import get_backend
from benchfw.kernels.operators import Counted, MatrixFree, as_operator
from benchfw_spectral.kernels.spectral_bounds import spectral_bounds


def numbers(seed):
    return get_backend("numpy").rng(seed)


def rotated(eigenvalues, rng):
    size = len(eigenvalues)
    vectors = np.linalg.qr(rng.standard_normal((size, size)))[0]
    matrix = (vectors * eigenvalues) @ vectors.T
    return (matrix + matrix.T) / 2


@settings(deadline=None)
@given(
    eigenvalues=st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=60),
    seed=st.integers(0, 2**32),
    steps=st.integers(10, 30),
)
@example(eigenvalues=[3.7e-155, 0.0], seed=2, steps=10)  # their squares are 0 in double precision
@example(eigenvalues=[3.7e-200, 0.0], seed=2, steps=10)
@example(eigenvalues=[1e200, 3e200, -1e250], seed=1, steps=10)
def test_the_interval_holds_the_spectrum(eigenvalues, seed, steps):
    rng = numbers(seed)
    matrix = rotated(np.array(eigenvalues), rng)
    low, high = spectral_bounds(rng.standard_normal((len(eigenvalues), 1)), matrix, steps)
    exact = np.linalg.eigvalsh(matrix)
    assert low <= exact[0]
    assert exact[-1] <= high


def test_a_tiny_diagonal_matrix_is_held():
    for seed in range(20):
        low, high = spectral_bounds(numbers(seed).standard_normal((2, 1)), np.diag([3.7e-155, 0.0]), 10)
        assert low <= 0.0
        assert high >= 3.7e-155


SPECTRA = {
    "semicircle": lambda rng: np.sqrt(rng.random(300)) * np.cos(2 * np.pi * rng.random(300)),
    "uniform": lambda rng: rng.random(300),
    "heavy tails": lambda rng: rng.standard_normal(300) / rng.standard_normal(300),
    "an outlier": lambda rng: np.append(rng.random(299), 1.02 + 0.2 * rng.random()),
    "two outliers": lambda rng: np.append(rng.random(298), 1.0 + rng.random(2)),
    "decay": lambda rng: np.exp(-3 * rng.standard_normal(300)),
}


@pytest.mark.parametrize("spectrum", SPECTRA)
@pytest.mark.parametrize("steps", [10, 20])
def test_forty_large_matrices_of_a_kind_are_all_held(spectrum, steps):
    rng = numbers(41)
    for _ in range(40):
        # a normal probe has no favourite direction, so that a diagonal matrix is as good as any
        eigenvalues = SPECTRA[spectrum](rng)
        diagonal = MatrixFree(lambda block, eigenvalues=eigenvalues: eigenvalues[:, None] * block, 300)
        low, high = spectral_bounds(rng.standard_normal((300, 1)), diagonal, steps)
        assert low <= eigenvalues.min()
        assert eigenvalues.max() <= high


def test_the_margin_holds_an_outlier_that_the_probe_hardly_sees():
    eigenvalues = np.append(np.linspace(0.0, 1.0, 299), 1.2)
    probe = numbers(12).standard_normal((300, 1))
    probe[-1] = 1e-7
    low, high = spectral_bounds(probe, np.diag(eigenvalues), 10)
    assert low <= 0.0
    assert high >= 1.2


def test_twenty_steps_overshoot_a_laplacian_by_less_than_a_third_of_its_width():
    line = sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(50, 50))
    laplacian = (sparse.kron(line, sparse.eye_array(50)) + sparse.kron(sparse.eye_array(50), line)).tocsr()
    (largest,) = eigsh(laplacian, k=1, return_eigenvectors=False)
    low, high = spectral_bounds(numbers(2).standard_normal((2500, 1)), laplacian)
    assert largest <= high <= largest * 4 / 3
    assert -largest / 3 <= low <= 0.01


def test_as_many_steps_as_the_size_give_the_ends_themselves():
    rng = numbers(6)
    matrix = rotated(np.linspace(-1.0, 3.0, 12), rng)
    bounds = spectral_bounds(rng.standard_normal((12, 1)), matrix, 12)
    np.testing.assert_allclose(bounds, [-1.0, 3.0], atol=1e-7)


def test_a_multiple_of_the_identity_has_a_narrow_interval():
    low, high = spectral_bounds(numbers(1).standard_normal((50, 1)), 7.0 * np.eye(50))
    assert 7.0 - 1e-12 < low < 7.0 < high < 7.0 + 1e-12


def test_a_step_costs_one_product():
    counted = []
    matrix = Counted(as_operator(rotated(np.arange(30.0), numbers(3))), counted.append)
    spectral_bounds(numbers(4).standard_normal((30, 1)), matrix, 15)
    assert counted == [1] * 15


@pytest.mark.parametrize(("size", "expected"), [(0, 0.0), (1, 5.0)])
def test_tiny_matrices_have_bounds(size, expected):
    bounds = spectral_bounds(np.full((size, 1), 2.0), np.full((size, size), 5.0))
    np.testing.assert_allclose(bounds, [expected, expected], rtol=1e-14)


def test_single_precision_stays_single_and_holds_the_spectrum():
    rng = numbers(9)
    matrix = rotated(np.linspace(0.0, 1.0, 80), rng).astype(np.float32)
    bounds = spectral_bounds(rng.standard_normal((80, 1), dtype=np.float32), matrix)
    exact = np.linalg.eigvalsh(matrix.astype(np.float64))
    assert bounds.dtype == np.float32
    assert bounds[0] <= exact[0]
    assert exact[-1] <= bounds[1]
