"""`normals.box_muller` for NumPy's words, compiled by numba (the extra `fast`): one pass, off Python's lock.

It repeats the operations of `normals.py` one by one, so that every bit is equal: change both or neither.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from benchfw.backends.precisions import DOUBLE, HALF_PI, LN2_HIGH, LN2_LOW, SINGLE, Precision

AT_A_TIME = 1024  # pairs whose parts stay in the cache


@cache
def compile_pairs(precision: Precision) -> Callable[[Any, Any], None] | None:
    """Return a function that writes the normals of some words; None without numba."""
    try:
        from benchfw.backends.started_numba import numba
    except ImportError:
        return None
    body = _single_pairs if precision is SINGLE else _double_pairs
    compiled: Callable[[Any, Any], None] = numba.njit(body, cache=True, nogil=True, error_model="numpy")
    return compiled


def _single_pairs(words: Any, normals: Any) -> None:
    uniforms = np.empty(AT_A_TIME, np.float32)
    bits = uniforms.view(np.int32)
    exponents = np.empty(AT_A_TIME)
    for first in range(0, words.shape[0], AT_A_TIME):
        count = min(AT_A_TIME, words.shape[0] - first)
        for i in range(count):
            numerator = np.int64((words[first + i] >> np.uint64(9)) & np.uint64(0x7FFFFF))
            uniforms[i] = np.float32(numerator * 2 + 1) * np.float32(2.0**-24)
        for i in range(count):
            difference = bits[i] - np.int32(SINGLE_OFFSET)
            exponents[i] = np.float64(difference >> 23)
            bits[i] = np.int32((difference & 0x7FFFFF) + SINGLE_OFFSET)
        for i in range(count):
            t = uniforms[i] - np.float32(1.0)
            square = t * t
            series = t * SINGLE_LOG[8]
            for k in range(7, 0, -1):
                series = (series + SINGLE_LOG[k]) * t
            series = series + SINGLE_LOG[0]
            small = series * t * square - square * np.float32(0.5) + t
            radius = np.sqrt((np.float64(small) + exponents[i] * LN2_HIGH) * -2.0)
            angle = np.int32(words[first + i] >> np.uint64(40))
            quadrant = (angle + np.int32(1 << 21)) >> 22
            z = np.float32(angle - (quadrant << 22)) * np.float32(2.0**-22)
            square = z * z
            series = square * SINGLE_SINE[2]
            series = (series + SINGLE_SINE[1]) * square
            series = series + SINGLE_SINE[0]
            sine = np.float64(series * square * z) + np.float64(z) * HALF_PI
            series = square * SINGLE_COSINE[3]
            for k in range(2, 0, -1):
                series = (series + SINGLE_COSINE[k]) * square
            series = series + SINGLE_COSINE[0]
            cosine = np.float64(series * square) + 1.0
            odd = (quadrant & 1) != 0
            place = 2 * (first + i)
            normals[place] = radius * ((sine if odd else cosine) * np.float64(1 - ((quadrant + 1) & 2)))
            normals[place + 1] = radius * ((cosine if odd else sine) * np.float64(1 - (quadrant & 2)))


def _double_pairs(words: Any, normals: Any) -> None:
    uniforms = np.empty(AT_A_TIME)
    bits = uniforms.view(np.int64)
    exponents = np.empty(AT_A_TIME)
    pairs = words.shape[0] // 2
    for first in range(0, pairs, AT_A_TIME):
        count = min(AT_A_TIME, pairs - first)
        for i in range(count):
            numerator = np.int64(words[2 * (first + i)] >> np.uint64(12))
            uniforms[i] = np.float64(numerator * 2 + 1) * 2.0**-53
        for i in range(count):
            difference = bits[i] - DOUBLE_OFFSET
            exponents[i] = np.float64(difference >> 52)
            bits[i] = (difference & 0xFFFFFFFFFFFFF) + DOUBLE_OFFSET
        for i in range(count):
            t = uniforms[i] - 1.0
            s = t / (t + 2.0)
            square = s * s
            series = square * DOUBLE_LOG[6]
            for k in range(5, 0, -1):
                series = (series + DOUBLE_LOG[k]) * square
            series = series + DOUBLE_LOG[0]
            total = series * square * s
            total = total + exponents[i] * LN2_LOW
            total = total + (s + s)
            total = total + exponents[i] * LN2_HIGH
            radius = np.sqrt(total * -2.0)
            angle = np.int64(words[2 * (first + i) + 1] >> np.uint64(11))
            quadrant = (angle + (1 << 50)) >> 51
            z = np.float64(angle - (quadrant << 51)) * 2.0**-51
            square = z * z
            series = square * DOUBLE_SINE[5]
            for k in range(4, 0, -1):
                series = (series + DOUBLE_SINE[k]) * square
            series = series + DOUBLE_SINE[0]
            sine = series * square * z + z * HALF_PI
            series = square * DOUBLE_COSINE[6]
            for k in range(5, 0, -1):
                series = (series + DOUBLE_COSINE[k]) * square
            series = series + DOUBLE_COSINE[0]
            cosine = series * square + 1.0
            odd = (quadrant & 1) != 0
            place = 2 * (first + i)
            normals[place] = radius * ((sine if odd else cosine) * np.float64(1 - ((quadrant + 1) & 2)))
            normals[place + 1] = radius * ((cosine if odd else sine) * np.float64(1 - (quadrant & 2)))


# numba reads globals as constants: the polynomials in the precision that they are used in
SINGLE_OFFSET, DOUBLE_OFFSET = SINGLE.offset, DOUBLE.offset
SINGLE_LOG = tuple(map(np.float32, SINGLE.log))
SINGLE_SINE = tuple(map(np.float32, SINGLE.sine))
SINGLE_COSINE = tuple(map(np.float32, SINGLE.cosine))
DOUBLE_LOG, DOUBLE_SINE, DOUBLE_COSINE = DOUBLE.log, DOUBLE.sine, DOUBLE.cosine
