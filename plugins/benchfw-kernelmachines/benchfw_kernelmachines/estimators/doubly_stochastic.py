"""Functional gradients from a batch of rows and a block of random features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

from benchfw import Array, BenchfwError, Claims, Count, Rng
from benchfw_kernelmachines.features import FeatureKind, get_frequencies
from benchfw_kernelmachines.kernels.random_features import feature_products, feature_scores
from benchfw_kernelmachines.oracles import FunctionalRisk, Selection


@dataclass(frozen=True)
class DoublyStochastic:
    """λf + Σ_b ℓ'(f(x_b), y_b) φ(x_b)'φ(·) / (B F) at points, with φ = [cos ω'x, sin ω'x] for F frequencies.

    Dai et al. 2014, §3.
    """

    batch: Count = 32
    """Rows a draw, without replacement, B."""
    features: Count = 64
    """Frequencies a draw, F."""
    kind: FeatureKind = "independent"
    """How frequencies are drawn."""
    randomness: Literal["both", "data", "features"] = "both"
    """What is drawn; the other is exact: "data" has k(x_b, ·) in place of the features, "features" has all
    rows in place of the batch."""
    tensor_cores: bool = True
    """Whether a GPU multiplies float32 in halves on its tensor cores; else plainly, which takes longer. The
    accuracy of both is in docs/performance.md; on the host it makes no difference."""

    check_with = ({"batch": 16, "features": 16}, {"randomness": "features", "kind": "quasi-monte-carlo"})

    solves: ClassVar[type] = FunctionalRisk
    estimates: ClassVar[Literal["grad"]] = "grad"
    claims: ClassVar[Claims] = Claims(unbiased=True)

    def draw(self, problem: FunctionalRisk, rng: Rng) -> Callable[[Array], Array]:
        """Draw rows and frequencies; return the gradient from these, (p C,)."""
        rows: Selection = slice(None)
        if self.randomness != "features":
            if self.batch > problem.num_samples:
                raise BenchfwError(
                    f"batch = {self.batch} is more than the {problem.num_samples} rows; take a smaller "
                    'batch, or randomness = "features", which has all rows'
                )
            rows = rng.choice(problem.num_samples, self.batch, replace=False)
        frequencies = None if self.randomness == "data" else self._frequencies(problem, rng)

        def gradient(params: Array) -> Array:
            derivatives = problem.derivatives(params, rows)
            weights = derivatives / derivatives.shape[0]
            if frequencies is None:
                descent = problem.at_points(weights, rows)
            else:
                descent = _through_features(problem, rows, frequencies, weights, self.tensor_cores)
            return (problem.penalty * problem.at_points(params) + descent).reshape(-1)

        return gradient

    def _frequencies(self, problem: FunctionalRisk, rng: Rng) -> Array:
        """Return fresh frequencies, (d, F): the first block of a seed that is drawn."""
        seed = rng.integers(1 << 63)
        dimension = problem.inputs.shape[1]
        kind = (self.kind, problem.backend, problem.covariance, dimension, self.features, seed)
        return get_frequencies(*kind).block(0)


def _through_features(
    problem: FunctionalRisk, rows: Selection, frequencies: Array, weights: Array, tensor_cores: bool
) -> Array:
    """Return Σ_b w_b φ(x_b)'φ(·) / F at the points, (p, C)."""
    products = feature_products(problem.inputs[rows], frequencies, weights, tensor_cores)
    coefficients = [products / frequencies.shape[1]]
    return feature_scores(problem.points, lambda _: frequencies, coefficients, weights.shape[1], tensor_cores)
