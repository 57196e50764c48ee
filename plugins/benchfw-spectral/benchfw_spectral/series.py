"""Applies a Chebyshev series of a matrix to a block."""

from __future__ import annotations

from benchfw import Array, BenchfwError
from benchfw.kernels import Operator, column_dots, shifted
from benchfw_spectral.functions.function import Interval, Vector


def apply_series(block: Array, matrix: Operator, coefficients: Vector, interval: Interval) -> Array:
    """Return Σ_j c_j T_j(At) block, (size, k), with At = (2A - (b+a)I)/(b-a); one product a degree.

    The recurrence of Clenshaw 1955, on blocks: y_j = c_j v + 2At y_{j+1} - y_{j+2}, down to
    y_0 = c_0 v + At y_1 - y_2. An interval that does not hold the spectrum is refused where it shows: each
    column is at most Σ |c_j| times as long as it was.
    """
    low, high = interval
    double = shifted(matrix, 4 / (high - low), -2 * (high + low) / (high - low))
    *others, top = (float(each) for each in coefficients)
    before, last = 0 * block, top * block
    for degree in reversed(range(len(others))):
        out = others[degree] * block - before
        before, last = last, double.update(last, out, 1.0 if degree > 0 else 0.5, 1.0)
    limit = (1.01 * float(abs(coefficients).sum())) ** 2 * column_dots(block, block)
    if not bool((column_dots(last, last) <= limit).all()):  # NaN is no number to let pass
        raise BenchfwError(f"the spectrum is not inside [{low:g}, {high:g}]: widen the interval")
    return last
