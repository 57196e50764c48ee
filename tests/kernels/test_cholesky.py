"""Factors of I + (s s')∘K: NaN where there are none, and solves with one right-hand side as with many."""

from __future__ import annotations

import numpy as np

from benchfw.backends import get_backend
from benchfw.kernels.cholesky import cholesky_solve, sample_cholesky_solve, scaled_cholesky


def test_there_is_no_factor_of_an_indefinite_matrix():
    gram, scales = np.array([[1.0, 5.0], [5.0, 1.0]]), np.ones(2)
    assert np.isnan(scaled_cholesky(gram, scales)).all()


def test_a_single_right_hand_side_is_solved_as_one_of_many():
    backend = get_backend("numpy")
    factor, block = sample_cholesky_solve(backend, backend.rng(1), 10_000)
    together = cholesky_solve(factor, block)
    for column in range(block.shape[1]):
        alone = cholesky_solve(factor, block[:, [column]])
        np.testing.assert_allclose(alone[:, 0], together[:, column], rtol=1e-12, atol=1e-14)
