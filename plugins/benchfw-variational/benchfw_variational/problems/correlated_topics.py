"""Correlated topics of a collection of documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from benchfw import Backend, BenchfwError, Count, CountedProblem, DatasetName, Range, Rng
from benchfw.data import load, split, split_documents
from benchfw_variational.kernels.topics import topic_log_likelihood, topic_predictive
from benchfw_variational.topic_oracles import Block, Gaussians, Rows, TopicAnswer, Topics
from benchfw_variational.topics.documents import Documents, compressed_rows
from benchfw_variational.topics.gaussians import divergence, prior, samples
from benchfw_variational.topics.learning import PSEUDO_COUNT

SAMPLES = 500  # of q, for each test document
SCORED = 16  # documents at once: 500 samples of more do not fit into the cache
SEED = 20  # of what metrics draw: the same for all methods and answers
SEEDED = 0.7  # of a topic at the start is one document, the rest the frequencies of all


class CorrelatedTopics(CountedProblem):
    """Correlated topics (Blei & Lafferty 2007): z ~ N(μ, Σ), p(word n | z) = Σ_k β_nk softmax(z)_k.

    Metrics, by 500 samples of q given the first half of each test document: `heldout_nll`, -log E p(token|z)
    a token of the second halves; `heldout_eq20`, the same with all occurrences of a word in one expectation
    (Khan et al. 2016, eq. 20; it rewards a wide q); `negative_bound`, a token of the first halves.

    Parameters:
      dataset: word counts; half of the documents train.
      topics: how many.
      parameters: "learned": θ = (β, μ, Σ) is to be found, from μ = 0, Σ = I and a random document for
        each topic. "fixed" compares inference alone: θ is the one stored beside ap and nips, and the
        documents are the first halves of the test documents.
      documents: keeps the first so many of the training documents and of the test documents.
    """

    check_with = ({"dataset": "ap-like(documents=16, words=30, tokens=40, topics=3)", "topics": 3},)

    cost_unit = "documents"

    def __init__(
        self,
        backend: Backend,
        rng: Rng,
        *,
        dataset: DatasetName = "ap",
        topics: Annotated[int, Range(least=2)] = 10,
        parameters: Literal["fixed", "learned"] = "learned",
        documents: Count | None = None,
    ) -> None:
        self.backend = backend
        self.learned = parameters == "learned"
        arrays = _counts(dataset)
        self.num_words = int(arrays["shape"][1])
        seed = rng.integers(1 << 63)
        parts = split(dataset, seed, arrays=arrays)
        whole, first = (each.astype(np.int64) for each in (arrays["data"], split_documents(arrays, seed)))

        def part(counts: NDArray[Any], rows: Rows) -> Documents:
            return compressed_rows(backend, arrays["indices"], counts, arrays["indptr"], rows[:documents])

        self._training = part(whole, parts.train)
        self._first, self._second = part(first, parts.test), part(whole - first, parts.test)
        self._documents = self._training if self.learned else self._first
        self.num_documents = len(self._documents)
        self.num_cells = self._documents.num_cells
        self.num_tokens = self._documents.num_tokens
        self._start = self._seeded(rng, topics) if self.learned else self._stored(dataset, topics)

    def start(self) -> Topics:
        """Return θ to begin with, or the stored one."""
        return self._start

    def read(self, rows: Rows) -> Iterator[tuple[Rows, Block]]:
        """Yield these documents in blocks of similar length, with their numbers; costs 1 a document."""
        self._count(len(rows))
        return self._documents.blocks(rows)

    def metrics(self, answer: TopicAnswer) -> Mapping[str, float]:
        """Return heldout_nll, heldout_eq20 and negative_bound, a token each."""
        topics, rng = answer.topics, self.backend.rng(SEED)
        found = self._inferred(answer, rng) if self.learned else answer.posteriors()
        bound = apart = together = 0.0
        for number, (rows, first) in enumerate(self._first.blocks(largest=SCORED)):
            each = Gaussians(found.mean[rows], found.covariance[rows])
            normals = rng.at(1, number).standard_normal((len(rows), SAMPLES, len(topics.mean)))
            drawn = samples(self.backend, each, normals)
            expected = topic_log_likelihood(drawn, topics.words[first.words], first.counts).mean(axis=1)
            bound += float((expected - divergence(each, topics)).sum())
            second = self._second.block(rows)
            scores = topic_predictive(drawn, topics.words[second.words], second.counts)
            apart, together = apart + float(scores[0].sum()), together + float(scores[1].sum())
        return {
            "heldout_nll": -apart / self._second.num_tokens,
            "heldout_eq20": -together / self._second.num_tokens,
            "negative_bound": -bound / self._first.num_tokens,
        }

    def _inferred(self, answer: TopicAnswer, rng: Rng) -> Gaussians:
        """Return q of the test documents from their first halves."""
        found = prior(answer.topics, len(self._first))
        for rows, block in self._first.blocks():
            found.mean[rows], found.covariance[rows] = answer.inference.infer(block, answer.topics, rng)
        return found

    @property
    def _frequencies(self) -> Any:
        counts = self._training.word_counts(self.num_words) + PSEUDO_COUNT
        return counts / counts.sum()

    def _seeded(self, rng: Rng, topics: int) -> Topics:
        """Return μ = 0, Σ = I, and β of random documents mixed with the frequencies of all words."""
        xp = self.backend.xp
        documents = self._training.not_empty
        if len(documents) < topics:
            raise BenchfwError(
                f"{len(documents)} training documents with words are too few for {topics} topics; take more"
            )
        chosen = self.backend.to_numpy(rng.choice(len(documents), size=topics, replace=False))
        seeds = self._training.block(documents[chosen])
        counts = xp.zeros((self.num_words, topics))
        xp.add.at(counts, (seeds.words, xp.arange(topics)[:, None]), seeds.counts)
        words = SEEDED * counts / counts.sum(axis=0) + (1 - SEEDED) * self._frequencies[:, None]
        return Topics(self.backend, words, xp.zeros(topics), xp.eye(topics))

    def _stored(self, dataset: str, topics: int) -> Topics:
        """Return the θ that is stored beside a data set, or made beside its synthetic twin."""
        plain = dataset.partition("(")[0].strip()
        name = f"{plain.removesuffix('-like')}-theta-k10"
        if plain.endswith("-like"):
            name = f"{name}-like(words={self.num_words}, topics={topics})"
        arrays = load(name)
        words = self.backend.asarray(arrays["beta"].astype(np.float64))
        if words.shape != (self.num_words, topics):
            raise BenchfwError(
                f"'{name}' holds {words.shape[1]} topics of {words.shape[0]:,} words, and {topics} of "
                f'{self.num_words:,} are asked for; take those, or parameters = "learned"'
            )
        mean, covariance = (self.backend.asarray(arrays[each]) for each in ("mu", "Sigma"))
        return Topics(self.backend, words / words.sum(axis=0), mean, covariance)


def _counts(name: str) -> dict[str, NDArray[Any]]:
    """Return the arrays of a data set of word counts."""
    arrays = load(name)
    missing = {"data", "indices", "indptr", "shape"} - arrays.keys()
    if missing:
        raise BenchfwError(
            f"data set '{name}' holds no word counts: it lacks {', '.join(sorted(missing))}; take ap or nips"
        )
    return arrays
