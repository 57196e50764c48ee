"""Losses ℓ(f(x), y), one a file, and the way to them by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

from benchfw import BenchfwError
from benchfw.errors import nearest
from benchfw_kernelmachines.losses.epsilon_insensitive import EpsilonInsensitive
from benchfw_kernelmachines.losses.hinge import Hinge
from benchfw_kernelmachines.losses.logistic import Logistic
from benchfw_kernelmachines.losses.softmax import Softmax
from benchfw_kernelmachines.losses.squared import Squared
from benchfw_kernelmachines.losses.squared_hinge import SquaredHinge
from benchfw_kernelmachines.oracles import Loss

__all__ = [
    "EpsilonInsensitive",
    "Hinge",
    "Logistic",
    "LossName",
    "Softmax",
    "Squared",
    "SquaredHinge",
    "get_loss",
]

LossName: TypeAlias = Literal[
    "squared", "logistic", "softmax", "hinge", "squared-hinge", "epsilon-insensitive"
]


def get_loss(name: str | Loss, epsilon: float = 0.1) -> Loss:
    """Return the loss of this name, or the loss itself; `epsilon` is that of epsilon-insensitive."""
    if not isinstance(name, str):
        return name
    known: dict[str, Callable[[], Loss]] = {
        each.name: each for each in (Squared, Logistic, Softmax, Hinge, SquaredHinge, EpsilonInsensitive)
    }
    if name not in known:
        raise BenchfwError(f"unknown loss '{name}'{nearest(name, known)}")
    return EpsilonInsensitive(epsilon) if name == EpsilonInsensitive.name else known[name]()
