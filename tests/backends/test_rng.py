"""The generator: words are Philox at published addresses; a call depends on its address and shape alone."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchfw.backends import Rng, get_backend
from benchfw.backends.rng import scaled, signs, uniforms
from benchfw.errors import BenchfwError
from benchfw.testing.checks.portability import StrictBackend

NUMPY = get_backend("numpy")
exhaustive = settings(derandomize=True, database=None, deadline=None)
seeds = st.integers(0, (1 << 64) - 1)

DRAWS = {
    "bits": lambda rng: rng.bits(7),
    "rademacher": lambda rng: rng.rademacher((5, 13)),
    "random": lambda rng: rng.random(9),
    "random float32": lambda rng: rng.random(9, dtype=np.float32),
    "integers": lambda rng: rng.integers(-3, 12, size=(3, 4)),
    "permutation": lambda rng: rng.permutation(11),
    "choice": lambda rng: rng.choice(11, size=6),
    "choice of few": lambda rng: rng.choice(1000, size=6, replace=False),
    "choice of many": lambda rng: rng.choice(11, size=6, replace=False),
    "choice weighted": lambda rng: rng.choice(3, size=6, p=[0.2, 0.5, 0.3]),
    "standard normal": lambda rng: rng.standard_normal((3, 5)),
    "standard normal float32": lambda rng: rng.standard_normal(9, dtype=np.float32),
    "normal": lambda rng: rng.normal(2.0, 0.5, size=9),
    "one uniform": lambda rng: rng.random(),
    "one integer": lambda rng: rng.integers(10),
    "one choice": lambda rng: rng.choice([3.0, 5.0]),
    "one normal": lambda rng: rng.standard_normal(),
}


@pytest.mark.parametrize("name", DRAWS)
def test_a_block_made_alone_equals_the_block_made_in_sequence(name):
    in_sequence = Rng(NUMPY, 11, stream=4)
    for size in (3, 0, 1000):
        in_sequence.random(size)
    alone = Rng(NUMPY, 11).at(4, block=3)
    np.testing.assert_array_equal(DRAWS[name](alone), DRAWS[name](in_sequence))
    assert alone.block == in_sequence.block == 4


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [0, 1, 7, (3, 5)])
@pytest.mark.parametrize("calls", [0, 1, 4])
def test_normals_of_several_calls_at_once_are_those_of_the_calls(calls, size, dtype):
    together, one_by_one = Rng(NUMPY, 11, 4, 2), Rng(NUMPY, 11, 4, 2)
    drawn = together.standard_normals(calls, size, dtype)
    shape = (calls, *(size if isinstance(size, tuple) else (size,)))
    assert drawn.shape == shape
    assert drawn.dtype == dtype
    for each in drawn:
        np.testing.assert_array_equal(each, one_by_one.standard_normal(size, dtype))
    assert together.block == one_by_one.block


@pytest.mark.parametrize("name", DRAWS)
def test_other_seeds_streams_and_blocks_give_other_numbers(name):
    def eight_blocks(seed, stream, block):
        return np.concatenate([np.ravel(DRAWS[name](Rng(NUMPY, seed, stream, block + i))) for i in range(8)])

    drawn = [eight_blocks(*address) for address in ((1, 0, 0), (2, 0, 0), (1, 1, 0), (1, 0, 8))]
    for one, other in combinations(drawn, 2):
        assert not np.array_equal(one, other)


def test_a_start_within_a_block_continues_it():
    whole = Rng(NUMPY, 5).bits(100)
    for start in (0, 1, 2, 3, 4, 17):
        np.testing.assert_array_equal(Rng(NUMPY, 5).bits(20, start=start), whole[start : start + 20])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_shorter_draw_is_the_beginning_of_a_longer_one(dtype):
    for size in (0, 1, 2, 3, 17, 18):
        long = Rng(NUMPY, 3).standard_normal(20_001, dtype)
        np.testing.assert_array_equal(Rng(NUMPY, 3).standard_normal(size, dtype), long[:size])
        uniform = Rng(NUMPY, 3).random(101, dtype)
        np.testing.assert_array_equal(Rng(NUMPY, 3).random(size, dtype), uniform[:size])


def test_a_number_without_size_is_the_first_of_the_array_and_plain_python():
    for seed in range(5):
        pairs = [
            (Rng(NUMPY, seed).random(), Rng(NUMPY, seed).random(1)),
            (Rng(NUMPY, seed).random(dtype=np.float32), Rng(NUMPY, seed).random(1, np.float32)),
            (Rng(NUMPY, seed).integers(-5, 9), Rng(NUMPY, seed).integers(-5, 9, size=1)),
            (Rng(NUMPY, seed).standard_normal(), Rng(NUMPY, seed).standard_normal(64)),
            (Rng(NUMPY, seed).normal(1.0, 2.0), Rng(NUMPY, seed).normal(1.0, 2.0, size=64)),
            (Rng(NUMPY, seed).choice(7), Rng(NUMPY, seed).choice(7, size=1)),
            (Rng(NUMPY, seed).choice(2, p=[0.4, 0.6]), Rng(NUMPY, seed).choice(2, size=1, p=[0.4, 0.6])),
            (Rng(NUMPY, seed).choice(np.arange(4.0)), Rng(NUMPY, seed).choice(np.arange(4.0), size=1)),
        ]
        for number, array in pairs:
            assert type(number) in {int, float}
            assert number == array[0]


@pytest.mark.parametrize(("dtype", "bits"), [(np.float32, 24), (np.float64, 53)])
def test_uniforms_reach_zero_and_stop_one_step_short_of_one(dtype, bits):
    ends = uniforms(np.array([0, (1 << 64) - 1], dtype=np.uint64), dtype)
    assert ends.dtype == dtype
    assert ends[0] == 0.0
    assert ends[-1] == 1.0 - 2.0**-bits


def test_signs_are_the_bits_of_the_words_in_order():
    drawn = signs(np, np.array([0b101, 1 << 63], dtype=np.uint64), 128)
    assert np.flatnonzero(drawn == 1).tolist() == [0, 2, 127]
    assert np.count_nonzero(drawn == -1) == 125


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8])
def test_signs_have_the_type_asked_for(dtype):
    assert Rng(NUMPY, 0).rademacher(10, dtype).dtype == dtype


@exhaustive
@given(value=seeds, bound=st.one_of(st.integers(1, 1 << 64), st.integers(1, 1 << 33)))
def test_scaling_is_the_exact_floor(value, bound):
    assert scaled(np.array([value], dtype=np.uint64), bound).tolist() == [value * bound >> 64]


@exhaustive
@given(seed=seeds, low=st.integers(-(1 << 63), (1 << 63) - 1), data=st.data())
def test_integers_stay_in_their_range(seed, low, data):
    high = data.draw(st.integers(low + 1, 1 << 63))
    drawn = Rng(NUMPY, seed).integers(low, high, size=50)
    assert drawn.dtype == np.int64
    assert low <= int(drawn.min())
    assert int(drawn.max()) < high
    assert Rng(NUMPY, seed).integers(low, high) == drawn[0]


@exhaustive
@given(seed=seeds, count=st.integers(0, 200))
def test_a_permutation_holds_every_index_once(seed, count):
    drawn = Rng(NUMPY, seed).permutation(count)
    assert drawn.dtype == np.int64
    assert sorted(drawn.tolist()) == list(range(count))


@exhaustive
@given(seed=seeds, count=st.integers(0, 300), data=st.data())
def test_a_choice_without_replacement_holds_no_index_twice(seed, count, data):
    size = data.draw(st.integers(0, count))
    drawn = Rng(NUMPY, seed).choice(count, size=size, replace=False).tolist()
    assert len(set(drawn)) == len(drawn) == size
    assert all(0 <= index < count for index in drawn)


@pytest.mark.parametrize("population", [1_000, 10**15])
def test_a_choice_without_replacement_takes_the_first_different_numbers_of_its_block(population):
    for seed in range(20):
        words = Rng(NUMPY, seed).bits(400)
        numbers = dict.fromkeys((int(word) * population) >> 64 for word in words)
        drawn = Rng(NUMPY, seed).choice(population, size=100, replace=False)
        assert drawn.tolist() == list(numbers)[:100]


@exhaustive
@given(seed=seeds, weights=st.lists(st.integers(0, 5), min_size=1, max_size=8).filter(any))
def test_a_weighted_choice_never_takes_what_has_no_weight(seed, weights):
    p = np.array(weights) / sum(weights)
    drawn = Rng(NUMPY, seed).choice(len(weights), size=100, p=p)
    assert drawn.dtype == np.int64
    assert np.all(p[drawn] > 0)


def test_a_small_choice_keeps_the_first_occurrences_of_the_stream_in_order():
    count = 50
    words = Rng(NUMPY, 8).bits(100)
    expected = list(dict.fromkeys(scaled(words, count).tolist()))[:6]
    rng = Rng(NUMPY, 8)
    assert rng.choice(count, size=6, replace=False).tolist() == expected
    assert rng.block == 1


def test_rows_of_arrays_are_permuted_and_chosen_whole():
    rows = np.arange(20).reshape(10, 2)
    for drawn in (
        Rng(NUMPY, 1).permutation(rows),
        Rng(NUMPY, 1).choice(rows, size=4),
        Rng(NUMPY, 1).choice(rows, size=(2, 3), replace=False),
        Rng(NUMPY, 1).choice(rows),
    ):
        flat = drawn.reshape(-1, 2)
        np.testing.assert_array_equal(flat[:, 1], flat[:, 0] + 1)
        assert np.all(flat[:, 0] % 2 == 0)


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda rng: rng.integers(0), r"the range \[0, 0\) is empty"),
        (lambda rng: rng.integers(5, 5, size=3), r"the range \[5, 5\) is empty"),
        (lambda rng: rng.integers(0, 1 << 64), "beyond int64"),
        (lambda rng: rng.choice(0), "empty"),
        (lambda rng: rng.choice(3, size=4, replace=False), "cannot choose 4 of 3 without replacement"),
        (lambda rng: rng.choice(2, size=1, replace=False, p=[0.5, 0.5]), "either p or replace=False"),
        (lambda rng: rng.choice(3, p=[0.5, 0.5]), "p must hold 3 probabilities"),
        (lambda rng: rng.choice(2, p=[0.5, 0.4]), "add up to 1"),
        (lambda rng: rng.choice(2, p=[1.5, -0.5]), "not negative"),
        (lambda rng: rng.choice(2, p=[float("nan"), 1.0]), "not negative"),
        (lambda rng: rng.random(-1), "negative"),
        (lambda rng: rng.standard_normal((2, -1)), "negative"),
        (lambda rng: rng.at(-1), "each must be in"),
        (lambda rng: Rng(NUMPY, 1 << 64), "each must be in"),
    ],
)
def test_a_draw_that_cannot_be_made_says_why(draw, message):
    with pytest.raises(BenchfwError, match=message):
        draw(Rng(NUMPY, 0))


def test_types_that_have_no_uniforms_or_normals_are_refused():
    with pytest.raises(TypeError, match="float32 or float64"):
        Rng(NUMPY, 0).random(3, dtype=np.int32)
    with pytest.raises(TypeError, match="float32 or float64"):
        Rng(NUMPY, 0).standard_normal(3, dtype=np.float16)


def test_the_generator_shows_its_address():
    assert repr(Rng(NUMPY, 7, stream=2)) == "Rng(numpy, seed=7, stream=2, block=0)"
    assert repr(NUMPY.rng(7)) == "Rng(numpy, seed=7, stream=0, block=0)"


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


@pytest.mark.parametrize("name", [each for each in DRAWS if each != "bits"])
def test_a_backend_that_draws_on_the_host_has_the_numbers_of_numpy(name):
    strict, host = StrictBackend(), get_backend("numpy")
    own, theirs = strict.rng(7).at(3, block=2), host.rng(7).at(3, block=2)
    for _ in range(2):
        found, wanted = DRAWS[name](own), DRAWS[name](theirs)
        assert not isinstance(found, np.ndarray)
        np.testing.assert_array_equal(np.asarray(found), wanted)
    assert own.block == theirs.block


def test_a_type_of_another_library_is_understood_by_its_name():
    strict = StrictBackend()
    assert strict.rng(1).standard_normal(3, strict.xp.float32).dtype == strict.xp.float32
    assert strict.rng(1).rademacher(3, dtype=strict.xp.float32).dtype == strict.xp.float32
