"""Every likelihood: derivatives of each other, exact expectations, normalized predictions, clear refusals."""

from __future__ import annotations

import array_api_strict
import numpy as np
import pytest
from scipy import integrate, special, stats

from benchfw import BenchfwError
from benchfw_variational.likelihoods import (
    BernoulliLogit,
    BernoulliProbit,
    Gaussian,
    Laplace,
    Poisson,
    StudentT,
    get_likelihood,
    quadrature,
)

LIKELIHOODS = [
    BernoulliLogit(),
    BernoulliProbit(),
    Gaussian(noise=0.3),
    Laplace(scale=0.7),
    Poisson(),
    StudentT(degrees=4.0, scale=0.5),
]
SIGNS, COUNTS, NUMBERS = [-1.0, 1.0], [0.0, 1.0, 6.0], [-1.5, 0.2, 4.0]
TARGETS = dict(zip(LIKELIHOODS, [SIGNS, SIGNS, NUMBERS, NUMBERS, COUNTS, NUMBERS], strict=True))

each = pytest.mark.parametrize("likelihood", LIKELIHOODS, ids=lambda likelihood: likelihood.name)


def grid(likelihood, means=(-3.0, -0.4, 0.0, 1.3, 2.5), variances=(0.01, 0.5, 4.0)):
    """Return all combinations of targets, means and variances, as flat arrays."""
    parts = np.meshgrid(TARGETS[likelihood], means, variances, indexing="ij")
    return [part.ravel() for part in parts]


def mean_of(function, targets, mean, variance):
    """Return E function(y, z) under N(mean, variance) for all examples, by SciPy's adaptive quadrature."""
    deviation = np.sqrt(variance)
    corners = np.concatenate([(targets - mean) / deviation, -mean / deviation])
    value, _ = integrate.quad_vec(
        lambda x: function(targets, mean + deviation * x) * stats.norm.pdf(x),
        -12,
        12,
        epsabs=1e-11,
        epsrel=1e-11,
        norm="max",
        points=np.unique(corners[np.abs(corners) < 12]),
    )
    return value


@each
def test_the_loss_is_minus_the_log_density_of_scipy(likelihood):
    latent = np.linspace(-3, 3, 13)
    expected = {
        "bernoulli-logit": lambda y, z: special.log_expit(y * z),
        "bernoulli-probit": lambda y, z: special.log_ndtr(y * z),
        "gaussian": lambda y, z: stats.norm.logpdf(y, z, np.sqrt(0.3)),
        "laplace": lambda y, z: stats.laplace.logpdf(y, z, 0.7),
        "poisson": lambda y, z: stats.poisson.logpmf(y, np.exp(z)),
        "student-t": lambda y, z: stats.t.logpdf(y, 4.0, z, 0.5),
    }[likelihood.name]
    targets = np.array(TARGETS[likelihood])[:, None]
    np.testing.assert_allclose(likelihood.loss(targets, latent), -expected(targets, latent), rtol=1e-12)


@each
def test_slope_and_curvature_of_the_loss_are_its_derivatives(likelihood):
    latent, step = np.linspace(-3.03, 3.07, 23), 1e-5  # not where Laplace's loss has its corner
    targets = np.array(TARGETS[likelihood])[:, None]
    for function, derivative in (
        (likelihood.loss, likelihood.slope),
        (likelihood.slope, likelihood.curvature),
    ):
        difference = (function(targets, latent + step) - function(targets, latent - step)) / (2 * step)
        np.testing.assert_allclose(derivative(targets, latent), difference, rtol=1e-8, atol=1e-9)


@each
def test_expectations_are_those_of_adaptive_quadrature(likelihood):
    arguments = grid(likelihood)
    local = likelihood.expectations(*arguments)
    np.testing.assert_allclose(local.loss, mean_of(likelihood.loss, *arguments), rtol=1e-9)
    np.testing.assert_allclose(local.slope, mean_of(likelihood.slope, *arguments), rtol=0, atol=1e-9)


@each
def test_slope_and_curvature_of_expectations_are_their_derivatives(likelihood):
    targets, mean, variance = grid(likelihood)
    local = likelihood.expectations(targets, mean, variance)
    step = 1e-4 * np.sqrt(variance)
    low, high = (likelihood.expectations(targets, mean + sign * step, variance) for sign in (-1, 1))
    scale = np.abs(local.loss) + 1 / variance
    for difference, derivative in (
        ((high.loss - low.loss) / (2 * step), local.slope),
        ((high.slope - low.slope) / (2 * step), local.curvature),
    ):
        assert (np.abs(difference - derivative) < 1e-7 * scale).all()
    change = 1e-4 * variance
    low, high = (likelihood.expectations(targets, mean, variance + sign * change) for sign in (-1, 1))
    # Price: twice the derivative in the variance is the mean second derivative
    assert (np.abs((high.loss - low.loss) / change - local.curvature) < 1e-7 * scale).all()


