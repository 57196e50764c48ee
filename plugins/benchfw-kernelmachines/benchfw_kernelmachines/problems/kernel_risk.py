"""What kernel classification and kernel regression share: rows, oracles, the objective."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from benchfw import Array, Backend, BenchfwError, CountedProblem, Positive
from benchfw.backends import Rng
from benchfw.data import Table, is_synthetic
from benchfw_kernelmachines.bandwidth import median_distance
from benchfw_kernelmachines.covariances import CovarianceName, get_covariance
from benchfw_kernelmachines.oracles import Batch, Distance, Loss, Predictor
from benchfw_kernelmachines.preparation import fit_preparation
from benchfw_kernelmachines.running_scores import RunningScores
from benchfw_kernelmachines.sources.opening import open_rows
from benchfw_kernelmachines.sources.row_source import sample_numbers

ANCHORS = 2000
"""How many rows stand for all of them in the median distance and in the top eigenvalue."""
MEDIANS = {"median": 1.0, "median/sqrt2": math.sqrt(0.5)}
Length: TypeAlias = Positive | Literal["median", "median/sqrt2"]
Leading: TypeAlias = Literal["objective", "loss", "error"]
Work: TypeAlias = Literal["rows", "pairs", "features"]


class KernelRiskProblem(CountedProblem, ABC):
    """R(f) = λ/2 |f|² + mean ℓ(f(x), y) on the rows of a data set.

    Rows are the same in every repetition: what is sampled is sampled from a seed of its own. Pixels are
    divided by 255.

    Parameters:
      dataset: a name of the data catalog, or of a file in a folder of BENCHFW_DATA.
      rows: takes the first so many training rows; all, if not given.
      penalty: λ.
      covariance: of the functions.
      smoothness: of the covariance "matern": 0.5, 1.5 or 2.5.
      length: of the covariance: a number, "median" (the median distance of 2,000 rows) or "median/sqrt2".
      components: more columns than so many are reduced to as many by PCA; 0: never.
      standardize: whether columns are brought to variance 1.
      evaluation: training rows that metrics are taken on, from all over the set (of a stream the first).
      leading: the metric that verdicts are about: "loss", "error" (on the test rows), or "objective", whose
        |f|² is only bounded from above for random features.
      counts: the unit of cost: "rows" looked at; "pairs" of a row and a frequency at which features are
        computed, whose number goes like the time of a method that stores none; or "features" drawn.
    """

    cost_unit: str = "rows"
    limits: ClassVar[Mapping[str, float]] = dict.fromkeys(("objective", "loss"), 0.0)
    num_classes = 0
    test_metric: str

    def __init__(
        self,
        backend: Backend,
        *,
        dataset: str,
        rows: int | None,
        loss: Loss,
        penalty: float,
        covariance: CovarianceName,
        smoothness: float,
        length: Length,
        components: int,
        standardize: bool,
        evaluation: int,
        leading: Leading,
        counts: Work,
    ) -> None:
        self.backend = backend
        self.cost_unit = counts
        self.penalty = float(penalty)
        self.loss = loss
        self._leading = self.test_metric if leading == "error" else leading
        self._dataset = dataset
        source, test = open_rows(backend, dataset, rows)
        self.num_samples = source.num_samples
        self.learn_labels(source.targets)
        sample = source.sample()
        fitted = fit_preparation(sample.features, components, standardize=standardize)
        self.dimension = fitted.dimension
        self._preparation = fitted.on(backend)
        anchors = sample.features[sample_numbers(len(sample.targets), ANCHORS)]
        self._anchors = self._preparation(backend.asarray(anchors))
        distance = get_covariance(covariance, 1.0, smoothness).distance
        self.covariance = get_covariance(covariance, self._length(length, distance), smoothness)
        self._source = source.prepared(self._prepared)
        self.train = self._source.some(evaluation)
        self.test = self._prepared(test)
        self._train_scores = RunningScores(self.train.features)
        self._test_scores = RunningScores(self.test.features)
        self._train_targets = self.loss.encode(self.train.targets, self.num_classes)
        self.num_outputs = (
            self.num_classes if self._train_targets.ndim == 1 else int(self._train_targets.shape[1])
        )
        self.caveats = (f"the data set '{dataset}' is synthetic",) if is_synthetic(dataset) else ()

    @abstractmethod
    def learn_labels(self, labels: np.ndarray) -> None:
        """Learn what must be known of the training labels, (n,); BenchfwError where they cannot be used."""

    @abstractmethod
    def label(self, labels: np.ndarray) -> np.ndarray:
        """Return class numbers, int64, or standardized targets, float32, of labels as stored, (n,)."""

    @abstractmethod
    def errors(self, train: Array, test: Array) -> Mapping[str, float]:
        """Return how far scores of the training rows looked at, and of the test rows, (n, C), are off."""

    def batches(self, rng: Rng, size: int) -> Iterator[Batch]:
        """Yield mini-batches without end; each counts its rows."""
        for table in self._source.batches(rng, size):
            self.spend(rows=size)
            yield self._encoded(table)

    def rows(self, numbers: Array) -> Batch:
        """Return the training rows of these numbers, (B,), and count them."""
        numbers = self.backend.asarray(numbers)
        self.spend(rows=numbers.shape[0])
        return self._encoded(self._source.take(numbers))

    def spend(self, *, rows: int = 0, pairs: int = 0, features: int = 0) -> None:
        """Count work, in the unit of cost; the rows of `batches` and `rows` are counted there."""
        self._count({"rows": rows, "pairs": pairs, "features": features}[self.cost_unit])

    def sample(self, rng: Rng, count: int) -> Array:
        """Return at most `count` different ones of 2,000 training rows, drawn at random, (k, d)."""
        available = self._anchors.shape[0]
        return self._anchors[rng.choice(available, min(count, available), replace=False)]

    def prepare(self, features: Array) -> Array:
        """Return the rows, (n, d), that a predictor takes, of features as they are stored, (n, …)."""
        features = self.backend.asarray(features)
        columns = math.prod(features.shape[1:])
        if columns != self._preparation.columns:
            raise BenchfwError(
                f"features of {columns} columns are none of '{self._dataset}', "
                f"which has {self._preparation.columns}"
            )
        return self._preparation(features)

    def top_eigenvalue(self) -> float:
        """Return the largest eigenvalue of gram / n, of 2,000 rows."""
        return self._top_eigenvalue

    @cached_property
    def _top_eigenvalue(self) -> float:
        from scipy.sparse.linalg import eigsh

        count = int(self._anchors.shape[0])
        gram = self.backend.to_numpy(self.covariance.gram(self._anchors, self._anchors)).astype(np.float64)
        # no entry of the gram matrix is negative, so that the top eigenvector has no sign change either
        values = eigsh(gram, k=1, v0=np.ones(count), return_eigenvectors=False)
        return float(values[0]) / count

    def metrics(self, answer: Predictor) -> Mapping[str, float]:
        """Return objective, loss, errors and num_features; what diverges is infinite or not a number."""
        with np.errstate(over="ignore", invalid="ignore"):  # a divergent answer is a result, not a warning
            train, test = self._train_scores(answer), self._test_scores(answer)
            losses = self.loss.value(train, self._train_targets)
            loss = float(self.backend.xp.mean(losses, dtype=np.float64))
            found = {
                "objective": loss + self.penalty / 2 * answer.squared_norm(),
                "loss": loss,
                **self.errors(train, test),
                "num_features": float(answer.num_features),
            }
        return {self._leading: found[self._leading], **found}

    def _length(self, length: Length, distance: Distance) -> float:
        if not isinstance(length, str):
            return float(length)
        return MEDIANS[length] * median_distance(self.backend.to_numpy(self._anchors), distance)

    def _encoded(self, table: Table) -> Batch:
        return Batch(table.features, self.loss.encode(table.targets, self.num_classes))

    def _prepared(self, table: Table) -> Table:
        """Return rows as stored, prepared and on the backend."""
        return Table(self.prepare(table.features), self.backend.asarray(self.label(table.targets)))
