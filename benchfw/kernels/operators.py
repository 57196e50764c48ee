"""Symmetric matrices as kernels take them: dense, sparse, or known by their products alone.

A matrix must not be changed while an operator holds it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Literal, Protocol

import numpy as np

from benchfw.errors import BenchfwError
from benchfw.kernels._csr_update import csr_update, csr_update_and_dots
from benchfw.kernels._kernel import namespace
from benchfw.kernels.blocks import squares_and_dots

Order = Literal["C", "F"]


class Operator(Protocol):
    """A square matrix through its products with blocks of columns, (size, k) -> (size, k).

    One that can hold scale A + shift I at no cost a product may offer a method `shifted(scale, shift)`, and
    one that finds inner products on its way a method `update_and_dots`, as the functions below describe.
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


class DenseOperator:
    """A matrix that is stored whole."""

    order: Order = "F"

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix
        self.size: int = matrix.shape[0]
        self.work = 2.0 * self.size * self.size

    def matmat(self, block: Any) -> Any:
        """Return A block."""
        return self.matrix @ block

    def update(self, block: Any, out: Any, scale: float, keep: float) -> Any:
        """Return scale A block + keep out; one call of BLAS where the block and `out` are F-ordered."""
        matrix, library = self.matrix, _library(out)
        if library in {"numpy", "cupy"} and out.size and _all_single_or_double(matrix, block, out):
            if library == "cupy":
                from cupy import cublas

                return cublas.gemm("N", "N", matrix, block, out=out, alpha=scale, beta=keep)
            if out.flags.f_contiguous and matrix.flags.forc:
                from scipy.linalg import blas

                gemm = blas.sgemm if out.dtype.char == "f" else blas.dgemm
                # A = A', so its rows may be read as columns: BLAS need neither copy nor transpose A
                columns = matrix if matrix.flags.f_contiguous else matrix.T
                return gemm(scale, columns, block, keep, out, overwrite_c=True)
        return scale * (matrix @ block) + keep * out


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
        if self._on_device(block):
            shape = (self.size, block.shape[1])
            return csr_update(self.matrix, block, namespace(block).empty(shape, dtype=block.dtype), 1.0, 0.0)
        return self.matrix @ block

    def update(self, block: Any, out: Any, scale: float, keep: float) -> Any:
        """Return scale A block + keep out; without a new block where both are of the operator's order."""
        matrix = self.matrix
        if self._on_device(block, out):
            return csr_update(matrix, block, out, scale, keep)
        if matrix.nnz and _all_single_or_double(matrix, block, out):
            tools = _sparse_tools()
            if tools and _library(out) == "numpy" and block.flags.c_contiguous and out.flags.c_contiguous:
                if keep != 1.0:
                    out *= keep
                entries = matrix.data if scale == 1.0 else scale * matrix.data
                arrays = matrix.indptr, matrix.indices, entries, block.ravel(), out.ravel()
                if block.shape[1] == 1:  # a third of the time
                    tools.csr_matvec(*matrix.shape, *arrays)
                else:
                    tools.csr_matvecs(*matrix.shape, block.shape[1], *arrays)
                return out
        return scale * (matrix @ block) + keep * out

    def update_and_dots(self, block: Any, out: Any, scale: float, keep: float) -> tuple[Any, Any, Any]:
        """Return `update`, and its `squares_and_dots` with the block: on a GPU in the same pass."""
        if self._on_device(block, out):
            return csr_update_and_dots(self.matrix, block, out, scale, keep)
        result = self.update(block, out, scale, keep)
        return result, *squares_and_dots(result, block)

    def _on_device(self, *blocks: Any) -> bool:
        """Return whether our kernel takes these blocks: C-ordered, on a GPU, of the matrix's precision."""
        return (
            all(_library(block) == "cupy" and block.flags.c_contiguous for block in blocks)
            and self.matrix.nnz > 0
            and _all_single_or_double(self.matrix, *blocks)
        )

    def shifted(self, scale: float, shift: float) -> SparseOperator:
        """Return the operator of scale A + shift I, stored as such and kept for the next call."""
        last = self._last_shifted
        if last is None or last[:2] != (scale, shift):
            identity = _sparse(self.matrix).eye(self.size, dtype=self.matrix.dtype, format="csr")
            matrix = self.matrix * scale + identity * shift
            if _library(matrix) == "scipy":
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
        if keep != 1.0:
            out *= keep
        out += (scale * self._shift) * block
        return self._operator.update(block, out, scale * self._scale, 1.0)


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

    def update_and_dots(self, block: Any, out: Any, scale: float, keep: float) -> tuple[Any, Any, Any]:
        """Return `update` and its inner products, and count the columns of the block."""
        self._count(block.shape[1])
        return update_and_dots(self._operator, block, out, scale, keep)

    def shifted(self, scale: float, shift: float) -> Counted:
        """Return the operator of scale A + shift I, counted in the same place."""
        return Counted(shifted(self._operator, scale, shift), self._count)


def as_operator(matrix: Any, size: int | None = None) -> Operator:
    """Return the operator of an array, a sparse matrix, or a product function of a matrix of a given size."""
    if hasattr(matrix, "matmat") and hasattr(matrix, "update"):
        operator: Operator = matrix
        return operator
    if hasattr(matrix, "tocsr"):
        return SparseOperator(matrix)
    if callable(matrix):
        if size is None:
            raise BenchfwError("a product function says nothing of its size; give size as well")
        return MatrixFree(matrix, size)
    return DenseOperator(matrix)


def shifted(operator: Operator, scale: float, shift: float) -> Operator:
    """Return the operator of scale A + shift I, by the operator's own method where it has one."""
    own: Callable[[float, float], Operator] | None = getattr(operator, "shifted", None)
    return Shifted(operator, scale, shift) if own is None else own(scale, shift)


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


def _library(array: Any) -> str:
    """Return the name of the package that an array or a sparse matrix comes from."""
    return type(array).__module__.partition(".")[0]


def _sparse(matrix: Any) -> Any:
    """Return the module of a sparse matrix: scipy.sparse or cupyx.scipy.sparse."""
    if _library(matrix) == "scipy":
        import scipy.sparse

        return scipy.sparse
    import cupyx.scipy.sparse

    return cupyx.scipy.sparse


def _all_single_or_double(*arrays: Any) -> bool:
    """Return whether the arrays, of NumPy or CuPy, are all float32 or all float64, as BLAS wants them."""
    return {array.dtype.char for array in arrays} in ({"f"}, {"d"})


@cache
def _sparse_tools() -> Any:
    """Return SciPy's module of out += A block for sparse rows, if it is where it was: it is not public."""
    try:
        from scipy.sparse import _sparsetools
    except ImportError:
        return None
    return _sparsetools
