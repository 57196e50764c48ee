"""Random numbers by address: the same on every backend, in any order, alone or together.

A word is addressed by (seed, stream, block, index). Every call takes the next block and counts its indices
from 0, so that a call's result depends on its address and its shape, never on the sizes of earlier calls.
"""

from __future__ import annotations

import math
import operator
import threading
from functools import cache
from typing import Any, Protocol, TypeAlias

import numpy as np

from benchfw.backends.normals import box_muller_on_host, words_for
from benchfw.backends.threads import over_pieces, useful_threads
from benchfw.errors import BenchfwError

Size: TypeAlias = int | tuple[int, ...]

_LOW_HALF = 0xFFFFFFFF
_WORDS = 1 << 64
_PIECE = 1 << 16  # words that a thread draws at a time
_NANOSECONDS = 5.0  # that a word takes
_LARGEST_TABLE = 1 << 22  # of places: a look-up is 10 times as fast as sorting, but not in memory that is new


def uniforms(words: Any, dtype: Any = np.float64) -> Any:
    """Return uniforms in [0, 1): (n,) words -> (n,) float64 of 53 bits, or (2n,) float32 of 24 bits."""
    if np.dtype(dtype) == np.float64:
        return (words >> 11) * 2.0**-53
    if np.dtype(dtype) == np.float32:
        # the low half comes first: every platform that NumPy or CuPy ships for is little-endian
        return (words.view(np.uint32) >> 8).astype(np.float32) * 2.0**-24
    raise TypeError(f"uniforms come as float32 or float64, not as {np.dtype(dtype).name}")


def signs(xp: Any, words: Any, count: int, dtype: Any = np.float64) -> Any:
    """Return signs, (count,): bit j of word i is sign 64 i + j, 1 where it is set and -1 where not."""
    return xp.take(_sign_table(xp, np.dtype(dtype)), words.view(np.uint8), axis=0).reshape(-1)[:count]


@cache
def _sign_table(xp: Any, dtype: np.dtype) -> Any:
    """Return the eight signs of each byte, (256, 8): one look-up a byte is the least work a sign can cost."""
    bytes_ = np.arange(256)[:, None] >> np.arange(8)
    return xp.asarray((2 * (bytes_ & 1) - 1).astype(dtype))


def scaled(words: Any, bound: int) -> Any:
    """Return floor(words * bound / 2^64) as uint64, exactly, for 1 <= bound <= 2^64.

    Each value below `bound` has a probability within 2^-64 of 1 / bound. Lemire 2019, without rejection.
    """
    high, low = words >> 32, words & _LOW_HALF
    if bound <= 1 << 32:
        return (high * bound + ((low * bound) >> 32)) >> 32
    bound_high, bound_low = divmod(bound, 1 << 32)
    middle = high * bound_low + ((low * bound_low) >> 32)
    carry = low * bound_high + (middle & _LOW_HALF)
    return high * bound_high + (middle >> 32) + (carry >> 32)


def _shape(size: Size) -> tuple[int, ...]:
    shape = tuple(map(operator.index, size)) if isinstance(size, tuple) else (operator.index(size),)
    if any(length < 0 for length in shape):
        raise BenchfwError(f"a size cannot be negative: {size}")
    return shape


class WordSource(Protocol):
    """What a generator needs of a backend."""

    name: str
    xp: Any

    def asarray(self, values: Any, dtype: Any = None) -> Any: ...

    def to_numpy(self, values: Any) -> np.ndarray: ...

    def bits(self, seed: int, stream: int, block: int, start: int, count: int) -> Any: ...

    def bits_of_blocks(self, seed: int, stream: int, first: int, blocks: int, count: int) -> Any: ...

    def normals(self, words: Any, dtype: Any) -> Any: ...


