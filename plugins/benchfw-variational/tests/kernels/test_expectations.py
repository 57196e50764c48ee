"""Logistic expectations, right to the last digits wide or narrow, near or far, and what lies beneath them."""

from __future__ import annotations

import array_api_strict
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import erfcx, log_expit

from benchfw.backends import get_backend
from benchfw_variational.kernels import expectations
from benchfw_variational.kernels.expectations import (
    gauss_hermite,
    logistic_expectations,
    logistic_log_mean,
    scaled_erfc,
)

# mean, variance, E[-log σ(z)], -E σ(-z), E σ(z)σ(-z): mpmath, Gauss-Legendre with 34 digits
REFERENCE = [
    (0.0, 0.01, 0.6943956232408094, -0.5, 0.2493781030641861),
    (0.3, 0.01, 0.5555761140116701, -0.4257385903566759, 0.24389035089934175),
    (37.0, 0.01, 8.575819704962371e-17, -8.57581970496237e-17, 8.57581970496237e-17),
    (300.0, 0.01, 5.174005683415227e-131, -5.174005683415227e-131, 5.174005683415227e-131),
    (-0.5, 0.1, 0.9857094735984182, -0.6197048768664, 0.23034935896916356),
    (3.0, 0.1, 0.05088722439497915, -0.04949300563105143, 0.04681537562617369),
    (0.0, 0.5, 0.7522629793107751, -0.5, 0.22462336799363977),
    (1.0, 0.5, 0.36124135037857774, -0.2884268321552935, 0.18712143066111983),
    (10.0, 1.0, 7.48442177024937e-05, -7.483660831880666e-05, 7.482139514820121e-05),
    (100.0, 1.0, 6.133368390286092e-44, -6.133368390286092e-44, 6.133368390286092e-44),
    (-20.0, 1.0, 20.000000003398267, -0.9999999966017322, 3.398267756712418e-09),
    (0.01, 4.0, 1.0627219593607846, -0.49848574001343754, 0.15142524116944958),
    (3.0, 4.0, 0.1820085406029025, -0.12959420093457716, 0.07790778807078705),
    (300.0, 4.0, 3.804034025192962e-130, -3.804034025192962e-130, 3.804034025192962e-130),
    (-0.5, 30.0, 2.559371491244165, -0.5345752771138588, 0.06897672255174882),
    (37.0, 30.0, 2.550773205926986e-10, -2.476060181098033e-10, 2.3838146813747566e-10),
    (300.0, 300.0, 3.7513789519596016e-66, -3.5875479865822054e-66, 3.42318030966884e-66),
    (100.0, 300.0, 1.3523485679921325e-08, -4.704949909843793e-09, 1.594584141229832e-09),
    (-20.0, 300.0, 21.084997677461107, -0.8746048847216318, 0.011846336472982711),
    (0.0, 1e4, 39.90078962223357, -0.5, 0.0039887667968355805),
    (300.0, 1e4, 0.03828839986898486, -0.0013520865722746963, 4.43768300810802e-05),
    (-300.0, 1e4, 300.038288399869, -0.9986479134277253, 4.43768300810802e-05),
    (1.0, 1e5, 125.65933204266345, -0.4987384565927098, 0.0012615392022894106),
    (300.0, 1e5, 29.02508284359542, -0.17139482508301507, 0.0008044088397123368),
    (-300.0, 1e5, 329.02508284359544, -0.8286051749169849, 0.0008044088397123368),
]
MEAN, VARIANCE, *EXPECTED = np.array(REFERENCE).T
LIBRARIES = pytest.mark.parametrize(
    "asarray", [np.asarray, array_api_strict.asarray], ids=["numpy", "strict"]
)

means = st.floats(-300, 300)
variances = st.floats(0.01, 1e5)


def found(mean, variance, asarray=np.asarray):
    results = logistic_expectations(asarray(np.atleast_1d(mean)), asarray(np.atleast_1d(variance)))
    return [np.asarray(result) for result in results]


@LIBRARIES
def test_they_agree_with_quadrature_of_high_precision(asarray):
    for result, expected in zip(found(MEAN, VARIANCE, asarray), EXPECTED, strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-13)


@given(mean=means, variance=variances)
def test_the_mirrored_mean_gives_the_mirrored_values(mean, variance):
    # -log σ(-z) = z - log σ(z) and σ(z) = 1 - σ(-z)
    loss, slope, curvature = found(mean, variance)
    mirrored_loss, mirrored_slope, mirrored_curvature = found(-mean, variance)
    np.testing.assert_allclose(loss + mean, mirrored_loss, rtol=1e-13, atol=1e-13 * abs(mean))
    np.testing.assert_allclose(slope + 1, -mirrored_slope, rtol=0, atol=1e-15)
    np.testing.assert_array_equal(curvature, mirrored_curvature)


@given(mean=means, variance=variances)
def test_values_lie_where_they_must(mean, variance):
    loss, slope, curvature = found(mean, variance)
    assert loss[0] >= max(0.0, -log_expit(mean) * (1 - 1e-13))  # Jensen
    assert -1 <= slope[0] <= 0
    assert 0 <= curvature[0] <= 0.25 * (1 + 1e-13)
    assert curvature[0] <= -slope[0] * (1 + 1e-13)
    assert -slope[0] <= loss[0] * (1 + 1e-13)


