"""On a GPU: models and methods of variational inference give the numbers that they give on the host."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from benchfw.backends import get_backend
from benchfw.errors import BackendUnavailable
from benchfw_variational import (
    PGSVI,
    BayesianGLM,
    CorrelatedTopics,
    CTMLaplace,
    CTMProximalSVI,
    GPClassification,
    Laplace,
    Quadrature,
    Reparameterization,
    ScoreFunction,
)

NUMPY = get_backend("numpy")
try:
    CUPY = get_backend("cupy")
except BackendUnavailable as missing:
    pytest.skip(str(missing), allow_module_level=True)

MODELS = {
    "process": lambda backend: GPClassification(
        backend, backend.rng(3), dataset="ionosphere-like", log_length=1.0, log_scale=1.0
    ),
    "weights": lambda backend: BayesianGLM(backend, backend.rng(3), dataset="ionosphere-like"),
}
METHODS = {
    "exact": PGSVI(step=0.02, batch=5),
    "score function": PGSVI(step=0.02, batch=5, expectation="score-function", samples=50),
    "reparameterized": PGSVI(step=0.02, batch=5, expectation="reparameterization", samples=50),
    "laplace": Laplace(),
}
ESTIMATORS = {
    "quadrature": Quadrature(batch=7),
    "score function": ScoreFunction(batch=7, samples=20),
    "reparameterization": Reparameterization(batch=7, samples=20),
}


def on_both(compute):
    return [compute(backend) for backend in (NUMPY, CUPY)]


@pytest.mark.parametrize("name", MODELS)
def test_value_and_gradient_are_the_same_on_both_backends(name):
    def compute(backend):
        problem = MODELS[name](backend)
        start = problem.start()
        return problem.value(start), backend.to_numpy(problem.grad(start))

    (value, gradient), (device_value, device_gradient) = on_both(compute)
    assert device_value == pytest.approx(value, rel=1e-10)
    np.testing.assert_allclose(device_gradient, gradient, rtol=0, atol=1e-8 * np.abs(gradient).max())


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_drawn_gradient_is_the_same_on_both_backends(name, estimator):
    def compute(backend):
        problem = MODELS[name](backend)
        return backend.to_numpy(ESTIMATORS[estimator].draw(problem, backend.rng(8))(problem.start()))

    host, device = on_both(compute)
    np.testing.assert_allclose(device, host, rtol=0, atol=1e-8 * np.abs(host).max())


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("method", METHODS)
def test_the_metrics_after_ten_steps_are_the_same_on_both_backends(name, method):
    def compute(backend):
        problem = MODELS[name](backend)
        answers = list(islice(METHODS[method].run(problem, backend.rng(8)), 10))
        return problem.metrics(answers[-1])

    host, device = on_both(compute)
    assert device == pytest.approx(host, rel=1e-6)


@pytest.mark.parametrize("method", [CTMLaplace(), CTMProximalSVI()], ids=lambda each: type(each).__name__)
def test_topics_are_learned_alike_on_both_backends(method):
    def compute(backend):
        problem = CorrelatedTopics(
            backend, backend.rng(3), dataset="ap-like(documents=60, words=200)", topics=4
        )
        return problem.metrics(list(islice(method.run(problem, backend.rng(8)), 3))[-1])

    host, device = on_both(compute)
    assert device == pytest.approx(host, rel=1e-4)
