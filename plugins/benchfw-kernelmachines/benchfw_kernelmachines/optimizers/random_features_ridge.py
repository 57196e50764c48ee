"""Ridge regression on fixed random features by its normal equations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from benchfw import BenchfwError, Count, Rng
from benchfw_kernelmachines.features import FeatureKind, get_frequencies
from benchfw_kernelmachines.kernels.feature_ridge import feature_ridge
from benchfw_kernelmachines.optimizers.kernel_ridge_exact import need_squared_loss
from benchfw_kernelmachines.oracles import KernelRisk
from benchfw_kernelmachines.predictor import FeaturePredictor

AT_A_TIME = 4096  # rows


@dataclass(frozen=True)
class RandomFeaturesRidge:
    """Ridge regression on random features that are drawn once (Rahimi & Recht 2007), by normal equations.

    One pass over the rows adds up Z'Z and Z'y, in float32: with m frequencies O(n m²) time and, on the host,
    16 m² bytes, whatever the number of rows: the Cholesky factor is written in place. Features are not kept.
    """

    features: Count = 1000
    """Frequencies m, drawn once."""
    kind: FeatureKind = "independent"
    """How frequencies are drawn."""
    tensor_cores: bool = True
    """Whether a GPU multiplies float32 in halves on its tensor cores; else plainly, which takes longer. The
    accuracy of both is in docs/performance.md; on the host it makes no difference."""

    solves: ClassVar[type] = KernelRisk
    check_with = ({"features": 32},)

    def run(self, problem: KernelRisk, rng: Rng) -> Iterator[FeaturePredictor]:
        """Yield f = 0, then the solution."""
        need_squared_loss(problem, "random-features-ridge")
        xp, m, count = problem.backend.xp, self.features, problem.num_samples
        space = problem.covariance, problem.dimension
        frequencies = get_frequencies(self.kind, problem.backend, *space, m, rng.seed)
        yield FeaturePredictor(frequencies, (), 1.0, problem.num_outputs, tensor_cores=self.tensor_cores)
        batches = (
            problem.rows(xp.arange(first, min(first + AT_A_TIME, count)))
            for first in range(0, count, AT_A_TIME)
        )
        problem.spend(pairs=count * m, features=m)
        # f = z'w with z = [cos, sin]/√m: the ridge of the unscaled features is m times as large
        ridge = m * count * problem.penalty
        try:
            solution = feature_ridge(frequencies.block(0), batches, ridge, self.tensor_cores)
        except xp.linalg.LinAlgError as fault:
            raise BenchfwError("the normal equations are singular to rounding; raise penalty") from fault
        found = frequencies, (solution,), 1.0, problem.num_outputs
        yield FeaturePredictor(*found, tensor_cores=self.tensor_cores)
