"""Lanczos with sparse rows in place: the tridiagonals of the portable body, and nothing else touched."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from benchfw.backends import get_backend
from benchfw.kernels.operators import Counted, as_operator
from benchfw_spectral.kernels import row_passes
from benchfw_spectral.kernels.lanczos import lanczos

SIZE, STEPS = 700, 9


PYTHON = row_passes._Compiled(row_passes._multiply_rows, row_passes._subtract_rows)


@pytest.fixture(autouse=True, params=["numba", "numpy"])
def _small_blocks_too(request, monkeypatch):
    if request.param == "numba":
        pytest.importorskip("numba", reason="the extra 'fast' is not installed")
    else:
        monkeypatch.setattr(row_passes, "_compile", lambda: None)
    monkeypatch.setattr(row_passes, "LARGE", 0)
    monkeypatch.setattr(row_passes, "AT_A_TIME", 1 << 10)  # several pieces, and a last one of fewer lines


def laplacian(size=SIZE, dtype=np.float64):
    return sparse.diags_array([-1.0, 2.1, -1.0], offsets=[-1, 0, 1], shape=(size, size), dtype=dtype).tocsr()


def normals(columns, size=SIZE, dtype=np.float64):
    return get_backend("numpy").rng(3).standard_normal((size, columns), dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("columns", [1, 3, 30, 600])
def test_tridiagonals_are_those_of_the_portable_body(columns, dtype):
    probes, matrix = normals(columns, dtype=dtype), laplacian(dtype=dtype)
    found, expected = lanczos(probes, matrix, STEPS), lanczos.portable(probes, matrix, STEPS)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.dtype == dtype
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=200 * np.finfo(dtype).eps)


def test_the_rows_that_numba_compiles_are_right_as_python_too(monkeypatch):
    probes, matrix = normals(2, size=40), laplacian(40)
    monkeypatch.setattr(row_passes, "_compile", lambda: PYTHON)
    for ours, theirs in zip(lanczos(probes, matrix, 3), lanczos.portable(probes, matrix, 3), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_probes_of_any_order_stay_as_they_were():
    probes = np.asfortranarray(normals(3))
    before = probes.copy()
    lanczos(probes, laplacian(), STEPS)
    np.testing.assert_array_equal(probes, before)


def test_after_an_exhausted_space_all_is_zero():
    probes = np.zeros((SIZE, 2))
    probes[0, 0] = 1.0  # an eigenvector of the first matrix entry alone
    probes[:, 1] = normals(1)[:, 0]
    matrix = sparse.diags_array(np.linspace(1, 2, SIZE)).tocsr()
    alpha, beta = lanczos(probes, matrix, 3)
    np.testing.assert_array_equal(alpha[:, 0], [1.0, 0.0, 0.0])
    np.testing.assert_array_equal(beta[:, 0], 0.0)
    assert (beta[:, 1] > 0).all()


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_matrices_of_extreme_size_are_left_to_the_portable_body(scale):
    counts = []
    probes, matrix = normals(3), laplacian() * scale
    found = lanczos(probes, Counted(as_operator(matrix), counts.append), STEPS)
    for ours, theirs in zip(found, lanczos(probes, laplacian(), STEPS), strict=True):
        np.testing.assert_allclose(ours / scale, theirs, rtol=1e-12)
    assert sum(counts) == 3 * STEPS


def test_products_are_counted():
    counts = []
    lanczos(normals(4), Counted(as_operator(laplacian()), counts.append), STEPS)
    assert counts == [4 * STEPS]


def test_every_bit_is_the_same_for_any_number_of_threads(monkeypatch):
    probes, matrix = normals(30, size=10_000), laplacian(10_000)
    one = lanczos(probes, matrix, STEPS)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    for ours, theirs in zip(lanczos(probes, matrix, STEPS), one, strict=True):
        np.testing.assert_array_equal(ours, theirs)
