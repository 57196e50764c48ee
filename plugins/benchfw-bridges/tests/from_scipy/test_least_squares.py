"""scipy.optimize.least_squares: the trajectories of SciPy used by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import least_squares

from benchfw import BenchfwError, CountedProblem
from benchfw_bridges import ScipyLeastSquares
from benchfw_firstorder import LeastSquares


class Rosenbrock(CountedProblem):
    """(1 - x)²/2 + 100 (y - x²)²/2, over a box where one is given."""

    def __init__(self, backend, box=None):
        self.backend = backend
        if box is not None:
            self.box = box

    def start(self):
        return np.array([-1.2, 1.0])

    def residuals(self, params):
        self._count(1.0)
        x, y = params
        return np.array([10 * (y - x**2), 1 - x])

    def jacobian(self, params):
        self._count(2.0)
        return np.array([[-20 * params[0], 10.0], [-1.0, 0.0]])

    def metrics(self, answer):
        return {"distance": float(np.linalg.norm(answer - 1))}


@pytest.mark.parametrize("method", ["trf", "dogbox"])
@pytest.mark.parametrize("box", [None, (-2.0, np.array([0.5, 3.0]))])
def test_the_trajectory_is_that_of_scipy_used_by_hand(backend, method, box):
    problem, expected = Rosenbrock(backend, box), []
    hand = least_squares(
        problem.residuals,
        problem.start(),
        jac=problem.jacobian,
        method=method,
        bounds=box or (-np.inf, np.inf),
        callback=lambda x: expected.append(np.array(x)),
    )
    problem = Rosenbrock(backend, box)
    found = list(ScipyLeastSquares(method, max_nfev=hand.nfev).run(problem, backend.rng(1)))
    np.testing.assert_array_equal(found[1 : len(expected) + 1], expected)
    assert problem.cost <= hand.nfev + 2 * hand.njev


def test_on_least_squares_one_step_is_enough_and_is_counted(backend):
    problem = LeastSquares(backend, backend.rng(1), samples=60, features=5)
    found = list(ScipyLeastSquares().run(problem, backend.rng(1)))
    assert problem.metrics(found[1])["gap"] < 1e-24
    assert problem.cost >= 2 * 0.5 + 0.5
    assert problem.declared_cost == 0


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"xtoll": 1e-9}, "least_squares has no keyword 'xtoll'; did you mean 'xtol'"),
        ({"loss": "huber"}, "'loss' of scipy's least_squares is set by the bridge; leave it out"),
        ({"method": "lm"}, "method must be trf or dogbox, got 'lm'"),
    ],
)
def test_a_wrong_keyword_is_a_sentence_before_anything_runs(keywords, message):
    with pytest.raises(BenchfwError, match=message):
        ScipyLeastSquares(**keywords)
