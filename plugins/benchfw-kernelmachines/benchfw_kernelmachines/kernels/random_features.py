"""Sums over random features φ(x) = [cos ω'x, sin ω'x] that are made as they are used.

On NumPy and CuPy the features of a tile of rows are held at a time, by the portable bodies those of a block.
Frequencies come in blocks W (d, F), coefficients as A (2, F, C): the plane of the cosines, then of the sines.
All arrays of a call have one precision, best float32: NumPy's sines in float64 cost many times more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from benchfw.kernels import kernel, namespace

COORDINATES, FREQUENCIES, OUTPUTS = 8, 16, 3  # of the samples
ROWS = 256  # of a tile on the host, whose features stay in the cache
DEVICE_FEATURES = 1 << 26  # of a tile on a GPU: enough to fill it
THREADS = 128  # of a block on a GPU
SUMS, MOST_SUMS = 40, 80  # that one of its threads should hold, and can


Frequencies: TypeAlias = Callable[[range], Any]


def _scores_counts(
    rows: Any, frequencies: Frequencies, coefficients: Sequence[Any], num_outputs: int
) -> tuple[float, float]:
    del frequencies
    count, dimension = rows.shape
    pairs = count * sum(block.shape[1] for block in coefficients)
    scores = count * num_outputs * rows.dtype.itemsize
    moved = rows.nbytes + scores + sum(block.nbytes for block in coefficients)
    return pairs * (2.0 * dimension + 20 + 4 * num_outputs), float(moved)


@kernel("feature-scores", counts=_scores_counts)
def feature_scores(rows: Any, frequencies: Frequencies, coefficients: Sequence[Any], num_outputs: int) -> Any:
    """Return Σ_j Φ_j A_j at rows (n, d): (n, C), C = num_outputs; zero without coefficients.

    A_j is coefficients[j], (2, F, C), and Φ_j has the features of block j of the frequencies. For a range of
    such numbers frequencies(numbers) returns the blocks side by side, (d, F len(numbers)); each is asked for
    once, in turn. Dai et al. 2014, algorithm 2.
    """
    xp = namespace(rows)
    scores = xp.zeros((rows.shape[0], num_outputs), dtype=rows.dtype)
    for number, block in enumerate(coefficients):
        phases = rows @ xp.asarray(frequencies(range(number, number + 1)))
        cosines, sines = (xp.asarray(block[plane, ...]) for plane in range(2))
        scores = scores + xp.cos(phases) @ cosines + xp.sin(phases) @ sines
    return scores


@feature_scores.on("numpy")
def _feature_scores_numpy(
    rows: Any, frequencies: Frequencies, coefficients: Sequence[Any], num_outputs: int
) -> Any:
    scores = np.zeros((rows.shape[0], num_outputs), dtype=rows.dtype)
    for number, (cosines, sines) in enumerate(coefficients):
        block = frequencies(range(number, number + 1))
        for tile in _tiles(rows, ROWS):
            phases = rows[tile] @ block
            scores[tile] += np.cos(phases) @ cosines
            scores[tile] += np.sin(phases, out=phases) @ sines
    return scores


@feature_scores.on("cupy")
def _feature_scores_cupy(
    rows: Any, frequencies: Frequencies, coefficients: Sequence[Any], num_outputs: int
) -> Any:
    import cupy

    scores = cupy.zeros((rows.shape[0], num_outputs), dtype=rows.dtype)
    # several blocks in one product: one block of a mini-batch is too small to fill the device
    width = max((block.shape[1] for block in coefficients), default=1)
    at_once = max(1, DEVICE_FEATURES // (width * max(rows.shape[0], rows.shape[1], 1)))
    for first in range(0, len(coefficients), at_once):
        numbers = range(first, min(first + at_once, len(coefficients)))
        block = frequencies(numbers)
        planes = cupy.concatenate([coefficients[number] for number in numbers], axis=1)
        for tile in _tiles(rows, max(1, DEVICE_FEATURES // max(block.shape[1], 1))):
            _add_scores(rows[tile] @ block, planes, scores[tile])
    return scores


# A thread takes one frequency after another, for ROWS rows at once, so that it reads their coefficients once;
# in the end the threads of a block add up what they have. Features are never written to memory.
_SCORES = r"""
extern "C" __global__ void add_scores(
    const real* phases, const real* cosines, const real* sines, real* scores,
    const long long rows, const long long frequencies)
{
    __shared__ real shared[THREADS / 32][ROWS * OUTPUTS];
    const long long first = (long long)blockIdx.x * ROWS;
    real sums[ROWS][OUTPUTS] = {};
    for (long long f = threadIdx.x; f < frequencies; f += THREADS) {
        real a[OUTPUTS], b[OUTPUTS];
        #pragma unroll
        for (int c = 0; c < OUTPUTS; ++c) {
            a[c] = cosines[f * OUTPUTS + c];
            b[c] = sines[f * OUTPUTS + c];
        }
        real phase[ROWS];  // all read before any is used
        #pragma unroll
        for (int r = 0; r < ROWS; ++r) phase[r] = phases[min(first + r, rows - 1) * frequencies + f];
        #pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            real cosine, sine;
            SINCOS(phase[r], &sine, &cosine);
            #pragma unroll
            for (int c = 0; c < OUTPUTS; ++c) sums[r][c] += cosine * a[c] + sine * b[c];
        }
    }
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    #pragma unroll
    for (int r = 0; r < ROWS; ++r)
        #pragma unroll
        for (int c = 0; c < OUTPUTS; ++c) {
            real sum = sums[r][c];
            for (int step = 16; step; step /= 2) sum += __shfl_down_sync(0xFFFFFFFF, sum, step);
            if (!lane) shared[warp][r * OUTPUTS + c] = sum;
        }
    __syncthreads();
    for (int place = threadIdx.x; place < ROWS * OUTPUTS; place += THREADS) {
        if (first + place / OUTPUTS >= rows) break;
        real sum = 0;
        for (int w = 0; w < THREADS / 32; ++w) sum += shared[w][place];
        scores[first * OUTPUTS + place] += sum;
    }
}
"""


def _add_scores(phases: Any, planes: Any, scores: Any) -> None:
    """Add cos(phases) A_0 + sin(phases) A_1 to scores (n, C), for phases (n, F) and planes A (2, F, C)."""
    import cupy

    (rows, frequencies), outputs = phases.shape, planes.shape[2]
    if not 0 < outputs <= MOST_SUMS or not rows:
        scores += cupy.cos(phases) @ planes[0] + cupy.sin(phases) @ planes[1]
        return
    together = min(8, max(1, SUMS // outputs))
    kernel_of = _scores_kernel(phases.dtype.char, outputs, together)
    phases = cupy.ascontiguousarray(phases)
    arguments = (phases, planes[0], planes[1], scores, np.int64(rows), np.int64(frequencies))
    kernel_of((-(-rows // together),), (THREADS,), arguments)


@cache
def _scores_kernel(kind: str, outputs: int, together: int) -> Any:
    import cupy

    real, sincos = ("float", "sincosf") if kind == "f" else ("double", "sincos")
    names = {"ROWS": together, "OUTPUTS": outputs, "THREADS": THREADS, "SINCOS": sincos}
    lines = [f"typedef {real} real;", *(f"#define {name} {value}" for name, value in names.items())]
    return cupy.RawKernel("\n".join([*lines, _SCORES]), "add_scores")


def _products_counts(rows: Any, frequencies: Any, residuals: Any) -> tuple[float, float]:
    (count, dimension), outputs = rows.shape, residuals.shape[1]
    operations = count * frequencies.shape[1] * (2.0 * dimension + 20 + 4 * outputs)
    return operations, float(rows.nbytes + frequencies.nbytes + residuals.nbytes)


@kernel("feature-products", counts=_products_counts)
def feature_products(rows: Any, frequencies: Any, residuals: Any) -> Any:
    """Return Φ'G, (2, F, C), for rows (n, d), frequencies (d, F) and residuals G (n, C)."""
    xp = namespace(rows, frequencies, residuals)
    phases = rows @ frequencies
    return xp.stack([xp.matrix_transpose(plane) @ residuals for plane in (xp.cos(phases), xp.sin(phases))])


