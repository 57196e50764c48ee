"""Sums over random features φ(x) = [cos ω'x, sin ω'x] that are made as they are used.

On NumPy and CuPy the features of a tile of rows are held at a time, by the portable bodies those of a block.
Frequencies come in blocks W (d, F), coefficients as A (2, F, C): the plane of the cosines, then of the sines.
All arrays of a call have one precision, best float32: NumPy's sines in float64 cost many times more.
With `tensor_cores` a GPU multiplies float32 in halves (halves.py), without it plainly; elsewhere, and in
float64, both are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from benchfw.kernels import default_threads, growing_arrays, kernel, namespace
from benchfw_kernelmachines.kernels.halves import halves_of_columns, halves_of_rows, multiply_halves
from benchfw_kernelmachines.kernels.score_sums import add_scores, num_pieces
from benchfw_kernelmachines.kernels.waves import ROWS, Write, find_writer, waves

COORDINATES, FREQUENCIES, OUTPUTS = 8, 16, 3  # of the samples
FEATURES = 256  # of small blocks taken together there: a draw for each would cost more than its features
MEMORY_OF_FEATURE = 512  # bytes that a GPU should have for each that it holds: 1 % of it in float32
MOST_FEATURES = 1 << 28  # that it holds: blocks that are added step by step need no new memory from there on


Frequencies: TypeAlias = Callable[[range], Any]


def _scores_counts(
    rows: Any,
    frequencies: Frequencies,
    coefficients: Sequence[Any],
    num_outputs: int,
    tensor_cores: bool = True,
) -> tuple[float, float]:
    del frequencies, tensor_cores
    count, dimension = rows.shape
    pairs = count * sum(block.shape[1] for block in coefficients)
    scores = count * num_outputs * rows.dtype.itemsize
    moved = rows.nbytes + scores + sum(block.nbytes for block in coefficients)
    return pairs * (2.0 * dimension + 20 + 4 * num_outputs), float(moved)


@kernel("feature-scores", counts=_scores_counts)
def feature_scores(
    rows: Any,
    frequencies: Frequencies,
    coefficients: Sequence[Any],
    num_outputs: int,
    tensor_cores: bool = True,
) -> Any:
    """Return Σ_j Φ_j A_j at rows (n, d): (n, C), C = num_outputs; zero without coefficients.

    A_j is coefficients[j], (2, F, C), and Φ_j has the features of block j of the frequencies. For a range of
    such numbers frequencies(numbers) returns the blocks side by side, (d, F len(numbers)); each is asked for
    once, in turn. Dai et al. 2014, algorithm 2.
    """
    del tensor_cores
    xp = namespace(rows)
    scores = xp.zeros((rows.shape[0], num_outputs), dtype=rows.dtype)
    for number, block in enumerate(coefficients):
        phases = rows @ xp.asarray(frequencies(range(number, number + 1)))
        cosines, sines = (xp.asarray(block[plane, ...]) for plane in range(2))
        scores = scores + xp.cos(phases) @ cosines + xp.sin(phases) @ sines
    return scores


@feature_scores.on("numpy")
def _feature_scores_numpy(
    rows: Any,
    frequencies: Frequencies,
    coefficients: Sequence[Any],
    num_outputs: int,
    tensor_cores: bool = True,
) -> Any:
    del tensor_cores
    scores = np.zeros((rows.shape[0], num_outputs), dtype=rows.dtype)
    width = sum(block.shape[1] for block in coefficients)
    write = find_writer(rows.shape[0] * width, rows.dtype)
    for numbers, planes in _joined(coefficients, FEATURES, np.concatenate):
        for tile, cosines, sines in _tiles_of_waves(rows, frequencies(numbers), write):
            scores[tile] += cosines @ planes[0]
            scores[tile] += sines @ planes[1]
    return scores


@feature_scores.on("cupy")
@growing_arrays()  # there is a block more from step to step
def _feature_scores_cupy(
    rows: Any,
    frequencies: Frequencies,
    coefficients: Sequence[Any],
    num_outputs: int,
    tensor_cores: bool = True,
) -> Any:
    import cupy

    most = _most_features()
    sums = cupy.zeros((num_pieces(rows.shape[0]), rows.shape[0], num_outputs), dtype=rows.dtype)
    left = halves_of_rows(rows) if tensor_cores else rows
    # one block of a mini-batch is too small to fill the device
    at_once = most // max(rows.shape[0], rows.shape[1], 1)
    for numbers, planes in _joined(coefficients, at_once, cupy.concatenate):
        block = frequencies(numbers)
        if tensor_cores:
            block = halves_of_columns(block)
        planes = cupy.ascontiguousarray(planes.swapaxes(1, 2))  # as threads beside each other read them
        for tile in tiles(rows, max(1, most // max(block.shape[1], 1))):
            phases = multiply_halves(left[tile], block) if tensor_cores else left[tile] @ block
            add_scores(phases, planes, sums[:, tile], tensor_cores)
    return sums.sum(axis=0)


def _products_counts(
    rows: Any, frequencies: Any, residuals: Any, tensor_cores: bool = True
) -> tuple[float, float]:
    del tensor_cores
    (count, dimension), outputs = rows.shape, residuals.shape[1]
    operations = count * frequencies.shape[1] * (2.0 * dimension + 20 + 4 * outputs)
    return operations, float(rows.nbytes + frequencies.nbytes + residuals.nbytes)


@kernel("feature-products", counts=_products_counts)
def feature_products(rows: Any, frequencies: Any, residuals: Any, tensor_cores: bool = True) -> Any:
    """Return Φ'G, (2, F, C), for rows (n, d), frequencies (d, F) and residuals G (n, C)."""
    del tensor_cores
    xp = namespace(rows, frequencies, residuals)
    phases = rows @ frequencies
    return xp.stack([xp.matrix_transpose(plane) @ residuals for plane in (xp.cos(phases), xp.sin(phases))])


