"""On a GPU: features, machines and estimators give the numbers that they give on the host."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from benchfw.backends import get_backend
from benchfw.data import load
from benchfw.errors import BackendUnavailable
from benchfw_datasets.synthetic.warps import WarpedPictures
from benchfw_kernelmachines import (
    CDSG,
    DSG,
    UDSG,
    DoublyStochastic,
    FeaturePredictor,
    FunctionalGradient,
    KernelClassification,
    KernelRegression,
    KernelRidgeExact,
    NystromRidge,
    RandomFeaturesSVRG,
    get_covariance,
    get_frequencies,
)
from benchfw_kernelmachines.kernels.halves import halves_of_columns, halves_of_rows, multiply_halves
from benchfw_kernelmachines.kernels.random_features import feature_gram, feature_products, feature_scores

NUMPY = get_backend("numpy")
try:
    CUPY = get_backend("cupy")
except BackendUnavailable as missing:
    pytest.skip(str(missing), allow_module_level=True)

COVARIANCES = ("gaussian", "laplace", "cauchy", "matern")
PROBLEMS = {
    "classes": lambda backend: KernelClassification(
        backend, backend.rng(1), dataset="stream-like(rows=1500, features=6, classes=3)"
    ),
    "numbers": lambda backend: KernelRegression(
        backend, backend.rng(1), dataset="uci-like(rows=1500, features=6)"
    ),
}
METHODS = {
    "dsg": DSG(batch=200, block=32, step=2.0),
    "udsg": UDSG(batch=200, block=32, step=2.0),
    "cdsg": CDSG(batch=200, block=32, step=2.0),
    "dsg preconditioned": DSG(batch=200, block=32, step=1.0, preconditioner=1e-2),
    "dsg, plain float32": DSG(batch=200, block=32, step=1.0, preconditioner=1e-2, tensor_cores=False),
    "svrg": RandomFeaturesSVRG(features=64),
}


def on_both(compute):
    return [compute(backend) for backend in (NUMPY, CUPY)]


@pytest.mark.parametrize("name", COVARIANCES)
def test_frequencies_are_equal_to_the_last_bit(name):
    host, device = on_both(
        lambda backend: backend.to_numpy(
            get_frequencies("independent", backend, get_covariance(name, 1.7), 5, 33, 11).block(4)
        )
    )
    np.testing.assert_array_equal(device, host)


@pytest.mark.parametrize("kind", ["orthogonal", "quasi-monte-carlo"])
def test_frequencies_made_on_the_host_arrive_as_they_are(kind):
    host, device = on_both(
        lambda backend: backend.to_numpy(
            get_frequencies(kind, backend, get_covariance("gaussian", 1.7), 5, 33, 11).block(4)
        )
    )
    np.testing.assert_array_equal(device, host)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", PROBLEMS)
def test_the_first_answers_measure_the_same(name, method):
    def compute(backend):
        problem = PROBLEMS[name](backend)
        return [problem.metrics(answer) for answer in islice(METHODS[method].run(problem, backend.rng(5)), 8)]

    for host, device in zip(*on_both(compute), strict=True):
        assert device == pytest.approx(host, rel=2e-3, abs=2e-3)  # float32; an error counts rows


@pytest.mark.parametrize("method", [KernelRidgeExact(), NystromRidge()], ids=lambda each: type(each).__name__)
def test_exact_machines_measure_the_same(method):
    def compute(backend):
        problem = PROBLEMS["numbers"](backend)
        return problem.metrics(list(method.run(problem, backend.rng(5)))[-1])

    host, device = on_both(compute)
    assert device == pytest.approx(host, rel=1e-2)


def test_a_predictor_saved_on_the_device_predicts_the_same_on_the_host(tmp_path):
    problem = PROBLEMS["classes"](CUPY)
    answer = list(islice(METHODS["cdsg"].run(problem, CUPY.rng(5)), 12))[-1]
    answer.save(tmp_path / "machine.npz")
    rows = CUPY.to_numpy(problem.test.features)
    on_host = FeaturePredictor.load(tmp_path / "machine.npz", NUMPY).predict(rows)
    np.testing.assert_allclose(on_host, CUPY.to_numpy(answer.predict(problem.test.features)), atol=1e-4)


@pytest.mark.parametrize("tensor_cores", [True, False])
@pytest.mark.parametrize("randomness", ["both", "data", "features"])
def test_a_drawn_gradient_is_the_same(randomness, tensor_cores):
    def compute(backend):
        problem = FunctionalGradient(
            backend, backend.rng(1), dataset="stream-like(rows=1500, features=6, classes=3)", rows=200
        )
        estimator = DoublyStochastic(batch=20, features=16, randomness=randomness, tensor_cores=tensor_cores)
        return backend.to_numpy(estimator.draw(problem, backend.rng(5))(problem.start()))

    host, device = on_both(compute)
    np.testing.assert_allclose(device, host, atol=1e-4)


def test_pictures_warped_on_the_device_are_those_of_the_host():
    arrays = load("mnist-like(rows=200, test_rows=1)")
    made = [
        WarpedPictures(backend, arrays["x_train"], arrays["y_train"], 3).rows(7_000_000, 7_003_000)
        for backend in (NUMPY, CUPY)
    ]
    (host, labels), (device, same) = made
    np.testing.assert_array_equal(labels, same)
    apart = np.abs(host.astype(int) - CUPY.to_numpy(device).astype(int))
    assert apart.max() <= 1
    assert (apart > 0).mean() < 1e-3


def test_three_products_of_halves_are_as_exact_as_one_of_float32():
    rng = CUPY.rng(1)
    rows, columns = (
        rng.standard_normal((2_000, 100), np.float32),
        rng.standard_normal((100, 1_000), np.float32),
    )
    exact = rows.astype(np.float64) @ columns.astype(np.float64)
    split = multiply_halves(halves_of_rows(rows), halves_of_columns(columns))

    def error(product):
        return float(abs(product - exact).max())

    assert error(split) < 1.2 * error(rows @ columns)


@pytest.mark.parametrize("tensor_cores", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("rows", "width", "outputs"),
    [(1, 1, 1), (33, 16, 3), (300, 130, 10), (257, 999, 17), (50, 20, 80), (50, 20, 81)],
)
def test_scores_of_any_shape_are_sums_over_features(rows, width, outputs, dtype, tensor_cores):
    rng = CUPY.rng(2)
    points, frequencies = rng.standard_normal((rows, 5), dtype), rng.standard_normal((5, 2 * width), dtype)
    coefficients = [rng.standard_normal((2, width, outputs), dtype) for _ in range(2)]
    found = feature_scores(
        points, lambda numbers: _blocks(frequencies, width, numbers), coefficients, outputs, tensor_cores
    )
    exact = feature_scores.portable(
        points.astype(np.float64),
        lambda numbers: _blocks(frequencies, width, numbers).astype(np.float64),
        [block.astype(np.float64) for block in coefficients],
        outputs,
    )
    # rounding of phases, which are up to 15, in as many features, and of sums, which are rounded towards 0
    tolerance = np.finfo(dtype).eps * (40 * (4 * width) ** 0.5 + 50 * float(abs(exact).max()))
    assert float(abs(found - exact).max()) <= tolerance


@pytest.mark.parametrize("tensor_cores", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_and_grams_are_those_of_the_features(dtype, tensor_cores):
    rng = CUPY.rng(2)
    shapes = (300, 20), (20, 70), (300, 3)
    points, frequencies, residuals = (rng.standard_normal(shape, dtype) for shape in shapes)
    exact = [array.astype(np.float64) for array in (points, frequencies, residuals)]
    # of 300 products of features, which the rounding of phases, up to 20, moves
    tolerance = 20 * 300**0.5 * 40 * np.finfo(dtype).eps
    products = feature_products(points, frequencies, residuals, tensor_cores)
    assert float(abs(products - feature_products.portable(*exact)).max()) <= tolerance
    gram = feature_gram(points, frequencies, tensor_cores)
    assert float(abs(gram - feature_gram.portable(*exact[:2])).max()) <= tolerance


def test_plain_scores_are_at_least_as_exact_as_those_of_tensor_cores():
    rng = CUPY.rng(2)
    points, frequencies, planes = (
        rng.standard_normal(shape, np.float32) for shape in ((2_000, 100), (100, 4_096), (2, 4_096, 10))
    )
    exact = feature_scores.portable(
        points.astype(np.float64), lambda _: frequencies.astype(np.float64), [planes.astype(np.float64)], 10
    )

    def error(tensor_cores):
        found = feature_scores(points, lambda _: frequencies, [planes], 10, tensor_cores)
        return float(((found - exact) ** 2).mean()) ** 0.5

    assert error(False) < 1.1 * error(True)


def _blocks(frequencies, width, numbers):
    return frequencies[:, width * numbers.start : width * numbers.stop]
