"""SVRG on fixed random features."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from benchfw import Rng
from benchfw_firstorder.estimators.minibatch import Minibatch
from benchfw_firstorder.optimizers.svrg import SVRG
from benchfw_kernelmachines.features import FeatureKind
from benchfw_kernelmachines.fixed_features import check_features, run_on_features
from benchfw_kernelmachines.oracles import KernelRisk
from benchfw_kernelmachines.predictor import FeaturePredictor


@dataclass(frozen=True)
class RandomFeaturesSVRG:
    """SVRG (Johnson & Zhang 2013) on `features` frequencies that are drawn once (Rahimi & Recht 2007).

    `kind` says how they are drawn. It ends at the optimum for these features, not at that of the covariance.
    `step`, `inner` and `snapshot` are those of svrg, each step on `batch` rows; the features of all rows are
    kept in `memory` bytes or made anew for every batch.
    """

    features: int = 512
    batch: int = 128
    step: float | Literal["auto"] = "auto"
    inner: int = 100
    snapshot: Literal["average", "last"] = "last"
    kind: FeatureKind = "independent"
    memory: float = 1e9

    solves: ClassVar[type] = KernelRisk

    def __post_init__(self) -> None:
        check_features(self.features, self.memory)
        self._method()

    def run(self, problem: KernelRisk, rng: Rng) -> Iterator[FeaturePredictor]:
        """Yield the iterates of all inner loops."""
        return run_on_features(self._method(), problem, rng, self.features, self.kind, self.memory)

    def _method(self) -> SVRG:
        return SVRG(self.step, self.inner, self.snapshot, Minibatch(self.batch))
