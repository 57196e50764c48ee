"""A small function with data, for checks: a straight line through points, by least squares."""

from __future__ import annotations

from typing import Any

import numpy as np


def mean_square(params: Any, batch: Any) -> Any:
    """Return half the mean square of the residuals."""
    residuals = batch["x"] @ params["slopes"] + params["offset"] - batch["y"]
    return (residuals**2).mean() / 2


def start() -> dict[str, Any]:
    """Return a level line."""
    return {"slopes": np.zeros(4), "offset": np.zeros(())}


def single_start() -> dict[str, Any]:
    """Return the same in single precision."""
    return {name: each.astype(np.float32) for name, each in start().items()}


def data() -> dict[str, Any]:
    """Return 40 points near a line."""
    draw = np.random.default_rng(0)
    x = draw.standard_normal((40, 4))
    return {"x": x, "y": x @ np.arange(1.0, 5.0) + 2 + 0.1 * draw.standard_normal(40)}
