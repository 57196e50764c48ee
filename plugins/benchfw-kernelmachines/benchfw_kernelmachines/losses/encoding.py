"""Targets made of labels."""

from __future__ import annotations

from benchfw import Array, BenchfwError
from benchfw.kernels import namespace


def class_signs(labels: Array, num_classes: int) -> Array:
    """Return float32 signs: (n, 1), +1 for the second of two classes; of more (n, C), +1 in its column."""
    xp = namespace(labels)
    numbers = (
        xp.arange(num_classes, dtype=labels.dtype) if num_classes > 2 else xp.ones(1, dtype=labels.dtype)
    )
    return 2.0 * xp.astype(labels[:, None] == numbers[None, :], xp.float32) - 1.0


def need_classes(name: str, num_classes: int) -> None:
    """Raise BenchfwError where labels are numbers."""
    if num_classes == 0:
        raise BenchfwError(
            f"the loss '{name}' is for classes; for numbers take 'squared' or 'epsilon-insensitive'"
        )
