"""Box-Muller: its error against exact arithmetic, and the same bits by every way of computing it."""

from __future__ import annotations

import math

import array_api_strict
import numpy as np
import pytest

from benchfw.backends import get_backend
from benchfw.backends.normals import box_muller, words_for
from benchfw.backends.precisions import DOUBLE, SINGLE

# the ends of both ranges, where a logarithm or a quadrant goes wrong first
CORNERS = np.array(
    [0, 1, (1 << 64) - 1, (1 << 63), (1 << 32) - 1, 1 << 32, 7 << 61, 1 << 61], dtype=np.uint64
)


def words(count: int) -> np.ndarray:
    drawn: np.ndarray = get_backend("numpy").bits(21, 0, 0, 0, count)
    drawn[: CORNERS.size] = CORNERS
    drawn[CORNERS.size : 2 * CORNERS.size] = CORNERS[::-1]
    return drawn


def by_library(numerator: np.ndarray, bits: int, angle: np.ndarray, angle_bits: int) -> np.ndarray:
    """Return the same normals from the C library's log, sin and cos, in long double where there is one."""
    kind = np.longdouble
    uniform = (numerator.astype(kind) + kind(0.5)) * kind(2.0) ** -bits
    turns = angle.astype(kind) * kind(2.0) ** (1 - angle_bits)
    radius = np.sqrt(-2 * np.log(uniform))
    pi = kind("3.14159265358979323846264338327950288")
    return np.stack([radius * np.cos(pi * turns), radius * np.sin(pi * turns)], axis=-1).reshape(-1)


def test_single_precision_errs_by_less_than_five_in_ten_million():
    drawn = words(1 << 17)
    exact = by_library((drawn >> 9) & 0x7FFFFF, 23, drawn >> 40, 24)
    assert np.max(np.abs(box_muller(np, drawn, np.float32) - exact)) <= 5e-7


def test_single_precision_holds_its_error_on_every_radius():
    # every one of the 2^23 uniforms would take a minute: the largest radii, the smallest, and every 41st
    numerator = np.unique(
        np.concatenate([np.arange(4096), (1 << 23) - 1 - np.arange(4096), np.arange(0, 1 << 23, 41)])
    )
    angle = (numerator * 9_999_991) % (1 << 24)
    drawn = (numerator.astype(np.uint64) << np.uint64(9)) | (angle.astype(np.uint64) << np.uint64(40))
    error = np.abs(box_muller(np, drawn, np.float32) - by_library(numerator, 23, angle, 24))
    assert np.max(error) <= 5e-7


def test_double_precision_errs_by_less_than_one_in_ten_to_the_fourteen():
    drawn = words(1 << 17)
    exact = by_library(drawn[0::2] >> 12, 52, drawn[1::2] >> 11, 53)
    assert np.max(np.abs(box_muller(np, drawn, np.float64) - exact)) <= 1e-14


def test_the_smallest_radius_keeps_its_digits():
    almost_one = np.array([(1 << 64) - 1, 0], dtype=np.uint64)
    radius = box_muller(np, almost_one, np.float64)[0]
    assert radius == pytest.approx(math.sqrt(-2 * math.log1p(-(2.0**-53))), rel=1e-15)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_array_api_alone_gives_the_same_bits(dtype):
    drawn = words(20_000)
    strict = box_muller(array_api_strict, array_api_strict.asarray(drawn), dtype)
    host = box_muller(np, drawn, dtype)
    assert host.dtype == np.asarray(strict).dtype == dtype
    np.testing.assert_array_equal(np.asarray(strict), host)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_few_words_give_the_same_bits_as_many(dtype):
    drawn = words(1000)
    together = box_muller(np, drawn, dtype)
    apart = [box_muller(np, drawn[first : first + 2], dtype) for first in range(0, 1000, 2)]
    np.testing.assert_array_equal(np.concatenate(apart), together)


@pytest.mark.parametrize("count", [0, 2, 16, 18, 16382, 16384, 16386, 32770])
@pytest.mark.parametrize(("dtype", "each"), [(np.float32, 2), (np.float64, 1)])
def test_every_word_is_used_once_at_any_length(count, dtype, each):
    drawn = words(40_000)
    whole = box_muller(np, drawn, dtype)
    part = box_muller(np, drawn[:count], dtype)
    assert part.shape == (each * count,)
    np.testing.assert_array_equal(part, whole[: each * count])


def test_an_odd_number_of_words_makes_no_doubles():
    with pytest.raises(ValueError, match="even number of words"):
        box_muller(np, words(17), np.float64)


def test_word_counts_cover_the_normals_asked_for():
    assert [words_for(count, np.float32) for count in (0, 1, 2, 3)] == [0, 1, 1, 2]
    assert [words_for(count, np.float64) for count in (0, 1, 2, 3)] == [0, 2, 2, 4]


def test_constants_of_single_precision_are_exact_in_single_precision():
    for constant in (*SINGLE.log, *SINGLE.sine, *SINGLE.cosine, SINGLE.sqrt_half):
        assert float(np.float32(constant)) == constant


@pytest.mark.parametrize("precision", [SINGLE, DOUBLE], ids=["single", "double"])
def test_the_offset_is_the_square_root_of_one_half(precision):
    assert np.array(precision.offset, dtype=precision.signed).view(precision.floating) == precision.sqrt_half
    assert precision.sqrt_half == pytest.approx(math.sqrt(0.5), rel=2.0**-precision.mantissa_bits)
