"""Word counts with topics."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import numpy as np

from benchfw import Count, Range
from benchfw_datasets.synthetic.draws import Array, draw_split, open_stream, popularity_weights

Words: TypeAlias = Annotated[int, Range(least=1, most=1 << 16)]


def counts_like(
    documents: Annotated[int, Range(least=2)] = 2246,
    words: Words = 10_473,
    tokens: Count = 194,
    topics: Count = 10,
    seed: int = 0,
) -> dict[str, Array]:
    """Return CSR counts data, indices, indptr, shape, with vocab, half1, train_idx, test_idx.

    Each topic ranks the words in an order of its own, with weights 1/(rank + 3); a document has about
    `tokens` words of a few topics.
    """
    rng = open_stream(seed, 1)
    lengths = np.maximum(1, np.rint(tokens * (0.4 + 1.2 * rng.random(documents))).astype(np.int64))
    share = np.square(np.square(rng.standard_normal((documents, topics))))  # a few topics take most
    cumulative = np.cumsum(share, axis=1)
    cumulative /= cumulative[:, -1:]
    owner = np.repeat(np.arange(documents), lengths)
    topic = (cumulative[owner] < rng.random(len(owner))[:, None]).sum(axis=1).clip(0, topics - 1)
    word = _ranks(words, topics, seed)[topic, rng.choice(words, len(owner), p=popularity_weights(words, 3.0))]
    cells, place, counts = np.unique(owner * words + word, return_inverse=True, return_counts=True)
    order = np.lexsort((rng.bits(len(owner)), owner))
    rank = np.arange(len(owner)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    first = order[rank < np.repeat(lengths // 2, lengths)]
    half = np.bincount(place.reshape(-1)[first], minlength=len(cells))
    ends = np.cumsum(np.bincount(cells // words, minlength=documents))
    return {
        "data": counts.clip(0, 255).astype(np.uint8),
        "indices": (cells % words).astype(np.uint16),
        "indptr": np.concatenate([[0], ends]).astype(np.int32),
        "shape": np.array([documents, words], dtype=np.int32),
        "half1": half.clip(0, 255).astype(np.uint8),
        "vocab": np.array([f"word{number:05d}" for number in range(words)]),
        **draw_split(rng, documents, max(1, documents // 2)),
    }


def topics_like(words: Words = 10_473, topics: Count = 10, seed: int = 0) -> dict[str, Array]:
    """Return beta (words, topics) float32, mu and Sigma of the topics that counts_like draws from."""
    beta = np.empty((words, topics), dtype=np.float32)
    weights = popularity_weights(words, 3.0)
    for topic, order in enumerate(_ranks(words, topics, seed)):
        beta[order, topic] = weights
    return {"beta": beta, "mu": np.zeros(topics), "Sigma": 2.0 * np.eye(topics)}


def _ranks(words: int, topics: int, seed: int) -> Array:
    """Return the word at each rank of each topic, (topics, words); the most frequent ones are shared."""
    rng = open_stream(seed)
    common = rng.permutation(words)
    ranks = np.empty((topics, words), dtype=np.int64)
    shared = words // 50
    for topic in range(topics):
        ranks[topic] = np.concatenate([common[:shared], rng.permutation(common[shared:])])
    return ranks
