"""Functions of a matrix, one a file, and the way to them by name."""

from __future__ import annotations

from benchfw import BenchfwError
from benchfw.errors import nearest
from benchfw_spectral.functions.analytic import Analytic, radius_through
from benchfw_spectral.functions.exp import Exp
from benchfw_spectral.functions.function import Falloff, Function, Interval
from benchfw_spectral.functions.inverse import Inverse
from benchfw_spectral.functions.log import Log
from benchfw_spectral.functions.power import Power
from benchfw_spectral.functions.xlogx import XLogX

__all__ = [
    "Analytic",
    "Exp",
    "Falloff",
    "Function",
    "Interval",
    "Inverse",
    "Log",
    "Power",
    "XLogX",
    "get_function",
    "radius_through",
]


def get_function(name: str | Function, exponent: float = 0.5) -> Function:
    """Return the function of this name, or the function itself; `exponent` is that of "power"."""
    if isinstance(name, Function):
        return name
    known = {
        "log": Log(),
        "sqrt": Power(0.5),
        "power": Power(exponent),
        "exp": Exp(),
        "xlogx": XLogX(),
        "inverse": Inverse(),
    }
    if name not in known:
        raise BenchfwError(f"unknown function '{name}'{nearest(str(name), known)}")
    return known[name]
