"""Stochastic gradient descent on fixed random features."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from benchfw import Rng
from benchfw_firstorder.estimators.minibatch import Minibatch
from benchfw_firstorder.optimizers.sgd import SGD
from benchfw_firstorder.steps import Schedule
from benchfw_kernelmachines.features import FeatureKind
from benchfw_kernelmachines.fixed_features import check_features, run_on_features
from benchfw_kernelmachines.oracles import KernelRisk
from benchfw_kernelmachines.predictor import FeaturePredictor


@dataclass(frozen=True)
class RandomFeaturesSGD:
    """Stochastic gradient descent on `features` frequencies that are drawn once (Rahimi & Recht 2007).

    `kind` says how they are drawn. `step`, `schedule`, `decay`, `power` and `average` are those of sgd, each
    step on `batch` rows; the features of all rows are kept in `memory` bytes or made anew for every batch.
    """

    features: int = 512
    batch: int = 128
    step: float | Literal["auto"] = "auto"
    schedule: Schedule = "constant"
    decay: float = 0.01
    power: float = 0.75
    average: bool = False
    kind: FeatureKind = "independent"
    memory: float = 1e9

    solves: ClassVar[type] = KernelRisk

    def __post_init__(self) -> None:
        check_features(self.features, self.memory)
        self._method()

    def run(self, problem: KernelRisk, rng: Rng) -> Iterator[FeaturePredictor]:
        """Yield f_0, f_1, … or their running means."""
        return run_on_features(self._method(), problem, rng, self.features, self.kind, self.memory)

    def _method(self) -> SGD:
        schedule = self.schedule, self.decay, self.power
        return SGD(self.step, *schedule, self.average, Minibatch(self.batch))