class Rng:
    """The numbers of one (seed, stream), on one backend; `block` is the next call's block.

    `size` is an int or a tuple and gives an array of the backend; `size=None` gives a Python number, which
    is the first of the array's numbers and is made on the host, so that no device is waited for.
    """

    __slots__ = ("backend", "block", "seed", "stream")

    def __init__(self, backend: WordSource, seed: int, stream: int = 0, block: int = 0) -> None:
        if not (0 <= seed < _WORDS and 0 <= stream < _WORDS and 0 <= block < _WORDS):
            raise BenchfwError(f"seed {seed}, stream {stream}, block {block}: each must be in [0, 2^64)")
        self.backend = backend
        self.seed = seed
        self.stream = stream
        self.block = block

    def __repr__(self) -> str:
        return f"Rng({self.backend.name}, seed={self.seed}, stream={self.stream}, block={self.block})"

    def at(self, stream: int, block: int = 0) -> Rng:
        """Return the generator of this seed that stands at the given stream and block."""
        return type(self)(self.backend, self.seed, stream, block)

    def bits(self, count: int, start: int = 0) -> Any:
        """Return words start … start+count-1 of the next block: (count,) uint64."""
        block, self.block = self.block, self.block + 1
        return self.backend.bits(self.seed, self.stream, block, start, count)

    def _host_bits(self, count: int) -> np.ndarray:
        block, self.block = self.block, self.block + 1
        return philox_words(self.seed, self.stream, block, 0, count)

    def rademacher(self, size: Size, dtype: Any = np.float64) -> Any:
        """Return independent signs, -1 or 1, one random bit each."""
        shape = _shape(size)
        count = math.prod(shape)
        return signs(self.backend.xp, self.bits((count + 63) // 64), count, dtype).reshape(shape)

    def random(self, size: Size | None = None, dtype: Any = np.float64) -> Any:
        """Return uniforms in [0, 1): 53 random bits each in float64, 24 in float32."""
        if size is None:
            return float(uniforms(self._host_bits(1), dtype)[0])
        shape = _shape(size)
        count = math.prod(shape)
        words = self.bits(count if np.dtype(dtype) == np.float64 else (count + 1) // 2)
        return uniforms(words, dtype)[:count].reshape(shape)

    def integers(self, low: int, high: int | None = None, size: Size | None = None) -> Any:
        """Return int64 uniform over low … high-1, or over 0 … low-1 when `high` is not given."""
        low, high = (0, operator.index(low)) if high is None else (operator.index(low), operator.index(high))
        if high <= low:
            raise BenchfwError(f"no integer to draw: the range [{low}, {high}) is empty")
        if low < -(1 << 63) or high > 1 << 63:
            raise BenchfwError(f"the range [{low}, {high}) goes beyond int64")
        if size is None:
            return low + self._host_bits(1).item() * (high - low) // _WORDS
        shape = _shape(size)
        # int64 wraps around, so that the sum is right even where the range is wider than 2^63
        return (scaled(self.bits(math.prod(shape)), high - low).astype(np.int64) + low).reshape(shape)

    def permutation(self, population: Any) -> Any:
        """Return 0 … n-1 in random order, or the array's rows in random order."""
        if not isinstance(population, int | np.integer):
            rows = self.backend.asarray(population)
            return rows[self.permutation(rows.shape[0])]
        (count,) = _shape(int(population))
        return self.backend.xp.argsort(self.bits(count), kind="stable").astype(np.int64, copy=False)

    def choice(self, population: Any, size: Size | None = None, replace: bool = True, p: Any = None) -> Any:
        """Return draws from 0 … n-1, or rows of an array, uniform or with the probabilities `p` (n,)."""
        if isinstance(population, int | np.integer):
            return self._choose(int(population), size, replace, p)
        rows = self.backend.asarray(population)
        chosen = rows[self._choose(rows.shape[0], size, replace, p)]
        return chosen.item() if chosen.ndim == 0 else chosen

    def _choose(self, count: int, size: Size | None, replace: bool, p: Any) -> Any:
        if p is not None:
            if not replace:
                raise BenchfwError("choice takes either p or replace=False, not both")
            return self._choose_weighted(count, size, p)
        if replace or size is None:
            return self.integers(0, count, size)
        return self._distinct(count, _shape(size))

    def _choose_weighted(self, count: int, size: Size | None, p: Any) -> Any:
        """Return indices by inverting the cumulative sum, which the host adds up in one fixed order."""
        weights = self.backend.to_numpy(self.backend.asarray(p)).astype(np.float64)
        if weights.shape != (count,) or not np.all(weights >= 0) or abs(weights.sum() - 1) > 1e-6:
            raise BenchfwError(f"p must hold {count} probabilities that are not negative and add up to 1")
        cumulative = np.cumsum(weights)
        cumulative /= cumulative[-1]
        if size is None:
            return int(np.searchsorted(cumulative, self.random(), side="right"))
        xp = self.backend.xp
        draws = self.random(size)
        # CuPy searches for one-dimensional values alone
        found = xp.searchsorted(self.backend.asarray(cumulative), draws.reshape(-1), side="right")
        return found.astype(np.int64, copy=False).reshape(draws.shape)

    def _distinct(self, count: int, shape: tuple[int, ...]) -> Any:
        """Return different indices, every ordered selection as probable as every other."""
        wanted = math.prod(shape)
        if wanted > count:
            raise BenchfwError(f"cannot choose {wanted} of {count} without replacement")
        if wanted * 8 > count:
            return self.permutation(count)[:wanted].reshape(shape)
        block = self.block
        drawn = wanted and wanted + wanted // 4 + 4
        while True:
            # the first `wanted` different numbers of the block, however many of its words are looked at
            self.block = block
            distinct = _without_repeats(scaled(self._host_bits(drawn), count).astype(np.int64), count)
            if distinct.shape[0] >= wanted:
                break
            drawn *= 2
        self.block = block + 1
        return self.backend.asarray(distinct[:wanted]).reshape(shape)

    def standard_normal(self, size: Size | None = None, dtype: Any = np.float64) -> Any:
        """Return standard normals, float64 or float32; equal bits on every backend (see `normals.py`)."""
        if size is None:
            return float(box_muller_on_host(self._host_bits(words_for(1, dtype)), dtype)[0])
        shape = _shape(size)
        count = math.prod(shape)
        return self.backend.normals(self.bits(words_for(count, dtype)), dtype)[:count].reshape(shape)

    def standard_normals(self, calls: int, size: Size, dtype: Any = np.float64) -> Any:
        """Return what so many calls of `standard_normal` give one after another: (calls, *size)."""
        shape = _shape(size)
        count = math.prod(shape)
        first, self.block = self.block, self.block + calls
        address = (self.seed, self.stream, first, calls, words_for(count, dtype))
        words = self.backend.bits_of_blocks(*address)
        normals = self.backend.normals(words.reshape(-1), dtype)
        return normals.reshape(calls, 2 * ((count + 1) // 2))[:, :count].reshape(calls, *shape)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Size | None = None) -> Any:
        """Return loc + scale z for standard normals z, in float64."""
        return self.standard_normal(size) * scale + loc


def _without_repeats(numbers: np.ndarray, count: int) -> np.ndarray:
    """Return the numbers, all below `count`, less those that stand further in front, in their order."""
    kept: np.ndarray
    if count > _LARGEST_TABLE:
        kept = np.sort(np.unique(numbers, return_index=True)[1])
    else:
        places = np.arange(numbers.shape[0], dtype=np.int32)
        first = np.empty(count, dtype=places.dtype)  # only the places of these numbers are touched
        first[numbers[::-1]] = places[::-1]  # of several that are equal the last assignment stays
        kept = first[numbers] == places
    chosen: np.ndarray = numbers[kept]
    return chosen


class _Stream(threading.local):
    """One Philox a thread, moved to each new address: making a new one costs five times as much."""

    def __init__(self) -> None:
        self.generator = np.random.Philox(key=0)
        self.state: Any = self.generator.state
        self.key: np.ndarray = self.state["state"]["key"]
        self.counter: np.ndarray = self.state["state"]["counter"]


@cache
def _streams() -> _Stream:
    # numpy.random is a sixtieth of a second to import: not before the first draw
    return _Stream()


def philox_words(seed: int, stream: int, block: int, start: int, count: int) -> np.ndarray:
    """Return words start … start+count-1 of a block: (count,) uint64, from Philox-4x64-10.

    Four words share a counter, and NumPy adds one to the counter before it uses it, so that words
    4i … 4i+3 are Philox at counter (i+1, block, 0, 0), key (seed, stream). Salmon et al. 2011.
    """
    address, skip = divmod(start, 4)
    words: np.ndarray
    if useful_threads(count * _NANOSECONDS) == 1:
        words = _generator_at(seed, stream, block, address).random_raw(skip + count)
        return words[skip:] if skip else words
    words = np.empty(skip + count, dtype=np.uint64)

    def write(place: slice) -> None:
        # unlike random_raw it lets other threads draw theirs, but a call of it takes 60 µs, not 2
        generator = np.random.Generator(_generator_at(seed, stream, block, address + place.start // 4))
        words[place] = generator.integers(0, _WORDS, size=place.stop - place.start, dtype=np.uint64)

    over_pieces(write, skip + count, _PIECE, nanoseconds=_NANOSECONDS)
    return words[skip:]


def _generator_at(seed: int, stream: int, block: int, address: int) -> np.random.Philox:
    """Return this thread's generator, before word 4 address of a block."""
    own = _streams()
    own.key[0] = seed
    own.key[1] = stream
    own.counter[0] = address
    own.counter[1] = block
    # assigning the state also empties the buffer: the saved buffer position says that none is left
    own.generator.state = own.state
    return own.generator