@feature_products.on("numpy")
def _feature_products_numpy(rows: Any, frequencies: Any, residuals: Any, tensor_cores: bool = True) -> Any:
    del tensor_cores
    products = np.zeros((2, frequencies.shape[1], residuals.shape[1]), dtype=rows.dtype)
    write = find_writer(rows.shape[0] * frequencies.shape[1], rows.dtype)
    for tile, cosines, sines in _tiles_of_waves(rows, frequencies, write):
        products[0] += cosines.T @ residuals[tile]
        products[1] += sines.T @ residuals[tile]
    return products


@feature_products.on("cupy")
def _feature_products_cupy(rows: Any, frequencies: Any, residuals: Any, tensor_cores: bool = True) -> Any:
    import cupy

    tiles = _device_tiles(rows, frequencies)
    products = [_device_features(rows[tile], frequencies, tensor_cores).T @ residuals[tile] for tile in tiles]
    shape = (2, frequencies.shape[1], residuals.shape[1])
    return sum(products[1:], products[0]).reshape(shape) if products else cupy.zeros(shape, dtype=rows.dtype)


def _gram_counts(rows: Any, frequencies: Any, tensor_cores: bool = True) -> tuple[float, float]:
    del tensor_cores
    (count, dimension), width = rows.shape, frequencies.shape[1]
    operations = count * width * (2.0 * dimension + 20 + 8 * width)
    return operations, float(rows.nbytes + frequencies.nbytes + 4 * width * width * rows.dtype.itemsize)


@kernel("feature-gram", counts=_gram_counts)
def feature_gram(rows: Any, frequencies: Any, tensor_cores: bool = True) -> Any:
    """Return Φ'Φ, (2F, 2F), the cosines first, for rows (n, d) and frequencies (d, F)."""
    del tensor_cores
    xp = namespace(rows, frequencies)
    phases = rows @ frequencies
    features = xp.concat([xp.cos(phases), xp.sin(phases)], axis=1)
    return xp.matrix_transpose(features) @ features


@feature_gram.on("numpy")
def _feature_gram_numpy(rows: Any, frequencies: Any, tensor_cores: bool = True) -> Any:
    del tensor_cores
    gram = np.zeros((2 * frequencies.shape[1],) * 2, dtype=rows.dtype)
    for tile in tiles(rows, 4 * ROWS):
        phases = rows[tile] @ frequencies
        features = np.concatenate(waves(phases), axis=1)
        gram += features.T @ features  # of an array with itself: NumPy does half of the work
    return gram


def _tiles_of_waves(rows: Any, frequencies: Any, write: Write) -> Iterator[tuple[slice, Any, Any]]:
    """Yield slices of the rows, and their cosines and sines, which the next ones overwrite."""
    threads = default_threads()
    size = ROWS if threads == 1 else 2 * ROWS * threads  # to be worth the threads, of 512 frequencies
    shape = (min(size, rows.shape[0]), frequencies.shape[1])
    # memory that is new to the process costs as much as the cosines, and would be new for every tile
    phases, cosines = (np.empty(shape, dtype=rows.dtype) for _ in range(2))
    for tile in tiles(rows, size):
        some = rows[tile]
        sines = np.matmul(some, frequencies, out=phases[: some.shape[0]])
        yield tile, *waves(sines, cosines[: some.shape[0]], write)


