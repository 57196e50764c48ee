"""The ε-insensitive loss of support vector regression."""

from __future__ import annotations

from dataclasses import dataclass

from benchfw import Array, BenchfwError
from benchfw.kernels import namespace


@dataclass(frozen=True)
class EpsilonInsensitive:
    """max(0, |f - y| - ε). Vapnik, The Nature of Statistical Learning Theory, 1995, §6.1."""

    epsilon: float = 0.1

    name = "epsilon-insensitive"
    task = "numbers"
    smoothness = None

    def encode(self, labels: Array, num_classes: int) -> Array:
        """Return the numbers, (n, 1) float32."""
        if num_classes:
            raise BenchfwError(
                f"the loss '{self.name}' is for numbers; for classes take 'hinge' or 'softmax'"
            )
        xp = namespace(labels)
        return xp.astype(labels, xp.float32)[:, None]

    def value(self, scores: Array, targets: Array) -> Array:
        """Return max(0, |f - y| - ε), (n,)."""
        xp = namespace(scores)
        return xp.sum(xp.clip(xp.abs(scores - targets) - self.epsilon, min=0.0), axis=1)

    def derivative(self, scores: Array, targets: Array) -> Array:
        """Return the sign of f - y where it is more than ε away from 0, else 0, (n, C)."""
        xp = namespace(scores)
        residuals = scores - targets
        return xp.sign(residuals) * xp.astype(xp.abs(residuals) > self.epsilon, residuals.dtype)
