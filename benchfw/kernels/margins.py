"""The logistic loss of margins, and its derivative, which no exponential overflows or rounds to 0."""

from __future__ import annotations

from typing import Any

from benchfw.kernels._kernel import namespace


def logistic_loss(margins: Any) -> Any:
    """Return log(1 + e^-m) of each margin m, exact to rounding."""
    xp = namespace(margins)
    return xp.clip(-margins, min=0.0) + xp.log1p(xp.exp(-xp.abs(margins)))


def logistic_slope(margins: Any) -> Any:
    """Return the derivative of the loss, -1/(1 + e^m), exact to rounding."""
    xp = namespace(margins)
    decay = xp.exp(-xp.abs(margins))
    return -xp.where(margins < 0, xp.ones_like(decay), decay) / (1.0 + decay)
