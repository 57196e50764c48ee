"""The squared hinge loss."""

from __future__ import annotations

from dataclasses import dataclass

from benchfw import Array
from benchfw.kernels import namespace
from benchfw_kernelmachines.losses.encoding import class_signs, need_classes


@dataclass(frozen=True)
class SquaredHinge:
    """max(0, 1 - yf)², y = ±1: smooth, and zero where the hinge is."""

    name = "squared-hinge"
    task = "signs"
    smoothness = 2.0

    def encode(self, labels: Array, num_classes: int) -> Array:
        """Return the signs of classes."""
        need_classes(self.name, num_classes)
        return class_signs(labels, num_classes)

    def value(self, scores: Array, targets: Array) -> Array:
        """Return max(0, 1 - yf)², (n,)."""
        xp = namespace(scores)
        slacks = xp.clip(1.0 - targets * scores, min=0.0)
        return xp.sum(slacks * slacks, axis=1)

    def derivative(self, scores: Array, targets: Array) -> Array:
        """Return -2y max(0, 1 - yf), (n, C)."""
        return -2.0 * targets * namespace(scores).clip(1.0 - targets * scores, min=0.0)
