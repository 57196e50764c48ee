"""`benchfw list [KIND]`"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from benchfw.cli.options import echo_json, echo_table, json_option, plugin_option, printable

if TYPE_CHECKING:
    from benchfw.registry import Registry

KINDS = ("suites", "problems", "estimators", "optimizers", "distributions", "kernels", "datasets", "backends")


@click.command(name="list")
@click.argument("kind", required=False, metavar="[KIND]")
@plugin_option
@json_option
def command(kind: str | None, plugins: tuple[str, ...], as_json: bool) -> None:
    """List what can be named in a suite.

    KIND is one of suites, problems, estimators, optimizers, distributions, kernels, datasets, backends;
    without it, all of them.

    \b
    Examples:
      benchfw list
      benchfw list optimizers --json
    """
    from benchfw.errors import BenchfwError, nearest
    from benchfw.registry import Registry

    if kind is not None and kind not in KINDS and f"{kind}s" not in KINDS:
        raise BenchfwError(f"nothing is called '{kind}'{nearest(kind, KINDS)}")
    wanted = KINDS if kind is None else (kind if kind in KINDS else f"{kind}s",)
    registry = Registry(plugins)
    rows = [row for each in wanted for row in rows_of(each, registry)]
    if as_json:
        echo_json([dict(zip(("kind", "name", "plugin", "summary"), row, strict=True)) for row in rows])
    else:
        echo_table(rows, ("kind", "name", "plugin", "what it is"))
    for fault in registry.broken:
        click.echo(f"benchfw: not loaded: {printable(fault)}", err=True)


def rows_of(kind: str, registry: Registry) -> list[tuple[str, str, str, str]]:
    """Return (kind, name, plugin, summary) of everything of one kind."""
    if kind == "suites":
        return _suites(registry)
    if kind == "backends":
        from benchfw.backends import backend_names

        return [("backend", name, "", "") for name in backend_names()]
    if kind == "datasets":
        from benchfw import data

        return [("dataset", name, "", str(path)) for name, path in data.names().items()]
    singular = kind.removesuffix("s")
    return [(singular, name, str(e.plugin), e.summary) for name, e in registry.entries(singular).items()]


def _suites(registry: Registry) -> list[tuple[str, str, str, str]]:
    import tomllib

    from benchfw.plan import suite_folders

    found: dict[str, str] = {}
    for folder in suite_folders(registry):
        for path in sorted(folder.rglob("*.toml")):
            try:
                title = str(tomllib.loads(path.read_text(encoding="utf-8")).get("title", ""))
            except (OSError, ValueError) as fault:
                title = f"cannot be read: {fault}"
            found.setdefault(path.relative_to(folder).with_suffix("").as_posix(), title)
    return [("suite", name, "", title) for name, title in found.items()]
