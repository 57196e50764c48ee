"""Checks of targets that several likelihoods share: one sentence each."""

from __future__ import annotations

from typing import Any

from benchfw import BenchfwError
from benchfw.kernels import namespace


def check_targets(name: str, targets: Any, legal: Any, demand: str) -> None:
    """Raise BenchfwError where a target is not legal, with the first that is not."""
    xp = namespace(legal)
    if not bool(xp.all(legal)):
        row = int(xp.argmax(xp.astype(~legal, xp.int8)))
        raise BenchfwError(f"the targets of '{name}' must be {demand}; row {row} has {float(targets[row]):g}")


def check_signs(name: str, targets: Any) -> None:
    """Raise BenchfwError unless every target is -1 or 1."""
    check_targets(name, targets, abs(targets) == 1, "-1 or 1")


def check_finite(name: str, targets: Any) -> None:
    """Raise BenchfwError unless every target is a finite number."""
    check_targets(name, targets, namespace(targets).isfinite(targets), "finite numbers")
