"""The randomly cut series is unbiased, is one function a draw, and refuses what it cannot do."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse

from benchfw import BenchfwError
from benchfw.kernels.operators import DenseOperator, as_operator
from benchfw_firstorder import SVRG, Exact
from benchfw_spectral import (
    Chebyshev,
    Deterministic,
    Geometric,
    GPHyperparameters,
    Hutchinson,
    HutchPlusPlus,
    Lanczos,
    MatrixCompletion,
    NegativeBinomial,
    Optimal,
    Oracle,
    Poisson,
    SpectralQuadratic,
    XTrace,
    get_function,
    weighted_variance,
)
from benchfw_spectral.estimators import chebyshev
from benchfw_spectral.kernels.chebyshev import chebyshev_pairs

DRAWS = 1_000  # the suite spectral/unbiased makes more of them, of every combination
SIZE = 8
THETA = np.linspace(0.2, 0.9, 3)

LAWS = {
    "optimal": Optimal(5.0),
    "negative binomial": NegativeBinomial(5.0),
    "geometric": Geometric(6.0),
    "oracle": Oracle(5.0),
    "poisson": Poisson(6.0),
}


def quadratic(backend, function="log"):
    return SpectralQuadratic(backend, backend.rng(4), function=function, size=SIZE, parameters=3, low=0.8)


@dataclass(eq=False)
class Fixed:
    """A matrix without parameters."""

    backend: object
    operator: object
    function: object
    exact: float
    interval: tuple[float, float] = (0.5, 2.5)
    size: int = SIZE


def fixed_matrix(backend, kind, function):
    """A matrix whose spectrum is known to lie in [0.5, 2.5]: dense, sparse, or of low rank plus a shift."""
    rng = np.random.default_rng(3)
    if kind == "sparse":
        matrix = scipy.sparse.diags([0.5, 1.5, 0.5], [-1, 0, 1], shape=(SIZE, SIZE), format="csr")
    elif kind == "low rank":
        factor = np.linalg.qr(rng.standard_normal((SIZE, 2)))[0]
        matrix = None
        product = lambda block: factor @ (1.9 * (factor.T @ block)) + 0.6 * block  # noqa: E731
    else:
        basis = np.linalg.qr(rng.standard_normal((SIZE, SIZE)))[0]
        matrix = (basis * np.linspace(0.6, 2.4, SIZE)) @ basis.T
    operator = as_operator(product, size=SIZE) if matrix is None else as_operator(matrix)
    function = get_function(function)
    exact = float(function(np.linalg.eigvalsh(operator.matmat(np.eye(SIZE)))).sum())
    return Fixed(backend, operator, function, exact)


def z_score(draws, exact):
    draws = np.asarray(draws)
    return np.max(np.abs(draws.mean(0) - exact) / (draws.std(0, ddof=1) / math.sqrt(len(draws))))


# each law, function and kind of matrix at least once, in values and gradients together
COVER = [
    ("optimal", "log", "dense"),
    ("negative binomial", "xlogx", "low rank"),
    ("oracle", "sqrt", "sparse"),
]


@pytest.mark.parametrize(("law", "function", "kind"), COVER)
@pytest.mark.sampled(1)
def test_values_have_no_bias(backend, law, function, kind):
    problem = fixed_matrix(backend, kind, function)
    estimator, rng = Chebyshev(probes=1, distribution=LAWS[law], probe="gaussian"), backend.rng(11)
    draws = [estimator.draw(problem, rng)(None) for _ in range(DRAWS)]
    assert estimator.claims.unbiased
    assert z_score(draws, problem.exact) < 4


@pytest.mark.parametrize(
    ("law", "function"),
    [("optimal", "log"), ("geometric", "sqrt"), ("poisson", "exp")],
)
@pytest.mark.sampled(1)
def test_gradients_have_no_bias(backend, law, function):
    problem = quadratic(backend, function)
    estimator, rng = Chebyshev(probes=1, distribution=LAWS[law]), backend.rng(12)
    draws = [estimator.draw(problem, rng)(THETA) for _ in range(DRAWS)]
    assert z_score(draws, problem.grad(THETA)) < 4


def test_the_bias_of_a_fixed_degree_is_seen(backend):
    problem = quadratic(backend, "inverse")
    estimator, rng = Chebyshev(probes=4, distribution=Deterministic(2)), backend.rng(13)
    draws = [estimator.draw(problem, rng)(THETA) for _ in range(600)]
    assert not estimator.claims.unbiased
    assert z_score(draws, problem.grad(THETA)) > 6


@pytest.mark.parametrize("mode", ["hankel", "reverse"])
@pytest.mark.parametrize("function", ["log", "sqrt", "exp", "xlogx", "inverse"])
def test_a_drawn_gradient_is_the_derivative_of_the_value_drawn_with_the_same_numbers(backend, function, mode):
    problem = quadratic(backend, function)
    gradient = Chebyshev(probes=3, distribution=Optimal(9.0), mode=mode)
    value = replace(gradient, estimates="value")
    for seed in range(5):
        slope = gradient.draw(problem, backend.rng(seed))(THETA)
        height = value.draw(problem, backend.rng(seed))
        step = 1e-5
        ends = [(height(THETA + step * e), height(THETA - step * e)) for e in np.eye(3)]
        differences = [(above - below) / (2 * step) for above, below in ends]
        np.testing.assert_allclose(slope, differences, rtol=1e-7, atol=1e-8)


def forward_recursion(matrix, derivatives, probes, weights, interval):
    """Equations (5) and (6) of Han, Avron & Shin: one recurrence a parameter."""
    low, high = interval
    scaled = (2 * matrix - (high + low) * np.eye(len(matrix))) / (high - low)
    gradient = []
    for derivative in derivatives:
        w, v = [probes, scaled @ probes], [np.zeros_like(probes), 2 / (high - low) * derivative @ probes]
        for _ in range(2, len(weights)):
            v.append(4 / (high - low) * derivative @ w[-1] + 2 * scaled @ v[-1] - v[-2])
            w.append(2 * scaled @ w[-1] - w[-2])
        gradient.append(sum(c * np.sum(probes * each) for c, each in zip(weights, v, strict=False)))
    return np.array(gradient) / probes.shape[1]


def test_the_gradient_is_that_of_the_documents_recursion(backend):
    problem = quadratic(backend)
    law = Deterministic(12)
    drawn = Chebyshev(probes=4, distribution=law).draw(problem, backend.rng(5))(THETA)
    matrix = problem.at(THETA)
    low, high = matrix.interval
    interval = (low, high + 0.05 * (high - low))
    weights = problem.function.coefficients(interval, 12)
    dense = matrix.operator.matmat(np.eye(SIZE))
    derivatives = [np.outer(u, u) for u in matrix.directions.T]
    probes = backend.rng(5).rademacher((SIZE, 4))
    wanted = problem.scale * forward_recursion(dense, derivatives, probes, weights, interval)
    np.testing.assert_allclose(drawn, wanted + problem.rest_grad(THETA), rtol=1e-10)


def moving_intervals(backend):
    """Problems whose interval is another one at every θ, and a way for θ to go that widens it."""
    ratings = MatrixCompletion(
        backend, backend.rng(1), dataset="movielens-like(users=30, items=20, ratings=200)"
    )
    process = GPHyperparameters(backend, backend.rng(1), dataset="uci-like(rows=40, features=2)")
    yield ratings, 1.0
    yield process, np.array([0.0, 1.0, 0.0])  # a larger signal


def test_a_draw_keeps_its_interval_where_that_of_the_problem_varies(backend, monkeypatch):
    asked = []

    def pairs(probes, operator, weights, interval, mode):
        asked.append(interval)
        return chebyshev_pairs(probes, operator, weights, interval, mode)

    monkeypatch.setattr(chebyshev, "chebyshev_pairs", pairs)
    for problem, direction in moving_intervals(backend):
        drawn = Chebyshev(probes=2, distribution=Deterministic(8)).draw(problem, backend.rng(7))
        start = problem.start()
        places = [problem.project(start + step * direction) for step in (0.0, 0.005, 0.5, 0.0)]
        own = [problem.at(place).interval for place in places]
        gradients = [drawn(place) for place in places]
        first, near, far, again = asked[-4:]
        assert own[1] != own[0]
        assert near == again == first
        assert first[1] == pytest.approx(own[0][1] + 0.05 * (own[0][1] - own[0][0]))
        assert far == own[2] != first
        np.testing.assert_array_equal(gradients[3], gradients[0])


def test_one_draw_is_one_function_so_that_svrg_has_no_variance_at_its_snapshot(backend):
    problem = quadratic(backend)
    estimator, rng = Chebyshev(probes=2, distribution=Geometric(5.0)), backend.rng(6)
    for _ in range(20):
        drawn = estimator.draw(problem, rng)
        first, elsewhere = drawn(THETA), drawn(THETA[::-1])
        np.testing.assert_array_equal(drawn(THETA), first)
        np.testing.assert_array_equal(drawn(THETA[::-1]), elsewhere)
    steps = SVRG(step=1e-9, inner=3, estimator=estimator).run(problem, rng)
    start, first = next(steps), next(steps)
    # the first inner step is at the snapshot itself: the whole gradient, whatever was drawn
    np.testing.assert_allclose(
        (start - first) / 1e-9, np.clip(problem.grad(start), None, 0), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize(
    "estimator",
    [
        Chebyshev(distribution=Deterministic(30)),
        Hutchinson(polynomial=(0.0,) * 30 + (1.0,)),
        HutchPlusPlus(probes=9),
        XTrace(probes=4),
    ],
    ids=lambda each: type(each).__name__,
)
def test_an_interval_that_is_too_small_is_refused_instead_of_a_wild_number(backend, estimator):
    problem = fixed_matrix(backend, "dense", "log")
    problem.interval = (0.5, 1.5)
    with pytest.raises(BenchfwError, match=r"not inside \[0.5, 1.5\].*widen the interval"):
        estimator.draw(problem, backend.rng(1))(None)


@pytest.mark.parametrize("estimator", [Chebyshev(distribution=Deterministic(40)), Lanczos(steps=SIZE)])
def test_basis_vectors_give_the_trace_and_the_gradient_themselves(backend, estimator):
    estimator = replace(estimator, probe="basis")
    problem = quadratic(backend)
    np.testing.assert_allclose(estimator.draw(problem, backend.rng(1))(THETA), problem.grad(THETA), rtol=1e-6)
    found = replace(estimator, estimates="value").draw(problem, backend.rng(1)).estimate(THETA)
    assert found.value == pytest.approx(problem.value(THETA), rel=1e-8)
    assert found.std_error == 0


def test_exact_traces_have_no_variance_but_that_of_the_degree(backend):
    problem = quadratic(backend)
    estimator = Chebyshev(probe="basis", distribution=Deterministic(6))
    fixed = [estimator.draw(problem, backend.rng(seed))(THETA) for seed in range(5)]
    assert np.ptp(fixed, axis=0).max() == 0
    assert (
        np.ptp(
            [
                replace(estimator, probe="rademacher").draw(problem, backend.rng(seed))(THETA)
                for seed in range(5)
            ],
            axis=0,
        ).min()
        > 0
    )

    # with a random degree each draw is the derivative of the trace of its own polynomial
    matrix = problem.at(THETA)
    low, high = matrix.interval
    interval = (low, high + chebyshev.MARGIN * (high - low))
    spectrum, vectors = np.linalg.eigh(matrix.operator.matmat(np.eye(SIZE)))
    squares = (vectors.T @ matrix.directions) ** 2

    def gradient(law, degree):
        tails = law.survival(np.arange(degree + 1), matrix.function.decay(interval, law.mean))
        weights = matrix.function.coefficients(interval, degree) / tails
        slope = np.polynomial.Chebyshev(weights, domain=interval).deriv()(spectrum)
        return problem.scale * slope @ squares + problem.rest_grad(THETA)

    for law in (LAWS["optimal"], LAWS["negative binomial"]):
        estimator, degrees = Chebyshev(probe="basis", distribution=law), set()
        for seed in range(30):
            found = estimator.draw(problem, backend.rng(seed))(THETA)
            degree = chebyshev._seen(estimator, problem).degrees[-1]
            np.testing.assert_allclose(found, gradient(law, degree), rtol=1e-9, atol=1e-9)
            degrees.add(degree)
        assert len(degrees) > 1


def test_a_variance_that_no_float_can_hold_is_infinite():
    assert weighted_variance("exp", (0.0, 800.0), Optimal(20.0)) == math.inf


def test_two_estimators_on_one_problem_keep_their_facts_apart(backend):
    problem, rng = quadratic(backend), backend.rng(1)
    for degree in (50, 3):
        estimator = Chebyshev(distribution=Deterministic(degree))
        estimator.draw(problem, rng)(THETA)
        assert estimator.facts(problem)["mean_degree"] == degree


def test_the_cost_is_half_the_degree_for_a_value_and_the_degree_with_its_pairs_for_a_gradient(backend):
    problem = quadratic(backend)
    value = Chebyshev(probes=3, distribution=Deterministic(10), estimates="value")
    value.draw(problem, backend.rng(1))(THETA)
    assert problem.cost == 3 * 5
    before = problem.cost
    Chebyshev(probes=3, distribution=Deterministic(10), mode="hankel").draw(problem, backend.rng(1))(THETA)
    assert problem.cost - before == 3 * (9 + 10)


@pytest.mark.parametrize("degree", [0, 1, 2, 5])
def test_the_kernel_of_pairs_counts_the_products_that_it_makes(backend, degree):
    class Counting(DenseOperator):
        def update(self, block, *arguments):
            made.append(block.shape[1])
            return super().update(block, *arguments)

        whole = None

    made, probes, weights = [], np.ones((6, 2), order="F"), np.ones(degree + 1)
    chebyshev_pairs(probes, Counting(np.eye(6)), weights, (-2.0, 2.0), "hankel")
    flops, _ = chebyshev_pairs.counts(probes, np.eye(6), weights, (-2.0, 2.0))
    a_product = 2 * 6**2 + 6 * 6  # with one column, and what a recurrence and two inner products take
    assert flops == sum(made) * a_product + 2 * degree**2 * probes.size


def test_the_standard_error_is_known_for_a_fixed_degree_alone(backend):
    problem = quadratic(backend)
    fixed = Chebyshev(probes=50, distribution=Deterministic(20), estimates="value")
    found = fixed.draw(problem, backend.rng(1)).estimate(THETA)
    draws = [fixed.draw(problem, backend.rng(2 + i))(THETA) for i in range(300)]
    # the spread of a standard deviation over 300 draws is 4 %, that of one over 50 probes 10 %
    assert found.std_error == pytest.approx(np.std(draws), rel=0.45)
    random = replace(fixed, distribution=Optimal(5.0)).draw(problem, backend.rng(1)).estimate(THETA)
    assert math.isnan(random.std_error)


@dataclass(frozen=True)
class Coins:
    """A law with no more than the contract asks for."""

    def survival(self, degree, decay):
        return 0.5 ** np.asarray(degree)

    def sample(self, rng, decay, size=None):
        return 3 if size is None else np.full(size, 3)


@pytest.mark.parametrize("function", ["log", "exp"])
def test_a_law_with_no_more_than_the_contract_has_the_facts_that_need_no_more(backend, function):
    problem, estimator = quadratic(backend, function), Chebyshev(distribution=Coins())
    estimator.draw(problem, backend.rng(1))(THETA)
    assert set(estimator.facts(problem)) == {"condition", "decay", "mean_degree", "largest_degree"}
    assert estimator.caveats(problem) == []


def test_facts_name_the_interval_lemma_2_and_the_degrees(backend):
    problem = quadratic(backend)
    estimator, rng = Chebyshev(probes=1, distribution=Optimal(6.0)), backend.rng(3)
    for _ in range(50):
        estimator.draw(problem, rng)(THETA)
    facts = estimator.facts(problem)
    assert facts["sure_degree"] <= facts["mean_degree"] <= facts["largest_degree"]
    assert facts["decay"] == pytest.approx(
        (math.sqrt(facts["condition"]) + 1) / (math.sqrt(facts["condition"]) - 1)
    )
    assert facts["weighted_variance"] > 0
    assert "infinite_variance" not in facts
    assert estimator.caveats(problem) == []


def test_a_law_of_infinite_variance_is_a_caveat(backend):
    problem, estimator = quadratic(backend), Chebyshev(probes=1, distribution=Poisson(6.0))
    estimator.draw(problem, backend.rng(3))(THETA)
    (caveat,) = estimator.caveats(problem)
    assert "its variance is infinite" in caveat
    assert "Poisson" in caveat
    assert estimator.facts(problem)["infinite_variance"] == 1


def test_bad_settings_and_problems_are_one_sentence(backend):
    with pytest.raises(BenchfwError, match="needs products with a matrix"):
        Chebyshev().draw(SimpleNamespace(backend=backend), backend.rng(1))
    fixed = fixed_matrix(backend, "dense", "log")
    with pytest.raises(BenchfwError, match="no parameters, and so no gradient"):
        Chebyshev(estimates="grad").draw(fixed, backend.rng(1))


def test_the_exact_estimator_gives_value_or_gradient(backend):
    problem, rng = quadratic(backend), backend.rng(1)
    assert Exact("value").draw(problem, rng)(THETA) == problem.value(THETA)
    np.testing.assert_array_equal(Exact().draw(problem, rng)(THETA), problem.grad(THETA))
