"""`benchfw show NAME`"""

from __future__ import annotations

import importlib
import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import TYPE_CHECKING, Any

import click

from benchfw.cli.options import echo_json, json_option, plugin_option
from benchfw.cli.verbs.completion import complete_shown
from benchfw.report.text import printable

if TYPE_CHECKING:
    from benchfw.registry import Entry, Registry

_QUOTED = re.compile(r""" "([^"]*)" | '([^']*)' """, re.VERBOSE)  # annotations are texts
_ORACLE = "what a method may ask of a problem"
_HOMES = {
    "Kernel": "benchfw.kernels",
    "Tuner": "benchfw.tuning.tuners",
    **dict.fromkeys(("OptionalOfProblem", "OptionalOfMethod", "OptionalOfPlugin"), "benchfw.contract"),
}
"""Classes for plugins that are not among the public names of benchfw itself, and the modules they are in."""


@click.command(name="show")
@click.argument("name", shell_complete=complete_shown)
@plugin_option
@json_option
def command(name: str, plugins: tuple[str, ...], as_json: bool) -> None:
    """Show what NAME is: its documentation, its parameters with types and defaults, its plugin.

    A name of several kinds, such as saga, is shown as each of them. NAME may also be what a method needs
    of a problem, such as Smooth, which is shown with all that the method may call, or a class that plugins
    are written against, such as Optimizer, Estimator, Backend or Rng. A suite, by name or file, is shown with
    its problems, its methods and its claims, and a backend as it is on this machine.

    \b
    Examples:
      benchfw show sgd
      benchfw show Smooth
      benchfw show Optimizer
      benchfw show heavy-ball --json
      benchfw show my-method --plugin my_method.py
      benchfw show my.toml
    """
    from benchfw.registry import Registry

    facts, describe = find(name, Registry(plugins), plugins)
    if as_json:
        echo_json(facts)
    else:
        click.echo("\n\n".join(map(describe, facts)))


def find(
    name: str, registry: Registry, plugins: tuple[str, ...]
) -> tuple[list[dict[str, Any]], Callable[[dict[str, Any]], str]]:
    """Return what a name stands for as plain data, once for each kind, and what makes text of it."""
    from benchfw.errors import BenchfwError, nearest
    from benchfw.registry import KINDS

    kinds = (*KINDS, "kernel")
    found = [registry.entries(kind)[name] for kind in kinds if name in registry.entries(kind)]
    if found:
        return [facts_of(each) for each in found], describe_facts
    protocols = _protocols(registry)
    wanted = protocols.get(name) or _find_public_class(name)
    if wanted is not None:
        return [protocol_facts(wanted, role=_ORACLE if name in protocols else "")], protocol_description
    from benchfw.cli.suites import describe_suite, is_suite, suite_facts
    from benchfw.data import local_datasets

    if is_suite(name, registry):
        return [suite_facts(name, plugins)], describe_suite
    if name in registry.backends.names:
        return [_backend_facts(name, registry)], _describe_backend
    if (place := local_datasets().get(name)) is not None:
        return [{"kind": "dataset", "name": name, "path": str(place)}], _describe_file
    names = {each for kind in kinds for each in registry.entries(kind)} | {*registry.backends.names}
    broken = f" (not loaded: {'; '.join(registry.broken)})" if registry.broken else ""
    hint = nearest(name, {*names, *protocols, *_public_names(), *registry.suites})
    raise BenchfwError(f"unknown name '{name}'{hint}{broken}")


def _backend_facts(name: str, registry: Registry) -> dict[str, Any]:
    """Return a backend as it is on this machine."""
    from benchfw.harness.environment import describe

    with registry.activate():
        return {"kind": "backend", "name": name, "here": dict(describe(name))}


def _describe_backend(facts: dict[str, Any]) -> str:
    here = facts["here"]
    lines = [f"backend {facts['name']}", ""]
    if "unavailable" in here:
        lines.append(f"  {here['unavailable']}")
    else:
        lines += [f"  {key}: {value}" for key, value in here.items()]
        lines += ["", f"  a suite runs on it with `benchfw run SUITE --backend {facts['name']}`"]
    return "\n".join(map(printable, lines))


def _describe_file(facts: dict[str, Any]) -> str:
    more = f"  a file of yours; `benchfw data show {facts['name']}` has its arrays"
    return "\n".join(map(printable, [f"dataset {facts['name']}", "", f"  {facts['path']}", more]))


def facts_of(entry: Entry) -> dict[str, Any]:
    """Return an entry as plain data."""
    from benchfw.parameters import describe_type, meanings_of, without_parameters

    meanings = meanings_of(entry.factory) if callable(entry.factory) else {}  # a data set is plain data
    return {
        "kind": entry.kind,
        "name": entry.name,
        "plugin": str(entry.plugin),
        "documentation": without_parameters(inspect.getdoc(entry.factory) or ""),
        "solves": _solved_by(entry.factory),
        "cost_unit": _cost_unit(entry),
        "higher_is_better": _gains(entry),
        "tuning": _own_spaces(entry),
        "arguments" if entry.kind == "kernel" else "parameters": [
            {
                "name": parameter.name,
                "type": describe_type(parameter.hint),
                "default": None if parameter.required else repr(parameter.default),
                "meaning": meanings.get(parameter.name, ""),
            }
            for parameter in entry.parameters.values()
        ],
    }


