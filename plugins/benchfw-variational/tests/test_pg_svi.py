"""Proximal-gradient methods: the update itself, its reference numbers, and the Laplace approximation."""

from __future__ import annotations

import math
from itertools import islice

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from benchfw import BenchfwError
from benchfw.data import local_datasets
from benchfw_variational.implicit_covariance import ImplicitCovariance, ReusedCovariance
from benchfw_variational.optimizers.laplace import Laplace
from benchfw_variational.optimizers.pg import PG, PGMC
from benchfw_variational.optimizers.pg_svi import PGSVI
from benchfw_variational.problems.bayesian_glm import BayesianGLM
from benchfw_variational.problems.gp_classification import GPClassification


def needs(name):
    return pytest.mark.skipif(
        name not in local_datasets(), reason=f"data set '{name}' is in no folder of BENCHFW_DATA"
    )


@pytest.fixture
def build(tmp_path, monkeypatch, backend):
    rng = np.random.default_rng(0)
    features = rng.standard_normal((24, 2))
    labels = (features[:, 0] * features[:, 1] > 0).astype(int)
    np.savez(tmp_path / "small.npz", X=features, y=labels, train_idx=np.arange(17))
    monkeypatch.setenv("BENCHFW_DATA", str(tmp_path))
    return lambda **params: GPClassification(backend, backend.rng(0), dataset="small", jitter=0.1, **params)


@pytest.fixture(scope="module")
def ionosphere(backend):
    return GPClassification(backend, backend.rng(0))


def path(problem, optimizer, steps, seed=1):
    """The first answers, the start included."""
    return list(islice(optimizer.run(problem, problem.backend.rng(seed)), steps + 1))


def record_batches(problem, monkeypatch):
    """Return a list that will hold the batches asked for, with their marginals and what was answered."""
    asked = []

    def local(batch, mean, variance):
        found = type(problem).local(problem, batch, mean, variance)
        asked.append((batch, mean, variance, found))
        return found

    monkeypatch.setattr(problem, "local", local)
    return asked


@pytest.mark.parametrize("refactor", [1, 4])
@pytest.mark.parametrize("form", ["approximate", "exact"])
def test_the_implicit_covariance_is_the_explicit_update(build, monkeypatch, form, refactor):
    """V⁻¹ ← rV⁻¹ + (1-r)(K⁻¹ + diag γ), eq. (64), m by (82) or (83), over 50 steps of batches of 5."""
    problem, step = build(), 0.02
    asked, rate = record_batches(problem, monkeypatch), step / (1 + step)
    answers = path(problem, PGSVI(step=step, batch=5, form=form, refactor=refactor), 50)
    gram, inverse = problem.prior.gram, np.linalg.inv(problem.prior.gram)
    mean, precision = np.zeros(17), inverse
    for answer, (batch, batch_mean, batch_variance, local) in zip(answers, asked, strict=False):
        covariance = np.linalg.inv(precision)
        np.testing.assert_allclose(answer.variance, np.diag(covariance), rtol=1e-8)
        np.testing.assert_allclose(answer.mean, mean, atol=1e-8)
        np.testing.assert_allclose(batch_variance, np.diag(covariance)[batch], rtol=1e-8)
        np.testing.assert_allclose(batch_mean, mean[batch], atol=1e-8)
        weight, slopes, curvatures = 17 / len(batch), np.zeros(17), np.zeros(17)
        slopes[batch], curvatures[batch] = weight * local.slope, weight * local.curvature
        before, precision = precision, (1 - rate) * precision + rate * (inverse + np.diag(curvatures))
        metric = precision if form == "approximate" else (1 - rate) * before + rate * inverse
        mean = mean - rate * np.linalg.solve(metric, inverse @ mean + slopes)
    assert len(asked) == 50
    np.testing.assert_allclose(gram @ answers[-1].dual, mean, atol=1e-8)


STEPS = {  # ρ in passes 0, 1, 2 and 7
    "constant": ({"rho": 0.4}, [0.4, 0.4, 0.4, 0.4]),
    "falling": ({"rho": 1.0, "schedule": "falling", "change": 1 / 3}, [1, 0.75, 0.6, 0.3]),
    "growing": ({"rho": 0.03, "schedule": "growing"}, [0.03, 0.06, 0.09, 0.24]),
    "capped": ({"rho": 0.01, "schedule": "growing", "cap": 0.06}, [0.01, 0.02, 0.03, 0.06]),
}


