"""Every optimizer against an independent computation."""

from __future__ import annotations

from functools import partial
from itertools import islice

import numpy as np
import pytest

from benchfw import BenchfwError, Claims, CountedProblem, FiniteSum
from benchfw_firstorder import (
    SAGA,
    SGD,
    SVRG,
    AdaDelta,
    AdaGrad,
    Adam,
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
    RMSprop,
    Subgradient,
)


@pytest.fixture(scope="module")
def quadratic(backend):
    return Quadratic(backend, backend.rng(5), size=30, condition=50.0)


@pytest.fixture(scope="module")
def logistic(backend):
    return LogisticRegression(backend, backend.rng(5), samples=200, features=10, condition=10.0)


def answers(optimizer, problem, count, seed=7):
    """Return x_0 … x_count."""
    return np.array(list(islice(optimizer.run(problem, problem.backend.rng(seed)), count + 1)))


def gaps(optimizer, problem, count, seed=7):
    return np.array([problem.metrics(x)["gap"] for x in answers(optimizer, problem, count, seed)])


def slope(values, first, last):
    k = np.arange(first, last + 1)
    return np.polyfit(np.log(k), np.log(values[first : last + 1]), 1)[0]


def test_gradient_descent_is_a_power_of_a_matrix(quadratic):
    step = 0.7
    found = answers(GradientDescent(step=step), quadratic, 20)
    error = quadratic.start() - quadratic.optimum
    map_ = np.eye(30) - step * quadratic.hessian
    for k in (0, 1, 5, 20):
        expected = quadratic.optimum + np.linalg.matrix_power(map_, k) @ error
        np.testing.assert_allclose(found[k], expected, atol=1e-13)


def test_heavy_ball_has_polyaks_rate(quadratic):
    root = 50.0**0.5
    optimizer = HeavyBall(step=4 / (1 + 1 / root) ** 2, momentum=((root - 1) / (root + 1)) ** 2)
    found = answers(optimizer, quadratic, 120)
    errors = np.linalg.norm(found - quadratic.optimum, axis=1)
    rate = (errors[120] / errors[40]) ** (1 / 80)
    # a double root multiplies by k: hence the factor (120/40)^(1/80)
    assert rate == pytest.approx((root - 1) / (root + 1) * 3 ** (1 / 80), rel=0.01)


def test_heavy_ball_of_two_steps_is_written_out(quadratic):
    step, momentum = 0.5, 0.8
    zero = quadratic.start()
    one = zero - step * quadratic.grad(zero)
    two = one - step * quadratic.grad(one) + momentum * (one - zero)
    np.testing.assert_allclose(answers(HeavyBall(step, momentum), quadratic, 2), [zero, one, two], atol=1e-15)


def test_heavy_ball_on_least_squares_ends_at_the_optimum_though_it_oscillates(backend):
    problem = LeastSquares(backend, backend.rng(2))
    last = answers(HeavyBall(step=1 / problem.constants.smoothness, momentum=0.9), problem, 200)[-1]
    least = problem.metrics(problem.optimum)["objective"]
    assert problem.metrics(last)["objective"] <= least * (1 + 1e-6)


def test_chain_separates_gradient_descent_from_nesterov(backend):
    chain = Quadratic(backend, backend.rng(1), size=400, matrix="chain")
    assert slope(gaps(GradientDescent(), chain, 200), 20, 200) == pytest.approx(-0.51, abs=0.03)
    assert slope(gaps(Nesterov(), chain, 200), 20, 200) == pytest.approx(-1.05, abs=0.03)


def test_nesterov_sequence_is_written_out(quadratic):
    step = 0.9
    x = before = quadratic.start()
    expected, t = [x], 1.0
    for k in range(1, 6):
        t_next = (1 + np.sqrt(1 + 4 * t**2)) / 2
        momentum = 0.0 if k == 1 else (t - 1) / t_next
        t = 1.0 if k == 1 else t_next
        y = x + momentum * (x - before)
        x, before = y - step * quadratic.grad(y), x
        expected.append(x)
    np.testing.assert_allclose(answers(Nesterov(step), quadratic, 5), expected, atol=1e-15)


def test_nesterov_with_constant_momentum_has_the_accelerated_rate(quadratic):
    root = 50.0**0.5
    found = gaps(Nesterov(momentum=(root - 1) / (root + 1)), quadratic, 150)
    # (1 - 1/√κ)^k (F_0 - F* + μ/2 |x_0 - x*|²), Nesterov 2018, theorem 2.2.3
    start = found[0] + 0.01 * quadratic.constants.distance**2
    assert np.all(found <= (1 - 1 / root) ** np.arange(151) * start + 1e-15)


def test_subgradient_step_uses_the_whole_objective(backend):
    problem = Lasso(backend, backend.rng(3))
    x1, x2 = answers(Subgradient(step=0.1), problem, 2)[1:]
    expected = x1 - 0.1 / 2**0.5 * (problem.grad(x1) + problem.weight * np.sign(x1))
    np.testing.assert_allclose(x2, expected, atol=1e-15)