def describe_facts(facts: dict[str, Any]) -> str:
    """Return the facts of an entry as text: what `benchfw show` prints, and the manual's reference pages."""
    lines = [f"{facts['kind']} {facts['name']} ({facts['plugin']})", ""]
    lines += [f"  {line}".rstrip() for line in facts["documentation"].splitlines()]
    if facts["solves"]:
        lines += ["", f"  needs a {facts['solves']} problem"]
    if facts["cost_unit"]:
        lines += ["", f"  its cost counts {facts['cost_unit']}"]
    if facts["higher_is_better"]:
        lines += ["", f"  higher is better in {', '.join(facts['higher_is_better'])}"]
    if facts["tuning"]:
        lines += ["", f"  tuning: {'; '.join(f'{key} {space}' for key, space in facts['tuning'].items())}"]
    if facts["kind"] == "dataset":
        lines += ["", f"  `benchfw data show {facts['name']}` has its arrays, its licence and its address"]
    given = "arguments" if facts["kind"] == "kernel" else "parameters"
    if facts[given]:
        lines += ["", f"  {given}:"]
    for each in facts[given]:
        default = "required" if each["default"] is None else f"default {each['default']}"
        lines.append(f"    {each['name']}: {each['type']} ({default})")
        lines += textwrap.wrap(each["meaning"], 100, initial_indent=" " * 6, subsequent_indent=" " * 6)
    return "\n".join(map(printable, lines))


def _cost_unit(entry: Entry) -> str | None:
    """Return what one unit of a problem's cost is, where its class says so."""
    unit = getattr(entry.factory, "cost_unit", "gradients") if entry.kind == "problem" else None
    return unit if isinstance(unit, str) else None


def _gains(entry: Entry) -> list[str]:
    """Return the metrics of which higher is better, where a problem's class says so."""
    names = getattr(entry.factory, "higher_is_better", ()) if entry.kind == "problem" else ()
    return sorted(names) if isinstance(names, list | tuple | set | frozenset | dict) else []


def _own_spaces(entry: Entry) -> dict[str, str]:
    """Return the search spaces that `tune = "default"` stands for, in words by parameter."""
    own = getattr(entry.factory, "tuning", None) if entry.kind == "optimizer" else None
    return {str(key): str(space) for key, space in own.items()} if isinstance(own, Mapping) else {}


def _solved_by(factory: Any) -> str | None:
    """Return the oracle protocols of a method, by name."""
    return " or ".join(each.__name__ for each in _needed_protocols(factory)) or None


def _needed_protocols(factory: Any) -> list[type]:
    wanted = getattr(factory, "solves", None)
    return [each for each in (wanted if isinstance(wanted, tuple) else (wanted,)) if isinstance(each, type)]


def _protocols(registry: Registry) -> dict[str, type]:
    """Return every protocol that a registered method needs, by name."""
    methods = (*registry.entries("optimizer").values(), *registry.entries("estimator").values())
    return {each.__name__: each for entry in methods for each in _needed_protocols(entry.factory)}


def _public_names() -> list[str]:
    """Return the names of the classes that plugins are written against; nothing is imported for it."""
    import benchfw

    return [*(each for each in benchfw.__all__ if each[0].isupper() and not each.isupper()), *_HOMES]


def _find_public_class(name: str) -> type | None:
    """Return a class that plugins are written against, by name; None where there is none."""
    import benchfw

    if name not in _public_names():
        return None
    home = importlib.import_module(_HOMES[name]) if name in _HOMES else benchfw
    found = getattr(home, name)
    return found if isinstance(found, type) and found.__name__ == name else None  # not an alias


def protocol_facts(protocol: type, role: str = "") -> dict[str, Any]:
    """Return a class with its members, those of the classes that it extends first, as plain data.

    `role` says what it is for, where its documentation does not.
    """
    from benchfw.parameters import is_protocol, meanings_of

    members: dict[str, dict[str, str]] = {}
    meanings = meanings_of(protocol)
    for base in reversed(protocol.__mro__[:-1]):
        for name, hint in vars(base).get("__annotations__", {}).items():
            meaning = meanings.get(name, "")
            members[name] = {"name": name, "signature": f": {hint}", "documentation": meaning}
        for name, value in vars(base).items():
            if name.startswith("_") or not isinstance(value, FunctionType | property):
                continue
            called: Any = value.fget if isinstance(value, property) else value
            signature = inspect.signature(called)
            shown = str(signature.replace(parameters=[*signature.parameters.values()][1:]))
            shown = _QUOTED.sub(lambda found: found[1] or found[2], shown)
            members[name] = {
                "name": name,
                "signature": shown.replace("() ->", ":") if isinstance(value, property) else shown,
                "documentation": inspect.getdoc(value) or "",
            }
    documentation = inspect.getdoc(protocol) or ""
    return {
        "kind": "protocol" if is_protocol(protocol) else "class",
        "name": protocol.__name__,
        "role": role,
        "documentation": documentation,
        "members": list(members.values()),
    }


def protocol_description(facts: dict[str, Any]) -> str:
    """Return a protocol or a class as text."""
    lines = [": ".join(filter(None, [f"{facts['kind']} {facts['name']}", facts["role"]])), ""]
    lines += [f"  {line}".rstrip() for line in facts["documentation"].splitlines()]
    for each in facts["members"]:
        lines += ["", f"  {each['name']}{each['signature']}"]
        lines += [f"    {line}" for line in each["documentation"].splitlines()]
    return "\n".join(map(printable, lines))
