"""Toeplitz products by the Fourier transform, against the matrix written out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import toeplitz

from benchfw.backends import get_backend
from benchfw_spectral.kernels.toeplitz import toeplitz_product, toeplitz_spectrum

BODIES = pytest.mark.parametrize("body", ["portable", "numpy"])


def arguments(size, columns, seed=7):
    rng = get_backend("numpy").rng(seed)
    return rng.standard_normal(size), rng.standard_normal((size, columns))


def body_of(body):
    """Return the product from the first column, by bodies of one kind."""
    spectrum, product = (
        each.portable if body == "portable" else each.bodies["numpy"]
        for each in (toeplitz_spectrum, toeplitz_product)
    )
    return lambda column, block: product(spectrum(column), block)


@BODIES
@given(size=st.integers(1, 130), columns=st.integers(1, 4))
def test_it_is_the_product_with_the_matrix_written_out(body, size, columns):
    column, block = arguments(size, columns)
    np.testing.assert_allclose(
        body_of(body)(column, block), toeplitz(column) @ block, rtol=0, atol=1e-14 * (size + 10)
    )


@BODIES
def test_blocks_of_either_order_give_the_same(body):
    column, block = arguments(50, 6)
    np.testing.assert_allclose(
        body_of(body)(column, np.asfortranarray(block)), body_of(body)(column, block), rtol=0, atol=1e-13
    )


@BODIES
@pytest.mark.parametrize("size", [0, 1])
def test_tiny_matrices_multiply(body, size):
    found = body_of(body)(np.full(size, 3.0), np.full((size, 2), 2.0))
    np.testing.assert_allclose(found, np.full((size, 2), 6.0), rtol=1e-15)


@BODIES
def test_single_precision_stays_single(body):
    column, block = arguments(64, 3)
    found = body_of(body)(column.astype(np.float32), block.astype(np.float32))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, toeplitz(column) @ block, rtol=0, atol=1e-4)


def test_the_spectrum_is_that_of_a_circulant_matrix_with_the_toeplitz_matrix_in_its_corner():
    column, _ = arguments(5, 1)
    spectrum = toeplitz_spectrum(column)
    length = 2 * (spectrum.size - 1)
    first = np.zeros(length)
    first[:5], first[-4:] = column, column[:0:-1]
    circulant = np.stack([np.roll(first, shift) for shift in range(length)])
    np.testing.assert_allclose(circulant[:5, :5], toeplitz(column))
    both = np.concatenate([spectrum, spectrum[1:-1]])
    np.testing.assert_allclose(np.sort(both), np.linalg.eigvalsh(circulant), atol=1e-13)


def test_the_bits_are_the_same_with_any_number_of_threads(monkeypatch):
    rng = np.random.default_rng(5)
    spectrum, block = toeplitz_spectrum(rng.standard_normal(9_000)), rng.standard_normal((9_000, 5))
    found = []
    for threads in (1, 3):
        monkeypatch.setenv("OMP_NUM_THREADS", str(threads))
        found.append(toeplitz_product(spectrum, block))
    assert np.array_equal(*found)
