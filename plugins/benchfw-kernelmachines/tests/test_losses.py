"""Every loss: its derivative, closed forms, scikit-learn's figures, targets, clear refusals, no overflow."""

from __future__ import annotations

from typing import get_args

import array_api_strict
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import special
from sklearn import metrics

from benchfw import BenchfwError
from benchfw_kernelmachines.losses import (
    EpsilonInsensitive,
    Hinge,
    Logistic,
    LossName,
    Softmax,
    Squared,
    SquaredHinge,
    get_loss,
)

LOSSES = [Squared(), Logistic(), Softmax(), Hinge(), SquaredHinge(), EpsilonInsensitive(0.3)]
OF_CLASSES = [loss for loss in LOSSES if loss.task != "numbers"]
SMOOTH = [loss for loss in LOSSES if loss.smoothness is not None]
each = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)

LARGEST = 2.0**60  # its square is still a float32


def example(loss, rows=40, seed=0):
    """Return float64 scores and targets, away from kinks."""
    rng = np.random.default_rng(seed)
    if loss.name == "epsilon-insensitive":
        labels, classes = rng.standard_normal(rows), 0
    else:
        labels, classes = rng.integers(0, 4, rows), 4
    scores = 2 * rng.standard_normal((rows, classes or 1))
    return scores, loss.encode(labels, classes)


@each
def test_the_derivative_is_that_of_central_differences(loss):
    scores, targets = example(loss)
    width = 1e-6
    for column in range(scores.shape[1]):
        step = width * np.eye(scores.shape[1])[column]
        change = loss.value(scores + step, targets) - loss.value(scores - step, targets)
        np.testing.assert_allclose(
            loss.derivative(scores, targets)[:, column], change / (2 * width), rtol=1e-6, atol=1e-7
        )


@pytest.mark.parametrize("loss", SMOOTH, ids=lambda loss: loss.name)
def test_the_smoothness_is_the_least_that_holds(loss):
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, 4000)
    targets = loss.encode(labels, 2)
    shape = (4000, 2 if loss.name == "softmax" else 1)
    left = 0.3 * rng.standard_normal(shape)
    right = left + 1e-3 * rng.standard_normal(shape)
    change = np.linalg.norm(loss.derivative(left, targets) - loss.derivative(right, targets), axis=1)
    ratio = change / np.linalg.norm(left - right, axis=1)
    assert 0.95 * loss.smoothness < ratio.max() <= loss.smoothness * (1 + 1e-6)


@each
def test_no_loss_is_negative_and_all_are_convex(loss):
    left, targets = example(loss, seed=2)
    right, _ = example(loss, seed=3)
    middle = loss.value((left + right) / 2, targets)
    assert (middle >= 0).all()
    assert (middle <= (loss.value(left, targets) + loss.value(right, targets)) / 2 + 1e-12).all()


def test_losses_have_their_closed_forms():
    scores, signs = np.array([[-2.0], [0.5], [3.0]]), np.array([[1.0], [1.0], [-1.0]])
    margins = (scores * signs)[:, 0]
    np.testing.assert_allclose(Logistic().value(scores, signs), np.log1p(np.exp(-margins)), rtol=1e-14)
    np.testing.assert_allclose(
        Logistic().derivative(scores, signs)[:, 0], -signs[:, 0] * special.expit(-margins)
    )
    np.testing.assert_array_equal(Hinge().value(scores, signs), [3, 0.5, 4])
    np.testing.assert_array_equal(Hinge().derivative(scores, signs)[:, 0], [-1, -1, 1])
    np.testing.assert_array_equal(SquaredHinge().value(scores, signs), [9, 0.25, 16])
    np.testing.assert_array_equal(Squared().value(scores, signs), [4.5, 0.125, 8])
    np.testing.assert_array_equal(EpsilonInsensitive(1.0).value(scores, signs), [2, 0, 3])
    np.testing.assert_array_equal(EpsilonInsensitive(1.0).derivative(scores, signs)[:, 0], [-1, 0, 1])


def test_at_a_kink_the_derivative_is_zero():
    np.testing.assert_array_equal(Hinge().derivative(np.array([[1.0], [-1.0]]), np.array([[1.0], [-1.0]])), 0)
    scores, targets = np.array([[1.5], [0.5]]), np.ones((2, 1))
    np.testing.assert_array_equal(EpsilonInsensitive(0.5).derivative(scores, targets), 0)


