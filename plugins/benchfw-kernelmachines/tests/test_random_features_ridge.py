"""Normal equations on random features against the same ridge regression in float64, and what they hold."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import benchfw_kernelmachines
from benchfw import BenchfwError
from benchfw.backends import get_backend
from benchfw.suite import read_suite
from benchfw_kernelmachines.optimizers.random_features_ridge import RandomFeaturesRidge
from benchfw_kernelmachines.problems.kernel_classification import KernelClassification
from benchfw_kernelmachines.problems.kernel_regression import KernelRegression

BACKEND = get_backend("numpy")
NUMBERS = "uci-like(rows=1500, features=4)"
MEMORY = Path(benchfw_kernelmachines.__file__).parent / "suites" / "kernelmachines" / "memory.toml"
LIMIT, ROWS, CLASSES = 128e6, 60_000, 10


def test_it_is_the_ridge_regression_on_these_features():
    problem = KernelRegression(BACKEND, BACKEND.rng(0), dataset=NUMBERS, penalty=1e-3)
    start, answer = RandomFeaturesRidge(features=40).run(problem, BACKEND.rng(3))
    assert start.num_features == 0
    assert problem.cost == problem.num_samples
    rows, targets = problem.rows(np.arange(problem.num_samples))
    phases = rows.astype(float) @ answer.frequencies.block(0)
    features = np.hstack([np.cos(phases), np.sin(phases)]) / 40**0.5
    ridge = problem.num_samples * problem.penalty * np.eye(80)
    weights = np.linalg.solve(features.T @ features + ridge, features.T @ targets)
    np.testing.assert_allclose(answer.predict(rows), features @ weights, atol=1e-3)
    assert answer.squared_norm() == pytest.approx(float((weights**2).sum()), rel=0.01)


@pytest.mark.parametrize(("counts", "cost"), [("pairs", 1200 * 40), ("features", 40)])
def test_each_feature_of_a_row_is_computed_once(counts, cost):
    problem = KernelRegression(BACKEND, BACKEND.rng(0), dataset=NUMBERS, rows=1200, counts=counts)
    list(RandomFeaturesRidge(features=40).run(problem, BACKEND.rng(3)))
    assert problem.cost == cost


def test_another_loss_is_refused():
    problem = KernelClassification(BACKEND, BACKEND.rng(0), dataset="ionosphere-like", loss="softmax")
    with pytest.raises(BenchfwError, match="random-features-ridge minimizes the squared loss"):
        list(RandomFeaturesRidge(features=8).run(problem, BACKEND.rng(0)))


def test_its_memory_is_that_of_one_matrix_and_a_piece_of_rows():
    problem = KernelRegression(BACKEND, BACKEND.rng(0), dataset=NUMBERS)
    list(RandomFeaturesRidge(features=8).run(problem, BACKEND.rng(3)))
    tracemalloc.start()
    list(RandomFeaturesRidge(features=400).run(problem, BACKEND.rng(3)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.3 * bytes_of_normal_equations(400)


def bytes_of_normal_equations(m):
    return 16 * m**2 + 16 * 256 * m


def test_what_the_suite_of_memory_compares_fits_into_its_limit():
    stored, normal, step = read_suite(MEMORY).tables["optimizer"]
    assert [stored["label"], normal["label"], step["use"]] == ["stored", "normal equations", ["dsg", "cdsg"]]
    assert 0.95 * LIMIT < 8 * ROWS * stored["features"] <= stored["memory"] == LIMIT
    assert bytes_of_normal_equations(normal["features"]) < LIMIT
    at_once = 16 * step["batch"] * step["block"] + 32 * step["block"] ** 2
    assert at_once + 8 * CLASSES * 200_000 < LIMIT
