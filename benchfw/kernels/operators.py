"""Symmetric matrices as kernels take them: dense, sparse, or known by their products alone.

A matrix must not be changed while an operator holds it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from benchfw.errors import BenchfwError
from benchfw.kernels._kernel import namespace
from benchfw.kernels.blocks import add_scaled, squares_and_dots
from benchfw.kernels.updates import (
    dense_product,
    dense_update,
    sparse_product,
    sparse_update,
    sparse_update_and_dots,
)

Order = Literal["C", "F"]
"""How the entries of a block lie in memory: row after row (C) or column after column (F)."""


class Operator(Protocol):
    """A square matrix through its products with blocks of columns, (size, k) -> (size, k).

    One that can hold scale A + shift I at no cost a product may offer a method `shifted(scale, shift)`, one
    whose updates are new arrays a method `new_update`, one that finds inner products on its way a method
    `update_and_dots`, one whose matrix is stored whole or can be written out a method `whole`, and one of
    sparse rows a method `sparse_rows`, as the functions below describe.
    """

    size: int
    order: Order  # the memory order of blocks that its products like best
    work: float  # floating-point operations of a product with one column

    def matmat(self, block: Any) -> Any:
        """Return A block."""
        ...

    def update(self, block: Any, out: Any, scale: float, keep: float) -> Any:
        """Return scale A block + keep out; `out` may be overwritten."""
        ...


class Whole(NamedTuple):
    """scale A + shift I for an A that is stored whole; products with columns of a block are counted."""

    matrix: Any
    scale: float = 1.0
    shift: float = 0.0
    on_product: Callable[[int], None] | None = None


class Rows(NamedTuple):
    """A in compressed sparse rows; products with columns of a block are counted."""

    matrix: Any
    on_product: Callable[[int], None] | None = None


class DenseOperator:
    """A matrix that is stored whole."""

    order: Order = "F"

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix
        self.size: int = matrix.shape[0]
        self.work = 2.0 * self.size * self.size

    def matmat(self, block: Any) -> Any:
        """Return A block, column after column in memory, as `order` says."""
        return dense_product(block, self.matrix.T)  # A = A'

    def update(self, block: Any, out: Any, scale: float, keep: float) -> Any:
        """Return scale A block + keep out; one call of BLAS where the block and `out` are F-ordered."""
        return dense_update(block, self.matrix, out, scale, keep)

    def whole(self) -> Whole:
        """Return the matrix."""
        return Whole(self.matrix)


class SparseOperator:
    """A matrix in compressed sparse rows, of scipy.sparse or cupyx.scipy.sparse."""

    order: Order = "C"

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix.tocsr()
        self.size: int = matrix.shape[0]
        self.work = 2.0 * self.matrix.nnz
        self._last_shifted: tuple[float, float, SparseOperator] | None = None

    def matmat(self, block: Any) -> Any:
        """Return A block."""
        return sparse_product(block, self.matrix)

    def update(self, block: Any, out: Any, scale: float, keep: float) -> Any:
        """Return scale A block + keep out; without a new block where both are of the operator's order."""
        return sparse_update(block, self.matrix, out, scale, keep)

    def update_and_dots(self, block: Any, out: Any, scale: float, keep: float) -> tuple[Any, Any, Any]:
        """Return `update`, and its `squares_and_dots` with the block: on a GPU in the same pass."""
        return sparse_update_and_dots(block, self.matrix, out, scale, keep)

    def sparse_rows(self) -> Rows:
        """Return the matrix."""
        return Rows(self.matrix)

    def shifted(self, scale: float, shift: float) -> SparseOperator:
        """Return the operator of scale A + shift I, stored as such and kept for the next call."""
        last = self._last_shifted
        if last is None or last[:2] != (scale, shift):
            identity = _sparse_module(self.matrix).eye(self.size, dtype=self.matrix.dtype, format="csr")
            matrix = self.matrix * scale + identity * shift
            if isinstance(matrix.data, np.ndarray):
                # a constant diagonal in the middle of the interval cancels, as for Laplacians
                matrix.data[abs(matrix.data) <= np.finfo(matrix.dtype).eps * abs(shift)] = 0
                matrix.eliminate_zeros()
            last = scale, shift, SparseOperator(matrix)
            self._last_shifted = last
        return last[2]


class MatrixFree:
    """A matrix of which only the product with a block is known."""

    order: Order = "C"

    def __init__(self, product: Callable[[Any], Any], size: int, work: float | None = None) -> None:
        self._product = product
        self.size = size
        self.work = 2.0 * size * size if work is None else work

    def matmat(self, block: Any) -> Any:
        """Return A block."""
        return self._product(block)

    def update(self, block: Any, out: Any, scale: float, keep: float) -> Any:
        """Return scale A block + keep out, in place of `out`: the product may be somebody's own array."""
        if keep != 1.0:
            out *= keep
        out += scale * self._product(block)
        return out


