"""Operators: every kind gives the same products, in place where it can."""

from __future__ import annotations

import array_api_strict
import numpy as np
import pytest
import scipy.sparse

from benchfw import BenchfwError
from benchfw.kernels import updates
from benchfw.kernels.blocks import LARGE
from benchfw.kernels.operators import (
    Counted,
    MatrixFree,
    SparseOperator,
    as_operator,
    new_update,
    shifted,
)

SIZE, COLUMNS = 40, 5


def symmetric(dtype=np.float64):
    rng = np.random.default_rng(1)
    matrix = rng.standard_normal((SIZE, SIZE)) * (rng.random((SIZE, SIZE)) < 0.2)
    return (matrix + matrix.T).astype(dtype)


KINDS = {
    "dense": as_operator,
    "dense-fortran": lambda matrix: as_operator(np.asfortranarray(matrix)),
    "dense-strided": lambda matrix: as_operator(np.kron(matrix, np.ones((2, 2), matrix.dtype))[::2, ::2]),
    "sparse": lambda matrix: as_operator(scipy.sparse.csr_array(matrix)),
    "sparse-coordinates": lambda matrix: as_operator(scipy.sparse.coo_matrix(matrix)),
    "matrix-free": lambda matrix: as_operator(lambda block: matrix @ block, size=SIZE),
    "counted": lambda matrix: Counted(as_operator(matrix), lambda columns: None),
}
each_kind = pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
each_dtype = pytest.mark.parametrize("dtype", [np.float32, np.float64])
each_order = pytest.mark.parametrize("order", ["C", "F"])


def blocks(dtype, order):
    rng = np.random.default_rng(2)
    return (rng.standard_normal((SIZE, COLUMNS)).astype(dtype, order=order) for _ in range(2))


def assert_close(one, other, dtype):
    assert one.dtype == dtype
    np.testing.assert_allclose(one, other, rtol=0, atol=100 * np.finfo(dtype).eps * np.max(np.abs(other)))


@each_kind
@each_dtype
@each_order
def test_every_kind_multiplies_and_updates_alike(make, dtype, order):
    matrix = symmetric(dtype)
    operator = make(matrix)
    block, out = blocks(dtype, order)
    before = block.copy()
    expected = 0.7 * (matrix @ block) - 1.5 * out
    assert operator.size == SIZE
    assert_close(operator.matmat(block), matrix @ block, dtype)
    assert_close(operator.update(block, out, 0.7, -1.5), expected, dtype)
    np.testing.assert_array_equal(block, before)


@each_kind
@each_dtype
@each_order
def test_a_shifted_operator_is_a_multiple_plus_a_multiple_of_the_identity(make, dtype, order):
    matrix = symmetric(dtype)
    operator = shifted(make(matrix), 0.5, -2.0)
    block, out = blocks(dtype, order)
    product = 0.5 * (matrix @ block) - 2.0 * block
    expected = 3.0 * product + 0.25 * out
    assert_close(operator.matmat(block), product, dtype)
    assert_close(operator.update(block, out, 3.0, 0.25), expected, dtype)


@each_kind
@each_order
def test_a_new_update_leaves_out_as_it_is(make, order):
    operator, counted = make(symmetric()), []
    block, out = blocks(np.float64, order)
    before, expected = out.copy(), 0.7 * (symmetric() @ block) - 1.5 * out
    assert_close(new_update(operator, block, out, 0.7, -1.5), expected, np.float64)
    assert_close(new_update(Counted(operator, counted.append), block, out, 0.7, -1.5), expected, np.float64)
    np.testing.assert_array_equal(out, before)
    assert counted == [COLUMNS]


