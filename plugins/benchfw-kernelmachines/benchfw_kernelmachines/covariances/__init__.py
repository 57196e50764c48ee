"""Covariances, one a file, and the way to them by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, TypeAlias

from benchfw import BenchfwError, Positive
from benchfw.errors import nearest
from benchfw.parameters import fits, misfit
from benchfw_kernelmachines.covariances.cauchy import Cauchy
from benchfw_kernelmachines.covariances.gaussian import Gaussian
from benchfw_kernelmachines.covariances.laplace import Laplace
from benchfw_kernelmachines.covariances.matern import Matern

if TYPE_CHECKING:
    from benchfw_kernelmachines.oracles import Covariance

__all__ = ["Cauchy", "CovarianceName", "Gaussian", "Laplace", "Matern", "get_covariance"]

CovarianceName: TypeAlias = Literal["gaussian", "laplace", "cauchy", "matern"]


def get_covariance(name: str | Covariance, length: float, smoothness: float = 1.5) -> Covariance:
    """Return the covariance of this name and length, or the covariance itself; `smoothness` is Matérn's."""
    if not isinstance(name, str):
        return name
    known: dict[str, Callable[[float], Covariance]] = {
        each.name: each for each in (Gaussian, Laplace, Cauchy, Matern)
    }
    if name not in known:
        raise BenchfwError(f"unknown covariance '{name}'{nearest(name, known)}")
    if not fits(length, Positive):
        raise BenchfwError(f"{misfit('length', length, Positive)}, in the covariance '{name}'")
    return Matern(length, smoothness) if name == Matern.name else known[name](length)
