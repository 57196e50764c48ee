"""The optimum that a problem knows is where its gradient vanishes, and nothing is charged for it."""

from __future__ import annotations

import numpy as np
import pytest

from benchfw_variational import BayesianGLM, GPClassification

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
}


@pytest.mark.parametrize("diagonal", ["log", "raw"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_the_gradient_vanishes_at_the_optimum_which_costs_nothing(backend, name, diagonal):
    problem = PROBLEMS[name](backend, diagonal=diagonal)
    optimum = problem.optimum
    assert problem.cost == 0
    scale = np.abs(problem.grad(problem.start())).max()
    assert np.abs(problem.grad(optimum)).max() < 1e-5 * scale
    assert problem.value(optimum) < problem.value(problem.start())
