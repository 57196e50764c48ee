"""scale A block + keep out, for a dense A and for sparse rows, and inner products of what comes out."""

from __future__ import annotations

from functools import cache
from math import isqrt
from typing import Any

import numpy as np

from benchfw.kernels._kernel import kernel, namespace
from benchfw.kernels.blocks import squares_and_dots

ONE_THREAD = 1 << 18  # multiplications: a product with fewer takes one thread in OpenBLAS


@kernel("dense-update")
def dense_update(block: Any, matrix: Any, out: Any, scale: float, keep: float) -> Any:
    """Return scale A block + keep out, (n, k), for A (n, m) and a block (m, k); `out` may be overwritten."""
    return scale * (matrix @ block) + keep * out


@dense_update.on("numpy")
def _dense_update_numpy(block: Any, matrix: Any, out: Any, scale: float, keep: float) -> Any:
    if not _suits_blas(matrix, block, out):
        return dense_update.portable(block, matrix, out, scale, keep)
    return _gemm_numpy(block, matrix, scale, keep, out)


def _gemm_numpy(block: Any, matrix: Any, scale: float, keep: float = 0.0, out: Any = None) -> Any:
    """Return scale A block + keep out, column after column in memory, over `out` where there is one.

    By SciPy's BLAS, which adds to `out`. NumPy's has threads of its own: for some milliseconds after a
    product they wait for the next one in a loop, and those of the other BLAS would have to share with them.
    """
    from scipy.linalg import blas

    single = matrix.dtype.char == "f"
    # BLAS reads columns: of a C-ordered factor those of its transpose
    turned = [not each.flags.f_contiguous for each in (matrix, block)]
    columns, others = (each.T if turn else each for each, turn in zip((matrix, block), turned, strict=True))
    if block.shape[1] == 1:  # in half of the time
        gemv = blas.sgemv if single else blas.dgemv
        place = None if out is None else out[:, 0]
        return gemv(scale, columns, block[:, 0], keep, place, trans=turned[0], overwrite_y=True)[:, None]
    gemm = blas.sgemm if single else blas.dgemm
    return gemm(scale, columns, others, keep, out, trans_a=turned[0], trans_b=turned[1], overwrite_c=True)


@dense_update.on("cupy")
def _dense_update_cupy(block: Any, matrix: Any, out: Any, scale: float, keep: float) -> Any:
    if not _suits_blas(matrix, block, out) or not _is_contiguous(block):
        return dense_update.portable(block, matrix, out, scale, keep)
    _gemm_cupy(block, matrix, out, scale, keep)
    return out


def _gemm_cupy(block: Any, matrix: Any, out: Any, scale: float, keep: float) -> None:
    """Write scale A block + keep out over an F-ordered `out`: faster to call than cupy.cublas.gemm."""
    from cupy.cuda import cublas, device

    rows, inner = matrix.shape
    gemm = cublas.sgemm if out.dtype.char == "f" else cublas.dgemm
    factors = np.array([scale, keep], dtype=out.dtype)
    place = factors.ctypes.data
    # BLAS reads columns: of a C-ordered factor those of its transpose
    turned = [not each.flags.f_contiguous for each in (matrix, block)]
    gemm(
        device.get_cublas_handle(),
        *map(int, turned),
        *(rows, block.shape[1], inner),
        *(place, matrix.data.ptr, matrix.shape[turned[0]]),
        *(block.data.ptr, block.shape[turned[1]]),
        *(place + out.itemsize, out.data.ptr, rows),
    )


def _product_counts(block: Any, matrix: Any) -> tuple[float, float]:
    columns = block.shape[1]
    moved = matrix.nbytes + block.nbytes + matrix.shape[0] * columns * block.dtype.itemsize
    return 2.0 * matrix.size * columns, float(moved)


@kernel("dense-product", counts=_product_counts)
def dense_product(block: Any, matrix: Any) -> Any:
    """Return A block, (n, k), for A (n, m) and a block (m, k): column after column in memory."""
    xp = namespace(block)
    return xp.matrix_transpose(xp.matrix_transpose(block) @ xp.matrix_transpose(matrix))


