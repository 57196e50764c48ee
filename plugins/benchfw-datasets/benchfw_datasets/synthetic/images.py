"""Pictures."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchfw import Count, DatasetName
from benchfw.backends import Rng, get_backend
from benchfw.data import load
from benchfw_datasets.synthetic.draws import Array, open_stream
from benchfw_datasets.synthetic.warps import WarpedPictures

SIDE = 28
BLOCK = 1000
MARKS = {  # which strokes of a pocket calculator's display each digit lights: top, upper left, upper right, …
    0: "1110111",
    1: "0010010",
    2: "1011101",
    3: "1011011",
    4: "0111010",
    5: "1101011",
    6: "1101111",
    7: "1010010",
    8: "1111111",
    9: "1111011",
}
STROKES = (
    (slice(4, 6), slice(9, 19)),
    (slice(5, 14), slice(8, 10)),
    (slice(5, 14), slice(18, 20)),
    (slice(13, 15), slice(9, 19)),
    (slice(14, 23), slice(8, 10)),
    (slice(14, 23), slice(18, 20)),
    (slice(22, 24), slice(9, 19)),
)


def mnist_like(rows: Count = 6_000, test_rows: Count = 1_000, seed: int = 0) -> dict[str, Array]:
    """Return x_train, y_train, x_test, y_test like MNIST: digits of seven strokes, shifted and warped."""
    total = rows + test_rows
    pieces = [_digits(number, seed) for number in range(-(-total // BLOCK))]
    x, y = (np.concatenate([piece[key] for piece in pieces])[:total] for key in ("x", "y"))
    return {"x_train": x[:rows], "y_train": y[:rows], "x_test": x[rows:], "y_test": y[rows:]}


def _digits(number: int, seed: int) -> dict[str, Array]:
    rng = open_stream(seed, 1 + number)
    labels = rng.integers(0, 10, size=BLOCK)
    return {"x": _deform(_templates()[labels], rng), "y": labels.astype(np.uint8)}


def _templates() -> Array:
    pictures = np.zeros((10, SIDE, SIDE), dtype=np.uint8)
    for digit, marks in MARKS.items():
        for lit, (rows, columns) in zip(marks, STROKES, strict=True):
            if lit == "1":
                pictures[digit, rows, columns] = 255
    return pictures


def deformed(rows: Count = 10_000, source: DatasetName = "mnist", seed: int = 0) -> dict[str, Array]:
    """Return x (rows, 784) and y like MNIST-8M: pictures of `source`, moved and bent."""
    pieces = list(deformed_stream(rows, source, seed))
    return {key: np.concatenate([piece[key] for piece in pieces]) for key in ("x", "y")}


def deformed_stream(
    rows: Count = 8_100_000, source: DatasetName = "mnist", seed: int = 0
) -> Iterator[dict[str, Array]]:
    """Yield pieces of x (…, 784) uint8 and y: the training pictures of `source`, moved and bent.

    `source` is "mnist", or "mnist-like" in its place. Row i depends on the seed and i alone.
    """
    arrays = load(source)
    warped = WarpedPictures(get_backend("numpy"), arrays["x_train"], arrays["y_train"], seed)
    for start in range(0, rows, BLOCK):
        x, y = warped.rows(start, min(start + BLOCK, rows))
        yield {"x": x, "y": y}


def _deform(pictures: Array, rng: Rng) -> Array:
    """Return pictures moved by up to two pixels and bent by a smooth field of about one pixel."""
    count = len(pictures)
    shift = 4 * rng.random((2, count, 1, 1)) - 2
    bend = _smooth(2.4 * (rng.random((2, count, 4, 4)) - 0.5), SIDE)
    grid = np.arange(SIDE, dtype=np.float64)
    down = grid[:, None] + shift[0] + bend[0]
    right = grid[None, :] + shift[1] + bend[1]
    return np.rint(_sampled(pictures, down, right)).astype(np.uint8)


def _smooth(coarse: Array, side: int) -> Array:
    """Return a coarse field (…, k, k) on a grid of (…, side, side), bilinear between its points."""
    at = np.arange(side) * ((coarse.shape[-1] - 1) / (side - 1))
    low = np.minimum(at.astype(np.int64), coarse.shape[-1] - 2)
    part = at - low
    rows = coarse[..., low, :] * (1 - part)[:, None] + coarse[..., low + 1, :] * part[:, None]
    return np.asarray(rows[..., low] * (1 - part) + rows[..., low + 1] * part)


def _sampled(pictures: Array, down: Array, right: Array) -> Array:
    """Return each picture read at (down, right), bilinear between pixels, black outside."""
    padded = np.pad(pictures.astype(np.float64), ((0, 0), (1, 1), (1, 1)))
    down, right = (np.clip(each + 1, 0, SIDE) for each in (down, right))
    top, left = np.floor(down).astype(np.int64), np.floor(right).astype(np.int64)
    below, beside = down - top, right - left
    every = np.arange(len(pictures))[:, None, None]
    upper = padded[every, top, left] * (1 - beside) + padded[every, top, left + 1] * beside
    lower = padded[every, top + 1, left] * (1 - beside) + padded[every, top + 1, left + 1] * beside
    return np.asarray(upper * (1 - below) + lower * below)


def cifar10_like(rows: Count = 5_000, test_rows: Count = 1_000, seed: int = 0) -> dict[str, Array]:
    """Return x (…, 32, 32, 3) uint8 and y like CIFAR-10: smooth colour fields about one a class."""
    rng = open_stream(seed)
    total = rows + test_rows
    labels = rng.integers(0, 10, size=total)
    centres = rng.random((10, 3, 5, 5))
    x = np.empty((total, 32, 32, 3), dtype=np.uint8)
    for start in range(0, total, BLOCK):
        chosen = labels[start : start + BLOCK]
        coarse = 0.45 * centres[chosen] + 0.55 * rng.random((len(chosen), 3, 5, 5))
        x[start : start + BLOCK] = np.rint(255 * _smooth(coarse, 32)).astype(np.uint8).transpose(0, 2, 3, 1)
    y = labels.astype(np.uint8)
    return {"x_train": x[:rows], "y_train": y[:rows], "x_test": x[rows:], "y_test": y[rows:]}


def pca_like(rows: Count = 5_000, test_rows: Count = 1_000, seed: int = 0) -> dict[str, Array]:
    """Return the arrays of cifar10-pca100: coordinates whose variance falls as 1/k, ten classes."""
    rng = open_stream(seed)
    total = rows + test_rows
    scale = 8.0 / (1 + np.arange(100))
    labels = rng.integers(0, 10, size=total)
    centres = 0.5 * rng.standard_normal((10, 100))
    x = ((centres[labels] + rng.standard_normal((total, 100))) * np.sqrt(scale)).astype(np.float16)
    components = np.zeros((100, 3072), dtype=np.float16)
    components[np.arange(100), rng.permutation(3072)[:100]] = 1  # rows of length 1, at right angles
    y = labels.astype(np.uint8)
    return {
        "x_train": x[:rows],
        "y_train": y[:rows],
        "x_test": x[rows:],
        "y_test": y[rows:],
        "pca_mean": np.full(3072, 0.5, dtype=np.float16),
        "pca_components": components,
        "explained": (0.906 * scale / np.cumsum(scale)[-1]).astype(np.float32),
    }
