"""`benchfw list [KIND]`"""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchfw.cli.options import echo_json, echo_table, json_option, plugin_option
from benchfw.packages import FAMILIES, install_command
from benchfw.report.text import printable

if TYPE_CHECKING:
    from benchfw.registry import Entry, Registry

KINDS = (
    "suites",
    "problems",
    "estimators",
    "optimizers",
    "distributions",
    "kernels",
    "datasets",
    "backends",
    "tuners",
    "exporters",
    "executors",
)


@click.command(name="list")
@click.argument(
    "kind",
    required=False,
    metavar="[KIND]",
    shell_complete=lambda _, __, word: [k for k in KINDS if k.startswith(word)],
)
@plugin_option
@json_option
def command(kind: str | None, plugins: tuple[str, ...], as_json: bool) -> None:
    """List what can be named in a suite, or by an option.

    KIND is one of suites, problems, estimators, optimizers, distributions, kernels, datasets, backends,
    tuners, exporters, executors. Without it, the names of all of them; with it, a line on each.

    \b
    Examples:
      benchfw list
      benchfw list optimizers --json
    """
    from benchfw.errors import BenchfwError, nearest
    from benchfw.registry import Registry

    if kind is not None and kind not in KINDS and f"{kind}s" not in KINDS:
        raise BenchfwError(f"unknown kind '{kind}'{nearest(kind, KINDS)}")
    registry = Registry(plugins)
    click.get_current_context().with_resource(registry.activate())
    if kind is None:
        _overview(registry, as_json=as_json)
    else:
        rows = rows_of(kind if kind in KINDS else f"{kind}s", registry)
        if as_json:
            echo_json([dict(zip(("kind", "name", "plugin", "summary"), row, strict=True)) for row in rows])
        else:
            echo_table([row[1:] for row in rows], ("name", "plugin", "what it is"))
    for fault in registry.broken:
        click.echo(f"benchfw: not loaded: {printable(fault)}", err=True)


def _overview(registry: Registry, *, as_json: bool) -> None:
    names = {kind: names_of(kind, registry) for kind in KINDS}
    if as_json:
        echo_json(names)
        return
    for kind, found in names.items():
        if found:
            text = textwrap.fill(
                printable("  ".join(found)),
                width=96,
                initial_indent=f"{kind:13}  ",
                subsequent_indent=" " * 15,
                break_on_hyphens=False,
            )
            click.echo(text)
    if not names["problems"]:
        click.echo(f"\nThere are no problems and no methods here: {install_command(FAMILIES)} brings some.")
    click.echo("\n`benchfw list KIND` describes each of them, `benchfw show NAME` one in detail.")


def names_of(kind: str, registry: Registry) -> list[str]:
    """Return the names of one kind; nothing is imported for it."""
    if kind == "suites":
        return list(registry.suites)
    if kind == "backends":
        return list(registry.backends.names)
    if kind == "datasets":
        from benchfw import data

        return data.dataset_names()
    return list(registry.entries(kind.removesuffix("s")))


def rows_of(kind: str, registry: Registry) -> list[tuple[str, str, str, str]]:
    """Return (kind, name, plugin, summary) of everything of one kind."""
    if kind == "suites":
        return [("suite", name, "", _title(path)) for name, path in registry.suites.items()]
    if kind == "datasets":
        from benchfw import data

        known = data.registered_datasets()
        places = {name: entry.origin for name, entry in known.items()}
        places |= dict.fromkeys(data.local_datasets(), "here")
        plugins = {name: str(entry.plugin) for name, entry in registry.entries("dataset").items()}
        titles = {name: entry.title for name, entry in known.items()}
        return [
            ("dataset", name, plugins.get(name, ""), f"{titles.get(name) or 'a file of yours'} ({place})")
            for name, place in sorted(places.items())
        ]
    if kind == "backends":
        from benchfw.harness.environment import describe

        facts = {name: describe(name) for name in names_of(kind, registry)}
        return [
            ("backend", name, "", each.get("unavailable") or each["device"]) for name, each in facts.items()
        ]
    singular = kind.removesuffix("s")
    return [(singular, name, str(e.plugin), _summary(e)) for name, e in registry.entries(singular).items()]


def _summary(entry: Entry) -> str:
    from benchfw.errors import PluginError

    try:
        return entry.summary
    except PluginError as fault:
        return str(fault)


def _title(path: Path) -> str:
    import tomllib

    try:
        return str(tomllib.loads(path.read_text(encoding="utf-8")).get("title", ""))
    except (OSError, ValueError) as fault:
        return f"cannot be read: {fault}"
