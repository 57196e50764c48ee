"""Estimators of scikit-learn by `fit`: the same coefficients as by hand, and the problem's own objective."""

from __future__ import annotations

import importlib.util
import warnings

import numpy as np
import pytest

from benchfw import BenchfwError, Unavailable
from benchfw_firstorder import BoxLeastSquares, ElasticNet, Lasso, LeastSquares, LogisticRegression, Quadratic

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("sklearn") is None, reason="scikit-learn is not installed"
)

SMALL = {"samples": 60, "features": 5}


@pytest.fixture
def fit():
    from benchfw_bridges import SklearnFit

    return SklearnFit


@pytest.mark.parametrize(
    ("estimator", "keywords", "make", "gap"),
    [
        ("LogisticRegression", {"solver": "lbfgs"}, LogisticRegression, 1e-12),
        ("LogisticRegression", {"solver": "newton-cholesky"}, LogisticRegression, 1e-15),
        ("LogisticRegression", {"solver": "saga"}, LogisticRegression, 1e-12),
        ("LinearRegression", {}, LeastSquares, 1e-25),
        ("Ridge", {"solver": "svd"}, LeastSquares, 1e-25),
        ("Lasso", {}, Lasso, 1e-12),
        ("LassoLars", {}, Lasso, 1e-12),
        ("ElasticNet", {}, ElasticNet, 1e-12),
    ],
)
def test_an_estimator_that_converges_is_at_the_optimum_of_the_problem(
    backend, fit, estimator, keywords, make, gap
):
    problem = make(backend, backend.rng(1), **SMALL, **({"nonzeros": 3} if issubclass(make, Lasso) else {}))
    method = fit(f"linear_model.{estimator}", **keywords).prepare(problem)
    assert 0 <= problem.metrics(method.solve(problem, backend.rng(2), 5000))["gap"] <= gap


def test_an_elastic_net_with_one_penalty_only_has_the_objective_too(backend, fit):
    for params in ({"ridge": 0.0}, {"penalty_ratio": 0.0}):
        problem = ElasticNet(backend, backend.rng(1), **SMALL, nonzeros=3, **params)
        answer = fit("linear_model.ElasticNet").solve(problem, backend.rng(2), 20000)
        assert problem.metrics(answer)["gap"] <= 1e-12


@pytest.mark.parametrize("effort", [1, 7])
def test_the_answer_is_that_of_scikit_learn_used_by_hand(backend, fit, effort):
    from sklearn.linear_model import LogisticRegression as Theirs

    problem = LogisticRegression(backend, backend.rng(1), **SMALL)
    hand = Theirs(
        C=1 / (60 * problem.ridge),
        solver="saga",
        max_iter=effort,
        tol=1e-15,
        fit_intercept=False,
        random_state=int(backend.rng(2).integers(2**31)),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        hand.fit(problem.features, problem.targets)
    method = fit("linear_model.LogisticRegression", solver="saga").prepare(problem)
    np.testing.assert_array_equal(method.solve(problem, backend.rng(2), effort), hand.coef_[0])
    assert problem.cost == problem.declared_cost == effort  # a pass over the data costs a gradient


def test_what_is_not_known_to_be_a_pass_is_not_charged(backend, fit):
    problem = LogisticRegression(backend, backend.rng(1), **SMALL)
    fit(solver="lbfgs").solve(problem, backend.rng(2), 5)
    assert problem.cost == 0


def test_an_estimator_without_max_iter_is_fitted_by_digits_of_its_tolerance_or_once(fit):
    assert not hasattr(fit("linear_model.Lasso"), "efforts")
    assert tuple(fit("discriminant_analysis.LinearDiscriminantAnalysis").efforts) == tuple(range(1, 16))
    assert tuple(fit("linear_model.RidgeCV").efforts) == (1,)


def test_an_estimator_whose_objective_is_not_known_runs_with_a_caveat(backend, fit):
    problem = LeastSquares(backend, backend.rng(1), **SMALL)
    method = fit("linear_model.BayesianRidge", alpha_init=1.0)
    assert method.solve(problem, backend.rng(2), 5).shape == (5,)
    assert "nobody checked" in method.caveats(problem)[0]
    assert not fit("linear_model.Ridge").caveats(problem)


@pytest.mark.parametrize(
    ("estimator", "keywords", "known"),
    [("Lasso", {}, True), ("Ridge", {"solver": "saga"}, True), ("Ridge", {"solver": "lsqr"}, False)],
)
def test_the_cost_is_known_where_an_iteration_is_a_pass_over_the_data(fit, estimator, keywords, known):
    assert fit(f"linear_model.{estimator}", **keywords).knows_cost is known


@pytest.mark.parametrize(
    ("make", "estimator", "message"),
    [
        (Quadratic, "Ridge", "the problem has no features, targets, loss; estimators of scikit-learn need"),
        (BoxLeastSquares, "Ridge", "the problem has a box"),
        (
            LeastSquares,
            "LogisticRegression",
            "minimizes the loss logistic, and the problem has the loss squared",
        ),
        (Lasso, "Ridge", "Ridge has no penalty that stands for the problem's weight"),
        (ElasticNet, "Lasso", "Lasso has no penalty that stands for the problem's ridge"),
    ],
)
def test_a_problem_of_another_objective_is_refused(backend, fit, make, estimator, message):
    with pytest.raises(BenchfwError, match=message):
        fit(f"linear_model.{estimator}").prepare(make(backend, backend.rng(1)))


@pytest.mark.parametrize(
    ("estimator", "keywords", "message"),
    [
        ("linear_model.Lassso", {}, "no estimator 'linear_model.Lassso'; give a module of scikit-learn"),
        (".linear_model.Lasso", {}, "no estimator '.linear_model.Lasso'"),
        ("linear_model.Lasso", {"selektion": "random"}, "no parameter 'selektion'; did you mean 'selection'"),
        ("linear_model.Lasso", {"alpha": 0.1}, "'alpha' of Lasso follows from the problem; leave it out"),
        ("linear_model.Lasso", {"positive": True}, "'positive' of Lasso follows from the problem"),
        ("linear_model.Lasso", {"max_iter": 5}, "'max_iter' of Lasso is set by the bridge; leave it out"),
        (
            "linear_model.Lasso",
            {"selection": "odd"},
            "The 'selection' parameter of Lasso must be a str among",
        ),
    ],
)
def test_a_wrong_keyword_is_a_sentence_before_anything_runs(fit, estimator, keywords, message):
    with pytest.raises(BenchfwError, match=message):
        fit(estimator, **keywords)


def test_without_scikit_learn_it_says_what_to_install(fit, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "sklearn", None)
    with pytest.raises(Unavailable, match=r"pip install 'benchfw-bridges\[sklearn\]'"):
        fit()


def test_an_estimator_may_come_from_any_module_by_its_full_path(fit, tmp_path, monkeypatch):
    text = "from sklearn.linear_model import Ridge\nclass MyRidge(Ridge):\n    pass\n"
    for name in ("near/models.py", "linear_model.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert fit("near.models.MyRidge").estimator == "near.models.MyRidge"
    with pytest.raises(BenchfwError, match="no estimator"):
        fit("linear_model.MyRidge")  # a name in scikit-learn that a bundle may use stands for nothing else


def test_a_module_that_raises_is_named(fit, tmp_path, monkeypatch):
    (tmp_path / "fragile.py").write_text("raise RuntimeError('no licence')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(BenchfwError, match=r"'fragile.Model' cannot be imported \(RuntimeError: no licence"):
        fit("fragile.Model")
