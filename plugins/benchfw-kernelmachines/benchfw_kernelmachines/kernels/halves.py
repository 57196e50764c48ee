"""Products of float32 matrices on a GPU's tensor cores, as exact as those of its other cores.

A float32 is the sum of two halves of 11 bits each, which tensor cores (TF32) multiply exactly, and of a rest
of 2⁻²⁴ of it. Of the four products of halves the least is as small as the rest; the other three are one
product of matrices of three times the length, which takes half of the time of the product in float32.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

CUDA_R_32F, COMPUTE_32F_FAST_TF32, DEFAULT_ALGORITHM = 0, 77, -1  # as cuBLAS calls them
ONE, ZERO = np.ones(1, dtype=np.float32), np.zeros(1, dtype=np.float32)


def halves_of_rows(left: Any) -> Any:
    """Return (n, 3d) for (n, d) float32, what `multiply_halves` takes on the left; others as they are."""
    return _split(left, (left.shape[0], 3 * left.shape[1]), row=1)


def halves_of_columns(right: Any) -> Any:
    """Return (3d, m) for (d, m) float32, what `multiply_halves` takes on the right; others as they are."""
    return _split(right, (3 * right.shape[0], right.shape[1]), row=0)


def multiply_halves(left: Any, right: Any) -> Any:
    """Return the product of two matrices, (n, m), from their halves."""
    import cupy

    if left.dtype != np.float32 or not left.size or not right.size:
        return left @ right
    from cupy.cuda import cublas, device

    (rows, length), columns = left.shape, right.shape[1]
    product = cupy.empty((rows, columns), dtype=np.float32)
    # BLAS takes these rows for columns: it multiplies the transposed matrices, in the other order
    sizes = (columns, rows, length)
    arrays = (
        *(right.data.ptr, CUDA_R_32F, columns),
        *(left.data.ptr, CUDA_R_32F, length),
        ZERO.ctypes.data,
        *(product.data.ptr, CUDA_R_32F, columns),
    )
    how = COMPUTE_32F_FAST_TF32, DEFAULT_ALGORITHM
    cublas.gemmEx(device.get_cublas_handle(), 0, 0, *sizes, ONE.ctypes.data, *arrays, *how)
    return product


def _split(array: Any, shape: tuple[int, int], row: int) -> Any:
    """Return the halves in three places: the least product comes first, and loses least to what is added."""
    import cupy

    if array.dtype != np.float32:
        return cupy.ascontiguousarray(array)
    halves = cupy.empty(shape, dtype=np.float32)
    _halves()(array, array.shape[1], array.shape[0], row, halves)
    return halves


@cache
def _halves() -> Any:
    import cupy

    return cupy.ElementwiseKernel(
        "float32 x, int64 columns, int64 rows, int32 row",
        "raw float32 halves",
        """
        const float large = nearest(x), small = nearest(x - large);
        const long long down = i / columns, right = i % columns;
        const long long place = row ? down * 3 * columns + right : i, step = row ? columns : rows * columns;
        halves[place] = row ? small : large;
        halves[place + step] = row ? large : small;
        halves[place + 2 * step] = large;
        """,
        "benchfw_halves",
        preamble="""
        __device__ float nearest(float x)  // of the numbers of 11 bits, to even
        {
            const unsigned bits = __float_as_uint(x);
            return __uint_as_float((bits + 0xFFF + (bits >> 13 & 1)) & ~0x1FFFu);
        }
        """,
    )
