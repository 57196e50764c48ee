"""Scorers of scikit-learn as metrics of a problem with rows held out."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

import benchfw
from benchfw import BenchfwError
from benchfw.data import load_table

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("sklearn") is None, reason="scikit-learn is not installed"
)


def test_scores_are_those_of_scikit_learn_on_the_rows_held_out(backend):
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import accuracy_score, roc_auc_score
    from sklearn.preprocessing import StandardScaler

    from benchfw_bridges import ScoredClassification

    problem = ScoredClassification(
        backend, backend.rng(1), dataset="sonar-like", ridge=0.1, metrics="accuracy, roc_auc"
    )
    train, test = (load_table("sonar-like", part) for part in ("train", "test"))
    scaler = StandardScaler().fit(train.features)
    model = LogisticRegression(C=1 / (len(train.targets) * 0.1), fit_intercept=False, tol=1e-12)
    model.fit(scaler.transform(train.features), train.targets)
    margins = model.decision_function(scaler.transform(test.features))
    found = problem.metrics(problem.optimum)
    assert found["accuracy"] == accuracy_score(test.targets, model.classes_[(margins > 0).astype(int)])
    assert found["roc_auc"] == pytest.approx(roc_auc_score(test.targets, margins), rel=1e-12)
    assert found["gap"] == 0
    assert set(problem.higher_is_better) == {"accuracy", "roc_auc"}


def test_a_regression_is_scored_on_targets_scaled_by_the_training_rows(backend):
    from sklearn.metrics import mean_absolute_error, r2_score

    from benchfw_bridges import ScoredRegression

    name = "uci-like(rows=200)"
    problem = ScoredRegression(backend, backend.rng(1), dataset=name, metrics="r2,neg_mean_absolute_error")
    train, test = ([each.astype(float) for each in load_table(name, part)] for part in ("train", "test"))
    rows, targets = ((new - old.mean(axis=0)) / old.std(axis=0) for old, new in zip(train, test, strict=True))
    guesses = rows @ problem.optimum
    found = problem.metrics(problem.optimum)
    assert found["r2"] == pytest.approx(r2_score(targets, guesses), rel=1e-9)
    assert found["neg_mean_absolute_error"] == pytest.approx(-mean_absolute_error(targets, guesses), rel=1e-9)


def test_an_unknown_scorer_is_a_sentence(backend):
    from benchfw_bridges import ScoredClassification

    with pytest.raises(BenchfwError, match="scikit-learn has no scorer 'acuracy'; did you mean 'accuracy'"):
        ScoredClassification(backend, backend.rng(1), dataset="sonar-like", metrics="acuracy")


@pytest.mark.thorough
def test_data_of_ones_own_are_scored_too():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 3))
    y = (X[:, 0] > 0).astype(int)
    problem = benchfw.problem(X, y, loss="sklearn-classification", metrics="accuracy")
    result = benchfw.compare(
        problem, ["gd"], repetitions=1, budget={"iterations": 50}, jobs=0, progress=False
    )
    last = result.frame.query("metric == 'accuracy'").sort_values("iteration")["value"].iloc[-1]
    assert last >= 0.9
