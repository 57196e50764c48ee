"""Probes of signs: bit j of word i is sign 64 i + j, on every backend."""

from __future__ import annotations

import array_api_strict
import numpy as np
import pytest

from benchfw.backends import get_backend
from benchfw.errors import BenchfwError
from benchfw.kernels.random import rademacher, sample_rademacher

BODIES = pytest.mark.parametrize(
    "give", [np.asarray, array_api_strict.asarray], ids=["numpy", "array-api-strict"]
)


@BODIES
def test_every_bit_is_the_sign_at_its_place(give):
    words = get_backend("numpy").bits(3, 0, 0, 0, 5)
    expected = [1.0 if int(words[i // 64]) >> (i % 64) & 1 else -1.0 for i in range(320)]
    assert np.asarray(rademacher(give(words), 320)).tolist() == expected


@BODIES
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 1000])
def test_the_signs_are_those_of_the_generator(give, count, dtype):
    rng = get_backend("numpy").rng(17)
    expected = rng.rademacher(count, dtype)
    found = np.asarray(rademacher(give(rng.at(0).bits((count + 63) // 64)), count, dtype))
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


@BODIES
@pytest.mark.parametrize("count", [-1, 129])
def test_too_few_words_are_refused(give, count):
    with pytest.raises(BenchfwError, match=f"2 words are too few for {count} signs"):
        rademacher(give(np.zeros(2, dtype=np.uint64)), count)


@pytest.mark.parametrize("size", [0, 1, 17, 20_001])
def test_bodies_agree_to_the_last_bit(size):
    backend = get_backend("numpy")
    words, count = sample_rademacher(backend, backend.rng(31), size)
    expected = rademacher(words, count)
    assert expected.shape == (size,)
    np.testing.assert_array_equal(rademacher.portable(words, count), expected)
