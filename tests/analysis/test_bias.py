"""Biases in the mean: tests and intervals agree."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchfw.analysis.draws import (
    bias_ends,
    length_ends,
    length_probability,
    pool_draws,
    unbiased_probability,
)


@pytest.mark.parametrize(
    ("ends", "probability"), [(bias_ends, unbiased_probability), (length_ends, length_probability)]
)
def test_a_mean_is_called_a_bias_just_if_its_interval_leaves_out_0(ends, probability):
    rng = np.random.default_rng(5)
    values = rng.normal(rng.uniform(-1, 3, (300, 1)), 1.0, (300, 5))
    pool = pool_draws(np.ones((300, 5)), math.sqrt(2 / 100), math.sqrt(8), 100)
    found = probability(values, pool) <= 0.05
    low, high = ends(values, pool)
    assert 0 < np.mean(found) < 1
    assert np.array_equal(found, (low > 0) | (high < 0))


def test_a_length_of_exactly_0_is_no_bias_and_one_that_never_varies_is():
    pool = pool_draws([1.0] * 5, [0.1] * 5, [0.1] * 5, [100] * 5)
    assert [float(length_probability([size] * 5, pool)) for size in (0.0, -1.0, 1.0)] == [1, 1, 0]