def test_subgradient_comes_near_the_optimum_of_a_lasso(backend):
    problem = Lasso(backend, backend.rng(3))
    found = gaps(Subgradient(), problem, 2000)
    assert found[-1] < 0.01 * found[0]


def test_fista_is_ahead_of_proximal_gradient_and_both_find_the_lasso(backend):
    problem = Lasso(backend, backend.rng(3), penalty_ratio=0.01)
    slow, fast = gaps(ProximalGradient(), problem, 3000), gaps(Fista(), problem, 3000)
    assert fast[100] < 0.1 * slow[100]
    assert slow[-1] < 1e-8 > fast[-1]


@pytest.mark.parametrize(
    "optimizer", [ProximalGradient(), Fista(), GradientDescent(), Nesterov(), HeavyBall()]
)
def test_iterates_stay_in_the_box_and_find_its_optimum(backend, optimizer):
    problem = BoxLeastSquares(backend, backend.rng(3), samples=100, features=10)
    found = answers(optimizer, problem, 500)
    assert np.abs(found).max() <= 0.1
    assert problem.metrics(found[-1])["distance"] < 1e-6


@pytest.mark.parametrize(
    ("schedule", "length"),
    [
        ("constant", lambda k: 0.3),
        ("inverse", lambda k: 0.3 / (1 + 0.5 * k)),
        ("inverse-sqrt", lambda k: 0.3 / np.sqrt(k + 1)),
        ("power", lambda k: 0.3 * (k + 1) ** -0.6),
    ],
)
def test_sgd_steps_follow_their_schedule(quadratic, schedule, length):
    optimizer = SGD(step=0.3, schedule=schedule, decay=0.5, power=0.6, estimator=Exact())
    x = quadratic.start()
    expected = [x]
    for k in range(5):
        x = x - length(k) * quadratic.grad(x)
        expected.append(x)
    np.testing.assert_allclose(answers(optimizer, quadratic, 5), expected, atol=1e-15)


def test_with_a_horizon_steps_fall_linearly_to_0_beside_their_schedule(quadratic):
    x = quadratic.start()
    expected = [x]
    for k in range(6):
        x = x - 0.3 * (k + 1) ** -0.6 * max(0, 1 - k / 4) * quadratic.grad(x)
        expected.append(x)
    sgd = SGD(step=0.3, schedule="power", power=0.6, estimator=Exact(), horizon=4)
    np.testing.assert_allclose(answers(sgd, quadratic, 6), expected, atol=1e-15)
    for optimizer in (Adam, AdaGrad):
        found = np.array(answers(optimizer(step=0.3, estimator=Exact(), horizon=4), quadratic, 6))
        plain = np.array(answers(optimizer(step=0.3, estimator=Exact()), quadratic, 1))
        np.testing.assert_array_equal(found[:2], plain)
        assert (found[3] != found[4]).any()
        np.testing.assert_array_equal(found[4], found[6])
        # the second step, from the same place, is three quarters of that with a constant length
        constant = np.array(answers(optimizer(step=0.3, estimator=Exact()), quadratic, 2))
        np.testing.assert_allclose(found[2] - found[1], 0.75 * (constant[2] - constant[1]), rtol=1e-12)


def test_averaged_sgd_yields_the_mean_of_all_iterates_so_far(logistic):
    plain = answers(SGD(step=0.5, estimator=Minibatch(4)), logistic, 30)
    averaged = answers(SGD(step=0.5, estimator=Minibatch(4), average=True), logistic, 30)
    means = np.cumsum(plain, axis=0) / np.arange(1, 32)[:, None]
    np.testing.assert_allclose(averaged, means, atol=1e-13)


@pytest.mark.parametrize(
    "optimizer", [SVRG(), SVRG(inner=20, snapshot="average"), SAGA(), SAGA(batch=1)], ids=repr
)
@pytest.mark.sampled(2)
def test_variance_reduction_converges_linearly_where_sgd_stalls(logistic, optimizer):
    steps = 6000 if getattr(optimizer, "batch", 32) == 1 else 2500
    reduced = gaps(optimizer, logistic, steps)
    assert reduced[-1] < 1e-10 * reduced[0]
    assert gaps(SGD(), logistic, 2500)[-500:].mean() > 1e-5


@pytest.mark.parametrize("optimizer", [SVRG(), SAGA()], ids=repr)
def test_variance_reduction_takes_the_proximal_step(backend, optimizer):
    problem = ElasticNet(backend, backend.rng(3), samples=200, features=20, nonzeros=4, ridge=0.1)
    found = answers(optimizer, problem, 2500)[-1]
    assert problem.metrics(found)["gap"] < 1e-10
    np.testing.assert_array_equal(found == 0, problem.optimum == 0)


def test_svrg_step_is_written_out(logistic):
    found = answers(SVRG(step=0.2, inner=3, estimator=Minibatch(4)), logistic, 4)
    rng = logistic.backend.rng(7)
    x = anchor = logistic.start()
    for k in range(4):
        if k % 3 == 0:
            anchor = x
        batch = rng.integers(0, 200, size=4)
        estimate = logistic.grad_batch(x, batch) - logistic.grad_batch(anchor, batch) + logistic.grad(anchor)
        x = x - 0.2 * estimate
        np.testing.assert_allclose(found[k + 1], x, atol=1e-14)


