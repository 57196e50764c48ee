"""The logistic loss of two classes."""

from __future__ import annotations

from dataclasses import dataclass

from benchfw import Array
from benchfw.kernels import logistic_loss, logistic_slope, namespace
from benchfw_kernelmachines.losses.encoding import class_signs, need_classes


@dataclass(frozen=True)
class Logistic:
    """log(1 + e^(-yf)), y = ±1."""

    name = "logistic"
    task = "signs"
    smoothness = 0.25

    def encode(self, labels: Array, num_classes: int) -> Array:
        """Return the signs of classes."""
        need_classes(self.name, num_classes)
        return class_signs(labels, num_classes)

    def value(self, scores: Array, targets: Array) -> Array:
        """Return log(1 + e^(-yf)), (n,)."""
        return namespace(scores).sum(logistic_loss(targets * scores), axis=1)

    def derivative(self, scores: Array, targets: Array) -> Array:
        """Return -y / (1 + e^(yf)), (n, C)."""
        return targets * logistic_slope(targets * scores)
