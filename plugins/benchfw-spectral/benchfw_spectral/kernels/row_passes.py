"""Steps of a recurrence with sparse rows on the host: a product and what follows it, some rows at a time.

A block of columns is larger than the cache, and each pass over one costs as much as the product. Here what
was multiplied is scaled and summed while it is still in the cache; with numba (the extra `fast`) a row at a
time, in half of the time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from benchfw.backends.threads import over_pieces
from benchfw.kernels.blocks import AT_A_TIME, LARGE
from benchfw.kernels.operators import Operator, Rows, sparse_rows
from benchfw.kernels.updates import add_rows, adds_rows

WIDE = 512  # entries of a line: several rows taken as one, for NumPy is slow on rows as short as a block's


class RowPasses:
    """Passes over blocks in place; a block is what `hold` returned, with rows of zeros below."""

    def __init__(self, rows: Rows, columns: int) -> None:
        self._rows = rows
        self._columns = columns
        self._fold = 1 + WIDE // columns
        self._lines = -(-rows.matrix.shape[0] // self._fold)
        self._piece = max(1, AT_A_TIME // (self._fold * columns))  # lines

    def hold(self, block: Any) -> Any:
        """Return a copy, as the passes take it."""
        held = np.zeros((self._lines * self._fold, self._columns), dtype=block.dtype)
        held[: block.shape[0]] = block
        return held

    def multiply(self, block: Any, out: Any, scales: Any, keep: Any) -> Any:
        """Write (A block + out diag(keep)) diag(scales) to out; return inner products of its columns, (M,).

        They are those with the columns of the block; scales and keep are (M,).
        """
        compiled, matrix = _compile(), self._rows.matrix
        if compiled is not None:
            arrays = matrix.indptr, matrix.indices, matrix.data, block, out, scales, keep
            return self._sum(lambda piece: compiled.multiply(*arrays, *self._range(piece)), self._nanoseconds)
        lines, others = self._wide(out), self._wide(block)
        scales, keep = self._tiled(scales), self._tiled(keep)

        def work(piece: slice) -> Any:
            some = lines[piece]
            some *= keep
            add_rows(matrix, *self._range(piece), block, out)
            some *= scales
            return self._narrow(np.einsum("ij,ij->j", some, others[piece]))

        return self._sum(work, self._nanoseconds)

    def subtract(self, block: Any, scales: Any, other: Any) -> Any:
        """Subtract other diag(scales) from the block; return the squared lengths of its columns, (M,)."""
        compiled = _compile()
        if compiled is not None:
            return self._sum(lambda piece: compiled.subtract(block, scales, other, *self._range(piece)))
        lines, others, scales = self._wide(block), self._wide(other), self._tiled(scales)

        def work(piece: slice) -> Any:
            some = lines[piece]
            some -= others[piece] * scales
            return self._narrow(np.einsum("ij,ij->j", some, some))

        return self._sum(work)

    def count(self, columns: int) -> None:
        """Count products with so many columns."""
        if self._rows.on_product is not None:
            self._rows.on_product(columns)

    def _range(self, piece: slice) -> tuple[int, int]:
        """Return the first row of some lines and the first after them, without the rows of zeros."""
        size: int = self._rows.matrix.shape[0]
        return piece.start * self._fold, min(piece.stop * self._fold, size)

    def _wide(self, block: Any) -> Any:
        return block.reshape(self._lines, self._fold * self._columns)

    def _tiled(self, scales: Any) -> Any:
        return np.tile(scales, self._fold)

    def _narrow(self, sums: Any) -> Any:
        return sums.reshape(self._fold, self._columns).sum(axis=0)

    @property
    def _nanoseconds(self) -> float:
        """What an entry of a product takes: about one for each that is multiplied."""
        matrix = self._rows.matrix
        return 2.0 + int(matrix.nnz) / max(int(matrix.shape[0]), 1)

    def _sum(self, work: Callable[[slice], Any], nanoseconds: float = 2.0) -> Any:
        """Return the sum of what work returns for the lines of each piece, the same for any threads."""
        piece, lines = self._piece, self._lines
        sums: list[Any] = [None] * -(-lines // piece)

        def add(share: slice) -> None:
            for start in range(share.start, share.stop, piece):
                sums[start // piece] = work(slice(start, min(start + piece, share.stop)))

        over_pieces(add, lines, piece, self._fold * self._columns, nanoseconds)
        return np.sum(sums, axis=0)


def row_passes(operator: Operator, block: Any) -> RowPasses | None:
    """Return the passes for a matrix of sparse rows and a large block of its precision; None for others."""
    rows = sparse_rows(operator) if block.size >= LARGE else None
    if rows is None or not adds_rows(rows.matrix, block):
        return None
    return RowPasses(rows, block.shape[1])


class _Compiled(NamedTuple):
    """Passes over rows first … stop-1, by numba."""

    multiply: Callable[..., Any]
    subtract: Callable[..., Any]


@cache
def _compile() -> _Compiled | None:
    try:
        from benchfw.backends.started_numba import numba
    except ImportError:
        return None
    compiled = numba.njit(cache=True, nogil=True, fastmath={"contract"})
    return _Compiled(compiled(_multiply_rows), compiled(_subtract_rows))


def _multiply_rows(
    starts: Any,
    places: Any,
    entries: Any,
    block: Any,
    out: Any,
    scales: Any,
    keep: Any,
    first: int,
    stop: int,
) -> Any:
    columns = block.shape[1]
    row, dots = np.empty(columns, block.dtype), np.zeros(columns, block.dtype)
    for i in range(first, stop):
        for k in range(columns):
            row[k] = out[i, k] * keep[k]
        for each in range(starts[i], starts[i + 1]):
            entry, place = entries[each], places[each]
            for k in range(columns):
                row[k] += entry * block[place, k]
        for k in range(columns):
            row[k] *= scales[k]
            dots[k] += row[k] * block[i, k]
        out[i] = row
    return dots


def _subtract_rows(block: Any, scales: Any, other: Any, first: int, stop: int) -> Any:
    columns = block.shape[1]
    squares = np.zeros(columns, block.dtype)
    for i in range(first, stop):
        for k in range(columns):
            entry = block[i, k] - scales[k] * other[i, k]
            block[i, k] = entry
            squares[k] += entry * entry
    return squares
