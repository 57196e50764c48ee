"""The random words: Philox-4x64-10 at the published address of each, checked with Python's integers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchfw.backends import get_backend

MASK = (1 << 64) - 1
word = st.integers(0, MASK)

# kat_vectors of Random123, philox4x64 with 10 rounds: counter, key, result
KNOWN_ANSWERS = [
    ("0 0 0 0", "0 0", "16554d9eca36314c db20fe9d672d0fdc d7e772cee186176b 7e68b68aec7ba23b"),
    (
        "ffffffffffffffff " * 4,
        "ffffffffffffffff " * 2,
        "87b092c3013fe90b 438c3c67be8d0224 9cc7d7c69cd777b6 a09caebf594f0ba0",
    ),
    (
        "243f6a8885a308d3 13198a2e03707344 a4093822299f31d0 082efa98ec4e6c89",
        "452821e638d01377 be5466cf34e90c6c",
        "a528f45403e61d95 38c72dbd566e9788 a5a1610e72fd18b5 57bd43b5e52b7fe6",
    ),
]


def philox(counter: list[int], key: list[int]) -> list[int]:
    """Return the four words of one counter, from the paper's definition."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        first, second = 0xD2E7470EE14C6C93 * c0, 0xCA5A826395121157 * c2
        c0, c1, c2, c3 = (second >> 64) ^ c1 ^ k0, second & MASK, (first >> 64) ^ c3 ^ k1, first & MASK
        k0, k1 = (k0 + 0x9E3779B97F4A7C15) & MASK, (k1 + 0xBB67AE8584CAA73B) & MASK
    return [c0, c1, c2, c3]


def words(text: str) -> list[int]:
    return [int(digits, 16) for digits in text.split()]


@pytest.mark.parametrize(("counter", "key", "result"), KNOWN_ANSWERS, ids=["zeros", "ones", "pi"])
def test_the_checking_philox_gives_the_published_answers(counter, key, result):
    assert philox(words(counter), words(key)) == words(result)


@settings(derandomize=True, database=None, deadline=None)
@given(seed=word, stream=word, block=word, start=st.integers(0, 1 << 60), count=st.integers(0, 11))
def test_words_are_philox_at_counter_index_plus_one_and_block(seed, stream, block, start, count):
    expected = [
        philox([index // 4 + 1, block, 0, 0], [seed, stream])[index % 4]
        for index in range(start, start + count)
    ]
    drawn = get_backend("numpy").bits(seed, stream, block, start, count)
    assert drawn.dtype == np.uint64
    assert drawn.tolist() == expected


def test_words_equal_those_of_a_new_numpy_philox():
    drawn = get_backend("numpy").bits(7, 3, 5, 40, 1000)
    fresh = np.random.Philox(key=[7, 3], counter=[10, 5, 0, 0]).random_raw(1000)
    np.testing.assert_array_equal(drawn, fresh)


def test_threads_do_not_disturb_each_other():
    from concurrent.futures import ThreadPoolExecutor

    backend = get_backend("numpy")
    alone = [backend.bits(seed, 0, 0, 0, 20_000) for seed in range(16)]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda seed: backend.bits(seed, 0, 0, 0, 20_000), range(16)))
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one, other)
