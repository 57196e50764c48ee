"""What the shell offers when a word is half written: suites, plugin names, runs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path

import click

from benchfw.records import DEFAULT_STORE


def suites(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Return the suites by name, and the suite files of the present folder."""
    from benchfw.cli.verbs.list import names_of
    from benchfw.registry import Registry

    files = [str(path) for path in Path().glob("*.toml")]
    return _starting(incomplete, [*names_of("suites", Registry()), *files])


def names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Return every name that plugins register."""
    from benchfw.registry import KINDS, Registry

    registry = Registry()
    return _starting(incomplete, {name for kind in (*KINDS, "kernel") for name in registry.entries(kind)})


def targets(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Return what can be checked: plugins, names, and Python files of the present folder."""
    from benchfw.registry import Registry

    plugins = [plugin.name for plugin in Registry().plugins]
    files = [str(path) for path in Path().glob("*.py")]
    return [*names(ctx, param, incomplete), *_starting(incomplete, [*plugins, *files])]


def kernels(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Return the kernels."""
    from benchfw.registry import Registry

    return _starting(incomplete, Registry().entries("kernel"))


def datasets(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Return the data sets of the catalog."""
    from benchfw.cli.verbs.list import names_of
    from benchfw.registry import Registry

    return _starting(incomplete, names_of("datasets", Registry()))


def runs(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Return the runs of the store, the latest first, and the word last."""
    from benchfw.errors import BenchfwError
    from benchfw.store import Store

    found = ["last"]
    with contextlib.suppress(BenchfwError), Store(Path(ctx.params.get("store") or DEFAULT_STORE)) as store:
        found += [str(run.id) for run in reversed(store.runs())]
    return _starting(incomplete, found)


def _starting(incomplete: str, words: Iterable[str]) -> list[str]:
    return [word for word in dict.fromkeys(words) if word.startswith(incomplete)]
