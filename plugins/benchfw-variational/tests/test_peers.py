"""scikit-learn's Laplace approximation and the natural gradients of GPyTorch against our own."""

from __future__ import annotations

import sys
from itertools import islice

import numpy as np
import pytest

from benchfw import BenchfwError
from benchfw.data import local_datasets
from benchfw.errors import Unavailable
from benchfw_variational.optimizers.laplace import Laplace
from benchfw_variational.optimizers.pg import PG
from benchfw_variational.peers.gpytorch_natural import PeerGPyTorch
from benchfw_variational.peers.sklearn_laplace import PeerSklearnLaplace
from benchfw_variational.problems.bayesian_glm import BayesianGLM
from benchfw_variational.problems.gp_classification import GPClassification

needs_ionosphere = pytest.mark.skipif(
    "ionosphere" not in local_datasets(), reason="data set 'ionosphere' is in no folder of BENCHFW_DATA"
)


@pytest.fixture
def features(tmp_path, monkeypatch):
    features = np.random.default_rng(0).standard_normal((40, 2))
    targets = features[:, 0] + features[:, 1] ** 2 > 0.5
    np.savez(tmp_path / "small.npz", X=features, y=targets, train_idx=np.arange(30))
    monkeypatch.setenv("BENCHFW_DATA", str(tmp_path))
    return features


def answers_of(problem):
    return list(PeerSklearnLaplace().run(problem, problem.backend.rng(1)))


@pytest.mark.usefixtures("features")
@pytest.mark.parametrize("kind", [GPClassification, BayesianGLM])
def test_scikit_learn_finds_the_answer_of_laplace(backend, kind):
    problem = kind(backend, backend.rng(0), dataset="small")
    own = next(islice(Laplace().run(problem, backend.rng(1)), 20, None))
    prior, peer = answers_of(problem)
    assert prior.negative_bound() == pytest.approx(problem.value(problem.start()), rel=1e-9)
    np.testing.assert_allclose(peer.mean, own.mean, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(peer.variance, own.variance, rtol=1e-5)
    assert problem.metrics(peer) == pytest.approx(problem.metrics(own), rel=1e-6)


def test_its_posterior_predicts_what_scikit_learn_predicts_with_its_own_covariance(backend, features):
    from sklearn.gaussian_process import GaussianProcessClassifier
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel

    settings = {"log_length": 0.3, "log_scale": 0.7, "jitter": 1e-9}
    problem = GPClassification(backend, backend.rng(0), dataset="small", **settings)
    kernel = ConstantKernel(np.exp(2 * 0.7)) * RBF(np.exp(0.3))
    classifier = GaussianProcessClassifier(kernel, optimizer=None).fit(features[:30], problem.targets)
    expected = classifier.base_estimator_.latent_mean_and_variance(features[30:])
    mean, variance = answers_of(problem)[-1].predict(features[30:])
    np.testing.assert_allclose(mean, expected[0], rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(variance, expected[1], rtol=1e-6)


@pytest.mark.usefixtures("features")
def test_one_pass_is_counted(backend):
    problem = GPClassification(backend, backend.rng(0), dataset="small")
    answers_of(problem)
    assert problem.cost == 30


@pytest.mark.usefixtures("features")
def test_a_likelihood_that_it_does_not_have_is_refused(backend):
    problem = GPClassification(backend, backend.rng(0), dataset="small", likelihood="bernoulli-probit")
    with pytest.raises(BenchfwError, match="has the likelihood bernoulli-logit only, not 'bernoulli-probit'"):
        answers_of(problem)


@pytest.mark.usefixtures("features")
def test_without_scikit_learn_it_says_what_to_install(backend, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.gaussian_process", None)  # as if it were not installed
    problem = GPClassification(backend, backend.rng(0), dataset="small")
    with pytest.raises(Unavailable, match=r"pip install 'benchfw-variational\[peers\]'"):
        answers_of(problem)


@needs_ionosphere
def test_on_ionosphere_it_gives_the_reference(backend):
    problem = GPClassification(backend, backend.rng(0))
    found = problem.metrics(answers_of(problem)[-1])
    assert found["log_loss_bits"] == pytest.approx(0.5205, abs=5e-4)
    assert found["test_error"] == pytest.approx(10 / 71)


def small_probit(backend, **params):
    return GPClassification(
        backend, backend.rng(0), dataset="small", log_scale=0.0, likelihood="bernoulli-probit", **params
    )


@pytest.mark.usefixtures("features")
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_natural_gradients_of_gpytorch_are_the_steps_of_pg(backend):
    pytest.importorskip("gpytorch", reason="GPyTorch is not installed")
    problem = small_probit(backend)
    own, peer = (islice(method(step=0.5).run(problem, backend.rng(1)), 6) for method in (PG, PeerGPyTorch))
    for ours, theirs in zip(own, peer, strict=True):  # theirs with 20 points, and a jitter of its own
        np.testing.assert_allclose(theirs.mean, ours.mean, rtol=1e-3, atol=1e-3)
        np.testing.assert_allclose(theirs.variance, ours.variance, rtol=1e-3)
    assert problem.cost == 2 * 5 * 30


@pytest.mark.usefixtures("features")
def test_gpytorch_is_refused_what_it_does_not_have(backend):
    problem = GPClassification(backend, backend.rng(0), dataset="small")
    with pytest.raises(BenchfwError, match="has the likelihood bernoulli-probit only, not 'bernoulli-logit'"):
        next(PeerGPyTorch().run(problem, backend.rng(1)))
    problem = BayesianGLM(backend, backend.rng(0), dataset="small", likelihood="bernoulli-probit")
    with pytest.raises(BenchfwError, match="needs a prior whose covariance is stored whole"):
        next(PeerGPyTorch().run(problem, backend.rng(1)))


@pytest.mark.usefixtures("features")
def test_without_gpytorch_it_says_what_to_install(backend, monkeypatch):
    monkeypatch.setitem(sys.modules, "gpytorch", None)  # as if it were not installed
    with pytest.raises(Unavailable, match=r"GPyTorch is not installed; pip install 'benchfw-variational"):
        next(PeerGPyTorch().run(small_probit(backend), backend.rng(1)))
