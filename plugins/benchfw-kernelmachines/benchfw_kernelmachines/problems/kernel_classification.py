"""Classification by kernel machines."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import numpy as np

from benchfw import Array, Backend, BenchfwError, Count, DatasetName, Positive, Range, Rng
from benchfw_kernelmachines.covariances import CovarianceName
from benchfw_kernelmachines.losses import get_loss
from benchfw_kernelmachines.problems.kernel_risk import KernelRiskProblem, Leading, Length, Work

MOST_CLASSES = 10_000


class KernelClassification(KernelRiskProblem):
    """Kernel classification: λ/2 |f|² + mean ℓ(f(x), y) over the functions of a covariance.

    Metrics: `objective`, `loss` and `train_error` on training rows, `test_error` on at most 10,000 test rows,
    `num_features`.

    Parameters:
      loss: all but "softmax" have one machine a class, against the rest.
    """

    test_metric = "test_error"
    check_with = (
        {"dataset": "stream-like(rows=400, features=4, classes=3)", "rows": 200},
        {"dataset": "sonar-like", "loss": "hinge"},
    )

    def __init__(
        self,
        backend: Backend,
        rng: Rng,
        *,
        dataset: DatasetName = "mnist",
        rows: Annotated[int, Range(least=2)] | None = None,
        loss: Literal["softmax", "logistic", "hinge", "squared-hinge", "squared"] = "softmax",
        penalty: Positive = 1e-5,
        covariance: CovarianceName = "gaussian",
        smoothness: Positive = 1.5,
        length: Length = "median",
        components: Annotated[int, Range(least=0)] = 100,
        standardize: bool = False,
        evaluation: Count = 10_000,
        leading: Leading = "loss",
        counts: Work = "rows",
    ) -> None:
        super().__init__(
            backend,
            dataset=dataset,
            rows=rows,
            loss=get_loss(loss),
            penalty=penalty,
            covariance=covariance,
            smoothness=smoothness,
            length=length,
            components=components,
            standardize=standardize,
            evaluation=evaluation,
            leading=leading,
            counts=counts,
        )

    def learn_labels(self, labels: np.ndarray) -> None:
        """Learn the classes; BenchfwError unless they are two or more whole numbers."""
        classes = np.unique(labels)
        if not np.isfinite(classes).all() or not (classes == np.rint(classes)).all():
            raise BenchfwError(
                f"data set '{self._dataset}' has labels that are not whole numbers; "
                "number its classes, or take kernel-regression"
            )
        if len(classes) == 1:
            raise BenchfwError(
                f"the training rows of '{self._dataset}' are all of class {classes[0]:g}; "
                "classification takes two classes or more"
            )
        if len(classes) > MOST_CLASSES:
            raise BenchfwError(
                f"data set '{self._dataset}' has {len(classes):,} classes, and {MOST_CLASSES:,} is the most; "
                "take kernel-regression if they are numbers"
            )
        self._classes = classes
        self.num_classes = len(classes)

    def label(self, labels: np.ndarray) -> np.ndarray:
        """Return class numbers, 0 … C-1, (n,) int64."""
        numbers = np.minimum(np.searchsorted(self._classes, labels), self.num_classes - 1)
        strange = self._classes[numbers] != labels
        if strange.any():
            raise BenchfwError(
                f"data set '{self._dataset}' has a row of class {labels[strange][0]}, "
                f"of which no row was among those that say what classes there are"
            )
        return numbers

    def metrics(self, answer: Any) -> Mapping[str, float]:
        """Return objective, loss, errors and num_features; an answer of `labels(rows)` alone has no loss."""
        if hasattr(answer, "predict"):
            return super().metrics(answer)
        train, test = (answer.labels(table.features) for table in (self.train, self.test))
        return {**self._shares(train, test), "num_features": float(answer.num_features)}

    def errors(self, train: Array, test: Array) -> Mapping[str, float]:
        """Return the shares of training and test rows that scores put into a wrong class."""
        xp = self.backend.xp
        if not bool(xp.isfinite(train).all() and xp.isfinite(test).all()):
            return {"train_error": math.inf, "test_error": math.inf}
        return self._shares(*(_largest(scores) for scores in (train, test)))

    def _shares(self, train: Array, test: Array) -> dict[str, float]:
        """Return the shares of wrong class numbers, (n,)."""
        return {
            "train_error": float((train != self.train.targets).mean()),
            "test_error": float((test != self.test.targets).mean()),
        }


def _largest(scores: Array) -> Array:
    """Return the class numbers that scores (n, C) choose, (n,): the largest's, or by a single one's sign."""
    return scores[:, 0] > 0 if scores.shape[1] == 1 else scores.argmax(axis=1)
