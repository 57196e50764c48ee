"""`benchfw data list|fetch|verify|path|show|import`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchfw.cli.options import echo_facts, echo_json, echo_table, json_option, plugin_option
from benchfw.cli.verbs.completion import complete_datasets
from benchfw.report.text import printable

if TYPE_CHECKING:
    from benchfw.data import Dataset


@click.group(name="data")
def command() -> None:
    """List, fetch and verify data sets.

    A data set is looked for in the folders that BENCHFW_DATA lists, then in the cache (BENCHFW_CACHE, or the
    platform's own folder), then at its official address.

    \b
    Examples:
      benchfw data list
      benchfw data fetch sonar mnist
      benchfw data import szeged-weather weatherHistory.csv
    """


@command.command(name="list")
@plugin_option
@json_option
def list_(plugins: tuple[str, ...], as_json: bool) -> None:
    """List all data sets: what is here, what can be fetched, what must be placed by hand.

    \b
    Examples:
      benchfw data list
      benchfw data list --json
    """
    from benchfw import data

    _activate(plugins)
    here = data.local_datasets()
    entries = data.registered_datasets()
    rows: list[dict[str, Any]] = []
    for name in sorted({*entries, *here}):
        entry = entries.get(name)
        path = here.get(name)
        rows.append(
            {
                "name": name,
                "state": "here" if path else entry.origin if entry else "here",
                "bytes": _file_bytes(path) if path else entry.bytes if entry else 0,
                "licence": entry.licence if entry else "in no catalog",
                "path": str(path) if path else None,
                "address": (entry.addresses or None) if entry else None,
            }
        )
    if as_json:
        echo_json(rows)
        return
    table = ((row["name"], row["state"], _format_bytes(row["bytes"]), row["licence"]) for row in rows)
    echo_table(table, ("name", "state", "size", "licence"))
    click.echo(f"\n{len(here)} of {len(rows)} are here; benchfw data show NAME describes one.")
    sources = ", ".join(f"{each}NAME" for each in data.source_names())
    if sources:
        click.echo(f"Others are fetched by the name of their host: {sources}.")


@command.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME…", shell_complete=complete_datasets)
@click.option("--again", is_flag=True, help="Download again what is already here.")
@plugin_option
def fetch(names: tuple[str, ...], again: bool, plugins: tuple[str, ...]) -> None:
    """Download NAMEs, verify and parse them, and keep them in the cache.

    \b
    Examples:
      benchfw data fetch sonar mnist
    """
    from benchfw import data
    from benchfw.api.progress import DownloadBar

    _activate(plugins)
    for name in names:
        data.get_dataset(name)  # a wrong name before any download
    for name in names:
        with DownloadBar() as bar:
            path = data.fetch(name, progress=bar.show, again=again)
        _report(name, path)


@command.command()
@click.argument("names", nargs=-1, metavar="[NAME…]", shell_complete=complete_datasets)
@plugin_option
@json_option
def verify(names: tuple[str, ...], plugins: tuple[str, ...], as_json: bool) -> None:
    """Check the shapes, types and content of NAMEs, or of all data sets here; exit code 1 if one is wrong.

    \b
    Examples:
      benchfw data verify
      benchfw data verify sonar --json
    """
    from benchfw import data
    from benchfw.errors import DataError

    _activate(plugins)
    rows = []
    here = data.local_datasets()
    for name in names or here:
        try:
            found = data.verify(name)
            rows.append((name, found.fault or "right", found.checked, str(found.path)))
        except DataError as fault:
            if names:
                raise
            rows.append((name, str(fault), "nothing", str(here[name])))
    if as_json:
        echo_json([dict(zip(("name", "verdict", "checked", "path"), row, strict=True)) for row in rows])
    elif rows:
        echo_table(rows, ("name", "verdict", "checked", "path"))
    else:
        click.echo(f"no data set is here; name a folder in {data.FOLDERS_VARIABLE} or use benchfw data fetch")
    if any(row[1] != "right" for row in rows):
        raise click.exceptions.Exit(1)


@command.command()
@click.argument("name")
@plugin_option
def path(name: str, plugins: tuple[str, ...]) -> None:
    """Print the file of the data set NAME.

    \b
    Examples:
      benchfw data path sonar
    """
    from benchfw import data

    _activate(plugins)
    click.echo(data.find_path(name))


@command.command()
@click.argument("name")
@plugin_option
@json_option
def show(name: str, plugins: tuple[str, ...], as_json: bool) -> None:
    """Show what NAME is: citation, licence, arrays; and of what is here, summary statistics.

    \b
    Examples:
      benchfw data show sonar
    """
    from benchfw import data

    _activate(plugins)
    place = data.locate(name)
    facts: dict[str, Any] = {"name": name}
    if place is None or data.find_dataset(name) is not None:
        facts |= _describe(data.get_dataset(name))
    if place is not None:
        arrays = data.load(name)
        facts["here"] = {
            "path": str(place),
            "content hash": data.fingerprint(name),
            "checked": data.verify(name).checked,
            "arrays": {key: data.summarize_array(values) for key, values in arrays.items()},
        }
    if as_json:
        echo_json(facts)
        return
    if place is not None:
        summaries = facts["here"]["arrays"]
        facts["here"]["arrays"] = {key: _describe_array(each) for key, each in summaries.items()}
    echo_facts({key: value for key, value in facts.items() if value})


@command.command(name="import")
@click.argument("name")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE…")
@plugin_option
def import_(name: str, files: tuple[Path, ...], plugins: tuple[str, ...]) -> None:
    """Verify FILEs that you downloaded (NAME.npz, or its raw files) and put them into the cache as NAME.

    \b
    Examples:
      benchfw data import szeged-weather weatherHistory.csv
    """
    from benchfw import data

    _activate(plugins)
    _report(name, data.import_files(name, files))


def _report(name: str, path: Path) -> None:
    """Say where a data set is and what was checked; exit 1 if it is not right."""
    from benchfw import data

    found = data.verify(name)
    click.echo(printable(f"{name}: {path} ({found.fault or found.checked})"))
    if found.path != path:
        click.echo(f"benchfw: {found.path} takes precedence; remove it, or use another folder", err=True)
    if found.fault:
        raise click.exceptions.Exit(1)


def _activate(plugins: tuple[str, ...]) -> None:
    """Make the data sets of the plugins known until the command ends."""
    from benchfw.registry import Registry

    registry = Registry(plugins)
    for fault in registry.broken:
        click.echo(f"benchfw: not loaded: {printable(fault)}", err=True)
    click.get_current_context().with_resource(registry.activate())


def _describe(entry: Dataset) -> dict[str, Any]:
    return {
        "title": entry.title,
        "citation": entry.citation,
        "licence": entry.licence + ("" if entry.redistributable else " (do not redistribute)"),
        "state": entry.origin,
        "arrays": {
            key: f"{spec}{' (in some copies)' if spec.optional else ''}" for key, spec in entry.arrays.items()
        },
        "address": entry.addresses,
        "sha256": {each.name: each.sha256 for each in entry.files if each.sha256},
        "known contents": dict(entry.contents),
        "by hand": entry.by_hand,
        "notes": entry.notes,
        "synthetic stand-in": entry.twin,
    }


def _describe_array(facts: dict[str, Any]) -> str:
    shape = ", ".join(f"{length:,}" for length in facts["shape"])
    text = f"({shape}) {facts['dtype']}"
    if "mean" in facts:
        text += f", from {facts['min']:.4g} to {facts['max']:.4g}, mean {facts['mean']:.4g}"
    return text + (f" ({facts['of']})" if "of" in facts else "")


def _file_bytes(path: Path) -> int:
    return sum(each.stat().st_size for each in (path.glob("*.npy") if path.is_dir() else [path]))


def _format_bytes(size: int) -> str:
    for unit, scale in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= scale:
            return f"{size / scale:.3g} {unit}"
    return f"{size} B" if size else "-"
