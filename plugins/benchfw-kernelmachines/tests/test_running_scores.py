"""Scores of a run's answers cost what changed between them, and are the scores all the same."""

import numpy as np
import pytest

from benchfw.backends import get_backend
from benchfw_kernelmachines import running_scores
from benchfw_kernelmachines.covariances import get_covariance
from benchfw_kernelmachines.features import get_frequencies
from benchfw_kernelmachines.predictor import FeaturePredictor, GramPredictor
from benchfw_kernelmachines.running_scores import RunningScores

BACKEND = get_backend("numpy")
ROWS = BACKEND.rng(1).standard_normal((60, 5), np.float32)
GAUSSIAN = get_covariance("gaussian", 2.0)


def assert_same_scores(scores, answer):
    expected = answer.predict(ROWS)
    rounding = 32 * np.finfo(np.float32).eps * np.abs(expected).max(initial=0)
    np.testing.assert_allclose(scores(answer), expected, rtol=0, atol=rounding)


def predictor(blocks, scale=1.0, seed=3):
    frequencies = get_frequencies("independent", BACKEND, GAUSSIAN, 5, 16, seed)
    return FeaturePredictor(frequencies, tuple(blocks), scale, 2)


@pytest.fixture
def blocks():
    rng = BACKEND.rng(2)
    return [rng.standard_normal((2, 16, 2), np.float32) for _ in range(4)]


def test_scores_follow_answers_whose_blocks_are_added_moved_and_taken_away(blocks):
    a, b, c, d = blocks
    scores = RunningScores(ROWS)
    for each in ([], [a], [a, b], [a, c], [d, c, b], [d, c], [d, c, a, b]):
        answer = predictor(each, scale=0.5 + len(each))
        assert_same_scores(scores, answer)


def test_answers_over_other_features_are_not_mixed(blocks):
    scores = RunningScores(ROWS)
    scores(predictor(blocks))
    other = predictor(blocks, seed=4)
    assert_same_scores(scores, other)


@pytest.mark.parametrize("wrong", [np.inf, np.nan])
def test_answers_after_a_divergent_one_have_their_own_scores(blocks, wrong):
    scores = RunningScores(ROWS)
    with np.errstate(invalid="ignore"):
        diverged = scores(predictor([blocks[0], wrong * blocks[1]]))
    assert not np.isfinite(diverged).all()
    answer = predictor(blocks)
    assert_same_scores(scores, answer)


def test_only_blocks_that_moved_are_computed(blocks, monkeypatch):
    computed = []

    def counting(rows, frequencies, coefficients, *others):
        computed.append(len(coefficients))
        return original(rows, frequencies, coefficients, *others)

    original = running_scores.feature_scores
    monkeypatch.setattr(running_scores, "feature_scores", counting)
    scores = RunningScores(ROWS)
    for each in (blocks[:3], blocks, [*blocks[:3], 2 * blocks[3]], [*blocks[:3], 2 * blocks[3]]):
        scores(predictor(each))
    assert computed == [3, 1, 1, 1]


def test_an_answer_over_centres_is_simply_asked():
    answer = GramPredictor(GAUSSIAN, ROWS[:7], np.ones((7, 2), np.float32))
    np.testing.assert_array_equal(RunningScores(ROWS)(answer), answer.predict(ROWS))
