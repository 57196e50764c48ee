"""SVRG and SGD on fixed random features are linear methods on a linear problem."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from benchfw import BenchfwError
from benchfw.backends import get_backend
from benchfw_firstorder.estimators.minibatch import Minibatch
from benchfw_firstorder.optimizers.sgd import SGD
from benchfw_firstorder.optimizers.svrg import SVRG
from benchfw_kernelmachines import fixed_features
from benchfw_kernelmachines.features import get_frequencies
from benchfw_kernelmachines.fixed_features import FixedFeatures
from benchfw_kernelmachines.optimizers.random_features_sgd import RandomFeaturesSGD
from benchfw_kernelmachines.optimizers.random_features_svrg import RandomFeaturesSVRG
from benchfw_kernelmachines.problems.kernel_classification import KernelClassification
from benchfw_kernelmachines.problems.kernel_regression import KernelRegression

BACKEND = get_backend("numpy")
ROWS, COUNT = 120, 8


@pytest.fixture
def build(tmp_path, monkeypatch):
    """Return a function that builds a problem of a loss on 120 rows in the plane."""
    rng = np.random.default_rng(0)
    features = rng.uniform(-2, 2, (ROWS + 20, 2)).astype(np.float32)
    wave = np.sin(2 * features[:, 0]) + features[:, 1]
    monkeypatch.setenv("BENCHFW_DATA", str(tmp_path))
    for name, targets in (("numbers", wave), ("classes", np.digitize(wave, [-1, 1]))):
        np.savez(tmp_path / f"{name}.npz", X=features, y=targets, train_idx=np.arange(ROWS))

    def problem(loss="squared", penalty=0.1, **more):
        kind, name = (KernelRegression, "numbers") if loss == "squared" else (KernelClassification, "classes")
        settings = {"loss": loss, "penalty": penalty, "length": 1.0, **more}
        return kind(BACKEND, BACKEND.rng(0), dataset=name, **settings)

    return problem


def fixed(problem, memory=1e9, kind="independent"):
    space = problem.covariance, problem.dimension
    return FixedFeatures(problem, get_frequencies(kind, BACKEND, *space, COUNT, 1), memory)


def explicit(problem, block=0):
    """All rows as features [cos, sin]/√m in float64, and their targets."""
    rows, targets = problem.rows(np.arange(ROWS))
    space = problem.covariance, problem.dimension
    phases = rows.astype(float) @ get_frequencies("independent", BACKEND, *space, COUNT, 1).block(block)
    return np.hstack([np.cos(phases), np.sin(phases)]) / COUNT**0.5, targets


@pytest.mark.parametrize("kind", [RandomFeaturesSVRG, RandomFeaturesSGD])
def test_svrg_and_averaged_sgd_reach_the_ridge_solution_of_the_features(build, kind):
    problem = build()
    features, targets = explicit(problem)
    matrix = features.T @ features + ROWS * problem.penalty * np.eye(2 * COUNT)
    ridge = np.linalg.solve(matrix, features.T @ targets)
    optimizer = kind(features=COUNT, batch=16)
    tolerance = 1e-4
    if kind is RandomFeaturesSGD:
        optimizer, tolerance = RandomFeaturesSGD(features=COUNT, batch=16, average=True), 0.05
    answer = next(islice(optimizer.run(problem, BACKEND.rng(1)), 1000, None))
    found = answer.predict(problem.rows(np.arange(ROWS)).rows)
    np.testing.assert_allclose(found, features @ ridge, atol=tolerance)
    assert answer.squared_norm() == pytest.approx(float((ridge**2).sum()), rel=10 * tolerance)


@pytest.mark.parametrize("memory", [1e9, 0])
@pytest.mark.parametrize("loss", ["squared", "softmax", "hinge"])
def test_values_and_gradients_are_those_of_the_linear_model(build, loss, memory):
    problem = build(loss)
    model = fixed(problem, memory)
    features, targets = explicit(problem)
    params = np.random.default_rng(1).standard_normal(model.start().shape).astype(np.float32)
    scores = (features @ params).astype(np.float32)
    slopes = problem.loss.derivative(scores, targets)
    penalty = problem.penalty
    value = problem.loss.value(scores, targets).mean() + penalty / 2 * (params**2).sum()
    assert model.value(params) == pytest.approx(float(value), rel=1e-5)
    np.testing.assert_allclose(model.grad(params), features.T @ slopes / ROWS + penalty * params, atol=1e-5)
    batch = np.array([3, 50, 3, 119])
    expected = features[batch].T @ slopes[batch] / 4 + penalty * params
    np.testing.assert_allclose(model.grad_batch(params, batch), expected, atol=1e-5)
    answer = model.predictor(params)
    np.testing.assert_allclose(answer.predict(problem.rows(np.arange(ROWS)).rows), scores, atol=1e-5)
    assert answer.squared_norm() == pytest.approx(float((params**2).sum()), rel=1e-5)


@pytest.mark.parametrize("kind", ["independent", "orthogonal", "quasi-monte-carlo"])
@pytest.mark.parametrize(
    ("method", "settings", "linear"),
    [
        (RandomFeaturesSVRG, {}, SVRG(estimator=Minibatch(16))),
        (RandomFeaturesSVRG, {"step": 0.2, "inner": 4}, SVRG(0.2, 4, estimator=Minibatch(16))),
        (
            RandomFeaturesSVRG,
            {"inner": 4, "snapshot": "average"},
            SVRG("auto", 4, "average", Minibatch(16)),
        ),
        (RandomFeaturesSGD, {}, SGD(estimator=Minibatch(16))),
        (
            RandomFeaturesSGD,
            {"step": 0.2, "schedule": "inverse", "decay": 0.5},
            SGD(0.2, "inverse", 0.5, estimator=Minibatch(16)),
        ),
        (
            RandomFeaturesSGD,
            {"schedule": "power", "power": 0.3, "average": True},
            SGD("auto", "power", power=0.3, average=True, estimator=Minibatch(16)),
        ),
    ],
)
def test_the_steps_are_those_of_the_linear_method(build, method, settings, linear, kind):
    problem = build("softmax")
    model = fixed(problem, kind=kind)
    ours = method(features=COUNT, batch=16, kind=kind, **settings).run(problem, BACKEND.rng(1))
    theirs = linear.run(model, BACKEND.rng(1))
    for answer, params in islice(zip(ours, theirs, strict=True), 12):
        assert answer.frequencies == model.frequencies
        np.testing.assert_array_equal(answer.coefficients[0].reshape(params.shape), params)


@pytest.mark.parametrize("method", [RandomFeaturesSVRG, RandomFeaturesSGD])
def test_features_are_kept_only_where_memory_is_enough(build, method):
    """To keep them costs one look at all rows."""
    problem = build()
    costs = []
    for memory in (1e9, 4 * 2 * COUNT * ROWS - 1):
        before = problem.cost
        answers = method(features=COUNT, batch=16, memory=memory).run(problem, BACKEND.rng(1))
        next(islice(answers, 3, None))
        costs.append(problem.cost - before)
    assert costs[0] == costs[1] + ROWS


def test_rows_are_counted_whether_features_are_kept_or_not(build):
    for memory, first in ((1e9, ROWS), (0, 0)):  # keeping them is one look at all rows
        problem = build()
        model = fixed(problem, memory)
        model.grad_batch(model.start(), np.arange(16))
        assert problem.cost == first + 16
        model.grad(model.start())
        assert problem.cost == first + 16 + ROWS


def test_features_count_as_pairs_when_they_are_computed_and_not_when_they_were_kept(build):
    for memory, computed in ((1e9, ROWS), (0, 16 + 8)):
        problem = build(counts="pairs")
        model = fixed(problem, memory)
        for size in (16, 8):
            model.grad_batch(model.start(), np.arange(size))
        assert problem.cost == computed * COUNT


def test_features_that_are_drawn_once_count_once(build):
    problem = build(counts="features")
    next(islice(RandomFeaturesSGD(features=COUNT, batch=16).run(problem, BACKEND.rng(1)), 5, None))
    assert problem.cost == COUNT


def test_the_smoothness_is_the_mean_curvature_along_the_top_eigenvector_of_the_gram(build):
    problem = build()
    model = fixed(problem)
    rows = problem.rows(np.arange(ROWS)).rows.astype(float)
    values, vectors = np.linalg.eigh(problem.covariance.gram(rows, rows) / ROWS)
    assert model.constants.smoothness == pytest.approx(values[-1] + problem.penalty, rel=1e-5)
    blocks = [explicit(problem, number)[0] for number in range(200)]
    curvatures = [np.square(vectors[:, -1] @ features).sum() / ROWS for features in blocks]
    assert abs(np.mean(curvatures) - values[-1]) < 4 * np.std(curvatures, ddof=1) / np.sqrt(200)
    np.testing.assert_allclose(np.square(blocks[0]).sum(axis=1), 1)
    assert model.constants.sample_smoothness == 1 + problem.penalty


@pytest.mark.parametrize("memory", [1e9, 0])
def test_rows_are_read_a_few_at_a_time(build, monkeypatch, memory):
    monkeypatch.setattr(fixed_features, "AT_A_TIME", 50)
    problem, asked = build("softmax"), []

    def rows(numbers):
        asked.append(len(numbers))
        return type(problem).rows(problem, numbers)

    monkeypatch.setattr(problem, "rows", rows, raising=False)
    model = fixed(problem, memory)
    params = np.random.default_rng(1).standard_normal(model.start().shape).astype(np.float32)
    found = model.grad(params)
    assert asked == [50, 50, 20]
    features, targets = explicit(problem)
    slopes = problem.loss.derivative((features @ params).astype(np.float32), targets)
    np.testing.assert_allclose(found, features.T @ slopes / ROWS + problem.penalty * params, atol=1e-5)


@pytest.mark.parametrize("kind", [RandomFeaturesSVRG, RandomFeaturesSGD])
def test_a_loss_with_a_kink_needs_a_step(build, kind):
    problem = build("hinge")
    with pytest.raises(BenchfwError, match=r"the loss 'hinge' has a kink, .*; give a step"):
        next(kind(features=COUNT).run(problem, BACKEND.rng(1)))
