"""Gradient transformations of Optax from tables: names, options, schedules, chains."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

from benchfw import BenchfwError
from benchfw.errors import nearest
from benchfw_bridges.from_jax.runtime import import_optax

LEFT_OUT = {
    "lookahead": "needs pairs of parameters",
    "contrib.differentially_private_aggregate": "needs the gradient of every sample",
    "contrib.dpsgd": "needs the gradient of every sample",
}
DrawKey = Callable[[], int]
NESTED = 'chain must be a list of tables in a list, [[{ name = "…" }, …]]: a plain list is a sweep'


def build_transformation(tables: Sequence[Mapping[str, Any]], draw_key: DrawKey = int) -> Any:
    """Return the chain of the transformations that tables describe, each with its `name` and options.

    Those that add noise have the key that they are given, or else a drawn one.
    """
    optax = import_optax()
    parts = [_build_table(optax, table, draw_key) for table in tables]
    for table, part in zip(tables, parts, strict=True):
        if not (callable(getattr(part, "init", None)) and callable(getattr(part, "update", None))):
            raise BenchfwError(f"optax.{table['name']} is not a gradient transformation")
    return optax.with_extra_args_support(parts[0] if len(parts) == 1 else optax.chain(*parts))


def read_chain(name: str, chain: Any, options: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """Return the tables of all transformations: those of the chain, then the named one."""
    if isinstance(chain, Mapping) or not all(isinstance(each, Mapping) for each in chain):
        raise BenchfwError(NESTED)
    if not name and not chain:
        raise BenchfwError('optax needs the name of a transformation, as in name = "adam"')
    if options and not name:
        raise BenchfwError(f"optax has the option '{next(iter(options))}' and no name to give it to")
    return (*chain, {"name": name, **options}) if name else tuple(chain)


def _build_table(optax: Any, table: Mapping[str, Any], draw_key: DrawKey) -> Any:
    """Return what `optax.NAME(**options)` returns; options that are tables with a name are built first."""
    if not isinstance(table.get("name"), str):
        raise BenchfwError(f"a table of optax needs a name, got {dict(table)!r}")
    name, options = table["name"], {key: value for key, value in table.items() if key != "name"}
    factory = _find(optax, name)
    if (reason := LEFT_OUT.get(name)) is not None:
        raise BenchfwError(f"optax.{name} {reason}, which a problem does not give")
    built = {key: _build_value(optax, value, draw_key) for key, value in options.items()}
    seeds = [each for each in ("key", "seed") if each in inspect.signature(factory).parameters]
    if seeds and not any(each in built for each in seeds):
        built[seeds[0]] = draw_key()
    _check_options(name, factory, built)
    try:
        return factory(**built)
    except (TypeError, ValueError, AttributeError) as fault:
        raise BenchfwError(f"optax.{name} does not take these options: {fault}") from fault


def _build_value(optax: Any, value: Any, draw_key: DrawKey) -> Any:
    if isinstance(value, Mapping) and "name" in value:
        return _build_table(optax, value, draw_key)
    if isinstance(value, list | tuple):
        return [_build_value(optax, each, draw_key) for each in value]
    return value


def _find(optax: Any, name: str) -> Any:
    """Return a function of optax, or of a module of it, as in "contrib.prodigy"."""
    owner, found = "optax", optax
    for part in name.split("."):
        known = [each for each in dir(found) if not each.startswith("_")]
        if part not in known or not _is_own(getattr(found, part)):
            raise BenchfwError(f"{owner} has no '{part}'{nearest(part, known, otherwise='')}")
        owner, found = f"{owner}.{part}", getattr(found, part)
    if not callable(found):
        raise BenchfwError(f"{owner} is not a function that makes a transformation or a schedule")
    return found


def _is_own(found: Any) -> bool:
    """Return whether something is optax's: its modules hold jax, and jax os; what is found is called."""
    found = getattr(found, "func", found)  # of a partial
    module = found.__name__ if isinstance(found, ModuleType) else getattr(found, "__module__", None)
    return isinstance(module, str) and f"{module}.".startswith("optax.")


def _check_options(name: str, factory: Any, options: Mapping[str, Any]) -> None:
    parameters = inspect.signature(factory).parameters
    kinds = {each.kind for each in parameters.values()}
    for key in options:
        if key not in parameters and inspect.Parameter.VAR_KEYWORD not in kinds:
            close = nearest(key, parameters)
            raise BenchfwError(f"optax.{name} has no option '{key}'{close}")
    for key, each in parameters.items():
        optional = each.kind in {each.VAR_KEYWORD, each.VAR_POSITIONAL} or each.default is not each.empty
        if key not in options and not optional:
            raise BenchfwError(f"optax.{name} needs the option '{key}'")
