"""The logistic loss and its derivative, to rounding at any margin."""

import math

import numpy as np
import pytest

from benchfw.kernels import logistic_loss, logistic_slope

MARGINS = [-700.0, -40.0, -1.5, -1e-9, 0.0, 1e-9, 1.5, 40.0, 700.0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_loss_and_slope_are_exact_to_rounding_at_any_margin(dtype):
    if dtype is np.float32:
        margins = np.array([each for each in MARGINS if abs(each) < 80], dtype=dtype)
    else:
        margins = np.array(MARGINS)
    loss = [max(-m, 0.0) + math.log1p(math.exp(-abs(m))) for m in margins.tolist()]
    slope = [-math.exp(-max(m, 0.0)) / (1 + math.exp(-abs(m))) for m in margins.tolist()]
    for found, expected in ((logistic_loss(margins), loss), (logistic_slope(margins), slope)):
        assert found.dtype == dtype
        np.testing.assert_allclose(found, expected, rtol=8 * np.finfo(dtype).eps)


def test_no_margin_overflows():
    with np.errstate(all="raise", under="ignore"):
        assert logistic_loss(np.array([-1e300, 1e300])).tolist() == [1e300, 0.0]
        assert logistic_slope(np.array([-1e300, 1e300])).tolist() == [-1.0, 0.0]
