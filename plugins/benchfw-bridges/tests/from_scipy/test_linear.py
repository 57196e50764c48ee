"""scipy.sparse.linalg on quadratic problems: the iterates of SciPy used by hand, products counted."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
import scipy.sparse.linalg

from benchfw import BenchfwError
from benchfw.testing.answers import answers_of
from benchfw.testing.problems import Quadratic as WithoutHessian
from benchfw_bridges import ScipyLinear, ScipyLsqr
from benchfw_firstorder import LeastSquares, LogisticRegression, Quadratic

SOLVERS = ["bicg", "bicgstab", "cg", "cgs", "gcrotmk", "gmres", "lgmres", "minres", "qmr", "tfqmr"]


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_iterates_are_those_of_scipy_used_by_hand(backend, solver):
    problem, expected = Quadratic(backend, backend.rng(1), size=8, condition=10.0), []
    extra = {"callback_type": "x", "restart": 3} if solver == "gmres" else {}
    getattr(scipy.sparse.linalg, solver)(
        problem.hessian,
        problem.hessian @ problem.optimum,
        callback=lambda x: expected.append(np.array(x)),
        maxiter=5,
        rtol=1e-12,
        **extra,
    )
    own = {"restart": 3} if solver == "gmres" else {}
    first, *found = ScipyLinear(solver, maxiter=5, rtol=1e-12, **own).run(problem, backend.rng(2))
    np.testing.assert_array_equal(first, problem.start())
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)


def test_a_product_is_counted_by_the_problem(backend):
    problem = Quadratic(backend, backend.rng(1), size=20)
    list(islice(ScipyLinear("cg").run(problem, backend.rng(2)), 1 + 6))
    assert problem.cost == 1 + 6  # the gradient at the start, then a product an iteration
    assert problem.declared_cost == 0


def test_without_hessp_products_are_differences_of_gradients(backend):
    problem = WithoutHessian(backend, backend.rng(1))
    *_, last = islice(ScipyLinear("minres").run(problem, backend.rng(2)), 8)
    assert problem.metrics(last)["distance"] < 1e-10


def test_a_start_that_is_the_optimum_is_the_answer(backend):
    problem = WithoutHessian(backend, backend.rng(1), settled=True, interpolated=True)
    found = list(ScipyLinear().run(problem, backend.rng(2)))
    np.testing.assert_array_equal(found, [problem.start()] * 2)


@pytest.mark.parametrize("solver", ["lsqr", "lsmr"])
def test_lsqr_answers_as_scipy_used_by_hand_after_as_many_iterations(backend, solver):
    problem = LeastSquares(backend, backend.rng(1), samples=40, features=6)
    limit = {"iter_lim": 4} if solver == "lsqr" else {"maxiter": 4}
    scale = problem.num_samples**0.5
    expected = getattr(scipy.sparse.linalg, solver)(
        problem.features / scale, problem.targets / scale, atol=0, btol=0, conlim=0, **limit
    )[0]
    found = ScipyLsqr(solver).solve(problem, backend.rng(2), 4)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
    assert (
        4 <= problem.cost <= 5.5
    )  # two products an iteration, the residuals, and what comes before the first


@pytest.mark.parametrize("method", [ScipyLinear(), ScipyLsqr()])
def test_a_function_that_is_not_quadratic_is_refused(backend, method):
    problem = LogisticRegression(backend, backend.rng(1), samples=40, features=6)
    with pytest.raises(BenchfwError, match="the problem does not say quadratic = True; choose"):
        list(islice(answers_of(method, problem), 2))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ScipyLinear("cg", rtoll=1e-3), "cg has no keyword 'rtoll'; did you mean 'rtol'"),
        (lambda: ScipyLinear("gmres", callback_type="pr_norm"), "'callback_type' .* is set by the bridge"),
        (lambda: ScipyLsqr("lsqr", iter_lim=3), "'iter_lim' of scipy's lsqr is set by the bridge"),
    ],
)
def test_a_wrong_keyword_is_a_sentence_before_anything_runs(make, message):
    with pytest.raises(BenchfwError, match=message):
        make()
