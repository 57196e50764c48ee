"""Exact ridge regression, Nyström and LIBSVM against scikit-learn; the peers, where they are installed."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC, SVR

from benchfw import BenchfwError
from benchfw.backends import get_backend
from benchfw.errors import Unavailable
from benchfw_kernelmachines.optimizers import nystrom_ridge
from benchfw_kernelmachines.optimizers.kernel_ridge_exact import KernelRidgeExact
from benchfw_kernelmachines.optimizers.libsvm import LIBSVM
from benchfw_kernelmachines.optimizers.nystrom_ridge import NystromRidge
from benchfw_kernelmachines.peers.falkon import PeerFalkon
from benchfw_kernelmachines.predictor import GramPredictor
from benchfw_kernelmachines.problems.kernel_classification import KernelClassification
from benchfw_kernelmachines.problems.kernel_regression import KernelRegression

BACKEND = get_backend("numpy")
ROWS, LENGTH = 150, 0.8


@pytest.fixture
def build(tmp_path, monkeypatch):
    """Return a function that builds a problem of numbers, of two classes or of three on 150 rows."""
    rng = np.random.default_rng(0)
    features = rng.uniform(-2, 2, (ROWS + 50, 2)).astype(np.float32)
    wave = np.sin(2 * features[:, 0]) + features[:, 1] + 0.3 * rng.standard_normal(ROWS + 50)
    monkeypatch.setenv("BENCHFW_DATA", str(tmp_path))
    for name, targets in {
        "numbers": wave,
        "two": 1 * (wave > 0),
        "three": np.digitize(wave, [-1, 1]),
    }.items():
        np.savez(tmp_path / f"{name}.npz", X=features, y=targets, train_idx=np.arange(ROWS))

    def problem(name, loss, penalty=1e-3, covariance="gaussian", **more):
        kind = KernelRegression if name == "numbers" else KernelClassification
        settings = {"loss": loss, "penalty": penalty, "covariance": covariance, "length": LENGTH}
        return kind(BACKEND, BACKEND.rng(0), dataset=name, **{**settings, **more})

    return problem


def answers_of(problem, optimizer):
    return list(optimizer.run(problem, BACKEND.rng(1)))


def test_exact_ridge_is_that_of_scikit_learn(build):
    problem = build("numbers", "squared")
    start, answer = answers_of(problem, KernelRidgeExact())
    rows, targets = problem.rows(np.arange(ROWS))
    peer = KernelRidge(alpha=ROWS * 1e-3, kernel="rbf", gamma=0.5 / LENGTH**2).fit(
        rows.astype(float), targets
    )
    np.testing.assert_allclose(
        answer.predict(problem.test.features), peer.predict(problem.test.features.astype(float)), atol=1e-5
    )
    np.testing.assert_array_equal(start.predict(problem.test.features), np.zeros((50, 1)))
    assert answer.num_features == ROWS


def test_exact_ridge_has_no_gradient_left(build):
    """R(α) = λ/2 α'Kα + |Kα - y|²/(2n): the objective of any other α is larger."""
    problem = build("three", "squared")
    answer = answers_of(problem, KernelRidgeExact())[-1]
    best = problem.metrics(answer)["objective"]
    rng = np.random.default_rng(0)
    for _ in range(5):
        move = 0.1 * rng.standard_normal(answer.coefficients.shape)
        other = type(answer)(answer.covariance, answer.centres, answer.coefficients + move)
        assert problem.metrics(other)["objective"] > best


@pytest.mark.parametrize("covariance", ["gaussian", "laplace", "cauchy", "matern"])
def test_nystrom_with_all_rows_as_centres_is_exact_ridge(build, covariance):
    problem = build("numbers", "squared", covariance=covariance)
    exact = answers_of(problem, KernelRidgeExact())[-1]
    nystrom = answers_of(problem, NystromRidge(centres=ROWS))[-1]
    rows = problem.test.features
    np.testing.assert_allclose(nystrom.predict(rows), exact.predict(rows), atol=1e-4)


def test_nystrom_is_the_best_function_over_its_centres(build):
    problem = build("three", "squared")
    answer = answers_of(problem, NystromRidge(centres=20))[-1]
    rows, targets = (each.astype(float) for each in problem.rows(np.arange(ROWS)))
    wide, square = (problem.covariance.gram(each, answer.centres) for each in (rows, answer.centres))
    expected = np.linalg.lstsq(wide.T @ wide + ROWS * 1e-3 * square, wide.T @ targets, rcond=None)[0]
    np.testing.assert_allclose(answer.predict(rows), wide @ expected, atol=1e-5)
    assert answer.num_features == 20


def test_nystrom_reads_a_few_rows_at_a_time(build, monkeypatch):
    problem, asked = build("three", "squared"), []

    def rows(numbers):
        asked.append(len(numbers))
        return type(problem).rows(problem, numbers)

    whole = answers_of(problem, NystromRidge(centres=20))[-1]
    monkeypatch.setattr(problem, "rows", rows, raising=False)
    monkeypatch.setattr(nystrom_ridge, "AT_A_TIME", 60)
    parts = answers_of(problem, NystromRidge(centres=20))[-1]
    assert asked == [20, 60, 60, 30]
    np.testing.assert_allclose(parts.coefficients, whole.coefficients, rtol=1e-6)


def test_a_gram_that_is_singular_to_rounding_is_refused(build):
    with pytest.raises(BenchfwError, match="the gram is singular to rounding; raise penalty"):
        answers_of(build("numbers", "squared", penalty=1e-18, length=5.0), KernelRidgeExact())


@pytest.mark.parametrize("method", [KernelRidgeExact(), NystromRidge()])
def test_ridge_regression_is_for_squared_loss(build, method):
    with pytest.raises(BenchfwError, match="minimizes the squared loss, not 'softmax'"):
        answers_of(build("three", "softmax"), method)


