"""Parameter checks that the laws share: one sentence each."""

from __future__ import annotations

import math

from benchfw import BenchfwError


def check_positive(**values: float) -> None:
    """Raise ValueError unless all of these are positive and finite."""
    for name, value in values.items():
        if not 0 < value < math.inf:
            raise ValueError(f"{name} must be positive and finite, got {value}")


def check_decay(decay: float) -> None:
    """Raise BenchfwError unless the series falls at all."""
    if not 1 < decay < math.inf:
        raise BenchfwError(f"the decay of a series must be finite and above 1, got {decay}")
