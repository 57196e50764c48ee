"""The logistic loss of several classes."""

from __future__ import annotations

from dataclasses import dataclass

from benchfw import Array
from benchfw.kernels import namespace
from benchfw_kernelmachines.kernels.softmax import softmax_derivative, softmax_loss
from benchfw_kernelmachines.losses.encoding import need_classes


@dataclass(frozen=True)
class Softmax:
    """log Σ_c e^(f_c) - f_y, y a class number; the scores of one row share one loss."""

    name = "softmax"
    task = "classes"
    smoothness = 0.5

    def encode(self, labels: Array, num_classes: int) -> Array:
        """Return the class numbers, (n,) int64."""
        need_classes(self.name, num_classes)
        xp = namespace(labels)
        return xp.astype(labels, xp.int64, copy=False)

    def value(self, scores: Array, targets: Array) -> Array:
        """Return log Σ_c e^(f_c) - f_y, (n,)."""
        return softmax_loss(scores, targets)

    def derivative(self, scores: Array, targets: Array) -> Array:
        """Return e^(f_c) / Σ e^f - [c = y], (n, C)."""
        return softmax_derivative(scores, targets)