def test_losses_are_those_of_scikit_learn():
    rng = np.random.default_rng(4)
    labels = rng.integers(0, 3, 200)
    scores = rng.standard_normal((200, 3))
    shares = special.softmax(scores, axis=1)
    assert Softmax().value(scores, labels).mean() == pytest.approx(metrics.log_loss(labels, shares))
    two, score = labels % 2, scores[:, :1]
    signs = Hinge().encode(two, 2)
    assert Hinge().value(score, signs).mean() == pytest.approx(metrics.hinge_loss(signs[:, 0], score[:, 0]))
    likely = special.expit(score[:, 0])
    assert Logistic().value(score, signs).mean() == pytest.approx(metrics.log_loss(two, likely))
    numbers = rng.standard_normal(200)
    residual = metrics.mean_squared_error(numbers, score[:, 0])
    # targets are float32
    assert Squared().value(score, Squared().encode(numbers, 0)).mean() == pytest.approx(
        residual / 2, rel=1e-6
    )


def test_two_scores_of_softmax_are_one_of_the_logistic_loss():
    scores = np.random.default_rng(5).standard_normal((30, 2))
    labels = np.arange(30) % 2
    difference = scores[:, 1:] - scores[:, :1]
    np.testing.assert_allclose(
        Softmax().value(scores, labels),
        Logistic().value(difference, Logistic().encode(labels, 2)),
        rtol=1e-12,
    )


@pytest.mark.parametrize("loss", [Squared(), Logistic(), Hinge(), SquaredHinge()], ids=lambda loss: loss.name)
def test_several_classes_are_one_machine_each_against_the_rest(loss):
    labels = np.array([2, 0, 1, 1])
    targets = loss.encode(labels, 3)
    np.testing.assert_array_equal(targets, [[-1, -1, 1], [1, -1, -1], [-1, 1, -1], [-1, 1, -1]])
    assert targets.dtype == np.float32
    scores = np.random.default_rng(6).standard_normal((4, 3))
    apart = sum(loss.value(scores[:, [one]], targets[:, [one]]) for one in range(3))
    np.testing.assert_allclose(loss.value(scores, targets), apart)


def test_of_two_classes_the_second_is_plus_one():
    np.testing.assert_array_equal(Hinge().encode(np.array([0, 1, 0]), 2), [[-1], [1], [-1]])
    np.testing.assert_array_equal(Softmax().encode(np.array([0, 1], np.uint8), 2), [0, 1])
    np.testing.assert_array_equal(Squared().encode(np.array([2, 5]), 0), [[2], [5]])


@each
@settings(deadline=None)
@given(data=st.data())
def test_huge_scores_neither_overflow_nor_give_numbers_that_are_none(loss, data):
    """pytest makes an error of the warning that an overflow is."""
    scores = data.draw(arrays(np.float32, (3, 1), elements=st.floats(-LARGEST, LARGEST, width=32)))
    if loss.name == "softmax":
        scores, targets = np.concatenate([scores, -scores], axis=1), np.array([0, 1, 1])
    elif loss in OF_CLASSES:
        targets = np.array([[1], [-1], [1]], np.float32)
    else:
        targets = np.array([[0.5], [-3], [0]], np.float32)
    for found in (loss.value(scores, targets), loss.derivative(scores, targets)):
        assert found.dtype == np.float32
        assert np.isfinite(found).all()
    if loss.smoothness is None or loss.name in {"logistic", "softmax"}:
        assert (np.abs(loss.derivative(scores, targets)) <= 1).all()


@each
def test_the_code_is_portable(loss):
    scores, targets = example(loss)
    strict = [array_api_strict.asarray(part) for part in (scores, targets)]
    for name in ("value", "derivative"):
        method = getattr(loss, name)
        np.testing.assert_allclose(
            np.asarray(method(*strict)), method(scores, targets), rtol=1e-12, atol=1e-15
        )
    labels, classes = (np.array([0.5, 2.0]), 0) if loss.task == "numbers" else (np.array([0, 2]), 3)
    encoded = loss.encode(array_api_strict.asarray(labels), classes)
    np.testing.assert_array_equal(np.asarray(encoded), loss.encode(labels, classes))


def test_losses_come_by_name_or_as_they_are():
    assert sorted(loss.name for loss in LOSSES) == sorted(get_args(LossName))
    for loss in LOSSES:
        assert get_loss(loss.name, 0.3) == loss
        assert get_loss(loss) is loss


def test_what_is_no_loss_is_refused_in_one_sentence():
    with pytest.raises(BenchfwError, match="unknown loss 'hing'; did you mean 'hinge'"):
        get_loss("hing")


@pytest.mark.parametrize("loss", OF_CLASSES, ids=lambda loss: loss.name)
def test_losses_of_classes_refuse_numbers(loss):
    with pytest.raises(
        BenchfwError, match=f"the loss '{loss.name}' is for classes; for numbers take 'squared'"
    ):
        loss.encode(np.array([0.5]), 0)


def test_the_insensitive_loss_refuses_classes():
    with pytest.raises(BenchfwError, match="'epsilon-insensitive' is for numbers; for classes take"):
        EpsilonInsensitive().encode(np.array([0, 1]), 2)
