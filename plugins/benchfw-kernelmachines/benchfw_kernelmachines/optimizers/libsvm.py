"""Support vector machines by LIBSVM."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any, ClassVar, Literal, cast

import numpy as np

from benchfw import Array, BenchfwError, Count, Positive, Rng, Unavailable
from benchfw_kernelmachines.covariances.gaussian import Gaussian
from benchfw_kernelmachines.losses import EpsilonInsensitive
from benchfw_kernelmachines.optimizers.kernel_ridge_exact import zero_predictor
from benchfw_kernelmachines.oracles import Covariance, KernelRisk
from benchfw_kernelmachines.predictor import GramPredictor


@dataclass(frozen=True)
class LabelPredictor:
    """An answer that has classes but no scores: every pair of them votes."""

    decide: Callable[[Array], Array]
    num_features: int

    def labels(self, rows: Array) -> Array:
        """Return the class numbers of rows, (n, d) -> (n,)."""
        return self.decide(rows)


@dataclass(frozen=True)
class LIBSVM:
    """The support vector machine of LIBSVM (Chang & Lin 2011) through scikit-learn, the exact baseline.

    SVC for classes, whatever the loss of the problem, one machine a pair; SVR for epsilon-insensitive loss.
    By default it minimizes the same objective up to an offset that costs nothing. The Gaussian covariance is
    LIBSVM's own; others are given as a gram. Two classes with hinge loss, and numbers, have scores; other
    answers have classes only.
    """

    C: Positive | Literal["auto"] = "auto"
    """The weight of the losses; "auto" is 1/(λn)."""
    gamma_scale: Positive = 1.0
    """The machine's gamma over that of the problem, 1/(2 length²); for the Gaussian covariance."""
    tolerance: Positive = 1e-3
    """That of the stopping rule."""
    cache: Positive = 1000.0
    """Megabytes of kept gram rows."""
    most: Count = 10_000
    """The most rows of a gram, for covariances that are not Gaussian."""

    solves: ClassVar[type] = KernelRisk

    def run(self, problem: KernelRisk, rng: Rng) -> Iterator[GramPredictor | LabelPredictor]:
        """Yield a constant, then the machine."""
        svm, covariance, loss = _svm(), problem.covariance, problem.loss
        if problem.backend.library != "numpy":
            raise Unavailable("libsvm is run on the CPU; take the backend numpy")
        numbers = problem.num_classes == 0
        if numbers and loss.name != "epsilon-insensitive":
            raise BenchfwError(f"libsvm takes the loss epsilon-insensitive for numbers, not '{loss.name}'")
        own = covariance.name == "gaussian"
        if self.gamma_scale != 1:
            if not own:
                raise BenchfwError(
                    f"gamma_scale is for the gaussian covariance, not '{covariance.name}'; leave it at 1"
                )
            covariance = Gaussian(covariance.length / math.sqrt(self.gamma_scale))
        if not own and problem.num_samples > self.most:
            raise BenchfwError(
                f"libsvm takes the gram of the covariance '{covariance.name}' for {self.most} rows at most "
                f"and here are {problem.num_samples}; raise its parameter most, or take the gaussian one"
            )
        settings: dict[str, Any] = {
            "C": 1 / (problem.penalty * problem.num_samples) if self.C == "auto" else self.C,
            "kernel": "rbf" if own else "precomputed",
            "gamma": 0.5 / covariance.length**2,
            "tol": self.tolerance,
            "cache_size": self.cache,
        }
        has_scores = numbers or (loss.name == "hinge" and problem.num_outputs == 1)
        yield zero_predictor(problem) if has_scores else LabelPredictor(_first_class, 0)
        rows, targets = problem.rows(np.arange(problem.num_samples))
        seen = rows if own else covariance.gram(rows, rows)
        epsilon = loss.epsilon if isinstance(loss, EpsilonInsensitive) else 0.0
        machine = svm.SVR(epsilon=epsilon, **settings) if numbers else svm.SVC(**settings)
        machine.random_state = 0  # nothing is random, but without it scikit-learn draws from numpy.random
        machine.fit(seen, targets[:, 0] if numbers else _classes(targets))
        if has_scores:
            yield GramPredictor(covariance, rows[machine.support_], machine.dual_coef_.T, machine.intercept_)
        else:
            decide = machine.predict if own else partial(_decide, machine, covariance, rows)
            yield LabelPredictor(decide, len(machine.support_))


def _classes(targets: Array) -> Array:
    """Return class numbers, (n,), of targets as the losses encode them."""
    if targets.ndim == 1:
        return targets
    return targets.argmax(axis=1) if targets.shape[1] > 1 else (targets[:, 0] > 0).astype(np.int64)


def _first_class(rows: Array) -> Array:
    return np.zeros(rows.shape[0], dtype=np.int64)


def _decide(machine: Any, covariance: Covariance, trained: Array, rows: Array) -> Array:
    return machine.predict(covariance.gram(rows, trained))


def _svm() -> ModuleType:
    try:
        from sklearn import svm
    except ImportError as fault:
        raise Unavailable(
            "scikit-learn is not installed; pip install 'benchfw-kernelmachines[peers]'"
        ) from fault
    return cast(ModuleType, svm)
