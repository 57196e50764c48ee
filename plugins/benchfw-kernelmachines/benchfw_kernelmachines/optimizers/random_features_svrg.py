"""SVRG on fixed random features."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from benchfw import Count, Log, NonNegative, Positive, Rng
from benchfw_firstorder.estimators.minibatch import Minibatch
from benchfw_firstorder.optimizers.svrg import SVRG
from benchfw_kernelmachines.features import FeatureKind
from benchfw_kernelmachines.fixed_features import run_on_features
from benchfw_kernelmachines.oracles import KernelRisk
from benchfw_kernelmachines.predictor import FeaturePredictor


@dataclass(frozen=True)
class RandomFeaturesSVRG:
    """SVRG (Johnson & Zhang 2013) on random features that are drawn once (Rahimi & Recht 2007).

    It ends at the optimum for these features, not at that of the covariance.
    """

    features: Count = 512
    """Frequencies, drawn once."""
    batch: Count = 128
    """Rows a step."""
    step: Positive | Literal["auto"] = "auto"
    """Step length; "auto" is 1/(3 x the smoothness of a batch)."""
    inner: Count = 100
    """Steps between two snapshots."""
    snapshot: Literal["average", "last"] = "last"
    """Where the snapshot moves: to the "average" of the inner steps, or to the "last" of them."""
    kind: FeatureKind = "independent"
    """How frequencies are drawn."""
    memory: NonNegative = 1e9
    """Bytes for the features of all rows; where these need more, they are regenerated for every batch."""

    solves: ClassVar[type] = KernelRisk
    tuning: ClassVar[dict[str, Log]] = {"step": Log(1e-3, 100)}

    def run(self, problem: KernelRisk, rng: Rng) -> Iterator[FeaturePredictor]:
        """Yield the iterates of all inner loops."""
        return run_on_features(self._method(), problem, rng, self.features, self.kind, self.memory)

    def _method(self) -> SVRG:
        return SVRG(self.step, self.inner, self.snapshot, Minibatch(self.batch))
