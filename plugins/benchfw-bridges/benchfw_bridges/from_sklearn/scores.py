"""Problems with rows held out, whose metrics are scorers of scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchfw import Array, Backend, BenchfwError, DatasetName, NonNegative, Positive, Rng, Unavailable
from benchfw.errors import nearest
from benchfw_firstorder.problems.linear_model import LinearModel
from benchfw_firstorder.problems.logistic_regression import LogisticRegression
from benchfw_firstorder.problems.squared_loss import SquaredLoss
from benchfw_firstorder.problems.tables import Rows, held_out_classes, held_out_values


class Scored(LinearModel):
    """A linear model with rows held out, which scorers of scikit-learn are asked about."""

    def _build(
        self, backend: Backend, ridge: float, tables: tuple[Rows, Rows], metrics: str, estimator: str
    ) -> None:
        """Build the model on the first table; an estimator with its coefficients is scored on the second."""
        training, held_out = tables
        LinearModel.__init__(self, backend, *training, ridge)
        self._scores = Scores(metrics, estimator, *held_out)
        self.higher_is_better = tuple(self._scores.scorers)

    def metrics(self, answer: Array) -> Mapping[str, float]:
        """Return gap, objective and distance on the training rows, and the scores on the test rows."""
        return {**super().metrics(answer), **self._scores.of(self.backend.to_numpy(answer))}


class ScoredClassification(Scored, LogisticRegression):
    """Logistic regression with a ridge, and scores of scikit-learn on rows held out.

    Its objective is that of `logistic-regression` on the training rows, standardized; each scorer is asked
    about the test rows, standardized alike. Without a split of its own, a tenth of the data is held out.

    Parameters:
      dataset: a data set of two classes by name.
      ridge: weight of the ridge.
      metrics: scorers of scikit-learn by name, with commas between: "accuracy, roc_auc".
    """

    check_with = ({"dataset": "sonar-like", "metrics": "accuracy, roc_auc, neg_log_loss"},)

    def __init__(
        self,
        backend: Backend,
        rng: Rng,
        *,
        dataset: DatasetName,
        ridge: Positive = 0.01,
        metrics: str = "accuracy",
    ) -> None:
        self._build(backend, ridge, held_out_classes(dataset), metrics, "LogisticRegression")
        self._know_minimum()


class ScoredRegression(Scored, SquaredLoss):
    """Least squares with a ridge, and scores of scikit-learn on rows held out.

    F(x) = |Ax - b|²/(2n) + ridge/2 |x|² on the training rows; features and targets are standardized by them.

    Parameters:
      dataset: a data set by name.
      ridge: weight of the ridge.
      metrics: scorers of scikit-learn by name, with commas between: "r2, neg_mean_absolute_error".
    """

    check_with = ({"dataset": "uci-like(rows=200)", "metrics": "r2, neg_mean_absolute_error"},)

    quadratic = True

    def __init__(
        self,
        backend: Backend,
        rng: Rng,
        *,
        dataset: DatasetName,
        ridge: NonNegative = 0.01,
        metrics: str = "r2",
    ) -> None:
        self._build(backend, ridge, held_out_values(dataset), metrics, "LinearRegression")
        self._know_minimum()


class Scores:
    """Scorers by name, for a linear model of given coefficients on given rows."""

    def __init__(self, names: str, kind: str, rows: Any, targets: Any) -> None:
        self._kind, self._rows, self._targets = kind, rows, targets
        self.scorers = _scorers([each.strip() for each in names.split(",") if each.strip()])

    def of(self, coefficients: Any) -> dict[str, float]:
        """Return each scorer's value; higher is better in all of them."""
        from sklearn import linear_model

        model = getattr(linear_model, self._kind)()
        model.coef_, model.intercept_ = coefficients, 0.0
        if self._kind == "LogisticRegression":
            model.coef_, model.intercept_ = coefficients[None, :], np.zeros(1)
            model.classes_ = np.array([-1.0, 1.0])
        return {name: float(score(model, self._rows, self._targets)) for name, score in self.scorers.items()}


def _scorers(names: Sequence[str]) -> dict[str, Any]:
    try:
        from sklearn.metrics import get_scorer, get_scorer_names
    except ImportError as fault:
        raise Unavailable("scikit-learn is not installed; pip install 'benchfw-bridges[sklearn]'") from fault
    for name in names:
        if name not in get_scorer_names():
            raise BenchfwError(
                f"scikit-learn has no scorer '{name}'{nearest(name, get_scorer_names(), otherwise=';')} "
                "sklearn.metrics.get_scorer_names() lists them"
            )
    return {name: get_scorer(name) for name in names}
