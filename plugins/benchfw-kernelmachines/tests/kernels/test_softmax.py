"""The multi-class logistic loss: exact where it is tiny and where scores are huge."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp, softmax
from sklearn.metrics import log_loss

from benchfw.backends import get_backend
from benchfw_kernelmachines.kernels.softmax import sample_softmax_loss, softmax_derivative, softmax_loss

BODIES = pytest.mark.parametrize("body", ["portable", "numpy"])


def body_of(kernel, body):
    return kernel.portable if body == "portable" else kernel.bodies["numpy"]


def example(rows=300, seed=3):
    backend = get_backend("numpy")
    return sample_softmax_loss(backend, backend.rng(seed), 10 * rows)


@BODIES
def test_its_mean_is_the_log_loss_of_scikit_learn(body):
    scores, labels = example()
    expected = log_loss(labels, softmax(scores, axis=1), labels=range(10))
    np.testing.assert_allclose(body_of(softmax_loss, body)(scores, labels).mean(), expected, rtol=1e-12)


@BODIES
def test_the_derivative_is_softmax_less_the_label(body):
    scores, labels = example()
    expected = softmax(scores, axis=1) - np.eye(10)[labels]
    np.testing.assert_allclose(body_of(softmax_derivative, body)(scores, labels), expected, atol=1e-14)


@BODIES
def test_the_derivative_is_that_of_finite_differences(body):
    scores, labels = example(rows=20)
    step = 1e-5
    slopes = np.empty_like(scores)
    for column in range(10):
        moved = np.eye(10)[column] * step
        slopes[:, column] = (softmax_loss(scores + moved, labels) - softmax_loss(scores - moved, labels)) / (
            2 * step
        )
    # central differences err by step² and by rounding over step
    np.testing.assert_allclose(body_of(softmax_derivative, body)(scores, labels), slopes, rtol=0, atol=1e-9)


@BODIES
def test_two_classes_are_logistic_regression(body):
    margin = np.linspace(-30.0, 30.0, 61)
    scores, labels = np.stack([np.zeros(61), margin], axis=1), np.ones(61, dtype=np.int64)
    np.testing.assert_allclose(
        body_of(softmax_loss, body)(scores, labels), np.logaddexp(0.0, -margin), rtol=1e-14
    )


@BODIES
def test_small_losses_keep_their_digits_in_single_precision(body):
    gap = np.float32([5.0, 20.0, 40.0, 80.0])
    scores, labels = np.stack([gap, 0 * gap, -gap], axis=1), np.zeros(4, dtype=np.int64)
    exact = logsumexp(scores.astype(np.longdouble), axis=1) - scores[:, 0]
    exact = np.where(gap > 30, np.exp(-gap.astype(np.float64)), exact)  # below what long doubles resolve
    found = body_of(softmax_loss, body)(scores, labels)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, exact.astype(np.float64), rtol=1e-6)


@BODIES
def test_huge_scores_do_not_overflow(body):
    scores = np.array([[1e30, 0.0, -1e30], [-1e30, 1e30, 0.0]], dtype=np.float32)
    labels = np.array([0, 0])
    np.testing.assert_allclose(body_of(softmax_loss, body)(scores, labels), [0.0, 2e30], rtol=1e-6)
    np.testing.assert_array_equal(
        body_of(softmax_derivative, body)(scores, labels), [[0.0, 0.0, 0.0], [-1.0, 1.0, 0.0]]
    )


@pytest.mark.parametrize("kernel", [softmax_loss, softmax_derivative], ids=lambda each: each.name)
@pytest.mark.parametrize("order", ["C", "F"])
def test_the_bits_are_the_same_with_any_number_of_threads(monkeypatch, kernel, order):
    scores, labels = sample_softmax_loss(get_backend("numpy"), get_backend("numpy").rng(2), 300_003)
    arguments = np.asarray(scores, order=order), labels
    found = []
    for threads in (1, 3):
        monkeypatch.setenv("OMP_NUM_THREADS", str(threads))
        found.append(kernel(*arguments))
    assert np.array_equal(*found)


def test_the_bits_of_columns_do_not_depend_on_how_rows_are_divided_among_threads(monkeypatch):
    scores = np.asfortranarray(np.random.default_rng(3).standard_normal((3261, 100)))
    labels, found = np.zeros(3261, dtype=np.int64), []
    for threads in (1, 2):
        monkeypatch.setenv("OMP_NUM_THREADS", str(threads))
        found.append(softmax_derivative(scores, labels))
    assert np.array_equal(*found)


@pytest.mark.parametrize("kernel", [softmax_loss, softmax_derivative], ids=lambda each: each.name)
def test_rows_and_labels_that_differ_in_number_are_refused(kernel):
    with pytest.raises(ValueError, match=r"2 rows of scores, and labels of shape \(3,\)"):
        kernel(np.zeros((2, 4)), np.zeros(3, dtype=np.int64))