def test_a_large_operator_known_by_its_products_can_be_shifted():
    diagonal = np.linspace(1.0, 2.0, LARGE // COLUMNS)[:, None]
    operator = shifted(as_operator(lambda block: diagonal * block, size=len(diagonal)), 0.5, -2.0)
    block = np.random.default_rng(3).standard_normal((len(diagonal), COLUMNS))
    updated = operator.update(block, block.copy(), 3.0, 0.25)
    assert_close(updated, (1.5 * diagonal - 6.0 + 0.25) * block, np.float64)


@pytest.mark.parametrize("kind", ["dense", "dense-fortran", "sparse", "matrix-free"])
def test_an_update_in_the_operators_order_writes_into_out(kind):
    operator = KINDS[kind](symmetric())
    block, out = blocks(np.float64, operator.order)
    assert np.shares_memory(operator.update(block, out, 0.7, -1.5), out)


def test_mixed_precision_is_not_rounded_to_the_lower_one():
    matrix = symmetric()
    block, out = (array.astype(np.float32) for array in blocks(np.float64, "F"))
    for make in (KINDS["dense"], KINDS["sparse"]):
        result = make(matrix).update(block, out, 1.0, 1.0)
        assert_close(result, matrix @ block + out, np.float64)


@pytest.mark.parametrize("shape", [(0, 3), (4, 0)])
def test_empty_blocks_are_no_special_case(shape):
    size = shape[0]
    for matrix in (np.eye(size), scipy.sparse.eye_array(size, format="csr")):
        operator = as_operator(matrix)
        out = operator.update(np.zeros(shape), np.zeros(shape, order=operator.order), 1.0, 1.0)
        assert out.shape == shape


def test_a_matrix_without_entries_is_zero():
    operator = as_operator(scipy.sparse.csr_array((3, 3)))
    np.testing.assert_array_equal(operator.update(np.ones((3, 2)), np.ones((3, 2)), 5.0, 2.0), 2.0)
    np.testing.assert_array_equal(shifted(operator, 5.0, 2.0).matmat(np.ones((3, 2))), 2.0)


@each_dtype
def test_sparse_updates_of_a_single_column_are_those_of_a_block(dtype):
    matrix = symmetric(dtype)
    block, out = (array[:, :1].copy() for array in blocks(dtype, "C"))
    expected = 0.7 * (matrix @ block) - 1.5 * out
    assert_close(KINDS["sparse"](matrix).update(block, out, 0.7, -1.5), expected, dtype)


def test_a_diagonal_that_cancels_is_not_multiplied():
    matrix = symmetric()
    np.fill_diagonal(matrix, 4.1)
    operator = shifted(as_operator(scipy.sparse.csr_array(matrix)), 2 / 8.1, -4.1 * 2 / 8.1 * (1 + 1e-16))
    assert operator.work == 2.0 * np.count_nonzero(matrix - 4.1 * np.eye(SIZE))
    assert_close(operator.matmat(np.eye(SIZE)), 2 / 8.1 * (matrix - 4.1 * np.eye(SIZE)), np.float64)


def test_sparse_updates_do_without_the_private_function_of_scipy(monkeypatch):
    monkeypatch.setattr(updates, "_sparse_tools", lambda: None)
    matrix = symmetric()
    block, out = blocks(np.float64, "C")
    expected = 0.7 * (matrix @ block) - 1.5 * out
    assert_close(KINDS["sparse"](matrix).update(block, out, 0.7, -1.5), expected, np.float64)


def test_dense_operators_take_any_array_library():
    matrix = symmetric()
    block, out = blocks(np.float64, "C")
    expected = 0.7 * (0.5 * (matrix @ block) + 2.0 * block) - 1.5 * out
    strict = [array_api_strict.asarray(array) for array in (matrix, block, out)]
    result = shifted(as_operator(strict[0]), 0.5, 2.0).update(strict[1], strict[2], 0.7, -1.5)
    assert_close(np.asarray(result), expected, np.float64)


def test_a_product_function_may_return_its_argument():
    identity = MatrixFree(lambda block: block, SIZE)
    block, out = blocks(np.float64, "C")
    before, expected = block.copy(), 3.0 * block - 2.0 * out
    np.testing.assert_allclose(identity.update(block, out, 3.0, -2.0), expected)
    np.testing.assert_array_equal(block, before)


def test_counted_products_are_counted_by_column_shifted_or_not():
    seen = []
    counted = Counted(KINDS["sparse"](symmetric()), seen.append)
    block, out = blocks(np.float64, "C")
    counted.matmat(block)
    counted.update(block, out, 1.0, 1.0)
    shifted(counted, 2.0, 1.0).update(block[:, :2].copy(), out[:, :2].copy(), 1.0, 1.0)
    assert seen == [COLUMNS, COLUMNS, 2]


def test_a_sparse_operator_keeps_its_last_shift():
    operator = SparseOperator(scipy.sparse.csr_array(symmetric()))
    assert operator.shifted(2.0, 1.0) is operator.shifted(2.0, 1.0)
    assert operator.shifted(2.0, 1.0) is not operator.shifted(2.0, -1.0)


def test_work_is_two_operations_an_entry():
    matrix = symmetric()
    assert as_operator(matrix).work == 2 * SIZE**2
    assert KINDS["sparse"](matrix).work == 2 * np.count_nonzero(matrix)


def test_an_operator_is_its_own_operator():
    operator = as_operator(np.eye(3))
    assert as_operator(operator) is operator


def test_a_product_function_without_a_size_is_refused():
    with pytest.raises(BenchfwError, match="give size as well"):
        as_operator(lambda block: block)


class _Watched(np.ndarray):
    """An array that NumPy may not multiply as a matrix."""

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        assert ufunc is not np.matmul, "a product by NumPy's BLAS"
        return super().__array_ufunc__(ufunc, method, *inputs, **options)


@each_dtype
@each_order
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("columns", [1, 3])
def test_large_products_are_those_of_numpy_for_any_order_and_also_for_one_column(
    dtype, order, turned, columns
):
    rng = np.random.default_rng(7)
    matrix = rng.standard_normal((700, 600)).astype(dtype)
    matrix = np.asfortranarray(matrix) if turned else matrix
    block = rng.standard_normal((600, columns)).astype(dtype, order=order)
    out = np.asfortranarray(rng.standard_normal((700, columns)).astype(dtype))
    assert_close(updates.dense_product(block, matrix), matrix @ block, dtype)
    expected = 2 * (matrix @ block) - 3 * out
    assert_close(updates.dense_update(block, matrix, out, 2.0, -3.0), expected, dtype)


@pytest.mark.parametrize(("matrix", "block"), [((900, 900), (900,)), ((900,), (900, 900))])
def test_products_of_other_shapes_are_those_of_numpy(matrix, block):
    rng = np.random.default_rng(8)
    matrix, block = rng.standard_normal(matrix), rng.standard_normal(block)
    np.testing.assert_allclose(updates.dense_product(block, matrix), (block.T @ matrix.T).T, rtol=1e-10)


def test_a_product_of_sizes_that_differ_is_a_value_error():
    with pytest.raises(ValueError, match="mismatch"):
        updates.dense_product(np.ones((800, 5)), np.ones((700, 700)))


@each_order
def test_dense_recurrences_multiply_by_one_library_whose_threads_do_not_meet_those_of_another(
    monkeypatch, order
):
    monkeypatch.setattr(updates, "ONE_THREAD", 0)
    operator = as_operator(symmetric().view(_Watched))
    block, out = blocks(np.float64, order)
    expected = symmetric() @ block
    assert_close(np.asarray(operator.matmat(block)), expected, np.float64)
    out = np.asfortranarray(out)
    assert_close(np.asarray(operator.update(block, out.copy("F"), 2.0, 1.0)), 2 * expected + out, np.float64)
