"""`partial_fit` of scikit-learn's estimators as an optimizer."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np

from benchfw import BenchfwError, Count, Rng
from benchfw_bridges.from_sklearn.estimators import (
    EstimatorPlace,
    caveat_of,
    check_keywords,
    coefficients_of,
    data_of,
    few_rows,
    load_estimator,
    make_estimator,
)
from benchfw_bridges.from_sklearn.objectives import LinearModelData, objective_of

OURS = ("max_iter", "tol", "random_state", "fit_intercept", "warm_start", "early_stopping")


class SklearnPartialFit:
    """An estimator of scikit-learn by its `partial_fit`; further parameters are its own.

    A step is a pass over the data in the estimator's own order, or over a batch of rows: those of a random
    order, drawn anew for each pass. It costs the share of the data that it saw. The objective follows from
    the problem, as for `sklearn`.

    Parameters:
      estimator: a class by its module in scikit-learn, or by its full path.
      batch: rows of a step; nothing for all.
    """

    solves: ClassVar[type] = LinearModelData
    projects: ClassVar[bool] = False
    check_with: ClassVar[tuple[Mapping[str, Any], ...]] = ({}, {"batch": 10})

    def __init__(
        self,
        estimator: EstimatorPlace = "linear_model.SGDClassifier",
        batch: Count | None = None,
        **keywords: Any,
    ) -> None:
        self.estimator, self.batch, self.keywords = estimator, batch, keywords
        self._kind = load_estimator(estimator)
        if not hasattr(self._kind, "partial_fit"):
            raise BenchfwError(
                f"sklearn: {self._kind.__name__} has no partial_fit; use 'sklearn', which calls fit"
            )
        check_keywords(self._kind, keywords, OURS)
        self.data: tuple[Any, Any] | None = None

    def prepare(self, problem: LinearModelData) -> SklearnPartialFit:
        """Bring the data to the host, and take a step on a few rows: the first one sets up the library."""
        ready = copy.copy(self)
        ready.data = rows, targets = data_of(problem)
        some = few_rows(targets)
        self._make(problem, 0)(rows[some], targets[some])
        return ready

    def run(self, problem: LinearModelData, rng: Rng) -> Iterator[Any]:
        """Yield the start, which must be 0, and the coefficients after each step."""
        rows, targets = self.data or data_of(problem)
        start = problem.start()
        if problem.backend.to_numpy(start).any():
            raise BenchfwError(
                "sklearn-partial-fit starts at 0, and the problem does not; choose another problem"
            )
        step = self._make(problem, int(rng.integers(2**31)))
        yield start
        while True:
            for some in self._batches(len(targets), rng):
                model = step(rows[some], targets[some])
                seen = len(targets) if isinstance(some, slice) else len(some)
                problem.charge(seen / len(targets) * getattr(problem, "pass_cost", 1.0))
                yield coefficients_of(model, problem)

    def _make(self, problem: LinearModelData, seed: int) -> Callable[[Any, Any], Any]:
        """Return `partial_fit` of a new estimator."""
        from sklearn.base import is_classifier

        # not a number: that would give the same order in every pass
        shuffling = np.random.RandomState(seed)
        model = make_estimator(self._kind, self.keywords, objective_of(problem), random_state=shuffling)
        if not is_classifier(model):
            return model.partial_fit  # type: ignore[no-any-return]
        classes = np.unique(problem.backend.to_numpy(problem.targets))
        return partial(model.partial_fit, classes=classes)

    def caveats(self, problem: Any) -> Sequence[str]:
        """Say whose word it is that the objective is the same."""
        return caveat_of(self._kind)

    def _batches(self, count: int, rng: Rng) -> Iterator[Any]:
        if self.batch is None:
            yield slice(None)
            return
        order = rng.backend.to_numpy(rng.permutation(count))
        yield from (order[first : first + self.batch] for first in range(0, count, self.batch))
