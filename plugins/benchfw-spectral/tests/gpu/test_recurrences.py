"""On a GPU: recurrences with a dense matrix, small enough for one launch or not, are those of the host."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from benchfw.backends import get_backend
from benchfw.errors import BackendUnavailable, BenchfwError
from benchfw.kernels import Counted, as_operator, shifted
from benchfw_spectral.kernels.conjugate_gradients import conjugate_gradients
from benchfw_spectral.kernels.lanczos import lanczos, lanczos_apply
from benchfw_spectral.kernels.resident import resident

try:
    CUPY = get_backend("cupy")
except BackendUnavailable as missing:
    pytest.skip(str(missing), allow_module_level=True)

import cupy

SIZES = 1, 2, 5, 9, 100, 257, 1_057, 1_600, 2_111, 2_500  # the last one needs a launch a step


def example(size, columns=5, dtype=np.float64):
    """Return a matrix of condition 20 and a block of columns."""
    rng = np.random.default_rng(size)
    basis, _ = np.linalg.qr(rng.standard_normal((size, size)))
    matrix = (basis * np.linspace(1.0, 20.0, size)) @ basis.T
    return ((matrix + matrix.T) / 2).astype(dtype), rng.standard_normal((size, columns)).astype(dtype)


def assert_close(device, host, roundings=2_000):
    scale = np.max(np.abs(host))
    eps = np.finfo(host.dtype).eps
    np.testing.assert_allclose(CUPY.to_numpy(device), host, rtol=0, atol=roundings * eps * scale)


def on_both(call, *arrays):
    return call(*arrays), call(*map(CUPY.asarray, arrays))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_lanczos_takes_the_steps_of_the_host(size, dtype):
    matrix, block = example(size, dtype=dtype)
    host, device = on_both(lambda a, v: lanczos(v, a, min(6, size)), matrix, block)
    for here, there in zip(host, device, strict=True):
        assert_close(there, here)


@pytest.mark.parametrize("size", SIZES)
def test_a_function_of_the_matrix_is_applied_as_on_the_host(size):
    host, device = on_both(lambda a, v: lanczos_apply(v, a, np.reciprocal, min(6, size)), *example(size))
    assert_close(device, host)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("begun", [False, True])
def test_conjugate_gradients_solve_as_on_the_host(size, begun):
    matrix, block = example(size)
    host, device = on_both(
        lambda a, v: conjugate_gradients(v, a, 1e-12, start=0.1 * v if begun else None), matrix, block
    )
    assert_close(device, host, 20_000)  # of the condition too
    assert np.max(np.abs(matrix @ CUPY.to_numpy(device) - block)) < 1e-10 * np.max(np.abs(block))


@pytest.mark.parametrize("columns", [1, 8, 16, 32, 33, 70])
@pytest.mark.parametrize("order", ["C", "F"])
def test_any_number_of_columns_in_any_order_is_taken(columns, order):
    matrix, block = example(120, columns)
    host = lanczos(block, matrix, 5)
    for here, there in zip(
        host, lanczos(CUPY.asarray(block).copy(order=order), CUPY.asarray(matrix), 5), strict=True
    ):
        assert_close(there, here)


@pytest.mark.parametrize("size", [100, 2_500])
def test_products_are_counted_as_on_the_host(size):
    def products_of(matrix, block):
        counts = []
        operator = Counted(as_operator(matrix), counts.append)
        lanczos(block, operator, 4)
        conjugate_gradients(block, operator, 1e-8, start=block)
        return sum(counts)

    here, there = on_both(products_of, *example(size, 3))
    assert here == there


def test_a_scaled_and_shifted_matrix_is_taken_as_such():
    host, device = on_both(lambda a, v: lanczos(v, shifted(as_operator(a), -2.0, 5.0), 4), *example(60))
    assert_close(device[0], host[0])


def test_a_matrix_that_is_not_definite_is_refused_in_the_words_of_the_host():
    matrix, block = example(60)
    said = []
    for a, v in ((matrix, block), (CUPY.asarray(matrix), CUPY.asarray(block))):
        with pytest.raises(BenchfwError, match="not positive definite") as refusal:
            conjugate_gradients(v, -a)
        said.append(str(refusal.value))
    assert said[0] == said[1]


def test_columns_that_are_not_solved_are_counted():
    matrix, block = map(CUPY.asarray, example(300, 40))
    with pytest.raises(BenchfwError, match="left 40 of 40 columns"):
        conjugate_gradients(block, matrix, 1e-12, 3)


@pytest.mark.parametrize("factor", [0.0, 1e-200, 1e200])
def test_columns_of_extreme_length_are_taken_as_on_the_host(factor):
    matrix, block = example(50)
    block[:, 0] *= factor
    host, device = on_both(lambda a, v: lanczos(v, a, 3), matrix, block)
    assert_close(device[0], host[0])


def test_a_matrix_of_two_thousand_rows_needs_one_launch_and_a_larger_one_does_not_fit():
    small, large = (CUPY.xp.zeros((size, size)) for size in (2_000, 2_500))
    assert resident(as_operator(small), small[:, :1]) is not None
    assert resident(as_operator(large), large[:, :1]) is None


def test_calls_on_several_streams_at_once_do_not_mix():
    matrix, block = map(CUPY.asarray, example(300, 40))
    expected = CUPY.to_numpy(lanczos(block, matrix, 20)[0])

    def call(_number):
        with cupy.cuda.Stream(non_blocking=True):
            CUPY.synchronize()
            found = [lanczos(block, matrix, 20)[0] for _ in range(20)]
            CUPY.synchronize()
            return [CUPY.to_numpy(each) for each in found]

    with ThreadPoolExecutor(4) as threads:
        for each in threads.map(call, range(8)):
            np.testing.assert_array_equal(each, [expected] * 20)


def test_a_call_whose_answer_is_not_used_leaves_nothing_behind():
    matrix, block = map(CUPY.asarray, example(60))
    before = CUPY.to_numpy(lanczos(block, matrix, 5)[0])
    lanczos(0.0 * block, matrix, 5)  # of extreme length: taken as on the host
    np.testing.assert_array_equal(CUPY.to_numpy(lanczos(block, matrix, 5)[0]), before)
