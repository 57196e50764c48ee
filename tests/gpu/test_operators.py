"""On a GPU: products with sparse rows, the updates made of them, and their inner products."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from benchfw.backends import get_backend
from benchfw.errors import BackendUnavailable
from benchfw.kernels import dense_product
from benchfw.kernels.operators import add_product, as_operator, update_and_dots

NUMPY = get_backend("numpy")
try:
    CUPY = get_backend("cupy")
except BackendUnavailable as missing:
    pytest.skip(str(missing), allow_module_level=True)

import cupyx.scipy.sparse  # noqa: E402 - there is no CuPy to import where the line above skips


@pytest.fixture(params=[1, 31, 33, 70], ids=lambda columns: f"{columns} columns")
def columns(request):
    return request.param


@pytest.fixture(params=["C", "F"])
def order(request):
    return request.param


@pytest.mark.parametrize("rows", [1, 9, 20_001])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("scale", "keep"), [(1.0, 0.0), (-0.5, 1.0), (2.0, 0.25)])
def test_an_update_with_sparse_rows_is_that_of_the_host(rows, dtype, scale, keep, columns, order):
    matrix = scipy.sparse.random_array((rows, rows), density=min(1.0, 6 / rows), rng=3, dtype=dtype).tocsr()
    matrix = (matrix + scipy.sparse.identity(rows, dtype=dtype)).tocsr()
    block, out = np.random.default_rng(4).standard_normal((2, rows, columns)).astype(dtype)
    expected = scale * (matrix @ block) + keep * out
    operator = as_operator(cupyx.scipy.sparse.csr_matrix(matrix))

    def on_device(values):
        return CUPY.xp.asarray(values, order=order)

    tolerance = 100 * np.finfo(dtype).eps
    updated = operator.update(on_device(block), on_device(out), scale, keep)
    np.testing.assert_allclose(CUPY.to_numpy(updated), expected, rtol=0, atol=tolerance)
    product = operator.matmat(on_device(block))
    np.testing.assert_allclose(CUPY.to_numpy(product), matrix @ block, rtol=0, atol=tolerance)
    result, squares, dots = update_and_dots(operator, on_device(block), on_device(out), scale, keep)
    np.testing.assert_allclose(CUPY.to_numpy(result), expected, rtol=0, atol=tolerance)
    for found, host in ((squares, expected * expected), (dots, expected * block)):
        np.testing.assert_allclose(
            CUPY.to_numpy(found), host.sum(axis=0), rtol=0, atol=tolerance * abs(host).sum(axis=0).max()
        )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("turned", [False, True], ids=["rows", "columns"])
def test_products_with_a_wide_dense_matrix_are_those_of_the_host(dtype, turned, columns, order):
    rng = np.random.default_rng(5)
    matrix = rng.standard_normal((90, 40) if turned else (40, 90)).astype(dtype)
    block, out = (rng.standard_normal((rows, columns)).astype(dtype) for rows in (90, 40))
    factor = CUPY.asarray(matrix).T if turned else CUPY.asarray(matrix)
    host = matrix.T if turned else matrix

    def on_device(values):
        return CUPY.xp.asarray(values, order=order)

    tolerance = 1000 * np.finfo(dtype).eps
    found = (
        dense_product(on_device(block), factor),
        add_product(on_device(block), factor, on_device(out), 2.0, 0.5),
    )
    np.testing.assert_allclose(CUPY.to_numpy(found[0]), host @ block, rtol=0, atol=tolerance)
    np.testing.assert_allclose(CUPY.to_numpy(found[1]), 2 * host @ block + 0.5 * out, rtol=0, atol=tolerance)


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_a_product_with_a_wide_matrix_has_its_rows_for_indices_of_any_length(index):
    matrix = scipy.sparse.random_array((40, 90), density=0.2, rng=3).tocsr()
    block = np.random.default_rng(4).standard_normal((90, 5))
    parts = (
        CUPY.asarray(matrix.data),
        *(CUPY.asarray(each, index) for each in (matrix.indices, matrix.indptr)),
    )
    on_device = cupyx.scipy.sparse.csr_matrix(parts, shape=matrix.shape)
    product = as_operator(on_device).matmat(CUPY.asarray(block))
    np.testing.assert_allclose(CUPY.to_numpy(product), matrix @ block, rtol=1e-12)