@each
def test_without_variance_expectations_are_the_functions_themselves(likelihood):
    targets, mean, _ = grid(likelihood, means=(-2.0, 0.5, 1.0), variances=(0.0,))
    local = likelihood.expectations(targets, mean, np.zeros_like(mean))
    for found, function in zip(local, (likelihood.loss, likelihood.slope, likelihood.curvature), strict=True):
        np.testing.assert_allclose(found, function(targets, mean), rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(
        likelihood.log_predictive(targets, mean, np.zeros_like(mean)), -local.loss, rtol=1e-9
    )


# m, v, E[-log Φ(z)], its slope and curvature: mpmath, Gauss-Legendre with 30 digits
PROBIT = [
    (0.0, 0.01, 0.6963288479702539, -0.798974567952707, 0.6360478284597092),
    (0.5, 0.3, 0.4451582727505921, -0.5485395932951346, 0.5030942594133934),
    (20.0, 1.0, 1.0442437918812724e-45, -1.0494140578386044e-44, 1.0494140578386044e-43),
    (-1.0, 10.0, 5.290971374907097, -2.1240331754311494, 0.6344131615487495),
    (100.0, 10.0, 5.182595431267599e-200, -4.7166216479921735e-199, 4.287837861815992e-198),
    (0.0, 1e3, 251.8973629215515, -12.671598708976633, 0.5004719315234915),
    (-300.0, 1e3, 45506.617080715936, -300.0033716000021, 0.9999884969930917),
    (20.0, 1e5, 22578.039931086492, -116.41723619687252, 0.4747918807612325),
    (-300.0, 1e5, 90789.49842474515, -329.03071552958534, 0.8285965441355341),
]


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_probit_expectations_agree_with_high_precision(sign):
    mean, variance, loss, slope, curvature = np.array(PROBIT).T
    local = BernoulliProbit().expectations(np.full_like(mean, sign), sign * mean, variance)
    np.testing.assert_allclose(local.loss, loss, rtol=1e-12)
    np.testing.assert_allclose(local.slope, sign * slope, rtol=1e-12)
    np.testing.assert_allclose(local.curvature, curvature, rtol=1e-12)


@pytest.mark.parametrize("degrees", [1.0, 4.0, 100.0])
@pytest.mark.parametrize("variance", [0.01, 1.0, 1e5])
def test_student_expectations_are_those_of_the_faddeeva_function(degrees, variance):
    # E (z - y) / (k + (z - y)²) is the real part of E 1 / (z - y - i√k), which w gives
    mean, targets, scale = np.array([-200.0, -1.0, 0.0, 0.3, 40.0]), np.full(5, 0.1), 0.5
    width = scale * np.sqrt(degrees)
    local = StudentT(degrees, scale).expectations(targets, mean, np.full(5, variance))
    place = (mean - targets + 1j * width) / np.sqrt(2 * variance)
    w = special.wofz(place)
    slope = (degrees + 1) * w.imag * np.sqrt(np.pi / (2 * variance))
    derivative = 2j / np.sqrt(np.pi) - 2 * place * w  # w'
    curvature = (degrees + 1) * derivative.imag * np.sqrt(np.pi) / (2 * variance)
    np.testing.assert_allclose(local.slope, slope, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(local.curvature, curvature, rtol=1e-9, atol=1e-12 * (degrees + 1) / width**2)


@each
def test_predictions_are_those_of_adaptive_quadrature(likelihood):
    arguments = grid(likelihood)
    expected = mean_of(lambda y, z: np.exp(-likelihood.loss(y, z)), *arguments)
    np.testing.assert_allclose(np.exp(likelihood.log_predictive(*arguments)), expected, rtol=0, atol=1e-9)


@each
@pytest.mark.parametrize("variance", [0.0, 0.3, 4.0])
def test_predictions_sum_to_one(likelihood, variance):
    if TARGETS[likelihood] is SIGNS:
        targets = np.array(SIGNS)
    elif TARGETS[likelihood] is COUNTS:
        targets = np.arange(3000.0)
    else:
        targets = np.sinh(np.linspace(-14, 14, 4001))
    density = np.exp(
        likelihood.log_predictive(targets, np.full_like(targets, -0.8), np.full_like(targets, variance))
    )
    if TARGETS[likelihood] is NUMBERS:
        total = integrate.trapezoid(density * np.sqrt(1 + targets**2), dx=28 / 4000)
        tolerance = 1e-4 if isinstance(likelihood, Laplace) else 1e-9  # a corner, without variance
    else:
        # rates above 3000 are 4.4 deviations away
        total, tolerance = density.sum(), 1e-5 if variance == 4 else 1e-10
    assert abs(total - 1) < tolerance


@each
def test_predictions_in_the_tails_are_finite(likelihood):
    targets, mean, variance = grid(likelihood, means=(-2000.0, 2000.0), variances=(1e-4, 1.0, 1e4))
    if isinstance(likelihood, Poisson):  # e^2000 is none of a double's numbers
        mean = np.minimum(mean, 500.0)
    found = likelihood.log_predictive(targets, mean, variance)
    assert np.isfinite(found).all()
    assert (found <= 0.6).all()


def test_laplace_predictions_keep_their_digits_far_away():
    # ∫ N(z; d, v) e^-|z|/2 dz = ½ e^(v/2 - d) for d far above v
    far = Laplace(1.0).log_predictive(np.array([0.0]), np.array([1e6]), np.array([3.0]))
    np.testing.assert_allclose(far, 1.5 - 1e6 - np.log(2), rtol=1e-15)


def test_student_predictions_of_many_degrees_are_gaussian_even_far_away():
    targets, mean, variance = np.zeros(3), np.array([0.0, 3.0, 60.0]), np.full(3, 2.0)
    student = StudentT(degrees=1e7, scale=1.0).log_predictive(targets, mean, variance)
    # the exponents of the two differ by a share of mean² / degrees
    np.testing.assert_allclose(student, Gaussian(1.0).log_predictive(targets, mean, variance), rtol=1e-3)


def test_poisson_predictions_of_wide_gaussians_are_those_of_a_step():
    # y = 0: E exp(-e^z) is P(z < 0) and a little more, e^z being 0 or inf for most z
    found = Poisson().log_predictive(np.zeros(2), np.array([0.0, -3e3]), np.full(2, 1e6))
    expected = stats.norm.logcdf((np.array([0.0, 3e3]) - np.euler_gamma) / 1e3)
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-6)


def test_a_rate_beyond_all_numbers_is_infinite_without_a_warning():
    local = Poisson().expectations(np.array([3.0]), np.array([10.0]), np.array([1e5]))
    assert all(part == np.inf for part in local)


@each
@pytest.mark.parametrize("size", [0, 1, 700])
def test_any_number_of_examples_will_do(likelihood, size):
    targets = np.resize(TARGETS[likelihood], size)
    mean, variance = np.linspace(-1, 1, size), np.linspace(0.5, 2, size)
    whole = [
        *likelihood.expectations(targets, mean, variance),
        likelihood.log_predictive(targets, mean, variance),
    ]
    for part in whole:
        assert part.shape == (size,)
    if size > 1:  # across the blocks that quadrature works in
        rows = np.array([1, quadrature.AT_ONCE, size - 1])
        alone = likelihood.expectations(targets[rows], mean[rows], variance[rows])
        for part, other in zip(whole, alone, strict=False):
            np.testing.assert_allclose(part[rows], other, rtol=1e-13)


@each
def test_the_code_is_portable(likelihood):
    arguments = grid(likelihood)
    strict = [array_api_strict.asarray(argument) for argument in arguments]
    pairs = list(zip(likelihood.expectations(*strict), likelihood.expectations(*arguments), strict=True))
    pairs.append((likelihood.log_predictive(*strict), likelihood.log_predictive(*arguments)))
    for name in ("loss", "slope", "curvature"):
        method = getattr(likelihood, name)
        pairs.append((method(strict[0], strict[1]), method(arguments[0], arguments[1])))
    for one, other in pairs:
        np.testing.assert_allclose(np.asarray(one), other, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    ("likelihood", "targets", "sentence"),
    [
        (BernoulliLogit(), [1.0, 0.0], "the targets of 'bernoulli-logit' must be -1 or 1; row 1 has 0"),
        (BernoulliProbit(), [2.0], "the targets of 'bernoulli-probit' must be -1 or 1; row 0 has 2"),
        (
            Poisson(),
            [0.0, 3.0, -1.0],
            "the targets of 'poisson' must be whole numbers from 0 on; row 2 has -1",
        ),
        (Poisson(), [0.5], "row 0 has 0.5"),
        (Poisson(), [np.inf], "row 0 has inf"),
        (Gaussian(), [0.0, np.nan], "the targets of 'gaussian' must be finite numbers; row 1 has nan"),
        (Laplace(), [np.inf], "the targets of 'laplace' must be finite numbers; row 0 has inf"),
        (StudentT(), [-np.inf], "the targets of 'student-t' must be finite numbers; row 0 has -inf"),
    ],
)
def test_targets_that_cannot_be_are_refused_in_one_sentence(likelihood, targets, sentence):
    with pytest.raises(BenchfwError, match=sentence):
        likelihood.check(np.array(targets))


@each
def test_targets_that_can_be_are_accepted(likelihood):
    likelihood.check(np.array(TARGETS[likelihood]))
    assert get_likelihood(likelihood.name).name == likelihood.name


def test_likelihoods_come_by_name_with_their_parameters():
    assert get_likelihood("student-t", degrees=3.0, scale=2.0) == StudentT(3.0, 2.0)
    with pytest.raises(
        BenchfwError, match="unknown likelihood 'bernouli-logit'; did you mean 'bernoulli-logit'"
    ):
        get_likelihood("bernouli-logit")
    with pytest.raises(BenchfwError, match="'gaussian' has no parameter 'noize'; did you mean 'noise'"):
        get_likelihood("gaussian", noize=1.0)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("gaussian", {"noise": 0.0}), ("laplace", {"scale": -1.0}), ("student-t", {"degrees": float("inf")})],
)
def test_parameters_must_be_positive(name, parameters):
    with pytest.raises(BenchfwError, match="must be positive"):
        get_likelihood(name, **parameters)
