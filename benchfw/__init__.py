"""benchfw: a laboratory for randomized methods.

These names are all that a plugin or a notebook needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchfw.backends import Backend, Rng
from benchfw.contract import (
    Bounded,
    Composite,
    Distribution,
    Estimator,
    FiniteSum,
    Optimizer,
    Problem,
    Smooth,
    SpectralSum,
)
from benchfw.errors import BenchfwError
from benchfw.hookspecs import hookimpl
from benchfw.records import Run

if TYPE_CHECKING:
    from benchfw.api import load, run

__version__ = "0.1.0"

__all__ = [
    "Backend",
    "BenchfwError",
    "Bounded",
    "Composite",
    "Distribution",
    "Estimator",
    "FiniteSum",
    "Optimizer",
    "Problem",
    "Rng",
    "Run",
    "Smooth",
    "SpectralSum",
    "hookimpl",
    "load",
    "run",
]


def __getattr__(name: str) -> Any:
    # run and load pull in the harness and the store: only a notebook that calls them should pay
    if name in {"run", "load"}:
        from benchfw import api

        return getattr(api, name)
    raise AttributeError(f"module 'benchfw' has no attribute '{name}'")
