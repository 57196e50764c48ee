"""Chebyshev polynomials of a symmetric matrix: their quadratic forms, and what the derivatives of these need.

At = (2A - (b+a)I)/(b-a) maps an interval [a, b] that holds the spectrum onto [-1, 1], and w_j = T_j(At) v by
w_0 = v, w_1 = At v, w_{j+1} = 2At w_j - w_{j-1}. Both kernels refuse an interval that does not hold it.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt
from typing import Any, Literal

import numpy as np

from benchfw.errors import BenchfwError
from benchfw.kernels import (
    Operator,
    as_operator,
    column_dots,
    kernel,
    namespace,
    new_update,
    read_later,
    shifted,
    update_and_dots,
)
from benchfw_spectral.kernels.chebyshev_source import CHEBYSHEV
from benchfw_spectral.kernels.resident import resident, side_by_side

Interval = tuple[float, float]
Method = Literal["auto", "hankel", "reverse"]

GROWTH = 1.02  # of squared lengths, which in exact arithmetic do not grow at all
PASSES = 100  # what the passes over memory of a "reverse" step cost, in operations of "hankel": measured


def _counts(probes: Any, matrix: Any, products: int) -> tuple[float, float]:
    """Return what a recurrence costs: a product reads A and two blocks and writes one, two dots a column."""
    operator = as_operator(matrix, size=probes.shape[0])
    flops = products * probes.shape[1] * (operator.work + 6 * operator.size)
    return float(flops), float(products * (operator.work / 2 + 3 * probes.size) * probes.dtype.itemsize)


def _forms_counts(probes: Any, matrix: Any, degree: int, interval: Interval) -> tuple[float, float]:
    del interval
    return _counts(probes, matrix, (degree + 1) // 2)


@kernel("chebyshev-forms", counts=_forms_counts)
def chebyshev_forms(probes: Any, matrix: Any, degree: int, interval: Interval) -> Any:
    """Return v'T_j(At)v for the columns v of the probes, (size, M), and j up to the degree: (degree+1, M).

    As 2 T_i T_j = T_{i+j} + T_{i-j}, it is 2 w_i'w_i - v'v for j = 2i, 2 w_i'w_{i-1} - w_1'v for j = 2i - 1:
    ceil(degree / 2) products with each column, and two blocks of memory.
    """
    operator = as_operator(matrix, size=probes.shape[0])
    return _forms(namespace(probes).asarray(probes, copy=True), operator, degree, interval)


@chebyshev_forms.on("numpy")
def _chebyshev_forms_ordered(probes: Any, matrix: Any, degree: int, interval: Interval) -> Any:
    operator = as_operator(matrix, size=probes.shape[0])
    return _forms(probes.copy(order=operator.order), operator, degree, interval)


@chebyshev_forms.on("cupy")
def _chebyshev_forms_cupy(probes: Any, matrix: Any, degree: int, interval: Interval) -> Any:
    found = _blocks_by_one_launch(probes, matrix, degree, interval, kept=2) if degree else None
    return _chebyshev_forms_ordered(probes, matrix, degree, interval) if found is None else found[1]


@np.errstate(over="ignore", invalid="ignore")  # a recurrence that explodes ends in an error of ours
def _forms(start: Any, operator: Operator, degree: int, interval: Interval) -> Any:
    """Return the forms; `start` is overwritten."""
    xp = namespace(start)
    squares = column_dots(start, start)
    if degree == 0:
        return squares[None, :]
    double, _ = _double(operator, interval)
    before = start
    now, length, dot = update_and_dots(double, start, xp.zeros_like(start), 0.5, 1.0)
    lengths, dots, signs = [length], [dot], [1.0]
    for _ in range(3, degree + 1, 2):
        signs.append(-signs[-1])  # the blocks are w_0, w_1, -w_2, -w_3, w_4, …: so no step negates one
        after, length, dot = update_and_dots(double, now, before, signs[-1], 1.0)
        before, now = now, after
        lengths.append(length)
        dots.append(dot)
    odd = 2.0 * xp.asarray(signs, dtype=start.dtype)[:, None] * xp.stack(dots) - dots[0]
    even = 2.0 * xp.stack(lengths) - squares
    both = xp.reshape(xp.stack([odd, even], axis=1), (2 * len(dots), start.shape[1]))
    result = xp.concat([squares[None, :], both])[: degree + 1, :]
    _check_inside(result, squares, interval)()
    return result


def _pairs_counts(
    probes: Any, matrix: Any, weights: Any, interval: Interval, method: Method = "auto"
) -> tuple[float, float]:
    """Return the cost of "hankel"."""
    del interval, method
    degree = weights.shape[0] - 1
    flops, moved = _counts(probes, matrix, max(degree - 1, 0))
    return flops + 2.0 * degree**2 * probes.size, moved + 2.0 * degree * probes.nbytes


@kernel("chebyshev-pairs", counts=_pairs_counts)
def chebyshev_pairs(
    probes: Any, matrix: Any, weights: Any, interval: Interval, method: Method = "auto"
) -> tuple[Any, Any]:
    """Return left and right, (n, size, M) each: d(Σ v'p(A)v) = Σ_{i,k} left[i, :, k]' dA right[i, :, k].

    p = Σ c_j T_j(At) with weights c, (n+1,), and the sum on the left is over the columns v of the probes,
    (size, M). n - 1 products give right[i] = w_i, and left[i] = 2/(b-a) (2 - [i=0]) λ_{i+1} comes by either

    - "reverse": λ_j = c_j v + 2At λ_{j+1} - λ_{j+2}, down from λ_n = c_n v, with n - 1 products more, or
    - "hankel": λ_{i+1} = Σ_l (2 - [l=0]) s_{i+l+1} w_l, where s_j = c_j + c_{j+2} + …, with none;
    - "auto" takes the one that should be faster.
    """
    operator = as_operator(matrix, size=probes.shape[0])
    series = [float(weights[j]) for j in range(weights.shape[0])]
    return _pairs(probes, operator, series, interval, method)


@chebyshev_pairs.on("numpy")
def _chebyshev_pairs_ordered(
    probes: Any, matrix: Any, weights: Any, interval: Interval, method: Method = "auto"
) -> tuple[Any, Any]:
    operator = as_operator(matrix, size=probes.shape[0])
    return _pairs(probes.copy(order=operator.order), operator, weights.tolist(), interval, method)


@chebyshev_pairs.on("cupy")
def _chebyshev_pairs_cupy(
    probes: Any, matrix: Any, weights: Any, interval: Interval, method: Method = "auto"
) -> tuple[Any, Any]:
    degree, found = weights.shape[0] - 1, None
    if degree > 1 and method != "reverse":
        found = _blocks_by_one_launch(probes, matrix, 2 * (degree - 1), interval, kept=degree)
    if found is None:
        return _chebyshev_pairs_ordered(probes, matrix, weights, interval, method)
    right = found[0]
    slope = 2.0 / (float(interval[1]) - float(interval[0]))
    hankel = namespace(right).asarray(
        _hankel([slope * weight for weight in weights.tolist()]), dtype=right.dtype
    )
    return (hankel @ right.reshape(degree, probes.size)).reshape(right.shape), right


def _blocks_by_one_launch(
    probes: Any, matrix: Any, degree: int, interval: Interval, kept: int
) -> tuple[Any, Any] | None:
    """Return the last `kept` blocks w_j, (kept, size, M), and the forms, (degree + 1, M), from a GPU.

    None where the matrix is not one that the GPU can hold.
    """
    import cupy

    double, _ = _double(as_operator(matrix, size=probes.shape[0]), interval)
    held = resident(double, probes)
    if held is None:
        return None
    steps = (degree + 1) // 2
    reports, blocks, forms = [], [], []
    for tile in held.tiles(probes):
        block = cupy.empty((kept, *tile.shape), dtype=tile.dtype)
        form = cupy.empty((degree + 1, tile.shape[1]), dtype=tile.dtype)
        arrays = held.places(tile, 2 * (steps + 1)), form
        reports.append(held.launch(CHEBYSHEV, "chebyshev", tile, block, kept, degree, GROWTH, *arrays))
        blocks.append(block)
        forms.append(form)
    held.count(steps * probes.shape[1])
    growth = max(float(report().view(np.float32)) for report in reports)
    if growth:
        raise _outside(interval, growth)
    return side_by_side(blocks), side_by_side(forms)


@np.errstate(over="ignore", invalid="ignore")
def _pairs(
    start: Any, operator: Operator, weights: list[float], interval: Interval, method: Method
) -> tuple[Any, Any]:
    xp = namespace(start)
    degree = len(weights) - 1
    if degree == 0:
        empty = xp.zeros((0, *start.shape), dtype=start.dtype)
        return empty, empty
    double, slope = _double(operator, interval)
    blocks = [start]
    if degree > 1:
        blocks.append(double.update(start, xp.zeros_like(start), 0.5, 1.0))
    for _ in range(2, degree):
        blocks.append(new_update(double, blocks[-1], blocks[-2], 1.0, -1.0))
    check = _check_inside(column_dots(blocks[-1], blocks[-1]), column_dots(start, start), interval)
    transposed = operator.order == "F"  # blocks become rows in the memory order that they have
    right = _rows(xp, blocks, transposed)
    del blocks  # as large as what is returned
    series = [slope * weight for weight in weights]
    if method == "auto":
        # 2n operations an entry in one product of matrices, against work / size and slower passes over memory
        method = "hankel" if degree * operator.size <= operator.work + PASSES * operator.size else "reverse"
    if method == "hankel":
        left = xp.asarray(_hankel(series), dtype=start.dtype) @ right
    else:
        left = _rows(xp, _adjoints(start, double, series), transposed)
    check()  # now that a device has its work
    return _blocks(xp, left, start.shape, transposed), _blocks(xp, right, start.shape, transposed)


def _adjoints(start: Any, double: Operator, series: list[float]) -> list[Any]:
    """Return (2 - [i=0]) λ_{i+1} for i = 0, …, n-1, as new blocks."""
    adjoints = [2.0 * series[-1] * start]
    for weight in series[-2:0:-1]:
        out = 2.0 * weight * start
        if len(adjoints) > 1:
            out -= adjoints[-2]
        adjoints.append(double.update(adjoints[-1], out, 1.0, 1.0))
    adjoints[-1] = 0.5 * adjoints[-1]
    return adjoints[::-1]


def _hankel(series: list[float]) -> Any:
    """Return the matrix that makes (2 - [i=0]) λ_{i+1} of the w_l: (n, n)."""
    degree = len(series) - 1
    sums = np.zeros(2 * degree)
    sums[: degree + 1] = series
    for j in range(degree - 2, 0, -1):
        sums[j] += sums[j + 2]
    index = np.arange(degree)
    factors = np.where(index == 0, 1.0, 2.0)
    return factors[:, None] * factors * sums[1 + index[:, None] + index]


def _rows(xp: Any, blocks: list[Any], transposed: bool) -> Any:
    stacked = xp.stack([block.T for block in blocks] if transposed else blocks)
    return xp.reshape(stacked, (len(blocks), blocks[0].shape[0] * blocks[0].shape[1]))


def _blocks(xp: Any, rows: Any, shape: tuple[int, int], transposed: bool) -> Any:
    if transposed:
        return xp.matrix_transpose(xp.reshape(rows, (rows.shape[0], *shape[::-1])))
    return xp.reshape(rows, (rows.shape[0], *shape))


def _double(operator: Operator, interval: Interval) -> tuple[Operator, float]:
    """Return the operator of 2At, and 2 / (b - a)."""
    low, high = float(interval[0]), float(interval[1])
    if not low < high:
        raise BenchfwError(
            f"[{low:g}, {high:g}] is not an interval; give the lower end first, then the upper"
        )
    slope = 2.0 / (high - low)
    return shifted(operator, 2.0 * slope, -slope * (high + low)), slope


def _check_inside(values: Any, squares: Any, interval: Interval) -> Callable[[], None]:
    """Return what raises an error unless the v'T_j(At)v or |w_j|² of each column are within v'v, (M,)."""
    xp = namespace(values)
    inside = read_later(xp.all(xp.abs(values) <= GROWTH * squares))  # false for NaN

    def check() -> None:
        if not bool(inside()):
            raise _outside(interval, float(xp.max(xp.abs(values)) / xp.max(squares)))

    return check


def _outside(interval: Interval, growth: float) -> BenchfwError:
    low, high = float(interval[0]), float(interval[1])
    return BenchfwError(
        f"the spectrum is not inside [{low:g}, {high:g}]: Chebyshev polynomials of the matrix grew to "
        f"{growth:.3g} times their bound; widen the interval"
    )


def sample_chebyshev_forms(backend: Any, rng: Any, size: int) -> tuple[Any, ...]:
    """Return 8 probes, a matrix of the eigenvalues 1 and 2, a degree, and an interval."""
    side = isqrt(size)
    direction = rng.standard_normal((side, 1))
    projection = direction @ direction.T / (direction.T @ direction + (side == 0))
    return rng.rademacher((side, 8)), backend.xp.eye(side) + projection, 10, (0.4, 3.0)


def sample_chebyshev_pairs(backend: Any, rng: Any, size: int) -> tuple[Any, ...]:
    """Return the arguments of `sample_chebyshev_forms` with weights in place of the degree."""
    probes, matrix, degree, interval = sample_chebyshev_forms(backend, rng, size)
    return probes, matrix, 1.0 / backend.xp.arange(1.0, degree + 2), interval
