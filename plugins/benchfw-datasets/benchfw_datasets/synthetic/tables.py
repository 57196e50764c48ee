"""Tables with classes or numbers to predict."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, TypeAlias

import numpy as np

from benchfw import Count, NonNegative, Range
from benchfw.backends import Rng
from benchfw_datasets.synthetic.draws import (
    Array,
    draw_correlated,
    draw_split,
    open_stream,
    squash,
    weighted_sum,
)

BLOCK = 1000
UNITS = 40
QUESTIONS = (5, 8, 5, 16, 5, 7, 14, 6, 5, 2, 2, 2, 5, 41)
"""How many answers each question of Adult has as LIBSVM codes it: 123 in all."""

Classes: TypeAlias = Annotated[int, Range(least=2, below=1 << 16)] | Literal[0]
"""How many classes there are; 0 for numbers in their place."""


def two_classes(
    rows: Count = 208,
    features: Count = 60,
    train: Count = 165,
    low: float = 0.0,
    high: float = 1.0,
    seed: int = 0,
) -> dict[str, Array]:
    """Return X in (low, high), y of ±1, train_idx, test_idx: neighbour columns alike, classes overlap."""
    rng = open_stream(seed)
    labels = rng.rademacher(rows)
    shift = draw_correlated(rng, 1, features)[0] * 0.35
    values = draw_correlated(rng, rows, features) + labels[:, None] * shift
    return {
        "X": squash(values, low, high),
        "y": labels.astype(np.int8),
        **draw_split(rng, rows, train),
    }


def usps_like(rows: Count = 1540, train: Count = 767, seed: int = 0) -> dict[str, Array]:
    """Return two_classes of 256 float32 columns in (-1, 1), and `digits`."""
    arrays = two_classes(rows, 256, train, -1.0, 1.0, seed)
    return {**arrays, "X": arrays["X"].astype(np.float32), "digits": np.array([3, 5], dtype=np.int8)}


def counts_like(
    rows: Count = 600, features: Count = 10, train: Count = 400, seed: int = 0
) -> dict[str, Array]:
    """Return X, y = 0, 1, 2, … of a mean that grows with a sum of the columns, train_idx, test_idx."""
    rng = open_stream(seed)
    X = draw_correlated(rng, rows, features) / 4
    rates = squash(weighted_sum(X, rng.standard_normal(features)), 0.0, 6.0)
    # 60 rare events: nearly Poisson, and without a library function whose last bit may differ
    counts = (rng.random((rows, 60)) < rates[:, None] / 60).sum(axis=1)
    return {"X": X, "y": counts.astype(np.int64), **draw_split(rng, rows, train)}


def adult_like(rows: Count = 32_561, test_rows: Count = 16_281, seed: int = 0) -> dict[str, Array]:
    """Return bit-packed answers to fourteen questions, 123 features, and labels of ±1, one in four +1."""
    rng = open_stream(seed)
    total = rows + test_rows
    bits = np.zeros((total, sum(QUESTIONS)), dtype=np.uint8)
    score = 1.2 * rng.standard_normal(total) - 1.4
    first = 0
    for answers in QUESTIONS:
        # a square favours the first answers, as most people are alike
        chosen = np.floor(answers * np.square(rng.random(total))).astype(np.int64)
        bits[np.arange(total), first + chosen] = 1
        score += 0.4 * rng.standard_normal(answers)[chosen]
        first += answers
    labels = np.where(score > 0, 1, -1).astype(np.int8)
    packed = np.packbits(bits, axis=1)
    return {
        "x_train_bits": packed[:rows],
        "y_train": labels[:rows],
        "x_test_bits": packed[rows:],
        "y_test": labels[rows:],
        "n_features": np.array(bits.shape[1], dtype=np.int64),
    }


def covtype_like(rows: Count = 20_000, seed: int = 0) -> dict[str, Array]:
    """Return x (rows, 54) int16: ten numbers, one of four and one of forty indicators; y in 1 … 7."""
    rng = open_stream(seed)
    numbers = draw_correlated(rng, rows, 10, 0.5)
    score = numbers[:, 0] + 0.5 * numbers[:, 1] * numbers[:, 2] + 0.4 * rng.standard_normal(rows)
    x = np.zeros((rows, 54), dtype=np.int16)
    x[:, :10] = np.rint(squash(numbers, 0, 4000))
    every = np.arange(rows)
    x[every, 10 + np.floor(4 * squash(numbers[:, 3], 0, 1)).astype(int)] = 1
    x[every, 14 + np.floor(40 * squash(numbers[:, 4] + numbers[:, 0], 0, 1)).astype(int)] = 1
    return {"x": x, "y": (1 + np.floor(7 * squash(score, 0, 1))).astype(np.uint8)}


def epsilon_like(
    rows: Count = 10_000, test_rows: Count = 2_500, features: Count = 2000, seed: int = 0
) -> dict[str, Array]:
    """Return x_train, y_train, x_test, y_test: float32 rows of length 1, two classes."""
    pieces = [_epsilon_block(number, features, seed) for number in range(-(-(rows + test_rows) // BLOCK))]
    x, y = (np.concatenate([piece[key] for piece in pieces])[: rows + test_rows] for key in ("x", "y"))
    return {"x_train": x[:rows], "y_train": y[:rows], "x_test": x[rows:], "y_test": y[rows:]}


def epsilon_stream(
    rows: Count = 400_000,
    test_rows: Annotated[int, Range(least=0)] = 0,
    features: Count = 2000,
    seed: int = 0,
) -> Iterator[dict[str, Array]]:
    """Yield pieces x, y of the training and then the test rows of epsilon_like."""
    total = rows + test_rows
    for start in range(0, total, BLOCK):
        piece = _epsilon_block(start // BLOCK, features, seed)
        yield {key: values[: total - start] for key, values in piece.items()}


def _epsilon_block(number: int, features: int, seed: int) -> dict[str, Array]:
    direction = open_stream(seed).standard_normal(features)
    x = open_stream(seed, 1 + number).standard_normal((BLOCK, features))
    noise = open_stream(seed, (1 << 32) + number).standard_normal(BLOCK)
    score = weighted_sum(x, direction) / np.sqrt(float(features)) + 0.5 * noise
    lengths = np.sqrt(weighted_sum(x * x, np.ones(features)))
    return {"x": (x / lengths[:, None]).astype(np.float32), "y": np.where(score > 0, 1, -1).astype(np.int8)}


def regression_like(
    rows: Count = 20_000, features: Count = 9, noise: NonNegative = 0.3, seed: int = 0
) -> dict[str, Array]:
    """Return x, y float32 and ten packed 90/10 splits: a smooth function of a few columns with noise."""
    rng = open_stream(seed)
    x = draw_correlated(rng, rows, features, 0.3)
    weights = rng.standard_normal(features)
    inner = squash(weighted_sum(x, weights) / np.sqrt(float(features)), -1, 1)
    y = inner + 0.5 * x[:, 0] * x[:, -1] + noise * rng.standard_normal(rows)
    mask = np.zeros((rows, 10), dtype=bool)
    for number in range(10):
        mask[rng.permutation(rows)[: (rows + 5) // 10], number] = True
    return {
        "x": x.astype(np.float32),
        "y": (y - np.cumsum(y)[-1] / rows).astype(np.float32),
        "test_mask": np.packbits(mask, axis=0),
    }


def year_like(rows: Count = 20_000, seed: int = 0) -> dict[str, Array]:
    """Return x (rows, 90) float32 and years y int16, 1922 to 2011, most of them late."""
    rng = open_stream(seed)
    x = draw_correlated(rng, rows, 90, 0.4)
    score = weighted_sum(x, rng.standard_normal(90)) / np.sqrt(90.0)
    late = np.abs(score + rng.standard_normal(rows))
    return {"x": x.astype(np.float32), "y": np.clip(np.rint(2009 - 9 * late), 1922, 2011).astype(np.int16)}


def stream_like(
    rows: Count = 10_000, features: Count = 20, classes: Classes = 10, seed: int = 0
) -> dict[str, Array]:
    """Return x (rows, features) float32 and y: class numbers or, for classes = 0, numbers."""
    pieces = list(stream_rows(rows, features, classes, seed))
    return {key: np.concatenate([piece[key] for piece in pieces]) for key in ("x", "y")}


def stream_rows(
    rows: Count = 8_000_000, features: Count = 20, classes: Classes = 10, seed: int = 0
) -> Iterator[dict[str, Array]]:
    """Yield pieces x (…, features) float32 and y of normal rows; row i depends on the seed and i alone.

    Behind y stands a layer of bent units: y is the number of the largest of its noisy outputs, uint16, or
    for classes = 0 its one noisy output, float32.
    """
    for start in range(0, rows, BLOCK):
        weights = open_stream(seed)
        number = start // BLOCK
        x = open_stream(seed, 1 + number).standard_normal((BLOCK, features), np.float32)
        noise = open_stream(seed, (1 << 32) + number).standard_normal((BLOCK, max(classes, 1)))
        units = np.abs(_layer(x, UNITS, weights)) - 0.8  # of mean 0: no class is favoured
        outputs = _layer(units, max(classes, 1), weights) + 0.2 * noise
        y = outputs.argmax(axis=1).astype(np.uint16) if classes else outputs[:, 0].astype(np.float32)
        yield {"x": x[: rows - start], "y": y[: rows - start]}


def _layer(values: Array, outputs: int, rng: Rng, inputs: int = 4) -> Array:
    """Return (n, outputs), each the sum of a few columns of values, (n, k), with random signs."""
    total = np.zeros((len(values), outputs))
    for _ in range(inputs):
        total += values[:, rng.integers(0, values.shape[1], size=outputs)] * rng.rademacher(outputs)
    return np.asarray(total / np.sqrt(float(inputs)))
