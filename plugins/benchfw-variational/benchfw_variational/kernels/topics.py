"""Log-sum-exp terms of topic models, for many documents and many samples of their topic strengths at once.

p(word n | z) = Σ_k β_nk π_k with π = softmax(z). Documents are ragged; a call takes some of similar length,
filled up to one length with any words of count 0:

    samples (D, S, K)   z, for each of D documents S samples
    rows    (D, N, K)   the rows of β that belong to a document's words, all positive
    counts  (D, N)      how often each word occurs

One body each: nearly all work is in batched products, which BLAS and cuBLAS do. Blei & Lafferty 2007.
"""

from __future__ import annotations

from typing import Any

from benchfw.kernels import kernel, namespace


def _products(samples: Any, rows: Any, counts: Any, passes: float) -> tuple[float, float]:
    """Return the operations of `passes` products of weights with rows, and the bytes of the arguments."""
    flops = 2.0 * passes * samples.shape[1] * rows.size
    return flops, float(samples.nbytes + rows.nbytes + counts.nbytes)


def _once(samples: Any, rows: Any, counts: Any) -> tuple[float, float]:
    return _products(samples, rows, counts, 1.0)


def _twice(samples: Any, rows: Any, counts: Any) -> tuple[float, float]:
    return _products(samples, rows, counts, 2.0)


def _derivative_counts(samples: Any, rows: Any, counts: Any, words: bool = True) -> tuple[float, float]:
    return _products(samples, rows, counts, 2.0 + rows.shape[2] * words)


@kernel("topic-log-likelihood", counts=_once)
def topic_log_likelihood(samples: Any, rows: Any, counts: Any) -> Any:
    """Return Σ_n y_n log p(word n | z) of each document and sample, (D, S)."""
    xp = namespace(samples)
    return xp.sum(counts[:, None, :] * xp.log(_chances(xp, samples, rows)), axis=2)


@kernel("topic-derivatives", counts=_derivative_counts)
def topic_derivatives(samples: Any, rows: Any, counts: Any, words: bool = True) -> tuple[Any, Any]:
    """Return g = E[Σ y_n φ_n - Wπ], (D, K), and G = E[W(diag π - ππ') - Σ y_n(diag φ_n - φ_nφ_n')].

    They are the gradient and minus the Hessian, (D, K, K), of E log p(y | z), the mean over the samples, with
    W = Σ y_n and φ_n ∝ β_n∘e^z. Without `words` G has no part with φ, and no negative eigenvalues.
    """
    xp = namespace(samples)
    weights, proportions = _weights(xp, samples)
    size, topics = samples.shape[1], samples.shape[2]
    chances = weights @ xp.matrix_transpose(rows)
    ratios = counts[:, None, :] / chances
    assigned = xp.mean(weights * (ratios @ rows), axis=1)  # E Σ y_n φ_n
    tokens = xp.sum(counts, axis=1)[:, None]
    mean = tokens * xp.mean(proportions, axis=1)
    products = xp.matrix_transpose(proportions) @ proportions * (tokens[:, :, None] / size)
    if words:
        pairs = xp.reshape(rows[:, :, :, None] * rows[:, :, None, :], (*counts.shape, topics**2))
        squares = xp.reshape((ratios / chances) @ pairs, (*samples.shape, topics))
        products -= xp.mean(weights[:, :, :, None] * weights[:, :, None, :] * squares, axis=1)
    diagonal = mean - assigned if words else mean
    return assigned - mean, diagonal[:, :, None] * xp.eye(topics, dtype=samples.dtype) - products


@kernel("topic-counts", counts=_twice)
def topic_counts(samples: Any, rows: Any, counts: Any) -> Any:
    """Return y_n E[φ_n], how many of each word's occurrences belong to each topic: (D, N, K)."""
    xp = namespace(samples)
    weights, _ = _weights(xp, samples)
    shares = xp.matrix_transpose(1.0 / (weights @ xp.matrix_transpose(rows))) @ weights
    return rows * shares * (counts / max(samples.shape[1], 1))[:, :, None]


@kernel("topic-predictive", counts=_once)
def topic_predictive(samples: Any, rows: Any, counts: Any) -> tuple[Any, Any]:
    """Return Σ_n y_n log E p(word n | z) and Σ_n log E p(word n | z)^y_n of each document, (D,) each.

    The expectations are means over the samples. The first scores tokens one by one, the second all
    occurrences of a word together.
    """
    xp = namespace(samples)
    _, proportions = _weights(xp, samples)
    chances = rows @ xp.matrix_transpose(proportions)  # (D, N, S)
    apart = counts * xp.log(xp.mean(chances, axis=2))
    together = xp.asarray(apart, copy=True)
    repeated = counts > 1  # few, and powers are slow
    some, times = chances[repeated], counts[repeated]
    # scaled by the largest of the samples, a high power of a small number does not vanish
    largest = xp.max(some, axis=1)
    powers = xp.mean((some / largest[:, None]) ** times[:, None], axis=1)
    together[repeated] = times * xp.log(largest) + xp.log(powers)
    return xp.sum(apart, axis=1), xp.sum(together, axis=1)


def _weights(xp: Any, samples: Any) -> tuple[Any, Any]:
    """Return e^z up to a factor a sample, the largest being 1, and π: (D, S, K) each."""
    weights = xp.exp(samples - xp.max(samples, axis=2, keepdims=True))
    return weights, weights / xp.sum(weights, axis=2, keepdims=True)


def _chances(xp: Any, samples: Any, rows: Any) -> Any:
    """Return p(word n | z), (D, S, N)."""
    return _weights(xp, samples)[1] @ xp.matrix_transpose(rows)


def sample_topics(backend: Any, rng: Any, size: int) -> tuple[Any, ...]:
    """Return 8 samples for each of 4 documents of 8 topics, with rows of `size` entries or a few more."""
    words = -(-size // 32)
    counts = backend.asarray(rng.integers(0, 4, size=(4, words)), dtype=backend.xp.float64)
    return rng.standard_normal((4, 8, 8)), 0.1 + rng.random((4, words, 8)), counts


sample_topic_log_likelihood = sample_topic_derivatives = sample_topics
sample_topic_counts = sample_topic_predictive = sample_topics
