"""`fit` of scikit-learn's estimators as an optimizer."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from benchfw import Rng
from benchfw_bridges.from_sklearn.estimators import (
    EstimatorPlace,
    caveat_of,
    check_keywords,
    coefficients_of,
    data_of,
    few_rows,
    load_estimator,
    make_estimator,
    names_of,
    quietly_fit,
)
from benchfw_bridges.from_sklearn.objectives import LinearModelData, objective_of

OURS = ("max_iter", "random_state", "fit_intercept", "warm_start")
TIGHT = 1e-15  # a tolerance that max_iter comes before
DIGITS = range(1, 16)
PASSING = frozenset({"Lasso", "ElasticNet", "SGDClassifier", "SGDRegressor"})
PASSING_SOLVERS = frozenset({"sag", "saga"})


class SklearnFit:
    """An estimator of scikit-learn by its `fit`; further parameters are its own.

    For problems that show their data. Effort is `max_iter`; of an estimator without one, the number of digits
    of `tol`; one that has neither is fitted once. Parameters that state the objective, such as `C` and
    `alpha`, follow from the problem for the estimators whose objective is known; there is no intercept.

    Parameters:
      estimator: a class by its module in scikit-learn, or by its full path.
    """

    solves: ClassVar[type] = LinearModelData
    projects: ClassVar[bool] = False
    check_with: ClassVar[tuple[Mapping[str, Any], ...]] = (
        {"estimator": "linear_model.LogisticRegression", "solver": "saga"},
        {"estimator": "linear_model.Lasso"},
    )

    def __init__(
        self, estimator: EstimatorPlace = "linear_model.LogisticRegression", **keywords: Any
    ) -> None:
        self.estimator, self.keywords = estimator, keywords
        self._kind = load_estimator(estimator)
        check_keywords(self._kind, keywords, OURS)
        legal = names_of(self._kind)
        if "max_iter" not in legal:
            self.efforts: Sequence[int] = DIGITS if "tol" in legal and "tol" not in keywords else (1,)
        self.data: tuple[Any, Any] | None = None

    def prepare(self, problem: LinearModelData) -> SklearnFit:
        """Bring the data to the host, and fit a few rows: the first fit of a process sets up the library."""
        ready = copy.copy(self)
        ready.data = rows, targets = data_of(problem)
        some = few_rows(targets)
        quietly_fit(self._make(problem, 0, 1), rows[some], targets[some])
        return ready

    def solve(self, problem: LinearModelData, rng: Rng, effort: int) -> Any:
        """Return the coefficients after one fit."""
        rows, targets = self.data or data_of(problem)
        model = quietly_fit(self._make(problem, int(rng.integers(2**31)), effort), rows, targets)
        if self.knows_cost:
            problem.charge(float(np.max(model.n_iter_)) * getattr(problem, "pass_cost", 1.0))
        return coefficients_of(model, problem)

    @property
    def knows_cost(self) -> bool:
        """Whether an iteration is a pass over the data."""
        return self._kind.__name__ in PASSING or self.keywords.get("solver") in PASSING_SOLVERS

    def caveats(self, problem: Any) -> Sequence[str]:
        """Say where it was not checked that the objective is the same."""
        return caveat_of(self._kind)

    def _make(self, problem: LinearModelData, seed: int, effort: int) -> Any:
        by_digits = getattr(self, "efforts", None) is DIGITS
        endless = None if self._kind.__name__.startswith("SGD") else TIGHT
        return make_estimator(
            self._kind,
            self.keywords,
            objective_of(problem),
            max_iter=effort,
            tol=10.0**-effort if by_digits else endless,
            random_state=seed,
        )
