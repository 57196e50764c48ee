"""Losses ℓ(f(x), y), one a file, and the way to them by name."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

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
    "Softmax",
    "Squared",
    "SquaredHinge",
    "get_loss",
]

_KNOWN: dict[str, Any] = {
    kind.name: kind for kind in (Squared, Logistic, Softmax, Hinge, SquaredHinge, EpsilonInsensitive)
}


def get_loss(loss: str | Mapping[str, Any] | Loss) -> Loss:
    """Return the loss of a name or of a table, { name = "epsilon-insensitive", epsilon = 0.2 }; or itself."""
    if isinstance(loss, str):
        loss = {"name": loss}
    if not isinstance(loss, Mapping):
        return loss
    parameters = dict(loss)
    name = parameters.pop("name", None)
    if name is None:
        raise BenchfwError('the table of a loss needs its name, as in { name = "hinge" }')
    if name not in _KNOWN:
        raise BenchfwError(f"unknown loss '{name}'{nearest(str(name), _KNOWN)}")
    fields = {field.name for field in dataclasses.fields(_KNOWN[name])}
    for parameter in parameters:
        if parameter not in fields:
            raise BenchfwError(
                f"the loss '{name}' has no parameter '{parameter}'{nearest(parameter, fields)}"
            )
    found: Loss = _KNOWN[name](**parameters)
    return found
