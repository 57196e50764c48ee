"""Passes over blocks: both sums of a step at once, compiled or not."""

from __future__ import annotations

import numpy as np
import pytest

from benchfw.kernels import blocks
from benchfw.kernels.blocks import LARGE, column_dots, squares_and_dots


def two_blocks(rows, columns, dtype=np.float64):
    rng = np.random.default_rng(5)
    return rng.standard_normal((rows, columns)).astype(dtype), rng.standard_normal((rows, columns)).astype(
        dtype
    )


@pytest.fixture(params=["numba", "plain"])
def dots(request, monkeypatch):
    """`squares_and_dots` with and without its compiled body."""
    if request.param == "plain":
        monkeypatch.setattr(blocks, "_compiled_dots", lambda: None)
    else:
        pytest.importorskip("numba", reason="the extra 'fast' is not installed")
    return squares_and_dots


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("columns", [1, 7, 30])
def test_both_sums_at_once_are_the_sums_one_by_one(dots, columns, dtype):
    block, other = two_blocks(LARGE // columns + 3, columns, dtype)
    squares, products = dots(block, other)
    wide, beside = block.astype(np.float64), other.astype(np.float64)
    assert squares.dtype == products.dtype == dtype
    # a sum of n terms of mean 1 in any order: n roundings of what it has reached, at most
    tolerance = len(block) * np.finfo(dtype).eps
    np.testing.assert_allclose(squares, (wide * wide).sum(axis=0), rtol=tolerance)
    scale = np.abs(wide * beside).sum(axis=0)
    assert (np.abs(products - (wide * beside).sum(axis=0)) <= tolerance * scale).all()


def test_blocks_in_another_memory_order_give_the_same_sums(dots):
    block, other = two_blocks(LARGE, 2)
    expected = dots(block, other)
    found = dots(np.asfortranarray(block), other)
    for left, right in zip(found, expected, strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-10, atol=1e-8)


def test_the_rows_that_numba_compiles_are_right_as_python_too():
    block, other = two_blocks(9, 4)
    squares, products = blocks._dots_by_rows(block, other)
    np.testing.assert_allclose(squares, column_dots(block, block))
    np.testing.assert_allclose(products, column_dots(block, other))
