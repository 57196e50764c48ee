"""Log-sum-exp terms of topic models: against sums word by word, differences, and extreme samples."""

from __future__ import annotations

import numpy as np
import pytest

from benchfw_variational.kernels.topics import (
    topic_counts,
    topic_derivatives,
    topic_log_likelihood,
    topic_predictive,
)

KERNELS = pytest.mark.parametrize(
    "kernel",
    [topic_log_likelihood, topic_derivatives, topic_counts, topic_predictive],
    ids=lambda each: each.name,
)
DOCUMENTS, SAMPLES, WORDS, TOPICS = 3, 6, 11, 4


def arguments(seed=3):
    """Documents of different lengths: the last words of some have the count 0."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 5, (DOCUMENTS, WORDS)) * (np.arange(WORDS) < np.array([[WORDS], [4], [7]]))
    samples = 2 * rng.standard_normal((DOCUMENTS, SAMPLES, TOPICS))
    return samples, rng.random((DOCUMENTS, WORDS, TOPICS)) + 1e-3, counts.astype(float)


def word_by_word(sample, rows, counts):
    """Return log p(y|z), its gradient and minus its Hessian, of one document at one z, as defined."""
    proportions = np.exp(sample) / np.exp(sample).sum()
    value, gradient = 0.0, -counts.sum() * proportions
    curvature = counts.sum() * (np.diag(proportions) - np.outer(proportions, proportions))
    for row, count in zip(rows, counts, strict=True):
        value += count * np.log(row @ proportions)
        shares = row * np.exp(sample) / (row @ np.exp(sample))
        gradient = gradient + count * shares
        curvature = curvature - count * (np.diag(shares) - np.outer(shares, shares))
    return value, gradient, curvature


def as_tuple(result):
    return result if isinstance(result, tuple) else (result,)


def test_all_terms_are_those_of_the_definitions():
    samples, rows, counts = arguments()
    values = topic_log_likelihood(samples, rows, counts)
    gradients, curvatures = topic_derivatives(samples, rows, counts)
    for document in range(DOCUMENTS):
        terms = [word_by_word(sample, rows[document], counts[document]) for sample in samples[document]]
        np.testing.assert_allclose(values[document], [each[0] for each in terms], rtol=1e-13)
        np.testing.assert_allclose(
            gradients[document], np.mean([each[1] for each in terms], axis=0), atol=1e-12
        )
        np.testing.assert_allclose(
            curvatures[document], np.mean([each[2] for each in terms], axis=0), atol=1e-12
        )


def test_gradient_and_curvature_are_differences_of_the_expected_log_likelihood_with_the_same_normals():
    samples, rows, counts = arguments()
    gradient, curvature = topic_derivatives(samples, rows, counts)
    width = 1e-5  # central differences err by its square plus rounding over it
    for topic, unit in enumerate(np.eye(TOPICS)):
        values, slopes = zip(
            *(
                (
                    topic_log_likelihood(moved, rows, counts).mean(axis=1),
                    topic_derivatives(moved, rows, counts)[0],
                )
                for moved in (samples + width * unit, samples - width * unit)
            ),
            strict=True,
        )
        np.testing.assert_allclose((values[0] - values[1]) / (2 * width), gradient[:, topic], atol=1e-7)
        np.testing.assert_allclose((slopes[1] - slopes[0]) / (2 * width), curvature[:, topic], atol=1e-7)


def test_curvature_without_words_is_that_of_the_normalizer_alone_and_never_negative():
    samples, rows, counts = arguments()
    gradient, curvature = topic_derivatives(samples, rows, counts, words=False)
    np.testing.assert_array_equal(gradient, topic_derivatives(samples, rows, counts)[0])
    proportions = np.exp(samples) / np.exp(samples).sum(axis=2, keepdims=True)
    products = np.einsum("dsi,dsj->dij", proportions, proportions) / SAMPLES
    expected = proportions.mean(axis=1)[:, :, None] * np.eye(TOPICS) - products
    np.testing.assert_allclose(curvature, counts.sum(axis=1)[:, None, None] * expected, atol=1e-12)
    assert np.linalg.eigvalsh(curvature).min() > -1e-13
    assert np.linalg.eigvalsh(topic_derivatives(samples, rows, counts)[1]).min() < -0.1


@KERNELS
def test_words_of_count_zero_change_nothing(kernel):
    samples, rows, counts = arguments()
    short = 4  # the length of document 1
    part = as_tuple(kernel(samples[1:2], rows[1:2, :short], counts[1:2, :short]))
    for whole, alone in zip(as_tuple(kernel(samples, rows, counts)), part, strict=True):
        kept = whole[1:2, :short] if kernel is topic_counts else whole[1:2]
        np.testing.assert_allclose(alone, kept, rtol=1e-12, atol=1e-13)


def test_expected_counts_add_up_to_the_counts_and_to_the_gradient():
    samples, rows, counts = arguments()
    assigned = topic_counts(samples, rows, counts)
    np.testing.assert_allclose(assigned.sum(axis=2), counts, atol=1e-12)
    proportions = np.exp(samples) / np.exp(samples).sum(axis=2, keepdims=True)
    expected = counts.sum(axis=1)[:, None] * proportions.mean(axis=1)
    gradient, _ = topic_derivatives(samples, rows, counts)
    np.testing.assert_allclose(assigned.sum(axis=1) - expected, gradient, atol=1e-12)


def test_predictive_scores_are_means_over_samples_of_chances_and_of_their_powers():
    samples, rows, counts = arguments()
    proportions = np.exp(samples) / np.exp(samples).sum(axis=2, keepdims=True)
    chances = np.einsum("dsk,dnk->dsn", proportions, rows)
    apart, together = topic_predictive(samples, rows, counts)
    np.testing.assert_allclose(apart, (counts * np.log(chances.mean(axis=1))).sum(axis=1), rtol=1e-13)
    powers = chances ** counts[:, None, :]
    np.testing.assert_allclose(together, np.log(powers.mean(axis=1)).sum(axis=1), rtol=1e-13)
    assert np.all(together >= apart)  # Jensen: the power is convex


def test_high_powers_of_small_chances_do_not_vanish():
    samples, rows = np.zeros((1, 5, 2)), np.full((1, 1, 2), 1e-8)
    _, together = topic_predictive(samples, rows, np.array([[200.0]]))
    np.testing.assert_allclose(together, 200 * np.log(1e-8), rtol=1e-14)


@KERNELS
def test_samples_beyond_the_exponential_give_finite_terms(kernel):
    _, rows, counts = arguments()
    samples = np.random.default_rng(5).choice([-3e4, -800.0, 0.0, 800.0, 3e4], (DOCUMENTS, SAMPLES, TOPICS))
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        results = as_tuple(kernel(samples, rows * 1e-9, counts))
    assert all(np.isfinite(each).all() for each in results)
