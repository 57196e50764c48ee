"""Stochastic gradient descent on fixed random features."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from benchfw import Count, Log, NonNegative, Positive, Rng
from benchfw_firstorder.estimators.minibatch import Minibatch
from benchfw_firstorder.optimizers.sgd import SGD
from benchfw_firstorder.steps import Schedule
from benchfw_kernelmachines.features import FeatureKind
from benchfw_kernelmachines.fixed_features import run_on_features
from benchfw_kernelmachines.oracles import KernelRisk
from benchfw_kernelmachines.predictor import FeaturePredictor


@dataclass(frozen=True)
class RandomFeaturesSGD:
    """Stochastic gradient descent on random features that are drawn once (Rahimi & Recht 2007)."""

    features: Count = 512
    """Frequencies, drawn once."""
    batch: Count = 128
    """Rows a step."""
    step: Positive | Literal["auto"] = "auto"
    """The first step, a; "auto" is 1/(2 x the smoothness of a batch)."""
    schedule: Schedule = "constant"
    """Steps are "constant" a, "inverse" a/(1 + k decay), "inverse-sqrt" a/√(k+1), "power" a(k+1)^-power."""
    decay: NonNegative = 0.01
    """How fast "inverse" steps fall."""
    power: NonNegative = 0.75
    """How fast "power" steps fall."""
    average: bool = False
    """Whether the answer is the mean of all points so far."""
    kind: FeatureKind = "independent"
    """How frequencies are drawn."""
    memory: NonNegative = 1e9
    """Bytes for the features of all rows; where these need more, they are regenerated for every batch."""

    solves: ClassVar[type] = KernelRisk
    tuning: ClassVar[dict[str, Log]] = {"step": Log(1e-3, 100)}

    def run(self, problem: KernelRisk, rng: Rng) -> Iterator[FeaturePredictor]:
        """Yield f_0, f_1, … or their running means."""
        return run_on_features(self._method(), problem, rng, self.features, self.kind, self.memory)

    def _method(self) -> SGD:
        schedule = self.schedule, self.decay, self.power
        return SGD(self.step, *schedule, self.average, Minibatch(self.batch))