@pytest.mark.parametrize("name", STEPS)
def test_the_precisions_follow_the_schedule_of_rho(build, name):
    """With noise 1 a batch of a Gaussian likelihood has curvature 1: γ ← rγ + (1-r) n/B, r = 1/(1 + ρB/n)."""
    settings, rhos = STEPS[name]
    problem = build(likelihood="gaussian")
    for refactor in (1, 2):
        optimizer = PGSVI(batch=5, stride=1, refactor=refactor, **settings)
        answers = path(problem, optimizer, 4 * 8)
        for number, rho in zip((0, 1, 2, 7), rhos, strict=True):
            before, after = answers[4 * number], answers[4 * number + 1]
            keep = 1 / (1 + rho * 5 / 17)
            expected = keep * before.precisions
            expected[:5] += (1 - keep) * 17 / 5
            np.testing.assert_allclose(after.precisions, expected, rtol=1e-12)
    by_step = path(problem, PGSVI(step=0.02 * 5 / 17, batch=5), 9)[-1]
    by_rho = path(problem, PGSVI(rho=0.02, batch=5), 9)[-1]
    np.testing.assert_allclose(by_rho.dual, by_step.dual, rtol=1e-12)


def test_a_pass_renews_the_same_part_of_the_precisions_whatever_the_batch(build):
    """1 - e^-ρ with single examples, ρ/(1 + ρ) with all at once; with noise 1 precisions go from 0 to 1."""
    problem = build(likelihood="gaussian")
    for batch, expected in ((1, 1 - math.exp(-0.05)), (17, 0.05 / 1.05)):
        answers = path(problem, PGSVI(rho=0.05, batch=batch), 17 // batch)
        assert answers[-1].precisions.mean() == pytest.approx(expected, rel=0.002)


def test_beta_and_rho_are_not_given_together():
    with pytest.raises(BenchfwError, match="step = β and rho = β n/batch are one number"):
        PGSVI(step=0.1, rho=0.1)


def test_with_a_gaussian_likelihood_the_precisions_are_a_geometric_sum(build):
    """γ_k = 1 - r^k for noise 1, and m → K(K + I)⁻¹y."""
    problem, keep = build(likelihood="gaussian"), 1 / 1.5
    answers = path(problem, PG(step=0.5), 100)
    for step, answer in enumerate(answers[:30]):
        np.testing.assert_allclose(answer.precisions, 1 - keep**step, rtol=1e-12, atol=1e-15)
    gram = problem.prior.gram
    np.testing.assert_allclose(
        answers[-1].mean, gram @ np.linalg.solve(gram + np.eye(17), problem.targets), atol=1e-10
    )
    evidence = problem.targets @ np.linalg.solve(gram + np.eye(17), problem.targets)
    evidence += np.linalg.slogdet(gram + np.eye(17))[1] + 17 * math.log(2 * math.pi)
    assert answers[-1].negative_bound() == pytest.approx(evidence / 2, rel=1e-10)


def test_both_forms_end_in_the_same_place_where_the_gradient_is_zero(build):
    problem = build()
    ends = [path(problem, PG(step=0.5, form=form), 200)[-1] for form in ("approximate", "exact")]
    np.testing.assert_allclose(ends[0].dual, ends[1].dual, atol=1e-8)
    covariance = np.linalg.inv(np.linalg.inv(problem.prior.gram) + np.diag(ends[0].precisions))
    params = problem.pack(ends[0].mean, np.linalg.cholesky(covariance))
    np.testing.assert_allclose(problem.grad(params), 0, atol=1e-6)


def test_the_exact_form_never_raises_the_bound(build):
    bounds = [answer.negative_bound() for answer in path(build(), PG(step=0.1, form="exact"), 60)]
    assert np.all(np.diff(bounds) < 1e-10)


def test_a_pass_visits_every_example_once_in_a_new_order(build, monkeypatch):
    problem = build()
    asked = record_batches(problem, monkeypatch)
    path(problem, PGSVI(step=0.01, batch=5), 8)
    passes = [np.concatenate([each[0] for each in asked[first : first + 4]]) for first in (0, 4)]
    assert [len(each[0]) for each in asked] == [5, 5, 5, 2] * 2
    for order in passes:
        np.testing.assert_array_equal(np.sort(order), np.arange(17))
    assert not np.array_equal(*passes)
    assert problem.cost == 34


def test_a_stride_gives_every_pass_the_same_order(build, monkeypatch):
    problem = build()
    asked = record_batches(problem, monkeypatch)
    path(problem, PGSVI(step=0.01, batch=17, stride=5), 2)
    for batch, *_ in asked:
        np.testing.assert_array_equal(batch, 5 * np.arange(17) % 17)


def test_a_stride_that_misses_examples_is_refused(build):
    with pytest.raises(BenchfwError, match="stride 34 does not visit all 17 examples"):
        path(build(), PGSVI(stride=34), 1)


@pytest.mark.parametrize("kind", ["score-function", "reparameterization"])
def test_sampled_steps_are_steps_with_other_expectations(build, kind):
    """One step from the prior: α̂ and 2∂f/∂v are means of the draws, negative curvatures are left out."""
    problem = build()
    answer = path(problem, PGMC(step=0.25, samples=50, expectation=kind), 1)[1]
    normals = problem.backend.rng(1).standard_normal((50, 17))
    local = problem.sampled(np.arange(17), np.zeros(17), problem.prior.diagonal, normals, kind)
    precisions = 0.2 * np.maximum(local.curvature, 0)
    np.testing.assert_allclose(answer.precisions, precisions, rtol=1e-12)
    inner = np.linalg.inv(np.linalg.inv(problem.prior.gram) + np.diag(precisions))
    np.testing.assert_allclose(answer.mean, -0.2 * inner @ local.slope, rtol=1e-8, atol=1e-10)


def test_with_many_samples_sampled_steps_come_close_to_exact_ones(build):
    problem = build()
    exact = path(problem, PG(step=0.5), 40)[-1].negative_bound()
    sampled = path(problem, PGMC(step=0.5, samples=4000, expectation="reparameterization"), 40)[-1]
    # at a minimum the bound rises with the square of the noise, which is of the order 1/√samples
    assert exact <= sampled.negative_bound() < exact + 17 / 400


def test_a_reused_covariance_forgets_what_it_knew_of_a_batch_when_others_are_added(build):
    """Also where one array of rows is asked for again and again."""
    prior, rows = build().prior, np.array([2, 5, 11])
    reused = ReusedCovariance(prior, np.zeros(17), 6)
    anew = ImplicitCovariance(prior, np.zeros(17))
    for number in range(8):
        for each in (reused, anew):
            each.variances(rows)
            each.decay(0.98 if number < 5 else 0.99)
            each.add(rows, np.array([0.1, 0.3, 0.2]) * (number + 1))
        np.testing.assert_allclose(reused.variances(rows), anew.variances(rows), rtol=1e-9)
        np.testing.assert_allclose(reused.variances(), anew.variances(), rtol=1e-12)


def test_a_reused_factor_needs_a_dense_prior_and_small_steps(build, backend):
    problem = BayesianGLM(backend, backend.rng(0), dataset="small")
    with pytest.raises(BenchfwError, match="refactor above 1 needs a prior whose covariance is stored whole"):
        path(problem, PGSVI(refactor=2), 1)
    with pytest.raises(BenchfwError, match="too large to reuse a factor"):
        path(build(), PGSVI(step=0.5, refactor=4), 1)


@needs("ionosphere")
def test_the_gate_without_randomness_on_ionosphere(ionosphere):
    """METHODS C5: F after passes 1, 2 and 5 in the order 101 i mod n, Table 1's step."""
    answers = path(ionosphere, PGSVI(step=2.0 / 280, batch=5, stride=101), 280)
    bounds = [answers[56 * passes].negative_bound() for passes in (0, 1, 2, 5)]
    np.testing.assert_allclose(bounds, [1375.8448, 103.4838, 92.8667, 90.0644], atol=1e-3)


@needs("ionosphere")
def test_batch_steps_reach_the_reference_optimum_of_ionosphere(ionosphere):
    answers = path(ionosphere, PG(step=1.0), 50)
    bounds = np.array([answer.negative_bound() for answer in answers])
    steps = 1 + int(np.argmax(np.abs(np.diff(bounds)) < 1e-10 * bounds[1:]))
    metrics = ionosphere.metrics(answers[-1])
    assert metrics["negative_bound"] == pytest.approx(89.26565, abs=1e-3)
    assert metrics["log_loss_bits"] == pytest.approx(0.41769, abs=5e-4)
    assert round(71 * metrics["test_error"], 9) == 7
    assert steps == pytest.approx(42, rel=0.1)


@pytest.mark.parametrize(
    ("dataset", "start", "best", "bits", "errors"),
    [
        pytest.param("sonar", 26556.1609, 156.2142, 0.93448, 18, marks=needs("sonar")),
        pytest.param("usps-2vs4", 52344.0318, 106.95499, 0.04527, 11, marks=needs("usps-2vs4")),
        pytest.param("usps-3vs5", 45416.1453, 118.50457, 0.10784, 21, marks=needs("usps-3vs5")),
    ],
)
@pytest.mark.thorough
def test_batch_steps_reach_the_reference_optimum_of_other_sets(backend, dataset, start, best, bits, errors):
    problem = GPClassification(backend, backend.rng(0), dataset=dataset)
    step, steps = (0.3, 130) if dataset == "sonar" else (1.0, 40)
    answers = PG(step=step).run(problem, backend.rng(1))
    assert next(answers).negative_bound() == pytest.approx(start, abs=1e-3)
    metrics = problem.metrics(next(islice(answers, steps - 1, None)))
    assert metrics["negative_bound"] == pytest.approx(best, abs=1e-3)
    assert metrics["log_loss_bits"] == pytest.approx(bits, abs=5e-4)
    assert round(len(problem.test.targets) * metrics["test_error"], 9) == errors


@needs("usps-2vs4")
@pytest.mark.thorough
def test_the_gate_without_randomness_on_usps(backend):
    problem = GPClassification(backend, backend.rng(0), dataset="usps-2vs4")
    answers = path(problem, PGSVI(step=2.5 / 884, batch=20, stride=101), 90)
    bounds = [answers[45 * passes].negative_bound() for passes in (1, 2)]
    np.testing.assert_allclose(bounds, [157.2631, 130.0797], atol=1e-3)


@needs("sonar")
def test_batch_steps_of_length_one_fall_into_a_cycle_of_two_on_sonar(backend):
    problem = GPClassification(backend, backend.rng(0), dataset="sonar")
    bounds = [answer.negative_bound() for answer in path(problem, PG(step=1.0), 60)[-4:]]
    np.testing.assert_allclose(bounds[:2], bounds[2:], rtol=1e-3)
    assert abs(bounds[0] - bounds[1]) > 1.0


@needs("ionosphere")
def test_the_laplace_approximation_is_that_of_scikit_learn(ionosphere):
    answer = path(ionosphere, Laplace(), 12)[-1]
    covariance = ConstantKernel(math.exp(5)) * RBF(math.e) + WhiteKernel(0.01)
    peer = GaussianProcessClassifier(covariance, optimizer=None, max_iter_predict=100)
    from benchfw.data import load_table

    peer.fit(load_table("ionosphere", "train").features, ionosphere.targets)
    np.testing.assert_allclose(answer.mean, peer.base_estimator_.f_cached, rtol=1e-6, atol=1e-6)
    metrics = ionosphere.metrics(answer)
    assert metrics["log_loss_bits"] == pytest.approx(0.5205, abs=5e-4)
    assert metrics["test_error"] == pytest.approx(0.141, abs=5e-4)


def test_the_laplace_approximation_stands_on_the_mode(build):
    problem = build()
    answer = path(problem, Laplace(), 20)[-1]
    np.testing.assert_allclose(
        answer.dual, -problem.likelihood.slope(problem.targets, answer.mean), atol=1e-9
    )
    np.testing.assert_allclose(
        answer.precisions, problem.likelihood.curvature(problem.targets, answer.mean), rtol=1e-9
    )
    assert answer.negative_bound() > path(problem, PG(step=0.5), 60)[-1].negative_bound()


@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_likelihood_with_a_kink_has_no_laplace_approximation(build):
    with pytest.raises(BenchfwError, match="laplace needs a likelihood that is smooth, not 'laplace'"):
        path(build(likelihood="laplace"), Laplace(), 1)
