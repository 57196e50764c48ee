"""Other libraries as estimators of tr f(A), one a file; what is not installed is skipped, with the reason."""

from __future__ import annotations

import importlib
import warnings
from types import ModuleType
from typing import Any

from benchfw import BenchfwError, Unavailable


def import_peer(module: str, distribution: str) -> ModuleType:
    """Return a module of an optional library, or raise Unavailable with what to install."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what a library says of its own dependencies
            return importlib.import_module(module)
    except ImportError as fault:
        if module.startswith(fault.name or "?"):  # the library itself, or this part of it
            reason = f"{distribution} is not installed"
        else:
            reason = f"{distribution} cannot be imported ({fault})"
        raise Unavailable(f"{reason}; pip install 'benchfw-spectral[peers]'") from fault


def stored_matrix(problem: Any, peer: str) -> Any:
    """Return a problem's matrix as the peers take it: a NumPy array or sparse rows of SciPy."""
    if problem.backend.library != "numpy":
        raise Unavailable(f"{peer} is run on the CPU; take the backend numpy")
    stored = getattr(problem, "stored", None)
    if stored is None:
        raise BenchfwError(f"{peer} needs the matrix itself, and this problem has only products with it")
    return stored


def check_function(problem: Any, peer: str, names: tuple[str, ...]) -> None:
    """Raise unless the peer has the problem's function."""
    name = problem.function.name
    if name not in names:
        raise BenchfwError(f"{peer} has no tr {name}(A) here; it has {', '.join(names)}")
