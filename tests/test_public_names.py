"""What others build on does not change unnoticed: names, signatures, hooks, verbs with options, suite keys.

A change that is meant: `python tests/test_public_names.py > tests/public_names.txt`, and say so.
"""

from __future__ import annotations

import inspect
from enum import Enum
from pathlib import Path

import click

import benchfw
from benchfw import hookspecs, kernels, testing
from benchfw.claims.read import KEYS
from benchfw.cli import VERBS, cli
from benchfw.plan import RESERVED
from benchfw.suite import BUDGET_KEYS, QUICK_KEYS, TOP_KEYS

STORED = Path(__file__).with_name("public_names.txt")


def members(owner):
    """Yield the public methods and annotated attributes that a class itself declares."""
    for name, value in sorted(vars(owner).items()):
        if not name.startswith("_") and callable(value):
            yield f"  .{name}{signature(value)}"
        elif not name.startswith("_") and isinstance(value, property):
            yield f"  .{name}"
    for name, kind in sorted(vars(owner).get("__annotations__", {}).items()):
        if not name.startswith("_"):
            yield f"  .{name}: {kind}"


def signature(value):
    if inspect.isclass(value) and issubclass(value, Enum):
        return "(value)"  # others are how an Enum is made, and not the same in all versions of Python
    try:
        return str(inspect.signature(value))
    except (TypeError, ValueError):
        return ""


def exported(module):
    for name in sorted(module.__all__):
        value = getattr(module, name)
        shown = repr(value) if isinstance(value, int) else signature(value)
        yield f"{module.__name__}.{name}{' = ' if isinstance(value, int) else ''}{shown}"
        if inspect.isclass(value) and not issubclass(value, Exception):
            yield from members(value)


def hooks():
    for name, value in sorted(vars(hookspecs).items()):
        if hasattr(value, "benchfw_spec"):
            yield f"hook {name}{inspect.signature(value)}"


def verbs(group, path):
    context = click.Context(group)
    for name in VERBS if group is cli else group.list_commands(context):
        command = group.get_command(context, name)
        words = [
            " ".join([*each.opts, *each.secondary_opts])
            if isinstance(each, click.Option)
            else each.name.upper()
            for each in command.params
        ]
        yield f"verb {path}{name}: {', '.join(words)}"
        if isinstance(command, click.Group):
            yield from verbs(command, f"{path}{name} ")


def suite_keys():
    keys = {"": TOP_KEYS, "quick.": QUICK_KEYS, "budget.": BUDGET_KEYS, "claim.": KEYS}
    for prefix, names in keys.items():
        yield from (f"suite key {prefix}{name}" for name in sorted(names))
    for kind, names in sorted(RESERVED.items()):
        yield from (f"suite key {kind}.{name}" for name in sorted(names))


def public_names():
    parts = (exported(benchfw), exported(kernels), exported(testing), hooks(), verbs(cli, ""), suite_keys())
    return "".join(f"{line}\n" for part in parts for line in part)


def test_what_others_build_on_is_what_the_stored_list_says():
    assert public_names() == STORED.read_text(encoding="utf-8"), __doc__


if __name__ == "__main__":
    print(public_names(), end="")
