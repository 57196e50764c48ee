"""Cosines and sines of one array: by NumPy and compiled, within 1e-7 of the exact ones."""

from __future__ import annotations

import numpy as np
import pytest

from benchfw.backends import get_backend
from benchfw_kernelmachines.kernels import waves as module
from benchfw_kernelmachines.kernels.random_features import feature_products, feature_scores
from benchfw_kernelmachines.kernels.waves import FAR, MANY, find_writer, waves


@pytest.fixture(params=["numba", "python", "numpy"])
def write(request):
    """Return each of the bodies; what numba compiles is right as Python too."""
    if request.param == "numba":
        pytest.importorskip("numba", reason="the extra 'fast' is not installed")
        return find_writer(MANY, np.float32)
    return module._write_rows if request.param == "python" else module._write


@pytest.mark.parametrize("scale", [1e-3, 1.0, 50.0, 3_000.0, 0.99 * float(FAR), 1e9])
def test_waves_are_within_1e_7_of_the_exact_ones(write, scale):
    rng = get_backend("numpy").rng(3)
    phases = ((2 * rng.random((20, 53)) - 1) * scale).astype(np.float32)
    cosines, sines = waves(phases.copy(), write=write)
    exact = phases.astype(np.float64)
    np.testing.assert_allclose(cosines, np.cos(exact), rtol=0, atol=1e-7)
    np.testing.assert_allclose(sines, np.sin(exact), rtol=0, atol=1e-7)


def test_phases_without_a_cosine_have_none(write):
    phases = np.array([[0.0, np.nan, 1.0], [np.inf, 2.0, -np.inf]], dtype=np.float32)
    with np.errstate(invalid="ignore"):
        cosines, sines = waves(phases.copy(), write=write)
    for found in (cosines, sines):
        np.testing.assert_array_equal(np.isnan(found), [[False, True, False], [True, False, True]])


def test_only_many_phases_in_single_precision_are_compiled():
    pytest.importorskip("numba", reason="the extra 'fast' is not installed")
    assert find_writer(MANY, np.float32) is not module._write
    assert find_writer(MANY - 1, np.float32) is module._write
    assert find_writer(MANY, np.float64) is module._write


def test_without_numba_numpy_writes_them_all(monkeypatch):
    monkeypatch.setattr(module, "_compile", lambda: None)
    assert find_writer(MANY, np.float32) is module._write


def test_sums_over_features_are_the_same_compiled(monkeypatch):
    rng = get_backend("numpy").rng(3)
    rows, block, planes, residuals = (
        rng.standard_normal(shape, np.float32) for shape in ((300, 7), (7, 12), (2, 12, 4), (300, 4))
    )
    plain = feature_scores(rows, lambda _: block, [planes], 4), feature_products(rows, block, residuals)
    monkeypatch.setattr(module, "MANY", 0)
    compiled = feature_scores(rows, lambda _: block, [planes], 4), feature_products(rows, block, residuals)
    for found, expected in zip(compiled, plain, strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4)
