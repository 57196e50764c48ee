"""`benchfw data list|path`"""

from __future__ import annotations

import click

from benchfw.cli.options import echo_json, echo_table, json_option


@click.group(name="data")
def command() -> None:
    """List data sets and say where they are.

    Data sets are files NAME.npz in the folders that BENCHFW_DATA lists.
    """


@command.command(name="list")
@json_option
def list_(as_json: bool) -> None:
    """List the data sets that are here."""
    from benchfw import data

    rows = [(name, path.stat().st_size, str(path)) for name, path in data.names().items()]
    if as_json:
        echo_json([{"name": name, "bytes": size, "path": path} for name, size, path in rows])
    elif rows:
        echo_table(((name, f"{size:,}", path) for name, size, path in rows), ("name", "bytes", "path"))
    else:
        click.echo(f"no data set is here; put NAME.npz files into a folder and name it in {data.VARIABLE}")


@command.command()
@click.argument("name")
def path(name: str) -> None:
    """Print the file of the data set NAME."""
    from benchfw import data

    click.echo(data.find(name))
