"""The squared loss."""

from __future__ import annotations

from dataclasses import dataclass

from benchfw import Array
from benchfw.kernels import namespace
from benchfw_kernelmachines.losses.encoding import class_signs


@dataclass(frozen=True)
class Squared:
    """½ (f - y)², for numbers; with classes it fits their signs ±1."""

    name = "squared"
    task = "numbers"
    smoothness = 1.0

    def encode(self, labels: Array, num_classes: int) -> Array:
        """Return the numbers, (n, 1) float32, or the signs of classes."""
        if num_classes:
            return class_signs(labels, num_classes)
        xp = namespace(labels)
        return xp.astype(labels, xp.float32)[:, None]

    def value(self, scores: Array, targets: Array) -> Array:
        """Return ½ |f - y|², (n,)."""
        residuals = scores - targets
        return 0.5 * namespace(scores).sum(residuals * residuals, axis=1)

    def derivative(self, scores: Array, targets: Array) -> Array:
        """Return f - y, (n, C)."""
        return scores - targets