class Shifted:
    """The operator of scale A + shift I, for an A that cannot take them in."""

    def __init__(self, operator: Operator, scale: float, shift: float) -> None:
        self._operator = operator
        self._scale = scale
        self._shift = shift
        self.size = operator.size
        self.order = operator.order
        self.work = operator.work

    def matmat(self, block: Any) -> Any:
        """Return (scale A + shift I) block."""
        return self._scale * self._operator.matmat(block) + self._shift * block

    def update(self, block: Any, out: Any, scale: float, keep: float) -> Any:
        """Return scale (this matrix) block + keep out."""
        product = self._operator.update(block, out, scale * self._scale, keep)
        return add_scaled(product, scale * self._shift, block)

    def whole(self) -> Whole | None:
        """Return the matrix, if that of the operator is stored whole."""
        found = whole(self._operator)
        if found is None:
            return None
        scale, shift = self._scale * found.scale, self._scale * found.shift + self._shift
        return found._replace(scale=scale, shift=shift)


class Counted:
    """An operator that tells how many columns were multiplied."""

    def __init__(self, operator: Operator, count: Callable[[int], None]) -> None:
        self._operator = operator
        self._count = count
        self.size = operator.size
        self.order = operator.order
        self.work = operator.work

    def matmat(self, block: Any) -> Any:
        """Return A block, and count its columns."""
        self._count(block.shape[1])
        return self._operator.matmat(block)

    def update(self, block: Any, out: Any, scale: float, keep: float) -> Any:
        """Return scale A block + keep out, and count the columns of the block."""
        self._count(block.shape[1])
        return self._operator.update(block, out, scale, keep)

    def new_update(self, block: Any, out: Any, scale: float, keep: float) -> Any:
        """Return `update` in a new array, and count the columns of the block."""
        self._count(block.shape[1])
        return new_update(self._operator, block, out, scale, keep)

    def update_and_dots(self, block: Any, out: Any, scale: float, keep: float) -> tuple[Any, Any, Any]:
        """Return `update` and its inner products, and count the columns of the block."""
        self._count(block.shape[1])
        return update_and_dots(self._operator, block, out, scale, keep)

    def shifted(self, scale: float, shift: float) -> Counted:
        """Return the operator of scale A + shift I, counted in the same place."""
        return Counted(shifted(self._operator, scale, shift), self._count)

    def whole(self) -> Whole | None:
        """Return the matrix, if that of the operator is stored whole; its products are to be counted."""
        found = whole(self._operator)
        return None if found is None else found._replace(on_product=self._count)

    def sparse_rows(self) -> Rows | None:
        """Return the matrix, if that of the operator is of sparse rows; its products are to be counted."""
        found = sparse_rows(self._operator)
        return None if found is None else found._replace(on_product=self._count)


def as_operator(matrix: Any, size: int | None = None) -> Operator:
    """Return the operator of an array, a sparse matrix, or a product function of a matrix of a given size."""
    if hasattr(matrix, "matmat") and hasattr(matrix, "update"):
        operator: Operator = matrix
        return operator
    if hasattr(matrix, "tocsr"):
        return SparseOperator(matrix)
    if callable(matrix):
        if size is None:
            raise BenchfwError("a product function does not know its size; give size as well")
        return MatrixFree(matrix, size)
    return DenseOperator(matrix)


def shifted(operator: Operator, scale: float, shift: float) -> Operator:
    """Return the operator of scale A + shift I, by the operator's own method where it has one."""
    own: Callable[[float, float], Operator] | None = getattr(operator, "shifted", None)
    return Shifted(operator, scale, shift) if own is None else own(scale, shift)


def whole(operator: Operator) -> Whole | None:
    """Return the matrix of an operator that stores it whole or can write it out, None for others."""
    own: Callable[[], Whole | None] | None = getattr(operator, "whole", None)
    return None if own is None else own()


def sparse_rows(operator: Operator) -> Rows | None:
    """Return the matrix of an operator that stores it in compressed sparse rows, None for others."""
    own: Callable[[], Rows | None] | None = getattr(operator, "sparse_rows", None)
    return None if own is None else own()


def new_update(operator: Operator, block: Any, out: Any, scale: float, keep: float) -> Any:
    """Return scale A block + keep out in a new array, by the operator's own method where it has one."""
    own: Callable[..., Any] | None = getattr(operator, "new_update", None)
    if own is not None:
        return own(block, out, scale, keep)
    return operator.update(block, namespace(out).asarray(out, copy=True), scale, keep)


def add_product(block: Any, matrix: Any, out: Any, scale: float, keep: float) -> Any:
    """Return scale A block + keep out, (n, k), for A (n, m) and a block (m, k); `out` may be overwritten."""
    return dense_update(block, matrix, out, scale, keep)


def update_and_dots(
    operator: Operator, block: Any, out: Any, scale: float, keep: float
) -> tuple[Any, Any, Any]:
    """Return B = scale A block + keep out, (size, k), and inner products of its columns, (k,) each.

    They are those with themselves and with the block's; by the operator's own method where it has one.
    """
    own: Callable[..., tuple[Any, Any, Any]] | None = getattr(operator, "update_and_dots", None)
    if own is not None:
        return own(block, out, scale, keep)
    result = operator.update(block, out, scale, keep)
    return result, *squares_and_dots(result, block)


def _sparse_module(matrix: Any) -> Any:
    """Return the public module that a sparse matrix's class is of, such as scipy.sparse."""
    return importlib.import_module(type(matrix).__module__.rpartition(".")[0])