@dense_product.on("numpy")
def _dense_product_numpy(block: Any, matrix: Any) -> Any:
    fits = block.ndim == matrix.ndim == 2 and matrix.shape[1:] == block.shape[:1] and _is_contiguous(matrix)
    large = matrix.size * block.shape[-1] > ONE_THREAD  # others are faster by NumPy, whose threads sleep then
    if not (fits and large and _all_single_or_double(matrix, block)):
        return (block.T @ matrix.T).T
    return _gemm_numpy(block, matrix, 1.0)


@dense_product.on("cupy")
def _dense_product_cupy(block: Any, matrix: Any) -> Any:
    import cupy

    out = cupy.empty((matrix.shape[0], block.shape[1]), dtype=block.dtype, order="F")
    if not _suits_blas(matrix, block, out) or not _is_contiguous(block):
        return dense_product.portable(block, matrix)
    _gemm_cupy(block, matrix, out, 1.0, 0.0)
    return out


@kernel("sparse-product")
def sparse_product(block: Any, matrix: Any) -> Any:
    """Return A block, (size, k), for sparse rows A."""
    return matrix @ block


@sparse_product.on("cupy")
def _sparse_product_cupy(block: Any, matrix: Any) -> Any:
    if not _fits(matrix, block):
        return matrix @ block
    out = namespace(block).empty((matrix.shape[0], block.shape[1]), dtype=block.dtype)
    return _sparse_update_cupy(block, matrix, out, 1.0, 0.0)


@kernel("sparse-update")
def sparse_update(block: Any, matrix: Any, out: Any, scale: float, keep: float) -> Any:
    """Return scale A block + keep out, (size, k), for sparse rows A; `out` may be overwritten."""
    return scale * (matrix @ block) + keep * out


@sparse_update.on("numpy")
def _sparse_update_numpy(block: Any, matrix: Any, out: Any, scale: float, keep: float) -> Any:
    if not (adds_rows(matrix, block) and _fits(matrix, out)):
        return sparse_update.portable(block, matrix, out, scale, keep)
    if keep != 1.0:
        out *= keep
    add_rows(matrix, 0, matrix.shape[0], block, out, scale)
    return out


def adds_rows(matrix: Any, block: Any) -> bool:
    """Return whether `add_rows` takes these."""
    return _sparse_tools() is not None and _fits(matrix, block)


def add_rows(matrix: Any, start: int, stop: int, block: Any, out: Any, scale: float = 1.0) -> None:
    """Add scale A block to rows start … stop-1 of `out`, which has rows beyond A's, perhaps; on the host."""
    tools, columns, stop = _sparse_tools(), block.shape[1], min(stop, matrix.shape[0])
    entries = matrix.data if scale == 1.0 else scale * matrix.data
    # where a row begins is counted from the first entry of all: rows in the middle are not copied
    shape, starts = (stop - start, matrix.shape[1]), matrix.indptr[start : stop + 1]
    arrays = starts, matrix.indices, entries, block.ravel(), out[start:stop].ravel()
    if columns == 1:  # a third of the time
        tools.csr_matvec(*shape, *arrays)
    else:
        tools.csr_matvecs(*shape, columns, *arrays)


@sparse_update.on("cupy")
def _sparse_update_cupy(block: Any, matrix: Any, out: Any, scale: float, keep: float) -> Any:
    if not _fits(matrix, block, out):
        return sparse_update.portable(block, matrix, out, scale, keep)
    _launch(matrix, block, out, scale, keep, np.uintp(0))
    return out


@kernel("sparse-update-and-dots")
def sparse_update_and_dots(
    block: Any, matrix: Any, out: Any, scale: float, keep: float
) -> tuple[Any, Any, Any]:
    """Return `sparse_update` and its `squares_and_dots` with the block: on a GPU in the same pass."""
    result = sparse_update(block, matrix, out, scale, keep)
    return result, *squares_and_dots(result, block)


@sparse_update_and_dots.on("cupy")
def _sparse_update_and_dots_cupy(
    block: Any, matrix: Any, out: Any, scale: float, keep: float
) -> tuple[Any, Any, Any]:
    if not _fits(matrix, block, out):
        return sparse_update_and_dots.portable(block, matrix, out, scale, keep)
    import cupy

    sums = cupy.empty((2, _groups(out), out.shape[1]), dtype=out.dtype)
    _launch(matrix, block, out, scale, keep, sums)
    squares, dots = sums.sum(axis=1)
    return out, squares, dots


