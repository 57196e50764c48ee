"""The hinge loss of support vector machines."""

from __future__ import annotations

from dataclasses import dataclass

from benchfw import Array
from benchfw.kernels import namespace
from benchfw_kernelmachines.losses.encoding import class_signs, need_classes


@dataclass(frozen=True)
class Hinge:
    """max(0, 1 - yf), y = ±1."""

    name = "hinge"
    task = "signs"
    smoothness = None

    def encode(self, labels: Array, num_classes: int) -> Array:
        """Return the signs of classes."""
        need_classes(self.name, num_classes)
        return class_signs(labels, num_classes)

    def value(self, scores: Array, targets: Array) -> Array:
        """Return max(0, 1 - yf), (n,)."""
        xp = namespace(scores)
        return xp.sum(xp.clip(1.0 - targets * scores, min=0.0), axis=1)

    def derivative(self, scores: Array, targets: Array) -> Array:
        """Return -y where yf < 1, else 0, (n, C)."""
        return -targets * namespace(scores).astype(targets * scores < 1.0, targets.dtype)
