"""Every parameter of the methods on fixed random features reaches the linear method or the features."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from benchfw.backends import get_backend
from benchfw_firstorder.estimators.minibatch import Minibatch
from benchfw_firstorder.optimizers.sgd import SGD
from benchfw_firstorder.optimizers.svrg import SVRG
from benchfw_kernelmachines.features import get_frequencies
from benchfw_kernelmachines.fixed_features import FixedFeatures
from benchfw_kernelmachines.optimizers.random_features_sgd import RandomFeaturesSGD
from benchfw_kernelmachines.optimizers.random_features_svrg import RandomFeaturesSVRG
from benchfw_kernelmachines.problems.kernel_regression import KernelRegression

BACKEND = get_backend("numpy")
ROWS, COUNT = 60, 8


@pytest.fixture
def problem(tmp_path, monkeypatch):
    """Ridge regression of a wave on 60 rows in the plane."""
    features = np.random.default_rng(0).uniform(-2, 2, (ROWS + 20, 2)).astype(np.float32)
    np.savez(tmp_path / "wave.npz", X=features, y=np.sin(features.sum(axis=1)), train_idx=np.arange(ROWS))
    monkeypatch.setenv("BENCHFW_DATA", str(tmp_path))
    return KernelRegression(BACKEND, BACKEND.rng(0), dataset="wave", penalty=0.1, length=1.0)


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
def test_the_steps_are_those_of_the_linear_method(problem, method, settings, linear, kind):
    space = problem.covariance, problem.dimension
    model = FixedFeatures(problem, get_frequencies(kind, BACKEND, *space, COUNT, 1), 1e9)
    ours = method(features=COUNT, batch=16, kind=kind, **settings).run(problem, BACKEND.rng(1))
    theirs = linear.run(model, BACKEND.rng(1))
    for answer, params in islice(zip(ours, theirs, strict=True), 12):
        assert answer.frequencies == model.frequencies
        np.testing.assert_array_equal(answer.coefficients[0].reshape(params.shape), params)


@pytest.mark.parametrize("method", [RandomFeaturesSVRG, RandomFeaturesSGD])
def test_features_are_kept_only_where_memory_is_enough(problem, method):
    """To keep them costs one look at all rows."""
    costs = []
    for memory in (1e9, 4 * 2 * COUNT * ROWS - 1):
        problem.cost = 0.0
        answers = method(features=COUNT, batch=16, memory=memory).run(problem, BACKEND.rng(1))
        next(islice(answers, 3, None))
        costs.append(problem.cost)
    assert costs[0] == costs[1] + ROWS
