"""Bias, variance, standard errors, exactness and cost of the estimators of tr f(A) other than chebyshev."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from benchfw import BenchfwError, CountedProblem
from benchfw.kernels.operators import Counted, as_operator
from benchfw_spectral.estimators.hutch_plus_plus import HutchPlusPlus, apply_series
from benchfw_spectral.estimators.hutchinson import Hutchinson
from benchfw_spectral.estimators.lanczos import Lanczos
from benchfw_spectral.estimators.xtrace import XTrace
from benchfw_spectral.functions import get_function
from benchfw_spectral.probes import draw_probes

DRAWS = 400
KINDS = ["rademacher", "gaussian"]


class Identity:
    """f(x) = x, whose series ends at degree 1."""

    name = "identity"

    def __call__(self, x):
        return x

    def coefficients(self, interval, degree):
        low, high = interval
        return np.array([(low + high) / 2, (high - low) / 2, *[0.0] * (degree - 1)])


class Given(CountedProblem):
    """tr f(A) of a dense matrix."""

    def __init__(self, backend, matrix, function, interval=None):
        eigenvalues = np.linalg.eigvalsh(matrix)
        self.backend, self.matrix, self.function = backend, matrix, function
        self.size, self.interval = len(matrix), interval or (eigenvalues[0] - 0.1, eigenvalues[-1] + 0.1)
        self.operator = Counted(as_operator(matrix), self._count)
        self.exact = function(eigenvalues).sum()

    def metrics(self, answer):
        return {}


class Affine(CountedProblem):
    """F(θ) = scale tr f(A_0 + Σ_i θ_i A_i) + |θ|²/2."""

    scale = -0.5

    def __init__(self, backend, matrices, function):
        self.backend, self.matrices, self.function = backend, matrices, function

    def start(self):
        return np.array([0.3, -0.2])

    def at(self, params):
        whole = self.matrices[0] + sum(t * each for t, each in zip(params, self.matrices[1:], strict=True))
        matrix = Given(self.backend, whole, self.function)
        matrix.pullback = lambda left, right: np.array(
            [np.vdot(left, each @ right) for each in self.matrices[1:]]
        )
        return matrix

    def rest(self, params):
        return params @ params / 2

    def rest_grad(self, params):
        return params

    def contraction(self, params, middle):
        """Return scale Σ ∂A middle + θ, for a symmetric (size, size) middle."""
        return self.scale * np.array([np.vdot(each, middle) for each in self.matrices[1:]]) + params

    def grad(self, params):
        return self.contraction(params, of_matrix(self.function.derivative, self.at(params).matrix))


def of_matrix(function, matrix):
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * function(values)) @ vectors.T


def symmetric(seed, size):
    factor = np.random.default_rng(seed).standard_normal((size, size))
    return (factor + factor.T) / (2 * size) ** 0.5


@pytest.fixture(scope="module")
def positive(backend):
    return Given(backend, symmetric(1, 12) @ symmetric(1, 12) + 0.5 * np.eye(12), get_function("log"))


@pytest.fixture(scope="module", params=["log", "exp"])
def affine(backend, request):
    base = 3 * np.eye(10) + 0.3 * symmetric(2, 10)
    return Affine(backend, [base, symmetric(3, 10), np.eye(10)], get_function(request.param))


def estimates_of(estimator, problem, draws=DRAWS, seed=7):
    rng = problem.backend.rng(seed)
    found = [estimator.draw(problem, rng).estimate(None) for _ in range(draws)]
    return np.array(found).T


def z_score(samples, expected):
    return (samples.mean() - expected) / (samples.std(ddof=1) / len(samples) ** 0.5)


@pytest.mark.parametrize("kind", KINDS)
def test_hutchinson_is_unbiased_with_the_variance_of_the_textbook(positive, kind):
    coefficients = (1.0, -2.0, 0.0, 0.7)
    values, _ = estimates_of(Hutchinson(4, coefficients, probe=kind), positive)
    exact = of_matrix(np.polynomial.Polynomial(coefficients), positive.matrix)
    assert abs(z_score(values, np.trace(exact))) < 4
    noisy = exact - np.diag(np.diag(exact)) if kind == "rademacher" else exact
    squares = (values - np.trace(exact)) ** 2
    assert abs(z_score(squares, 2 / 4 * np.linalg.norm(noisy) ** 2)) < 4


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("make", [HutchPlusPlus, XTrace])
def test_sketching_estimators_are_unbiased_where_f_is_a_polynomial(backend, make, kind):
    problem = Given(backend, symmetric(4, 12), Identity())
    values, _ = estimates_of(make(probes=6, degree=1, probe=kind), problem)
    assert abs(z_score(values, problem.exact)) < 4


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "estimator", [Hutchinson(9), HutchPlusPlus(9, degree=1), Lanczos(9, steps=2)], ids=repr
)
@pytest.mark.sampled(3)
def test_squared_standard_error_is_the_variance_on_average(backend, estimator, kind):
    problem = Given(backend, symmetric(4, 12), Identity())
    values, errors = estimates_of(replace(estimator, probe=kind), problem)
    assert abs(z_score((values - problem.exact) ** 2 - errors**2, 0.0)) < 4


@pytest.mark.parametrize("kind", KINDS)
def test_standard_error_of_xtrace_is_of_the_right_size(backend, kind):
    problem = Given(backend, symmetric(4, 30), Identity())
    values, errors = estimates_of(XTrace(probes=8, degree=1, probe=kind), problem)
    assert 0.6 < np.sqrt((errors**2).mean()) / values.std() < 1.2


@pytest.mark.parametrize("kind", KINDS)
def test_xtrace_is_the_mean_of_hutch_plus_plus_with_one_probe_left_out(backend, kind):
    problem = Given(backend, symmetric(5, 14), Identity())
    found = XTrace(probes=5, degree=1, probe=kind).draw(problem, backend.rng(3)).estimate(None)
    probes = draw_probes(problem, backend.rng(3), 5, kind)
    singles = []
    for i in range(5):
        others = np.delete(probes, i, axis=1)
        basis, _ = np.linalg.qr(problem.matrix @ others)
        rest = probes[:, i] - basis @ (basis.T @ probes[:, i])
        scale = (14 - 4) / (rest @ rest) if kind == "gaussian" else 1.0
        singles.append(np.trace(basis.T @ problem.matrix @ basis) + scale * rest @ problem.matrix @ rest)
    assert found.value == pytest.approx(np.mean(singles), rel=1e-12)
    assert found.std_error == pytest.approx(np.std(singles, ddof=1) / 5**0.5, rel=1e-10)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rank", [0, 1, 4])
@pytest.mark.parametrize("make", [HutchPlusPlus, XTrace])
def test_a_matrix_of_low_rank_is_caught_whole(backend, make, rank, kind):
    factor = np.random.default_rng(6).standard_normal((20, rank))
    problem = Given(backend, factor @ factor.T, Identity())
    found = make(probes=15, degree=1, probe=kind).draw(problem, backend.rng(1)).estimate(None)
    assert found.value == pytest.approx(np.trace(problem.matrix), rel=1e-12, abs=1e-12)
    assert found.std_error < 1e-10


@pytest.mark.parametrize("reorthogonalize", [False, True])
def test_lanczos_is_exact_for_its_probes_when_steps_equal_size(positive, reorthogonalize):
    backend = positive.backend
    estimator = Lanczos(6, steps=12, reorthogonalize=reorthogonalize)
    probes = draw_probes(positive, backend.rng(2), 6)
    forms = np.einsum("ik,ij,jk->k", probes, of_matrix(np.log, positive.matrix), probes)
    found = estimator.draw(positive, backend.rng(2)).estimate(None)
    assert found.value == pytest.approx(forms.mean(), rel=1e-8)
    assert found.std_error == pytest.approx(forms.std(ddof=1) / 6**0.5, rel=1e-7)


@pytest.mark.parametrize("steps", [3, 7, 100])
def test_lanczos_is_exact_when_steps_reach_the_number_of_distinct_eigenvalues(backend, steps):
    vectors, _ = np.linalg.qr(np.random.default_rng(8).standard_normal((15, 15)))
    matrix = (vectors * np.repeat([0.5, 2.0, 7.0], 5)) @ vectors.T
    problem = Given(backend, (matrix + matrix.T) / 2, get_function("log"))
    probes = draw_probes(problem, backend.rng(2), 4, "gaussian")
    forms = np.einsum("ik,ij,jk->k", probes, of_matrix(np.log, matrix), probes)
    found = Lanczos(4, steps, probe="gaussian").draw(problem, backend.rng(2))
    assert found(None) == pytest.approx(forms.mean(), rel=1e-10)


def test_lanczos_gradient_is_the_contraction_with_its_probes(backend, affine):
    params = affine.start()
    draw = Lanczos(3, steps=10, tolerance=1e-12).draw(affine, backend.rng(4))
    probes = draw_probes(affine, backend.rng(4), 3)
    derivative = of_matrix(affine.function.derivative, affine.at(params).matrix)
    middle = (derivative @ probes) @ probes.T / 3
    np.testing.assert_allclose(draw(params), affine.contraction(params, middle), rtol=1e-9)
    np.testing.assert_array_equal(draw(params), draw(params))


def test_a_preconditioner_changes_nothing_of_a_lanczos_gradient_but_its_cost(backend, affine):
    params = affine.start()
    plain, preconditioned = (
        Lanczos(3, tolerance=1e-12, rank=rank).draw(affine, backend.rng(4)) for rank in (0, 5)
    )
    np.testing.assert_allclose(preconditioned(params), plain(params), rtol=1e-9)


@pytest.mark.parametrize("steps", [1, 4, 10])
def test_a_lanczos_gradient_of_fixed_steps_solves_in_the_krylov_space_of_each_probe(backend, affine, steps):
    params = affine.start()
    matrix = affine.at(params).matrix
    estimator = Lanczos(3, steps=steps, solve="steps", reorthogonalize=True)
    found = estimator.draw(affine, backend.rng(4))(params)
    images = []
    for probe in draw_probes(affine, backend.rng(4), 3).T:
        powers = [probe]
        for _ in range(steps - 1):
            powers.append(matrix @ powers[-1])
        space = np.linalg.qr(np.stack(powers, axis=1))[0]
        images.append(
            space @ of_matrix(affine.function.derivative, space.T @ matrix @ space) @ space.T @ probe
        )
    middle = np.stack(images, axis=1) @ draw_probes(affine, backend.rng(4), 3).T / 3
    # the exact derivative is symmetric, and so is what the contraction takes
    np.testing.assert_allclose(found, affine.contraction(params, (middle + middle.T) / 2), rtol=1e-7)


def test_a_preconditioner_is_refused_where_no_system_is_solved():
    with pytest.raises(BenchfwError, match='a preconditioner needs solve = "tolerance"'):
        Lanczos(solve="steps", rank=5)


def test_lanczos_gradient_averages_to_the_exact_gradient(backend, affine):
    params, rng = affine.start(), backend.rng(9)
    estimator = Lanczos(4, steps=10, tolerance=1e-10)
    samples = np.array([estimator.draw(affine, rng)(params) for _ in range(DRAWS)])
    for column, exact in zip(samples.T, affine.grad(params), strict=True):
        # the derivative along the identity may be nearly the same for all Rademacher probes
        assert abs(column.mean() - exact) < 4 * column.std(ddof=1) / DRAWS**0.5 + 1e-9 * abs(exact)


def test_lanczos_value_of_a_parametric_problem_is_the_whole_objective(backend, affine):
    params = affine.start()
    matrix = affine.at(params)
    whole = Lanczos(5, steps=10, estimates="value").draw(affine, backend.rng(1)).estimate(params)
    trace = Lanczos(5, steps=10).draw(matrix, backend.rng(1)).estimate(None)
    # the operator of `matrix` likes its probes in another order, so the draws are compared by their errors
    expected = affine.scale * matrix.exact + affine.rest(params)
    assert abs(whole.value - expected) < 6 * whole.std_error
    assert abs(trace.value - matrix.exact) < 6 * trace.std_error


def test_series_is_the_polynomial_of_the_matrix_at_one_product_a_degree(backend):
    problem = Given(backend, symmetric(7, 9), Identity())
    block = np.random.default_rng(1).standard_normal((9, 4))
    for degree in (0, 1, 2, 7):
        series = np.random.default_rng(degree).standard_normal(degree + 1)
        polynomial = np.polynomial.Chebyshev(series, domain=problem.interval)
        before = problem.cost
        found = apply_series(block, problem.operator, series, problem.interval)
        np.testing.assert_allclose(found, of_matrix(polynomial, problem.matrix) @ block, atol=1e-12)
        assert problem.cost - before == 4 * degree


@pytest.mark.parametrize(
    ("estimator", "cost"),
    [
        (Hutchinson(5, (0.0, 0.0, 0.0, 1.0)), 5 * 2),
        (Hutchinson(5, (3.0,)), 0),
        (HutchPlusPlus(11, degree=7), 3 * (7 + 4 + 4)),
        (XTrace(4, degree=7), 4 * 14),
        (Lanczos(4, steps=9), 4 * 9),
        (Lanczos(4, steps=90), 4 * 12),
    ],
    ids=repr,
)
def test_draws_cost_the_products_that_they_say(positive, estimator, cost):
    before = positive.cost
    estimator.draw(positive, positive.backend.rng(1))(None)
    assert positive.cost - before == cost


@pytest.mark.parametrize("order", ["C", "F"])
def test_probes_are_the_same_whatever_order_products_like(backend, order):
    problem = Given(backend, np.eye(6), Identity())
    problem.operator.order = order
    probes = draw_probes(problem, backend.rng(1), 3)
    np.testing.assert_array_equal(probes, backend.rng(1).rademacher((6, 3)))


def test_one_probe_has_no_standard_error(positive):
    draw = Lanczos(1).draw(positive, positive.backend.rng(1))
    assert math.isnan(draw.estimate(None).std_error)
    assert math.isfinite(draw(None))


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Hutchinson(polynomial=()), "polynomial must be one or more finite coefficients"),
        (lambda: Hutchinson(polynomial=(1.0, math.nan)), "polynomial must be one or more finite"),
    ],
)
def test_impossible_polynomials_are_refused(make, sentence):
    with pytest.raises(BenchfwError, match=sentence):
        make()


def test_problems_that_an_estimator_cannot_serve_are_named(backend, positive):
    with pytest.raises(BenchfwError, match="xtrace takes at most 12 probes here"):
        XTrace(13).draw(positive, backend.rng(1))
    with pytest.raises(BenchfwError, match="the problem has no parameters, and so no gradient to estimate"):
        Lanczos(estimates="grad").draw(positive, backend.rng(1))
    with pytest.raises(BenchfwError, match="lanczos needs products with a matrix, and the problem has none"):
        Lanczos().draw(object(), backend.rng(1))
