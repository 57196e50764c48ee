"""The optimum that a problem knows is where its gradient vanishes, and nothing is charged for it."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from benchfw import BenchfwError
from benchfw_variational import PG, BayesianGLM, GPClassification

OUTLIERS = {"name": "student-t", "degrees": 1.5, "scale": 0.5}
PROBLEMS = {
    "covariance": lambda backend, **more: GPClassification(
        backend, backend.rng(1), dataset="ionosphere-like", log_length=1.0, log_scale=1.0, **more
    ),
    "weights": lambda backend, **more: BayesianGLM(
        backend, backend.rng(1), dataset="ionosphere-like", **more
    ),
    "counts": lambda backend, **more: BayesianGLM(
        backend, backend.rng(1), dataset="counts-like(rows=120, train=80)", likelihood="poisson", **more
    ),
    "a loss that is not convex": lambda backend, **more: BayesianGLM(
        backend, backend.rng(1), dataset="counts-like(rows=120, train=80)", likelihood=OUTLIERS, **more
    ),
}


@pytest.mark.parametrize("diagonal", ["log", "raw"])
@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.sampled(4)
def test_the_gradient_vanishes_at_the_optimum_which_costs_nothing(backend, name, diagonal):
    problem = PROBLEMS[name](backend, diagonal=diagonal)
    optimum = problem.optimum
    assert problem.cost == 0
    scale = np.abs(problem.grad(problem.start())).max()
    assert np.abs(problem.grad(optimum)).max() < 1e-5 * scale
    assert problem.value(optimum) < problem.value(problem.start())


def test_proximal_gradients_end_above_the_optimum_where_curvatures_are_negative(backend):
    problem = PROBLEMS["a loss that is not convex"](backend)
    *_, last = islice(PG(step=0.3).run(problem, backend.rng(0)), 100)
    local = problem.likelihood.expectations(problem.targets, last.mean, last.variance)
    assert local.curvature.min() < 0
    assert problem.value(problem.optimum) < last.negative_bound() - 0.1


def test_an_optimum_that_is_not_found_is_one_sentence(backend, monkeypatch):
    monkeypatch.setattr("benchfw_variational.optimum.ITERATIONS", 2)
    problem = PROBLEMS["a loss that is not convex"](backend)
    with pytest.raises(BenchfwError, match="the gradient of the bound does not vanish here"):
        _ = problem.optimum
    assert problem.cost == 0
