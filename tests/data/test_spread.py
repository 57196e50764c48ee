"""How widely the columns of a table spread."""

import numpy as np
import pytest

from benchfw.data import deviations


def test_a_constant_column_does_not_spread_whatever_rounding_says():
    constant = np.full((1000, 2), 0.1)
    assert (constant.std(axis=0) > 0).all()  # the mean is off by a rounding error
    np.testing.assert_array_equal(deviations(constant), [0.0, 0.0])
    assert deviations(constant[:, 0]) == 0.0


def test_other_columns_have_their_standard_deviation():
    values = np.random.default_rng(1).normal(size=(50, 3)).astype(np.float32)
    values[:, 1] = 7
    found = deviations(values)
    assert found.dtype == np.float64
    assert found == pytest.approx(values.std(axis=0, dtype=np.float64) * [1, 0, 1])