@feature_products.on("numpy")
def _feature_products_numpy(rows: Any, frequencies: Any, residuals: Any) -> Any:
    products = np.zeros((2, frequencies.shape[1], residuals.shape[1]), dtype=rows.dtype)
    for tile in _tiles(rows, ROWS):
        phases = rows[tile] @ frequencies
        products[0] += np.cos(phases).T @ residuals[tile]
        products[1] += np.sin(phases, out=phases).T @ residuals[tile]
    return products


@feature_products.on("cupy")
def _feature_products_cupy(rows: Any, frequencies: Any, residuals: Any) -> Any:
    import cupy

    products = cupy.zeros((2 * frequencies.shape[1], residuals.shape[1]), dtype=rows.dtype)
    for tile in _device_tiles(rows, frequencies):
        products += _device_features(rows[tile], frequencies).T @ residuals[tile]
    return products.reshape(2, frequencies.shape[1], residuals.shape[1])


def _gram_counts(rows: Any, frequencies: Any) -> tuple[float, float]:
    (count, dimension), width = rows.shape, frequencies.shape[1]
    operations = count * width * (2.0 * dimension + 20 + 8 * width)
    return operations, float(rows.nbytes + frequencies.nbytes + 4 * width * width * rows.dtype.itemsize)


@kernel("feature-gram", counts=_gram_counts)
def feature_gram(rows: Any, frequencies: Any) -> Any:
    """Return Φ'Φ, (2F, 2F), the cosines first, for rows (n, d) and frequencies (d, F)."""
    xp = namespace(rows, frequencies)
    phases = rows @ frequencies
    features = xp.concat([xp.cos(phases), xp.sin(phases)], axis=1)
    return xp.matrix_transpose(features) @ features


@feature_gram.on("numpy")
def _feature_gram_numpy(rows: Any, frequencies: Any) -> Any:
    gram = np.zeros((2 * frequencies.shape[1],) * 2, dtype=rows.dtype)
    for tile in _tiles(rows, 4 * ROWS):
        phases = rows[tile] @ frequencies
        features = np.concatenate([np.cos(phases), np.sin(phases)], axis=1)
        gram += features.T @ features  # of an array with itself: NumPy does half of the work
    return gram


@feature_gram.on("cupy")
def _feature_gram_cupy(rows: Any, frequencies: Any) -> Any:
    import cupy

    gram = cupy.zeros((2 * frequencies.shape[1],) * 2, dtype=rows.dtype)
    for tile in _device_tiles(rows, frequencies):
        features = _device_features(rows[tile], frequencies)
        gram += features.T @ features
    return gram


def _tiles(rows: Any, size: int) -> Iterator[slice]:
    """Yield the slices of `size` rows each."""
    return (slice(first, first + size) for first in range(0, rows.shape[0], size))


def _device_tiles(rows: Any, frequencies: Any) -> Iterator[slice]:
    """Yield the slices of as many rows as a GPU takes at once."""
    return _tiles(rows, max(1, DEVICE_FEATURES // max(2 * frequencies.shape[1], 1)))


def _device_features(rows: Any, frequencies: Any) -> Any:
    """Return the features of rows (n, d) for frequencies (d, F), on the GPU: (n, 2F), the cosines first."""
    import cupy

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
