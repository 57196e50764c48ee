"""Estimators of scikit-learn by `partial_fit`."""

from __future__ import annotations

import importlib.util
from itertools import islice

import numpy as np
import pytest

from benchfw import BenchfwError
from benchfw_firstorder import ElasticNet, LogisticRegression

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("sklearn") is None, reason="scikit-learn is not installed"
)


@pytest.fixture
def partial_fit():
    from benchfw_bridges import SklearnPartialFit

    return SklearnPartialFit


@pytest.fixture
def problem(backend):
    return LogisticRegression(backend, backend.rng(1), samples=60, features=5)


def by_hand(problem, rng, **keywords):
    from sklearn.linear_model import SGDClassifier

    return SGDClassifier(
        loss="log_loss",
        penalty="elasticnet",
        alpha=problem.ridge,
        l1_ratio=0.0,
        fit_intercept=False,
        random_state=np.random.RandomState(int(rng.integers(2**31))),
        **keywords,
    )


def test_passes_are_those_of_scikit_learn_used_by_hand(backend, partial_fit, problem):
    hand = by_hand(problem, backend.rng(2), learning_rate="constant", eta0=0.01)
    expected = [
        hand.partial_fit(problem.features, problem.targets, classes=[-1.0, 1.0]).coef_[0].copy()
        for _ in range(4)
    ]
    method = partial_fit(learning_rate="constant", eta0=0.01)
    first, *found = islice(method.run(problem, backend.rng(2)), 5)
    np.testing.assert_array_equal(first, problem.start())
    np.testing.assert_array_equal(found, expected)
    assert problem.cost == problem.declared_cost == 4


def test_batches_are_those_of_scikit_learn_used_by_hand(backend, partial_fit, problem):
    rng = backend.rng(2)
    hand, expected = by_hand(problem, rng), []
    order = rng.permutation(60)
    for first in range(0, 60, 25):
        some = order[first : first + 25]
        hand.partial_fit(problem.features[some], problem.targets[some], classes=[-1.0, 1.0])
        expected.append(hand.coef_[0].copy())
    _, *found = islice(partial_fit(batch=25).run(problem, backend.rng(2)), 4)
    np.testing.assert_array_equal(found, expected)
    assert problem.cost == pytest.approx(1.0)  # the last batch has the 10 rows that are left


def test_the_objective_is_the_problems_with_both_penalties(backend, partial_fit):
    problem = ElasticNet(backend, backend.rng(1), samples=60, features=5, nonzeros=3, ridge=0.1)
    steps = partial_fit("linear_model.SGDRegressor", learning_rate="invscaling").run(problem, backend.rng(2))
    gaps = [problem.metrics(each)["gap"] for each in islice(steps, 400)]
    assert gaps[-1] < 1e-3 * gaps[0]


def test_an_estimator_without_partial_fit_is_refused(partial_fit):
    with pytest.raises(BenchfwError, match="Lasso has no partial_fit; use 'sklearn', which calls fit"):
        partial_fit("linear_model.Lasso")
