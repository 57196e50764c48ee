"""scipy.optimize.minimize: the trajectories of SciPy used by hand, counted by the problem."""

from __future__ import annotations

import contextlib
import warnings
from itertools import islice, pairwise

import numpy as np
import pytest
from scipy.optimize import Bounds, minimize

from benchfw import BenchfwError
from benchfw.testing.problems import Quadratic as WithoutHessian
from benchfw_bridges import ScipyMinimize
from benchfw_bridges.from_scipy.minimize import BOUNDED, ENDLESS, NEED_HESSP, WITH_HESSP, WITHOUT_GRADIENT
from benchfw_firstorder import BoxLeastSquares, LogisticRegression

ITERATIONS = 12


@pytest.fixture
def problem(backend):
    return LogisticRegression(backend, backend.rng(1), samples=80, features=4)


def by_hand(problem, method, **more):
    """Return the points that SciPy calls back with, up to some number, without the start."""
    found = []
    skipped = method in {"COBYQA", "trust-constr"}  # they call back at the start, too
    axes = np.eye(4)
    given = {"fun": problem.value}
    if method not in WITHOUT_GRADIENT:
        given = {"fun": problem.value_and_grad, "jac": True}
    if method in WITH_HESSP:
        given["hessp"] = problem.hessp
    elif method in NEED_HESSP:
        given["hess"] = lambda x: np.stack([problem.hessp(x, axis) for axis in axes])

    def hear(xk, *_):
        found.append(np.array(xk))
        if len(found) == ITERATIONS + skipped:
            raise KeyboardInterrupt

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with contextlib.suppress(KeyboardInterrupt):
            minimize(x0=problem.start(), method=method, callback=hear, **given, **more)
    return found[skipped:]


@pytest.mark.parametrize("method", sorted(ENDLESS))
def test_the_trajectory_is_that_of_scipy_used_by_hand(problem, backend, method):
    expected = by_hand(problem, method, options=dict(ENDLESS[method]))
    first, *found = islice(ScipyMinimize(method).run(problem, backend.rng(2)), ITERATIONS + 1)
    np.testing.assert_array_equal(first, problem.start())
    steps = min(len(found), len(expected))  # at the rounding of the objective trust-krylov ends as it likes
    assert steps >= 3
    np.testing.assert_array_equal(found[:steps], expected[:steps])


@pytest.mark.parametrize("method", ["BFGS", "L-BFGS-B"])
def test_without_tolerances_the_trajectory_is_the_same_and_goes_on(problem, backend, method):
    expected = []
    minimize(
        problem.value_and_grad,
        problem.start(),
        jac=True,
        method=method,
        callback=expected.append,
    )
    found = list(ScipyMinimize(method).run(problem, backend.rng(2)))
    assert len(found) > len(expected) + 1
    np.testing.assert_array_equal(found[1 : len(expected) + 1], expected)


@pytest.mark.parametrize(("method", "unit"), [("BFGS", 1.0), ("Nelder-Mead", 0.5)])
def test_the_problem_counts_what_scipy_asks_for(problem, backend, method, unit):
    calls = minimize(
        problem.value_and_grad if unit == 1.0 else problem.value,
        problem.start(),
        jac=unit == 1.0 or None,
        method=method,
        options={"maxiter": 6},
    ).nfev
    before = problem.cost
    list(ScipyMinimize(method, maxiter=6).run(problem, backend.rng(2)))
    assert problem.cost - before == unit * calls


def test_options_are_passed_on(problem, backend):
    found = list(ScipyMinimize("L-BFGS-B", maxiter=3).run(problem, backend.rng(2)))
    assert len(found) == 1 + 3


def test_without_options_it_runs_on_to_the_rounding_of_the_objective(problem, backend):
    *_, last = ScipyMinimize("BFGS").run(problem, backend.rng(2))
    assert problem.metrics(last)["gap"] <= 1e-15


@pytest.mark.parametrize("method", ["L-BFGS-B", "TNC", "SLSQP", "trust-constr", "Nelder-Mead"])
def test_a_box_becomes_bounds(backend, method):
    problem = BoxLeastSquares(backend, backend.rng(1), samples=60, features=4)
    bounds = Bounds(*problem.box, keep_feasible=True)
    expected = by_hand(problem, method, bounds=bounds, options=dict(ENDLESS[method]))
    _, *found = islice(ScipyMinimize(method).run(problem, backend.rng(2)), len(expected) + 1)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("lower", [-0.1, 0.0], ids=["a start inside", "a start on the edge"])
@pytest.mark.parametrize("method", sorted(BOUNDED))
def test_a_method_with_bounds_improves_and_never_leaves_the_box(backend, method, lower):
    problem = BoxLeastSquares(backend, backend.rng(1), lower=lower)
    low, high = problem.box
    answers = list(islice(ScipyMinimize(method).run(problem, backend.rng(2)), 5 * ITERATIONS))
    assert all(np.all((low <= answer) & (answer <= high)) for answer in answers)
    assert problem.value(answers[-1]) < problem.value(answers[0])


def test_a_method_without_bounds_refuses_a_box(backend):
    problem = BoxLeastSquares(backend, backend.rng(1), samples=60, features=4)
    with pytest.raises(
        BenchfwError, match="method 'BFGS' does not keep to bounds, and the problem has a box; use"
    ):
        list(ScipyMinimize("BFGS").run(problem, backend.rng(2)))


def test_a_method_that_needs_the_hessian_says_so(backend):
    problem = WithoutHessian(backend, backend.rng(1))
    with pytest.raises(BenchfwError, match=r"'trust-ncg' needs the Hessian, and the problem has no hessp"):
        list(ScipyMinimize("trust-ncg").run(problem, backend.rng(2)))
    values = [
        problem.metrics(each)["gap"] for each in ScipyMinimize("Newton-CG").run(problem, backend.rng(2))
    ]
    assert all(after <= before for before, after in pairwise(values))


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        ("BFGS", {"gtoll": 1e-3}, "method 'BFGS' has no option gtoll; scipy.optimize.show_options"),
        ("TNC", {"gtoll": 1e-3}, "method 'TNC' has no option gtoll"),
        ("trust-exact", {"gtoll": 1e-3}, "method 'trust-exact' has no option gtoll"),
        ("L-BFGS-B", {"maxcor": "ten"}, "method 'L-BFGS-B' does not take {'maxcor': 'ten'}: "),
        ("bfgs", {}, "method must be one of BFGS, CG, "),
    ],
)
def test_a_wrong_option_is_a_sentence_before_anything_runs(method, options, message):
    with pytest.raises(BenchfwError, match=f"^scipy-minimize: {message}"):
        ScipyMinimize(method, **options)
