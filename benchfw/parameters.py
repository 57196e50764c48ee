"""Reads what parameters a factory takes, and whether a suite's value fits one."""

from __future__ import annotations

import collections.abc
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from typing import Any

REQUIRED = inspect.Parameter.empty


@dataclass(frozen=True)
class Parameter:
    """One parameter of a plugin: its name, its type as written, and its default."""

    name: str
    hint: Any
    default: Any = REQUIRED

    @property
    def required(self) -> bool:
        """Whether a suite must give it."""
        return self.default is REQUIRED

    def __str__(self) -> str:
        return self.name if self.required else f"{self.name} = {self.default!r}"


def parameters_of(factory: Callable[..., Any], hidden: int = 0) -> dict[str, Parameter]:
    """Return the parameters of a factory by name, without the first few, which the harness fills in."""
    hints = hints_of(factory)
    taken = list(inspect.signature(factory).parameters.values())[hidden:]
    return {
        parameter.name: Parameter(parameter.name, hints.get(parameter.name, Any), parameter.default)
        for parameter in taken
        if parameter.kind in {parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY}
    }


def hints_of(factory: Callable[..., Any]) -> dict[str, Any]:
    """Return the resolved annotations of a factory's parameters; empty where they cannot be resolved."""
    target: Any = factory
    if isinstance(factory, type) and not is_dataclass(factory):
        target = factory.__init__  # type: ignore[misc]
    # of a dataclass the fields themselves: each is looked up in the module of the class that declares it
    try:
        return typing.get_type_hints(target)
    except (NameError, TypeError, AttributeError):
        # annotations under TYPE_CHECKING: the value is then checked by the factory itself
        return {}


def accepts_any_keyword(factory: Callable[..., Any]) -> bool:
    """Return whether the factory takes **params, so that no name can be called unknown."""
    return any(p.kind is p.VAR_KEYWORD for p in inspect.signature(factory).parameters.values())


def fits(value: Any, hint: Any) -> bool:
    """Return whether a TOML value may be passed where `hint` is expected; what is not understood fits."""
    origin = typing.get_origin(hint)
    if origin in {typing.Union, types.UnionType}:
        return any(fits(value, each) for each in typing.get_args(hint))
    if origin is typing.Literal:
        return any(value == each and type(value) is type(each) for each in typing.get_args(hint))
    kind = origin or hint
    if getattr(kind, "_is_protocol", False) and kind not in _PLAIN:
        return isinstance(value, Mapping) and "use" in value  # Estimator, …: built from a nested table
    legal = _PLAIN.get(kind, (object,))
    return isinstance(value, legal) and not (isinstance(value, bool) and kind in {int, float})


_PLAIN: dict[Any, tuple[type, ...]] = {
    float: (float, int),
    int: (int,),
    bool: (bool,),
    str: (str,),
    type(None): (type(None),),
    list: (list, tuple),
    tuple: (list, tuple),
    collections.abc.Sequence: (list, tuple),
    dict: (Mapping,),
    Mapping: (Mapping,),
}


def coerced(value: Any, hint: Any) -> Any:
    """Return a whole number as a float where only a float is meant: `step = 1` is `step = 1.0`."""
    options = typing.get_args(hint) if typing.get_origin(hint) in {typing.Union, types.UnionType} else (hint,)
    whole = isinstance(value, int) and not isinstance(value, bool)
    return float(value) if whole and float in options and int not in options else value


def spelled(hint: Any) -> str:
    """Return a type as a person would write it: `float or 'auto'`."""
    origin = typing.get_origin(hint)
    if origin in {typing.Union, types.UnionType}:
        return " or ".join(spelled(each) for each in typing.get_args(hint))
    if origin is typing.Literal:
        return " or ".join(repr(each) for each in typing.get_args(hint))
    if hint is type(None):
        return "nothing"
    if getattr(hint, "_is_protocol", False):
        return f"a table with 'use' ({hint.__name__})"
    return getattr(hint, "__name__", str(hint))
