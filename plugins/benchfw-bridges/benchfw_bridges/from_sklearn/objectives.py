"""Which estimators minimize a problem's objective, and with which parameters.

A problem states its objective by its data: (1/n) Σ loss(a_i·x, b_i) + ridge/2 |x|² + weight |x|₁.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, Protocol

from benchfw import Array, BenchfwError, Smooth


class LinearModelData(Smooth, Protocol):
    """A linear model that shows its data: rows a_i, targets b_i, and the weights of its penalties."""

    features: Array
    """The rows, (n, d)."""
    targets: Array
    """The targets, (n,): ±1 for the loss "logistic"."""
    loss: Literal["logistic", "squared"]
    """log(1 + exp(-b a·x)), or (a·x - b)²/2."""
    ridge: float
    """The weight of |x|²/2."""
    weight: float
    """The weight of |x|₁."""


class Objective(NamedTuple):
    """What a problem minimizes."""

    samples: int
    loss: str
    ridge: float
    weight: float


class Rule(NamedTuple):
    """Which losses and penalties an estimator knows, and the parameters that the problem decides."""

    losses: tuple[str, ...]
    penalties: tuple[str, ...]
    decides: tuple[str, ...]
    settings: Callable[[Objective], dict[str, Any]]


def _elastic(objective: Objective) -> dict[str, float]:
    alpha = objective.weight + objective.ridge
    return {"alpha": alpha, "l1_ratio": objective.weight / alpha if alpha else 0.0}


def _descent(objective: Objective) -> dict[str, Any]:
    loss = "log_loss" if objective.loss == "logistic" else "squared_error"
    return {"loss": loss, "penalty": "elasticnet", **_elastic(objective)}


BOTH = ("ridge", "weight")
NET = ("alpha", "l1_ratio")
STEEP = ("loss", "penalty", "class_weight", *NET)
RULES = {
    "LogisticRegression": Rule(
        ("logistic",),
        ("ridge",),
        ("C", "penalty", "l1_ratio", "class_weight"),
        lambda of: {"C": 1 / (of.samples * of.ridge) if of.ridge else math.inf},
    ),
    "LinearRegression": Rule(("squared",), (), ("positive",), lambda _: {}),
    "Ridge": Rule(
        ("squared",), ("ridge",), ("alpha", "positive"), lambda of: {"alpha": of.samples * of.ridge}
    ),
    "Lasso": Rule(("squared",), ("weight",), ("alpha", "positive"), lambda of: {"alpha": of.weight}),
    "LassoLars": Rule(("squared",), ("weight",), ("alpha", "positive"), lambda of: {"alpha": of.weight}),
    "ElasticNet": Rule(("squared",), BOTH, (*NET, "positive"), _elastic),
    "SGDClassifier": Rule(("logistic",), BOTH, STEEP, _descent),
    "SGDRegressor": Rule(("squared",), BOTH, STEEP, _descent),
}
"""The estimators of scikit-learn whose objective is known."""


def objective_of(problem: Any) -> Objective:
    """Return what a problem says that it minimizes; BenchfwError where it does not show its data."""
    missing = [name for name in ("features", "targets", "loss") if not hasattr(problem, name)]
    if missing:
        raise BenchfwError(
            f"the problem has no {', '.join(missing)}; estimators of scikit-learn need "
            "a problem that shows its data, such as 'logistic-regression', 'least-squares' or 'elastic-net'"
        )
    if getattr(problem, "box", None) is not None:
        raise BenchfwError(
            "the problem has a box, and estimators of scikit-learn take no bounds; choose another problem"
        )
    ridge, weight = (float(getattr(problem, name, 0.0)) for name in BOTH)
    return Objective(problem.features.shape[0], str(problem.loss), ridge, weight)


def rule_of(kind: type) -> Rule | None:
    """Return what is known of the objective of an estimator; None where nothing is."""
    return RULES.get(kind.__name__) if kind.__module__.startswith("sklearn.") else None


def settings_for(kind: type, objective: Objective) -> dict[str, Any]:
    """Return the parameters with which an estimator minimizes an objective; none where it is not known."""
    rule, name = rule_of(kind), kind.__name__
    if rule is None:
        return {}
    if objective.loss not in rule.losses:
        raise BenchfwError(
            f"{name} minimizes the loss {' or '.join(rule.losses)}, and the problem has the loss "
            f"{objective.loss}; choose another estimator"
        )
    extra = [each for each in BOTH if getattr(objective, each) and each not in rule.penalties]
    if extra:
        raise BenchfwError(
            f"{name} has no penalty that stands for the problem's {' and '.join(extra)}; "
            "choose another estimator"
        )
    return rule.settings(objective)
