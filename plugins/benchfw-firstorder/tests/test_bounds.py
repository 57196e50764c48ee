"""No measured curve lies above its theorem."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from benchfw import Bounded
from benchfw_firstorder import (
    SGD,
    BoxLeastSquares,
    ElasticNet,
    Exact,
    Fista,
    GradientDescent,
    HeavyBall,
    Lasso,
    LeastSquares,
    LogisticRegression,
    Minibatch,
    Nesterov,
    ProximalGradient,
    Quadratic,
    SvrgGradient,
)
from benchfw_firstorder.rates import contraction_rate, proximal_gradient_rate

SMOOTH = [
    (Quadratic, {"size": 40, "condition": 100.0}),
    (Quadratic, {"size": 400, "matrix": "chain"}),
    (LeastSquares, {"samples": 100, "features": 10}),
    (LeastSquares, {"samples": 10, "features": 20}),
    (LogisticRegression, {"samples": 100, "features": 10}),
    (BoxLeastSquares, {"samples": 100, "features": 10}),
]
COMPOSITE = [(Lasso, {}), (ElasticNet, {}), (BoxLeastSquares, {"samples": 100, "features": 10})]
COUNT = 400
ITERATIONS = np.arange(COUNT + 1)


def curve_and_bound(backend, kind, optimizer, seed=1):
    problem = kind[0](backend, backend.rng(seed), **kind[1])
    found = islice(optimizer.run(problem, backend.rng(seed + 100)), COUNT + 1)
    return np.array([problem.metrics(x)["gap"] for x in found]), optimizer.bound(problem, ITERATIONS)


@pytest.mark.parametrize("kind", SMOOTH)
@pytest.mark.parametrize("optimizer", [GradientDescent(), Nesterov()], ids=repr)
def test_deterministic_methods_stay_below_their_bounds(backend, kind, optimizer):
    curve, bound = curve_and_bound(backend, kind, optimizer)
    assert np.all(np.isfinite(bound))
    assert bound[0] >= curve[0]
    assert np.all(curve <= bound)


@pytest.mark.parametrize("kind", COMPOSITE)
@pytest.mark.parametrize("optimizer", [ProximalGradient(), Fista()], ids=repr)
def test_proximal_methods_stay_below_their_bounds(backend, kind, optimizer):
    curve, bound = curve_and_bound(backend, kind, optimizer)
    assert np.all(curve <= bound)


@pytest.mark.parametrize("step", [0.3, 1.0, 2 / 1.02])
def test_contraction_bound_holds_at_any_step_that_contracts(backend, step):
    curve, bound = curve_and_bound(backend, (Quadratic, {"condition": 50.0}), GradientDescent(step))
    assert np.all(curve <= bound)


@pytest.mark.parametrize("size", [30, 400])
def test_gradient_descent_on_the_chain_is_held_against_the_smaller_of_both_rates(backend, size):
    kind = (Quadratic, {"size": size, "matrix": "chain"})
    curve, bound = curve_and_bound(backend, kind, GradientDescent())
    problem = kind[0](backend, backend.rng(1), **kind[1])
    step = 1 / problem.constants.smoothness
    rates = [rate(problem, ITERATIONS, step) for rate in (proximal_gradient_rate, contraction_rate)]
    np.testing.assert_array_equal(bound, np.minimum(*rates))
    # on the short chain the one is smaller early and the other late; on the long one late is later than this
    assert np.any(rates[1] < rates[0])
    assert np.any(rates[0] < rates[1]) == (size == 30)
    assert np.all(curve <= bound)


@pytest.mark.parametrize("seed", range(5))
def test_contraction_bound_survives_its_own_rounding(backend, seed):
    # one eigenvalue, so that the theorem holds with equality, and so short steps that no digits cancel
    curve, bound = curve_and_bound(backend, (Quadratic, {"size": 1}), GradientDescent(step=1e-4), seed)
    assert np.all(curve <= bound)
    np.testing.assert_allclose(curve, bound, rtol=1e-11)


def test_contraction_bound_is_reached_by_a_single_eigenvalue(backend):
    curve, bound = curve_and_bound(backend, (Quadratic, {"condition": 1.0}), GradientDescent(0.1))
    np.testing.assert_allclose(curve[:50], bound[:50], rtol=1e-10)


@pytest.mark.parametrize(("step", "momentum"), [(1.0, 0.9), (4 / (1 + 0.1) ** 2, (9 / 11) ** 2), (1.5, 0.95)])
def test_heavy_ball_stays_below_its_bound(backend, step, momentum):
    curve, bound = curve_and_bound(backend, (Quadratic, {"condition": 100.0}), HeavyBall(step, momentum))
    assert np.all(curve <= bound)


@pytest.mark.parametrize(
    "estimator", [Minibatch(1), Minibatch(8), Minibatch(8, replace=False), Exact()], ids=repr
)
@pytest.mark.parametrize("step", [0.002, 0.01, 0.05])
@pytest.mark.sampled(4)
def test_averaged_sgd_stays_below_its_bound_in_the_mean(backend, estimator, step):
    kind = (BoxLeastSquares, {"samples": 100, "features": 10})
    optimizer = SGD(step=step, average=True, estimator=estimator)
    problem = kind[0](backend, backend.rng(1), **kind[1])
    curves = [
        [problem.metrics(x)["gap"] for x in islice(optimizer.run(problem, backend.rng(seed)), COUNT + 1)]
        for seed in range(8)
    ]
    assert np.all(np.mean(curves, axis=0) <= optimizer.bound(problem, ITERATIONS))


def test_averaged_sgd_bound_is_cg_over_root_m_at_its_best_step(backend):
    problem = BoxLeastSquares(backend, backend.rng(1))
    points = 1000
    known = problem.constants
    step = known.distance / (known.gradient_bound * points**0.5)
    bound = SGD(step=step, average=True).bound(problem, np.array([points - 1]))
    np.testing.assert_allclose(bound, known.gradient_bound * known.distance / points**0.5)


@pytest.mark.parametrize(
    ("optimizer", "kind"),
    [
        (GradientDescent(), (Lasso, {})),
        (Nesterov(), (Lasso, {})),
        (GradientDescent(step=3.0), (Quadratic, {})),
        (GradientDescent(step=100.0), (LogisticRegression, {})),
        (Nesterov(momentum=0.5), (Quadratic, {})),
        (HeavyBall(), (LogisticRegression, {})),
        (HeavyBall(momentum=0.1), (Quadratic, {"condition": 1000.0})),
        (SGD(average=True), (LeastSquares, {})),
        (SGD(step=0.1), (BoxLeastSquares, {})),
        (SGD(step=0.1, average=True, schedule="inverse"), (BoxLeastSquares, {})),
        (SGD(step=0.1, average=True, estimator=SvrgGradient()), (BoxLeastSquares, {})),
    ],
    ids=repr,
)
def test_where_no_theorem_applies_there_is_no_bound(backend, optimizer, kind):
    assert isinstance(optimizer, Bounded)
    assert optimizer.bound(kind[0](backend, backend.rng(1), **kind[1]), ITERATIONS) is None