def _suits_blas(matrix: Any, block: Any, out: Any) -> bool:
    """Return whether BLAS adds the product to these columns in place, without a copy of the matrix."""
    return (
        bool(out.size and block.size and out.flags.f_contiguous)
        and _is_contiguous(matrix)
        and _all_single_or_double(matrix, block, out)
    )


def _is_contiguous(array: Any) -> bool:
    return bool(array.flags.c_contiguous or array.flags.f_contiguous)


def _fits(matrix: Any, *blocks: Any) -> bool:
    """Return whether the bodies for single backends take these: C-ordered, of the matrix's precision."""
    return bool(
        matrix.nnz
        and all(block.flags.c_contiguous for block in blocks)
        and _all_single_or_double(matrix, *blocks)
    )


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


LANES, LINES = 32, 8  # threads of a group
GROUPS = 1056  # at most: eight for each processor of a large GPU

# A row of the matrix belongs to a line of threads whose lanes are columns of the block, whose rows it
# reads in one piece: 0.6 of the time of cuSPARSE for 32 columns, and inner products are found on the way.
_SOURCE = r"""
extern "C" __global__ void csr_update(
    const long long rows, const long long columns, const index* starts, const index* places,
    const real* entries, const real* block, real* out, const real scale, const real keep, real* sums)
{
    __shared__ real squares[LINES][LANES], dots[LINES][LANES];
    const int lane = threadIdx.x, line = threadIdx.y;
    for (long long first = 0; first < columns; first += LANES) {
        const long long column = first + lane;
        real square = 0, dot = 0;
        long long row = blockIdx.x * (long long)LINES + line;
        for (; row < rows && column < columns; row += gridDim.x * (long long)LINES) {
            const long long place = row * columns + column;
            const index start = starts[row], stop = starts[row + 1];
            // asked for now, so that they are there when the sum is
            const real before = keep == 0 ? (real)0 : out[place], beside = sums ? block[place] : (real)0;
            real sum = 0;
            #pragma unroll 4
            for (index each = start; each < stop; ++each)
                sum += entries[each] * block[places[each] * columns + column];
            const real value = keep == 0 ? scale * sum : scale * sum + keep * before;
            out[place] = value;
            square += value * value;
            dot += value * beside;
        }
        if (!sums) continue;
        squares[line][lane] = square;
        dots[line][lane] = dot;
        __syncthreads();
        if (line < 2 && column < columns) {
            real sum = 0;
            for (int each = 0; each < LINES; ++each) sum += line ? dots[each][lane] : squares[each][lane];
            sums[((long long)line * gridDim.x + blockIdx.x) * columns + column] = sum;
        }
        __syncthreads();
    }
}
"""


def _groups(out: Any) -> int:
    return int(min(GROUPS, -(-out.shape[0] // LINES)))


def _launch(matrix: Any, block: Any, out: Any, scale: float, keep: float, sums: Any) -> None:
    if not out.size:
        return
    real = out.dtype.type
    indices = matrix.indices.dtype.char  # CuPy keeps those of 64 bits that it is given
    arrays = (matrix.indptr.astype(indices, copy=False), matrix.indices, matrix.data, block, out)
    sizes = np.int64(out.shape[0]), np.int64(out.shape[1])
    arguments = (*sizes, *arrays, real(scale), real(keep), sums)
    _kernel(out.dtype.char, matrix.indices.dtype.itemsize)((_groups(out),), (LANES, LINES), arguments)


@cache
def _kernel(kind: str, index_bytes: int) -> Any:
    import cupy

    real, index = {"f": "float", "d": "double"}[kind], {4: "int", 8: "long long"}[index_bytes]
    head = f"typedef {real} real;\ntypedef {index} index;\n#define LANES {LANES}\n#define LINES {LINES}\n"
    return cupy.RawKernel(head + _SOURCE, "csr_update")


def sample_dense_product(backend: Any, rng: Any, size: int) -> tuple[Any, ...]:
    """Return a block of 8 columns, and a matrix of half as many rows as columns."""
    del backend
    rows = isqrt(size // 2)
    return rng.standard_normal((2 * rows, 8)), rng.standard_normal((rows, 2 * rows))
