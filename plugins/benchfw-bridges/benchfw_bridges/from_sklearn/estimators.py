"""Estimators of scikit-learn by name: loaded, checked, and made for a problem."""

from __future__ import annotations

import importlib
import math
import warnings
from collections.abc import Collection, Mapping
from typing import Annotated, Any, TypeAlias

import numpy as np

from benchfw import BenchfwError, CodePlace, Trusted, Unavailable
from benchfw.errors import nearest
from benchfw_bridges.from_sklearn.objectives import Objective, objective_of, rule_of, settings_for

MODULES = (
    "calibration", "cross_decomposition", "discriminant_analysis", "dummy", "ensemble", "gaussian_process",
    "isotonic", "kernel_ridge", "linear_model", "multiclass", "naive_bayes", "neighbors", "neural_network",
    "semi_supervised", "svm", "tree",
)  # fmt: skip
"""Those of scikit-learn with estimators that have fit; these names never stand for anything else."""

EstimatorPlace: TypeAlias = Annotated[CodePlace, Trusted(rf"(sklearn\.)?({'|'.join(MODULES)})\.\w+")]
"""An estimator by its place, as in `load_estimator`."""


def load_estimator(path: str) -> type:
    """Return a class of scikit-learn, "linear_model.Lasso", or of a library in its style by its full path."""
    try:
        import sklearn  # noqa: F401 - to say what is missing
    except ImportError as fault:
        raise Unavailable("scikit-learn is not installed; pip install 'benchfw-bridges[sklearn]'") from fault
    module, _, name = path.rpartition(".")
    for place in (f"sklearn.{module}",) if module in MODULES else (f"sklearn.{module}", module):
        try:
            found = getattr(importlib.import_module(place), name)
        except (ImportError, AttributeError, ValueError, TypeError):
            continue
        except Exception as fault:
            raise BenchfwError(f"'{path}' cannot be imported ({type(fault).__name__}: {fault})") from fault
        if isinstance(found, type) and hasattr(found, "get_params") and hasattr(found, "fit"):
            return found
    raise BenchfwError(
        f"no estimator '{path}'; give a module of scikit-learn and a class, such as "
        "linear_model.LogisticRegression, or the full path of a class that has fit and get_params"
    )


def names_of(kind: type) -> list[str]:
    """Return the parameters of an estimator."""
    made: Any = kind()
    return list(made.get_params(deep=False))


def check_keywords(kind: type, keywords: Mapping[str, Any], ours: Collection[str]) -> None:
    """Raise BenchfwError for keywords that an estimator does not have or take, or that are not the user's."""
    legal, name = names_of(kind), kind.__name__
    rule = rule_of(kind)
    decided = rule.decides if rule is not None else ()
    for each in keywords:
        if each in decided:
            raise BenchfwError(f"sklearn: '{each}' of {name} follows from the problem; leave it out")
        if each in legal and each in ours:
            raise BenchfwError(f"sklearn: '{each}' of {name} is set by the bridge; leave it out")
        if each not in legal:
            free = [every for every in legal if every not in {*ours, *decided}]
            raise BenchfwError(
                f"sklearn: {name} has no parameter '{each}'{nearest(each, free, otherwise=';')} "
                f"its parameters: {', '.join(free)}"
            )
    made = kind(**keywords)
    try:
        made._validate_params() if hasattr(made, "_validate_params") else None  # noqa: SLF001 - of all since 1.2
    except ValueError as fault:
        raise BenchfwError(f"sklearn: {fault}") from None


def make_estimator(kind: type, keywords: Mapping[str, Any], objective: Objective, **more: Any) -> Any:
    """Return an estimator that minimizes an objective; of `more` it is given what it has."""
    legal = names_of(kind)
    own = {name: value for name, value in {"fit_intercept": False, **more}.items() if name in legal}
    return kind(**{**own, **settings_for(kind, objective), **keywords})


def few_rows(targets: Any) -> Any:
    """Return the numbers of two to four rows, of both classes where there are two: for a first call."""
    return np.unique(np.concatenate([np.arange(2), np.argsort(targets)[[0, -1]]]))


def data_of(problem: Any) -> tuple[Any, Any]:
    """Return a problem's features and targets, on the host."""
    objective_of(problem)  # says what is missing
    return problem.backend.to_numpy(problem.features), problem.backend.to_numpy(problem.targets)


def quietly_fit(model: Any, features: Any, targets: Any) -> Any:
    """Return a fitted model, without the warning that it did not converge: nobody asked it to."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(features, targets)


def coefficients_of(model: Any, problem: Any) -> Any:
    """Return a copy of a fitted model's coefficients, as an answer."""
    start = problem.start()
    found = getattr(model, "coef_", None)
    if found is None or found.size != math.prod(start.shape):
        has = "no coef_" if found is None else f"a coef_ of shape {found.shape}"
        raise BenchfwError(
            f"{type(model).__name__} has {has} after fit; an answer is made of it, of shape "
            f"{tuple(start.shape)}"
        )
    return problem.backend.asarray(found.reshape(start.shape).copy(), dtype=start.dtype)


def caveat_of(kind: type) -> list[str]:
    """Return what must be said of an estimator whose objective nobody checked."""
    if rule_of(kind) is not None:
        return []
    return [f"nobody checked that {kind.__name__}, with its keywords, minimizes the problem's objective"]