def test_too_many_rows_for_an_exact_solution_are_refused(build):
    with pytest.raises(BenchfwError, match="takes at most 100 rows and here are 150"):
        answers_of(build("numbers", "squared"), KernelRidgeExact(most=100))


@pytest.mark.parametrize("loss", ["hinge", "softmax"])
def test_libsvm_on_several_classes_is_svc(build, loss):
    problem = build("three", loss)
    start, answer = answers_of(problem, LIBSVM())
    rows = problem.rows(np.arange(ROWS)).rows
    machine = SVC(C=1 / (1e-3 * ROWS), gamma=0.5 / LENGTH**2).fit(rows, problem.train.targets)
    np.testing.assert_array_equal(
        answer.labels(problem.test.features), machine.predict(problem.test.features)
    )
    assert answer.num_features == machine.n_support_.sum()
    assert set(problem.metrics(answer)) == set(problem.metrics(start))


@pytest.mark.parametrize("covariance", ["gaussian", "laplace"])
def test_libsvm_on_two_classes_has_the_scores_of_svc_and_the_least_objective(build, covariance):
    problem = build("two", "hinge", covariance=covariance)
    _, answer = answers_of(problem, LIBSVM(tolerance=1e-6))
    rows, test = problem.rows(np.arange(ROWS)).rows, problem.test.features
    gram = problem.covariance.gram
    machine = SVC(C=1 / (1e-3 * ROWS), kernel="precomputed", tol=1e-6)
    machine.fit(gram(rows, rows), problem.train.targets)
    np.testing.assert_allclose(
        answer.predict(test)[:, 0], machine.decision_function(gram(test, rows)), atol=1e-3
    )
    support = np.zeros((ROWS, 1))
    support[machine.support_] = machine.dual_coef_.T
    best, rng = problem.metrics(answer)["objective"], np.random.default_rng(0)
    for size in (0.01, 0.1, 1.0):
        moves = (size * rng.standard_normal(shape) for shape in ((ROWS, 1), 1))
        moved = (each + move for each, move in zip((support, machine.intercept_), moves, strict=True))
        assert problem.metrics(GramPredictor(problem.covariance, rows, *moved))["objective"] > best


@pytest.mark.parametrize("loss", ["hinge", "softmax"])
def test_libsvm_takes_other_covariances_as_a_gram(build, loss):
    problem = build("three", loss, covariance="matern")
    rows, test = problem.rows(np.arange(ROWS)).rows, problem.test.features
    gram = problem.covariance.gram
    machine = SVC(C=1 / (1e-3 * ROWS), kernel="precomputed").fit(gram(rows, rows), problem.train.targets)
    found = answers_of(problem, LIBSVM())[-1].labels(test)
    np.testing.assert_array_equal(found, machine.predict(gram(test, rows)))
    with pytest.raises(BenchfwError, match="for 100 rows at most and here are 150"):
        answers_of(problem, LIBSVM(most=100))


def test_libsvm_takes_a_weight_and_a_gamma_of_its_own(build):
    for name, loss in (("three", "softmax"), ("two", "hinge")):
        problem = build(name, loss)
        answer = answers_of(problem, LIBSVM(C=3.0, gamma_scale=4.0))[-1]
        rows, test = problem.rows(np.arange(ROWS)).rows, problem.test.features
        machine = SVC(C=3.0, gamma=4 * 0.5 / LENGTH**2).fit(rows, problem.train.targets)
        if name == "three":
            np.testing.assert_array_equal(answer.labels(test), machine.predict(test))
        else:
            np.testing.assert_allclose(answer.predict(test)[:, 0], machine.decision_function(test), atol=1e-3)
    with pytest.raises(BenchfwError, match="gamma_scale is for the gaussian covariance, not 'matern'"):
        answers_of(build("three", "softmax", covariance="matern"), LIBSVM(gamma_scale=2.0))


def test_libsvm_on_numbers_is_svr(build):
    problem = build("numbers", "epsilon-insensitive", epsilon=0.2)
    _, answer = answers_of(problem, LIBSVM())
    rows, targets = problem.rows(np.arange(ROWS))
    machine = SVR(C=1 / (1e-3 * ROWS), gamma=0.5 / LENGTH**2, epsilon=0.2).fit(rows, targets[:, 0])
    test = problem.test.features
    np.testing.assert_allclose(answer.predict(test)[:, 0], machine.predict(test), atol=1e-4)


def test_libsvm_is_not_for_squared_loss_on_numbers(build):
    with pytest.raises(BenchfwError, match="takes the loss epsilon-insensitive for numbers, not 'squared'"):
        answers_of(build("numbers", "squared"), LIBSVM())


@pytest.mark.parametrize(
    ("module", "method", "message"),
    [
        ("sklearn", LIBSVM(), r"pip install 'benchfw-kernelmachines\[peers\]'"),
        ("falkon", PeerFalkon(), "falkon is not installed"),
    ],
)
def test_what_is_not_installed_is_named(build, monkeypatch, module, method, message):
    monkeypatch.setitem(sys.modules, module, None)  # as if it were not installed
    with pytest.raises(Unavailable, match=message):
        answers_of(build("numbers", "squared"), method)


def test_falkon_comes_close_to_exact_ridge(build):
    pytest.importorskip("falkon")
    problem = build("numbers", "squared")
    start, answer = answers_of(problem, PeerFalkon(ROWS))
    exact = problem.metrics(answers_of(problem, KernelRidgeExact())[-1])["train_rmse"]
    assert problem.metrics(answer)["train_rmse"] < 1.2 * exact < problem.metrics(start)["train_rmse"]
