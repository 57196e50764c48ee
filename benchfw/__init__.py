"""benchfw: a laboratory for randomized methods.

These names are all that a plugin or a notebook needs. Each is imported when it is first used, so that
`benchfw --help` answers at once.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchfw.api.compare import compare
    from benchfw.api.problems import problem
    from benchfw.api.result import RunResult
    from benchfw.api.session import load, run, runs
    from benchfw.backends import Backend, Rng
    from benchfw.callbacks import from_callback
    from benchfw.contract import (
        Array,
        Bounded,
        Claims,
        Composite,
        Constants,
        Distribution,
        Estimator,
        FiniteSum,
        Optimizer,
        Params,
        Problem,
        Smooth,
        Solver,
        SpectralSum,
        claims_of,
        clip_gap,
        constants_of,
        draws_of,
    )
    from benchfw.counting import CountedProblem
    from benchfw.errors import BenchfwError, Unavailable
    from benchfw.hookspecs import hookimpl
    from benchfw.measure.files import trial_folder
    from benchfw.parameters import (
        CodeFolder,
        CodePlace,
        Count,
        DatasetName,
        Fraction,
        LocalPath,
        NonNegative,
        Positive,
        Range,
        Trusted,
    )
    from benchfw.provenance import Run
    from benchfw.search import Choice, Integer, Linear, Log
    from benchfw.vectors import VectorOracles

__version__ = "0.1.0"

API_VERSION = 1
"""Grows when a plugin written for the last one may break; a plugin says its own as `benchfw_api`."""

__all__ = [
    "API_VERSION",
    "Array",
    "Backend",
    "BenchfwError",
    "Bounded",
    "Choice",
    "Claims",
    "CodeFolder",
    "CodePlace",
    "Composite",
    "Constants",
    "Count",
    "CountedProblem",
    "DatasetName",
    "Distribution",
    "Estimator",
    "FiniteSum",
    "Fraction",
    "Integer",
    "Linear",
    "LocalPath",
    "Log",
    "NonNegative",
    "Optimizer",
    "Params",
    "Positive",
    "Problem",
    "Range",
    "Rng",
    "Run",
    "RunResult",
    "Smooth",
    "Solver",
    "SpectralSum",
    "Trusted",
    "Unavailable",
    "VectorOracles",
    "claims_of",
    "clip_gap",
    "compare",
    "constants_of",
    "draws_of",
    "from_callback",
    "hookimpl",
    "load",
    "problem",
    "run",
    "runs",
    "trial_folder",
]

_HOMES = {
    "Backend": "backends",
    "BenchfwError": "errors",
    "CountedProblem": "counting",
    "Rng": "backends",
    "Run": "provenance",
    "Unavailable": "errors",
    "VectorOracles": "vectors",
    "from_callback": "callbacks",
    "hookimpl": "hookspecs",
    "RunResult": "api.result",
    "compare": "api.compare",
    "problem": "api.problems",
    "trial_folder": "measure.files",
    **dict.fromkeys(("load", "run", "runs"), "api.session"),
    **dict.fromkeys(("Choice", "Integer", "Linear", "Log"), "search"),
    **dict.fromkeys(("CodeFolder", "CodePlace", "Count", "DatasetName", "Fraction"), "parameters"),
    **dict.fromkeys(("LocalPath", "NonNegative", "Positive", "Range", "Trusted"), "parameters"),
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'benchfw' has no attribute '{name}'")
    return getattr(importlib.import_module(f"benchfw.{_HOMES.get(name, 'contract')}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__doc__", "__version__"]
