"""Normal numbers from random words by Box-Muller, equal to the last bit on every backend.

Only + - x sqrt (and one division in double precision), comparisons and bit operations are used, in one
fixed order; IEEE 754 rounds each of them in one way, so that NumPy, a GPU and array-api-strict agree.
The fused CUDA body in `cuda_source.py` and the compiled one in `compiled_normals.py` repeat these operations
one by one: change all or none.

A word gives a pair in single precision, two words a pair in double. The radius is sqrt(-2 log u) with
u = (k + 1/2) 2^-b: b is one less than the precision (23, 52), so that u is exact and small radii keep
all their digits. The angle is an integer fraction of a turn, whose quadrant is taken off exactly.
Single precision evaluates its polynomials in float32 and adds their leading terms in float64: a radius
rounded to float32 would alone cost half of the error allowed.
Polynomials interpolate at Chebyshev nodes; computed with 60 digits, then rounded to the precision used.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchfw.backends.precisions import DOUBLE, HALF_PI, LN2_HIGH, LN2_LOW, SINGLE, Precision, precision_of
from benchfw.backends.threads import over_pieces, useful_threads

# words a chunk: its temporaries then stay in a core's cache, which saves a third of the time
_CHUNK = 16384
_NANOSECONDS = 20.0  # that a word takes
_FEW = 16


def words_for(count: int, dtype: Any) -> int:
    """Return how many words make `count` normals: one a pair in single precision, two in double."""
    pairs = (count + 1) // 2
    return pairs if precision_of(dtype) is SINGLE else 2 * pairs


def box_muller(xp: Any, words: Any, dtype: Any) -> Any:
    """Return the normals of these words: (n,) uint64 -> (2n,) float32, or (n,) float64 for even n.

    Box & Muller 1958. Against exact arithmetic the error is below 5e-7 (float32) and 1e-14 (float64).
    """
    precision = precision_for(words, dtype)
    pairs = xp.reshape(xp.stack(_pairs(xp, words, precision), axis=-1), (-1,))
    return _cast(xp, pairs, precision.floating)


def precision_for(words: Any, dtype: Any) -> Precision:
    """Return the construction for float32 or float64, after a check that words come in pairs where needed."""
    precision = precision_of(dtype)
    if precision is DOUBLE and words.shape[0] % 2:
        raise ValueError("two words make a pair of float64 normals: give an even number of words")
    return precision


def box_muller_on_host(words: np.ndarray, dtype: Any) -> np.ndarray:
    """Return `box_muller` of NumPy's words, a chunk at a time."""
    precision = precision_for(words, dtype)
    per_pair = 1 if precision is SINGLE else 2
    normals = np.empty(2 * (words.shape[0] // per_pair), dtype=precision.floating)
    if precision is DOUBLE and words.shape[0] <= _FEW:
        # Python's floats are IEEE doubles too, and a pair of them costs a sixth of the calls to NumPy
        numbers = iter(words.tolist())
        for position, pair in enumerate(zip(numbers, numbers, strict=True)):
            normals[2 * position : 2 * position + 2] = _pair(_Numbers, pair[0] >> 12, pair[1] >> 11, DOUBLE)
        return normals

    compiled = None
    if useful_threads(words.shape[0] * _NANOSECONDS) > 1:
        # NumPy's many short calls would wait for each other; numba compiles for seconds, but once a machine
        from benchfw.backends.compiled_normals import compile_pairs

        compiled = compile_pairs(precision)

    def write(chunk: slice) -> None:
        place = normals[2 * chunk.start // per_pair : 2 * chunk.stop // per_pair]
        if compiled is None:
            place[0::2], place[1::2] = _pairs(np, words[chunk], precision)
        else:
            compiled(words[chunk], place)

    over_pieces(write, words.shape[0], _CHUNK, nanoseconds=_NANOSECONDS)
    return normals


class _Numbers:
    """Python's numbers as an array namespace, for the few functions used below."""

    float64, int64 = float, int
    sqrt = math.sqrt

    @staticmethod
    def where(condition: bool, yes: float, no: float) -> float:
        return yes if condition else no

    @staticmethod
    def astype(value: float, kind: type, copy: bool) -> Any:
        del copy
        return kind(value)


def _pairs(xp: Any, words: Any, precision: Precision) -> tuple[Any, Any]:
    """Return the two normals of each word, or of each two words, as two arrays of float64."""
    if precision is SINGLE:
        return _pair(xp, (words >> 9) & 0x7FFFFF, words >> 40, SINGLE)
    pairs = xp.reshape(words, (words.shape[0] // 2, 2))
    return _pair(xp, pairs[:, 0] >> 12, pairs[:, 1] >> 11, DOUBLE)


def _pair(xp: Any, numerator: Any, angle: Any, precision: Precision) -> tuple[Any, Any]:
    """Return sqrt(-2 log u) times the cosine and the sine of the angle; u = (numerator + 1/2) 2^-bits."""
    scale = 2.0 ** -(precision.mantissa_bits + 1)
    odd = _cast(xp, numerator * 2 + 1, precision.signed)  # below 2^53: of uint64, the next cast would be slow
    uniform = _cast(xp, odd, precision.floating) * scale
    radius = xp.sqrt(_log(xp, uniform, precision) * -2.0)
    cosine, sine = _turn(xp, _cast(xp, angle, precision.signed), precision)
    return radius * cosine, radius * sine


def _log(xp: Any, uniform: Any, precision: Precision) -> Any:
    """Return log(uniform) for values in (0, 1), as float64, with small relative error even near 1."""
    exponent, mantissa = _split(xp, uniform, precision)
    t = mantissa - 1.0
    if precision is SINGLE:
        square = t * t
        total = _cast(xp, _polynomial(t, precision.log) * t * square - square * 0.5 + t, "float64")
    else:
        s = t / (t + 2.0)
        square = s * s
        total = _polynomial(square, precision.log) * square * s
        total += exponent * LN2_LOW
        total += s + s
    total += exponent * LN2_HIGH
    return total


def _split(xp: Any, value: Any, precision: Precision) -> tuple[Any, Any]:
    """Return exponent (float64) and mantissa in [√½, √2) with value = mantissa 2^exponent, exactly."""
    if isinstance(value, float):
        value, power = math.frexp(value)
        return (power - 1.0, value * 2.0) if value < precision.sqrt_half else (float(power), value)
    if hasattr(value, "view"):
        bits = value.view(getattr(xp, precision.signed)) - precision.offset
        exponent = _cast(xp, bits >> precision.mantissa_bits, "float64")
        bits = (bits & ((1 << precision.mantissa_bits) - 1)) + precision.offset
        return exponent, bits.view(getattr(xp, precision.floating))
    # the array API cannot look at a number's bits: halve the range of exponents six times instead
    exponent = _cast(xp, xp.zeros_like(value), "float64")
    for step in (32, 16, 8, 4, 2, 1):
        small = value < precision.sqrt_half * 2.0 ** (1 - step)
        value = xp.where(small, value * 2.0**step, value)
        exponent = xp.where(small, exponent - float(step), exponent)
    return exponent, value


def _turn(xp: Any, angle: Any, precision: Precision) -> tuple[Any, Any]:
    """Return cosine and sine of angle / 2^angle_bits turns; the quadrant comes off the integer."""
    quadrant_bits = precision.angle_bits - 2
    quadrant = (angle + (1 << (quadrant_bits - 1))) >> quadrant_bits
    z = _cast(xp, angle - (quadrant << quadrant_bits), precision.floating) * 2.0**-quadrant_bits
    square = z * z
    sine = _cast(xp, _polynomial(square, precision.sine) * square * z, "float64")
    sine += _cast(xp, z, "float64") * HALF_PI
    cosine = _cast(xp, _polynomial(square, precision.cosine) * square, "float64") + 1.0
    cosine, sine = _swap(xp, quadrant & 1, cosine, sine)
    cosine_sign = _cast(xp, 1 - ((quadrant + 1) & 2), "float64")
    sine_sign = _cast(xp, 1 - (quadrant & 2), "float64")
    return cosine * cosine_sign, sine * sine_sign


def _swap(xp: Any, odd: Any, first: Any, second: Any) -> tuple[Any, Any]:
    """Return two arrays of float64, exchanged where `odd` is 1 and not 0."""
    if not hasattr(first, "view"):
        return xp.where(odd != 0, second, first), xp.where(odd != 0, first, second)
    # on bits, a quarter of the time of two calls of NumPy's `where`
    ones, twos = first.view(xp.int64), second.view(xp.int64)
    change = (ones ^ twos) & -_cast(xp, odd, "int64")
    return (ones ^ change).view(xp.float64), (twos ^ change).view(xp.float64)


def _polynomial(x: Any, coefficients: tuple[float, ...]) -> Any:
    """Return sum of coefficients[i] x^i by Horner's rule, the highest power first."""
    total = x * coefficients[-1]
    for coefficient in coefficients[-2:0:-1]:
        total += coefficient
        total *= x
    total += coefficients[0]
    return total


def _cast(xp: Any, values: Any, dtype: str) -> Any:
    # NumPy before 2.1 has the method alone, the array API the function alone
    kind = getattr(xp, dtype)
    if hasattr(values, "astype"):
        return values.astype(kind, copy=False)
    return xp.astype(values, kind, copy=False)
