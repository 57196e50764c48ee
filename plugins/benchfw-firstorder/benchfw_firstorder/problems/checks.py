"""Parameter checks that several problems share: one sentence each."""

from __future__ import annotations


def check_sizes(**sizes: int) -> None:
    """Raise ValueError unless all of these are at least 1."""
    for name, size in sizes.items():
        if size < 1:
            raise ValueError(f"{name} must be at least 1, got {size}")


def check_condition(condition: float) -> None:
    """Raise ValueError for a condition number below 1."""
    if not condition >= 1:
        raise ValueError(f"condition must be at least 1, got {condition}")


def check_not_negative(**values: float) -> None:
    """Raise ValueError unless all of these are at least 0."""
    for name, value in values.items():
        if not value >= 0:
            raise ValueError(f"{name} must not be negative, got {value}")
