"""Ridge regression by normal equations: equal to a dense solve, whatever the batches."""

import numpy as np
import pytest

from benchfw_kernelmachines.kernels.feature_ridge import feature_ridge
from benchfw_kernelmachines.kernels.random_features import ROWS

RNG = np.random.default_rng(5)
FREQUENCIES, POINTS = RNG.standard_normal((3, 7)), RNG.standard_normal((2 * ROWS + 9, 3))
TARGETS = RNG.standard_normal((2 * ROWS + 9, 4))


@pytest.mark.parametrize("body", ["portable", "numpy"])
@pytest.mark.parametrize("cuts", [[], [1, 40]])
def test_it_solves_the_normal_equations_of_all_batches(body, cuts):
    function = feature_ridge.portable if body == "portable" else feature_ridge
    batches = zip(np.split(POINTS, cuts), np.split(TARGETS, cuts), strict=True)
    phases = POINTS @ FREQUENCIES
    features = np.hstack([np.cos(phases), np.sin(phases)])
    expected = np.linalg.solve(features.T @ features + 0.5 * np.eye(14), features.T @ TARGETS)
    found = function(FREQUENCIES, batches, 0.5)
    np.testing.assert_allclose(found, expected.reshape(2, 7, 4), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("body", ["portable", "numpy"])
def test_a_matrix_that_is_not_positive_definite_is_an_error_of_the_library(body):
    function = feature_ridge.portable if body == "portable" else feature_ridge
    with pytest.raises(np.linalg.LinAlgError):
        function(FREQUENCIES, [(POINTS, TARGETS)], -1e6)