@given(mean=st.floats(-50, 50), variance=st.floats(0.01, 1e4))
def test_slope_and_curvature_are_derivatives(mean, variance):
    step = 1e-3 * np.sqrt(variance) / (1 + np.sqrt(variance))
    shifted = [found(mean + sign * step, variance) for sign in (-1, 1)]
    _, slope, curvature = found(mean, variance)
    # a step's square times the third derivatives, which are below 0.2, and rounding over the step
    tolerance = 0.1 * step**2 + 1e-15 * (1 + abs(mean) + np.sqrt(variance)) / step
    np.testing.assert_allclose((shifted[1][0] - shifted[0][0]) / (2 * step), slope, rtol=0, atol=tolerance)
    np.testing.assert_allclose(
        (shifted[1][1] - shifted[0][1]) / (2 * step), curvature, rtol=0, atol=tolerance
    )
    change = 1e-3 * variance
    wide, narrow = (found(mean, variance + sign * change)[0] for sign in (1, -1))
    # v²|∂³f/∂v³| is below one; relative to v the step is 1e-3
    np.testing.assert_allclose(
        (wide - narrow) / change,
        curvature,
        rtol=1e-5,
        atol=1e-14 * (1 + abs(mean)) / change + 1e-6 / variance,
    )


@LIBRARIES
def test_without_variance_they_are_the_functions_themselves(asarray):
    mean = np.array([-300.0, -2.0, 0.0, 0.5, 30.0])
    loss, slope, curvature = found(mean, np.zeros(5), asarray)
    sigma = 1 / (1 + np.exp(-mean))
    np.testing.assert_allclose(loss, -log_expit(mean), rtol=1e-13)
    np.testing.assert_allclose(slope, -1 / (1 + np.exp(mean)), rtol=1e-13)
    np.testing.assert_allclose(curvature, sigma / (1 + np.exp(mean)), rtol=1e-13)


def test_examples_in_many_blocks_are_those_in_one(monkeypatch):
    backend = get_backend("numpy")
    arguments = expectations.sample_logistic_expectations(backend, backend.rng(3), 1000)
    whole = found(*arguments)
    monkeypatch.setattr(expectations, "AT_ONCE", 64)
    for one, other in zip(found(*arguments), whole, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-14)


def test_single_precision_stays_single():
    single = [part.astype(np.float32) for part in (MEAN[:9], VARIANCE[:9])]
    for result, expected in zip(found(*single), EXPECTED, strict=True):
        assert result.dtype == np.float32
        np.testing.assert_allclose(result, expected[:9], rtol=1e-4, atol=1e-30)


@LIBRARIES
def test_the_log_mean_of_the_logistic_function_is_finite_in_its_tails(asarray):
    mean, variance, expected = np.array(
        [
            # mpmath; e^-999.5 and e^-3203 are below the smallest double
            (-1000.0, 1.0, -999.5),
            (-8000.0, 1e4, -3203.8503338395208),
            (-300.0, 0.01, -299.995),
            (-40.0, 1e5, -0.7992359219417887),
            (-0.5, 2.0, -0.8914827820551292),
            (3.0, 2.0, -0.09580519131510026),
        ]
    ).T
    result = np.asarray(logistic_log_mean(asarray(mean), asarray(variance)))
    np.testing.assert_allclose(result, expected, rtol=1e-14)


@given(mean=means, variance=variances)
def test_probabilities_sum_to_one(mean, variance):
    logarithms = logistic_log_mean(np.array([mean, -mean]), np.array([variance, variance]))
    np.testing.assert_allclose(np.exp(logarithms).sum(), 1.0, rtol=1e-14)


def test_the_scaled_complement_is_that_of_scipy_from_nothing_to_the_largest_numbers():
    x = np.concatenate([[0.0], np.linspace(0, 12, 10_001), np.logspace(-300, 150, 1001)])
    np.testing.assert_allclose(scaled_erfc.portable(x), erfcx(x), rtol=3e-15)


@pytest.mark.parametrize("count", [1, 2, 20, 200])
def test_gauss_hermite_is_exact_for_polynomials(count):
    nodes, weights = gauss_hermite(count)
    # moments of N(0, 1): 1, 1, 3, 15, …
    degrees = range(0, min(2 * count, 20), 2)
    moments = [np.prod(np.arange(1.0, degree, 2)) for degree in degrees]
    np.testing.assert_allclose([weights @ nodes**degree for degree in degrees], moments, rtol=1e-11)
    np.testing.assert_allclose(weights @ nodes, 0.0, atol=1e-14)


def test_gauss_hermite_is_right_for_narrow_gaussians_and_wrong_for_wide_ones():
    nodes, weights = gauss_hermite(80)
    for variance, agrees in ((0.1, True), (1e4, False)):
        loss = weights @ -log_expit(1.0 + np.sqrt(variance) * nodes)
        assert (abs(loss / found(1.0, variance)[0][0] - 1) < 1e-13) == agrees


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_bits_are_the_same_with_any_number_of_threads(monkeypatch, dtype):
    rng = np.random.default_rng(6)
    mean, variance = rng.standard_normal(10_000).astype(dtype), rng.random(10_000).astype(dtype)
    wide = rng.random((40_000, 7)).astype(dtype)
    found = []
    for threads in (1, 3):
        monkeypatch.setenv("OMP_NUM_THREADS", str(threads))
        found.append(
            [*logistic_expectations(mean, variance), logistic_log_mean(mean, variance), scaled_erfc(wide)]
        )
    assert all(np.array_equal(*pair) for pair in zip(*found, strict=True))