def test_svrg_and_saga_count_what_they_use(backend):
    problem = LogisticRegression(backend, backend.rng(5), samples=100, features=5)
    answers(SVRG(inner=10, estimator=Minibatch(5)), problem, 20)
    assert problem.cost == pytest.approx(2 * (1 + 10 * 2 * 0.05))
    before = problem.cost
    answers(SAGA(batch=5), problem, 20)
    assert problem.cost - before == pytest.approx(1 + 20 * 0.05)


def adagrad(gradients_at, x, steps):
    squares = np.zeros_like(x)
    for _ in range(steps):
        g = gradients_at(x)
        squares += g * g
        x = x - 0.1 * g / np.sqrt(squares + 1e-3)
    return x


def rmsprop(gradients_at, x, steps):
    squares = np.zeros_like(x)
    for _ in range(steps):
        g = gradients_at(x)
        squares = 0.8 * squares + 0.2 * g * g
        x = x - 0.1 * g / np.sqrt(squares + 1e-3)
    return x


def adadelta(gradients_at, x, steps):
    squares, moves = np.zeros_like(x), np.zeros_like(x)
    for _ in range(steps):
        g = gradients_at(x)
        squares = 0.8 * squares + 0.2 * g * g
        u = 0.5 * np.sqrt(moves + 1e-3) / np.sqrt(squares + 1e-3) * g
        x = x - u
        moves = 0.8 * moves + 0.2 * u * u
    return x


def adam(gradients_at, x, steps):
    mean, squares = np.zeros_like(x), np.zeros_like(x)
    for k in range(1, steps + 1):
        g = gradients_at(x)
        mean = 0.7 * mean + 0.3 * g
        squares = 0.9 * squares + 0.1 * g * g
        x = x - 0.1 * (mean / (1 - 0.7**k)) / (np.sqrt(squares / (1 - 0.9**k)) + 1e-3)
    return x


@pytest.mark.parametrize(
    ("optimizer", "by_hand"),
    [
        (AdaGrad(0.1, 1e-3, Minibatch(4)), adagrad),
        (RMSprop(0.1, 0.8, 1e-3, Minibatch(4)), rmsprop),
        (AdaDelta(0.5, 0.8, 1e-3, Minibatch(4)), adadelta),
        (Adam(0.1, 0.7, 0.9, 1e-3, Minibatch(4)), adam),
    ],
)
def test_adaptive_methods_are_their_formulas(logistic, optimizer, by_hand):
    rng = logistic.backend.rng(7)
    expected = by_hand(
        lambda x: logistic.grad_batch(x, rng.integers(0, 200, size=4)), logistic.start(), steps=25
    )
    np.testing.assert_allclose(answers(optimizer, logistic, 25)[-1], expected, atol=1e-13)


@pytest.mark.parametrize("optimizer", [SGD, SVRG, Adam, AdaGrad, RMSprop, AdaDelta, ProximalGradient, Fista])
def test_steps_take_the_draws_of_an_estimator_that_has_a_sequence_of_its_own(backend, optimizer):
    class InTurn:
        """Samples 0 to 3, 4 to 7, …"""

        claims, estimates, solves = Claims(unbiased=True), "grad", FiniteSum

        def draw(self, problem, rng):
            raise AssertionError("draws() is there")

        def draws(self, problem, rng):
            for first in range(0, 40, 4):
                seen.append(first)
                yield partial(problem.grad_batch, batch=np.arange(first, first + 4))

    seen = []
    problem = Lasso if optimizer in {ProximalGradient, Fista} else LogisticRegression
    answers(optimizer(step=0.01, estimator=InTurn()), problem(backend, backend.rng(5)), 5)
    assert seen == [0, 4, 8, 12, 16]


def test_automatic_step_needs_a_problem_that_knows_its_smoothness(backend):
    class Opaque(CountedProblem):
        """A smooth problem with no constants."""

        def __init__(self):
            self.backend = backend

        def start(self):
            return np.zeros(2)

    for optimizer in (GradientDescent(), SGD(estimator=Exact())):
        with pytest.raises(
            BenchfwError, match="of the problem, which is not known: give the step as a number"
        ):
            next(optimizer.run(Opaque(), backend.rng(1)))


@pytest.mark.parametrize("kind", ["quadratic", "least squares"])
def test_look_ahead_reduces_the_oscillation_of_momentum(backend, kind):
    """Count the steps at which the gap rises, at equal momentum, above the rounding of the objective."""
    if kind == "quadratic":
        problem = Quadratic(backend, backend.rng(7), size=100, condition=100.0)
    else:
        problem = LeastSquares(backend, backend.rng(7), samples=400, features=20)
    rises = []
    for optimizer in (HeavyBall(momentum=0.9), Nesterov(momentum=0.9)):
        found = gaps(optimizer, problem, 200)
        rises.append(int(np.sum(np.diff(found[found > 1e-9 * found[0]]) > 0)))
    assert rises[0] >= 10
    assert rises[1] <= rises[0] / 3
