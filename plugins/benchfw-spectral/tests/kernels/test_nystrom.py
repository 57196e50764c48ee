"""The Nyström factor is exact for low ranks; its preconditioner spares conjugate gradients most products."""

from __future__ import annotations

import numpy as np
import pytest

from benchfw.backends import get_backend
from benchfw.errors import BenchfwError
from benchfw.kernels.gram import gaussian_gram
from benchfw.kernels.operators import Counted, as_operator
from benchfw_spectral.kernels.conjugate_gradients import conjugate_gradients
from benchfw_spectral.kernels.nystrom import nystrom_factor, nystrom_preconditioner

NOISE = 0.1


@pytest.fixture
def rng():
    return get_backend("numpy").rng(4)


def noisy_gram(points):
    return gaussian_gram(points, points, 0.5) + NOISE * np.eye(len(points))


@pytest.mark.parametrize("rank", [1, 5, 8])
def test_a_matrix_of_low_rank_is_found_whole(rank, rng):
    root = rng.standard_normal((60, rank))
    probes = rng.standard_normal((60, 12))
    factor = nystrom_factor(probes, root @ root.T + NOISE * np.eye(60), NOISE)
    np.testing.assert_allclose(factor @ factor.T, root @ root.T, rtol=0, atol=1e-9)


def test_it_lies_below_the_matrix_and_nearer_with_more_probes(rng):
    matrix = noisy_gram(rng.standard_normal((80, 2)))
    errors = []
    for rank in (5, 20, 40):
        factor = nystrom_factor(rng.standard_normal((80, rank)), matrix, NOISE)
        rest = np.linalg.eigvalsh(matrix - NOISE * np.eye(80) - factor @ factor.T)
        assert rest.min() > -1e-9
        errors.append(rest.max())
    assert errors[0] > 2 * errors[1] > 6 * errors[2]


def test_the_preconditioner_is_the_inverse_that_it_says(rng):
    factor, block = rng.standard_normal((50, 7)), rng.standard_normal((50, 3))
    found = nystrom_preconditioner(factor, NOISE)(block)
    expected = np.linalg.solve(factor @ factor.T + NOISE * np.eye(50), block)
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_conjugate_gradients_need_few_products_with_it(rng):
    matrix, rhs = noisy_gram(rng.standard_normal((500, 2))), rng.rademacher((500, 4))
    products = []
    counted = Counted(as_operator(matrix), products.append)
    alone = conjugate_gradients(rhs, counted, 1e-8)
    without = sum(products)
    products.clear()
    factor = nystrom_factor(rng.standard_normal((500, 60)), counted, NOISE)
    found = conjugate_gradients(rhs, counted, 1e-8, preconditioner=nystrom_preconditioner(factor, NOISE))
    np.testing.assert_allclose(found, alone, rtol=0, atol=1e-6)
    assert sum(products) - 60 < without / 3


@pytest.mark.parametrize("shift", [0.0, -1.0, float("nan")])
def test_a_shift_that_is_not_positive_is_refused(shift):
    with pytest.raises(BenchfwError, match="must be positive"):
        nystrom_preconditioner(np.ones((3, 1)), shift)
