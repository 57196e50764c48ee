"""The multi-class logistic loss and its derivative in the scores."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from benchfw.kernels import kernel, namespace, over_pieces

CLASSES = 10  # of the samples
AT_A_TIME = 1 << 14  # scores, which stay in the cache
NANOSECONDS = 15.0  # that a score takes


def _loss_counts(scores: Any, labels: Any) -> tuple[float, float]:
    return 20.0 * scores.size, float(scores.nbytes + labels.nbytes + scores.shape[0] * scores.dtype.itemsize)


def _derivative_counts(scores: Any, labels: Any) -> tuple[float, float]:
    return 20.0 * scores.size, float(2 * scores.nbytes + labels.nbytes)


@kernel("softmax-loss", counts=_loss_counts)
def softmax_loss(scores: Any, labels: Any) -> Any:
    """Return log Σ_c exp(f_c - f_y) of each row, (n,), for scores f (n, C) and class numbers y (n,), 0 … C-1.

    Small losses keep their relative precision, and large scores do not overflow.
    """
    xp = namespace(scores, labels)
    chosen, nothing = _one_hot(xp, scores, labels), xp.zeros_like(scores)
    relative = scores - xp.sum(xp.where(chosen, scores, nothing), axis=1, keepdims=True)
    top = xp.max(relative, axis=1, keepdims=True)
    others = xp.sum(xp.where(chosen, nothing, xp.exp(relative - top)), axis=1)
    # the label's own term is e^-top = 1 + expm1(-top)
    return top[:, 0] + xp.log1p(others + xp.expm1(-top[:, 0]))


@softmax_loss.on("numpy")
def _softmax_loss_numpy(scores: Any, labels: Any) -> Any:
    scores = np.ascontiguousarray(scores)  # sums of a row are then the same among any others
    losses = np.empty(scores.shape[0], dtype=scores.dtype)

    def write(rows: slice) -> None:
        some = scores[rows]
        chosen = np.arange(some.shape[0]), labels[rows]
        relative = some - some[chosen][:, None]
        top = relative.max(axis=1)
        relative -= top[:, None]
        np.exp(relative, out=relative)
        relative[chosen] = 0.0
        losses[rows] = top + np.log1p(relative.sum(axis=1) + np.expm1(-top))

    _over_rows(write, scores, labels)
    return losses


@softmax_loss.on("cupy")
def _softmax_loss_cupy(scores: Any, labels: Any) -> Any:
    import cupy

    losses = cupy.empty(scores.shape[0], dtype=scores.dtype)
    return _fused_loss()(cupy.ascontiguousarray(scores), labels, scores.shape[1], losses)


@kernel("softmax-derivative", counts=_derivative_counts)
def softmax_derivative(scores: Any, labels: Any) -> Any:
    """Return the derivative of `softmax_loss` in the scores, softmax(f) - e_y: (n, C); y is 0 … C-1."""
    xp = namespace(scores, labels)
    powers = xp.exp(scores - xp.max(scores, axis=1, keepdims=True))
    shares = powers / xp.sum(powers, axis=1, keepdims=True)
    return shares - xp.astype(_one_hot(xp, scores, labels), scores.dtype)


@softmax_derivative.on("numpy")
def _softmax_derivative_numpy(scores: Any, labels: Any) -> Any:
    scores = np.ascontiguousarray(scores)
    derivative = np.empty_like(scores)

    def write(rows: slice) -> None:
        some, shares = scores[rows], derivative[rows]
        np.subtract(some, some.max(axis=1, keepdims=True), out=shares)
        np.exp(shares, out=shares)
        shares /= shares.sum(axis=1, keepdims=True)
        shares[np.arange(some.shape[0]), labels[rows]] -= 1.0

    _over_rows(write, scores, labels)
    return derivative


def _over_rows(write: Callable[[slice], object], scores: Any, labels: Any) -> None:
    if scores.shape[:1] != labels.shape:
        raise ValueError(f"there are {scores.shape[0]} rows of scores, and labels of shape {labels.shape}")
    classes = max(scores.shape[1], 1)
    over_pieces(write, scores.shape[0], max(1, AT_A_TIME // classes), classes, NANOSECONDS)


@softmax_derivative.on("cupy")
def _softmax_derivative_cupy(scores: Any, labels: Any) -> Any:
    import cupy

    derivative = cupy.empty(scores.shape, dtype=scores.dtype)
    _fused_derivative()(cupy.ascontiguousarray(scores), labels, scores.shape[1], derivative, size=len(labels))
    return derivative


def _one_hot(xp: Any, scores: Any, labels: Any) -> Any:
    return labels[:, None] == xp.arange(scores.shape[1], dtype=labels.dtype)


@cache
def _fused_loss() -> Any:
    import cupy

    # a thread a row
    return cupy.ElementwiseKernel(
        "raw T scores, I label, int64 classes",
        "T loss",
        """
        const T chosen = scores[i * classes + label];
        T top = 0;
        for (long long c = 0; c < classes; ++c) top = max(top, scores[i * classes + c] - chosen);
        T others = 0;
        for (long long c = 0; c < classes; ++c)
            if (c != label) others += exp(scores[i * classes + c] - chosen - top);
        loss = top + log1p(others + expm1(-top));
        """,
        "benchfw_softmax_loss",
    )


@cache
def _fused_derivative() -> Any:
    import cupy

    # a thread a row
    return cupy.ElementwiseKernel(
        "raw T scores, raw I labels, int64 classes",
        "raw T derivative",
        """
        const T* row = &scores[i * classes];
        T* out = &derivative[i * classes];
        T top = row[0], total = 0;
        for (long long c = 1; c < classes; ++c) top = max(top, row[c]);
        for (long long c = 0; c < classes; ++c) total += out[c] = exp(row[c] - top);
        for (long long c = 0; c < classes; ++c) out[c] = out[c] / total - (c == labels[i] ? (T)1 : (T)0);
        """,
        "benchfw_softmax_derivative",
    )


def _sample(backend: Any, rng: Any, size: int) -> tuple[Any, ...]:
    """Return scores of 10 classes, about `size` numbers, and class numbers."""
    del backend
    rows = -(-size // CLASSES)
    return 3.0 * rng.standard_normal((rows, CLASSES)), rng.integers(0, CLASSES, rows)


sample_softmax_loss = sample_softmax_derivative = _sample
