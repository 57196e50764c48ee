"""SVRG and SGD on fixed random features are linear methods on a linear problem."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from benchfw import BenchfwError
from benchfw.backends import get_backend
from benchfw_firstorder.estimators.minibatch import Minibatch
from benchfw_firstorder.optimizers.sgd import SGD
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
    test = np.arange(len(wave)) >= ROWS
    parts = {"train": ~test, "test": test}
    for name, targets in (("numbers", wave), ("classes", np.digitize(wave, [-1, 1]))):
        arrays = {f"x_{part}": features[places] for part, places in parts.items()}
        arrays |= {f"y_{part}": targets[places] for part, places in parts.items()}
        np.savez(tmp_path / f"{name}.npz", **arrays)

    def problem(loss="squared", penalty=0.1):
        kind, name = (KernelRegression, "numbers") if loss == "squared" else (KernelClassification, "classes")
        return kind(BACKEND, BACKEND.rng(0), dataset=name, loss=loss, penalty=penalty, length=1.0)

    return problem


def fixed(problem, memory=1e9):
    space = problem.covariance, problem.dimension
    return FixedFeatures(problem, get_frequencies("independent", BACKEND, *space, COUNT, 1), memory)


def explicit(problem):
    """All rows as features [cos, sin]/√m in float64, and their targets."""
    rows, targets = problem.rows(np.arange(ROWS))
    space = problem.covariance, problem.dimension
    phases = rows.astype(float) @ get_frequencies("independent", BACKEND, *space, COUNT, 1).block(0)
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


def test_the_steps_are_those_of_sgd_on_the_linear_model(build):
    problem = build("softmax")
    optimizer = RandomFeaturesSGD(features=COUNT, batch=16, step=0.5, schedule="inverse")
    model = fixed(problem)
    linear = SGD(0.5, "inverse", estimator=Minibatch(16)).run(model, BACKEND.rng(1))
    for answer, params in islice(zip(optimizer.run(problem, BACKEND.rng(1)), linear, strict=True), 20):
        np.testing.assert_array_equal(answer.coefficients[0].reshape(params.shape), params)


def test_rows_are_counted_whether_features_are_kept_or_not(build):
    for memory, first in ((1e9, ROWS), (0, 0)):  # keeping them is one look at all rows
        problem = build()
        model = fixed(problem, memory)
        model.grad_batch(model.start(), np.arange(16))
        assert problem.cost == first + 16
        model.grad(model.start())
        assert problem.cost == first + 16 + ROWS


def test_the_smoothness_bounds_the_curvature(build):
    problem = build()
    features, _ = explicit(problem)
    model = fixed(problem)
    np.testing.assert_allclose((features**2).sum(axis=1), 1)
    assert model.sample_smoothness == 1 + problem.penalty
    top = np.linalg.eigvalsh(features.T @ features / ROWS)[-1]
    assert model.smoothness == pytest.approx(top + problem.penalty, rel=0.5)  # 8 frequencies are few
    assert model.smoothness <= model.sample_smoothness


def test_a_loss_with_a_kink_needs_a_step(build):
    problem = build("hinge")
    with pytest.raises(BenchfwError, match="give the step as a number"):
        next(RandomFeaturesSVRG(features=COUNT).run(problem, BACKEND.rng(1)))


@pytest.mark.parametrize("kind", [RandomFeaturesSVRG, RandomFeaturesSGD])
@pytest.mark.parametrize("parameters", [{"features": 0}, {"memory": -1}, {"batch": 0}, {"step": 0.0}])
def test_a_parameter_that_makes_no_sense_is_refused(kind, parameters):
    with pytest.raises(ValueError, match=r"must be|is a number"):
        kind(**parameters)