@feature_gram.on("cupy")
def _feature_gram_cupy(rows: Any, frequencies: Any, tensor_cores: bool = True) -> Any:
    import cupy

    gram = cupy.zeros((2 * frequencies.shape[1],) * 2, dtype=rows.dtype)
    for tile in _device_tiles(rows, frequencies):
        features = _device_features(rows[tile], frequencies, tensor_cores)
        gram += features.T @ features
    return gram


def _joined(
    coefficients: Sequence[Any], features: int, concatenate: Callable[..., Any]
) -> Iterator[tuple[range, Any]]:
    """Yield the numbers of successive blocks of so many features in all, one at least, and their planes."""
    width = coefficients[0].shape[1] if coefficients else 1
    at_once = max(1, features // max(width, 1))
    for first in range(0, len(coefficients), at_once):
        numbers = range(first, min(first + at_once, len(coefficients)))
        blocks = [coefficients[number] for number in numbers]
        yield numbers, blocks[0] if len(blocks) == 1 else concatenate(blocks, axis=1)


def tiles(rows: Any, size: int) -> Iterator[slice]:
    """Yield the slices of `size` rows each."""
    return (slice(first, first + size) for first in range(0, rows.shape[0], size))


def _device_tiles(rows: Any, frequencies: Any) -> Iterator[slice]:
    """Yield the slices of as many rows as a GPU takes at once."""
    return tiles(rows, max(1, _most_features() // max(2 * frequencies.shape[1], 1)))


@cache
def _most_features() -> int:
    """Return how many features, or phases, a GPU should hold at once."""
    import cupy

    return min(MOST_FEATURES, int(cupy.cuda.Device().mem_info[1]) // MEMORY_OF_FEATURE)


def _device_features(rows: Any, frequencies: Any, tensor_cores: bool) -> Any:
    """Return the features of rows (n, d) for frequencies (d, F), on the GPU: (n, 2F), the cosines first."""
    import cupy

    if tensor_cores:
        phases = multiply_halves(halves_of_rows(rows), halves_of_columns(frequencies))
    else:
        phases = rows @ frequencies
    features = cupy.empty((rows.shape[0], 2, frequencies.shape[1]), dtype=phases.dtype)
    _cosines_and_sines()(phases, features[:, 0], features[:, 1])
    return features.reshape(rows.shape[0], 2 * frequencies.shape[1])


@cache
def _cosines_and_sines() -> Any:
    import cupy

    return cupy.ElementwiseKernel(
        "T phase",
        "T cosine, T sine",
        """
        T c, s;
        sincos(phase, &s, &c);
        cosine = c;
        sine = s;
        """,
        "benchfw_cosines_and_sines",
    )


def sample_feature_scores(backend: Any, rng: Any, size: int) -> tuple[Any, ...]:
    """Return rows of 8 coordinates, about `size` numbers, and two blocks of 16 frequencies for 3 outputs."""
    rows, first = sample_feature_gram(backend, rng, size)
    xp = namespace(first)
    both = xp.concat([first, xp.flip(first, axis=0)], axis=1)

    def frequencies(numbers: range) -> Any:
        return both[:, FREQUENCIES * numbers.start : FREQUENCIES * numbers.stop]

    return rows, frequencies, [rng.standard_normal((2, FREQUENCIES, OUTPUTS)) for _ in range(2)], OUTPUTS


def sample_feature_products(backend: Any, rng: Any, size: int) -> tuple[Any, ...]:
    """Return rows of 8 coordinates, about `size` numbers, 16 frequencies, and 3 residuals a row."""
    rows, frequencies = sample_feature_gram(backend, rng, size)
    return rows, frequencies, rng.standard_normal((rows.shape[0], OUTPUTS))


def sample_feature_gram(backend: Any, rng: Any, size: int) -> tuple[Any, ...]:
    """Return rows of 8 coordinates, about `size` numbers, and 16 frequencies."""
    del backend
    rows = rng.standard_normal((-(-size // COORDINATES), COORDINATES))
    return rows, rng.standard_normal((COORDINATES, FREQUENCIES)) / COORDINATES**0.5
