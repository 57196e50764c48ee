"""The Laplace approximation of scikit-learn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from benchfw import BenchfwError, Rng, Unavailable
from benchfw_variational.oracles import LatentGaussian
from benchfw_variational.posterior import DualPosterior


@dataclass(frozen=True)
class PeerSklearnLaplace:
    """The Laplace approximation by scikit-learn's GaussianProcessClassifier, for bernoulli-logit on the CPU.

    It is given K itself, so that its clock, as that of our methods, does not hold the making of K. Its Newton
    steps cannot be seen from outside: one pass is counted, whatever their number.
    """

    solves: ClassVar[type] = LatentGaussian

    def run(self, problem: LatentGaussian, rng: Rng) -> Iterator[DualPosterior]:
        """Yield the prior, then what scikit-learn finds."""
        count = problem.num_samples
        if problem.backend.library != "numpy":
            raise Unavailable("peer-sklearn-laplace is run on the CPU; take the backend numpy")
        name = problem.likelihood.name
        if name != "bernoulli-logit":
            raise BenchfwError(f"peer-sklearn-laplace has the likelihood bernoulli-logit only, not '{name}'")
        classifier = _classifier(problem.prior.matmat(np.eye(count)))
        yield DualPosterior(problem, np.zeros(count), np.zeros(count))
        problem.charge(count)
        found = classifier.fit(np.arange(count)[:, None], problem.targets).base_estimator_
        # at the mode a = K⁻¹m is the slope of log p(y|z)
        yield DualPosterior(problem, found.y_train_ - found.pi_, found.W_sr_**2)


def _classifier(gram: Any) -> Any:
    """Return scikit-learn's classifier with a covariance that is looked up by row numbers."""
    try:
        from sklearn.gaussian_process import GaussianProcessClassifier
        from sklearn.gaussian_process.kernels import Kernel
    except ImportError as fault:
        raise Unavailable(
            "scikit-learn is not installed; pip install 'benchfw-variational[peers]'"
        ) from fault

    class Stored(Kernel):  # type: ignore[misc]
        """K of which the inputs are row numbers, (k, 1)."""

        def __init__(self, gram: Any) -> None:
            self.gram = gram

        def __call__(self, X: Any, Y: Any = None, eval_gradient: bool = False) -> Any:
            return self.gram[np.ix_(X[:, 0], (X if Y is None else Y)[:, 0])]

        def diag(self, X: Any) -> Any:
            return self.gram[X[:, 0], X[:, 0]]

        def is_stationary(self) -> bool:
            return False

    return GaussianProcessClassifier(Stored(gram), optimizer=None)
