"""Soft thresholding moves every number towards zero by the threshold, and no further than zero."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchfw_firstorder.kernels.thresholding import soft_threshold

numbers = st.floats(-1e6, 1e6, allow_subnormal=False)


@settings(derandomize=True, database=None, deadline=None)
@given(values=st.lists(numbers, max_size=20), threshold=st.floats(0, 1e6))
def test_it_is_sign_times_what_is_left_of_the_size(values, threshold):
    x = np.array(values, dtype=np.float64)
    np.testing.assert_array_equal(
        soft_threshold(x, threshold), np.sign(x) * np.maximum(np.abs(x) - threshold, 0.0) + 0.0
    )


def test_it_minimises_the_proximal_objective():
    x, threshold = 1.7, 0.6
    points = np.linspace(-3, 3, 600_001)
    best = points[np.argmin(0.5 * (points - x) ** 2 + threshold * np.abs(points))]
    assert soft_threshold(np.array([x]), threshold)[0] == pytest.approx(best, abs=1e-5)


def test_the_threshold_may_be_an_array():
    assert soft_threshold(np.array([3.0, -3.0]), np.array([1.0, 2.0])).tolist() == [2.0, -1.0]


def test_single_precision_stays_single_and_nan_stays_nan():
    result = soft_threshold(np.array([np.nan, 2.0], dtype=np.float32), 0.5)
    assert result.dtype == np.float32
    assert np.isnan(result[0])
    assert result[1] == 1.5
