"""`benchfw completion SHELL`, and what the shell then offers for a word that is half written."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path

import click

SHELLS = ("bash", "zsh", "fish")


@click.command(name="completion")
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print the script that lets a shell complete verbs, options, suites, plugin names and runs.

    \b
    Examples:
      benchfw completion bash >> ~/.bashrc
      benchfw completion zsh >> ~/.zshrc
      benchfw completion fish > ~/.config/fish/completions/benchfw.fish
    """
    from click.shell_completion import get_completion_class

    from benchfw.cli import COMPLETE_VARIABLE, PROGRAM, cli

    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"this version of click cannot complete in {shell}")
    words = {
        "complete_func": f"_{PROGRAM}_completion",
        "complete_var": COMPLETE_VARIABLE,
        "prog_name": PROGRAM,
    }
    # not source(): it would ask the bash of this machine for its version
    click.echo(found(cli, {}, PROGRAM, COMPLETE_VARIABLE).source_template % words)


def complete_suites(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Return the suites by name, and the suite files of the present folder."""
    from benchfw.cli.verbs.list import names_of
    from benchfw.registry import Registry

    files = [str(path) for path in Path().glob("*.toml")]
    return _starting(incomplete, [*names_of("suites", Registry()), *files])


def complete_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Return every name that plugins register."""
    from benchfw.registry import KINDS, Registry

    registry = Registry()
    return _starting(incomplete, {name for kind in (*KINDS, "kernel") for name in registry.entries(kind)})


def complete_shown(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Return what can be shown: names, suites and backends."""
    from benchfw.registry import Registry

    return [
        *complete_names(ctx, param, incomplete),
        *complete_suites(ctx, param, incomplete),
        *_starting(incomplete, Registry().backends.names),
    ]


def complete_targets(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Return what can be checked: plugins, names, and Python files of the present folder."""
    from benchfw.registry import Registry

    plugins = [plugin.name for plugin in Registry().plugins]
    files = [str(path) for path in Path().glob("*.py")]
    return [*complete_names(ctx, param, incomplete), *_starting(incomplete, [*plugins, *files])]


def complete_kernels(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    from benchfw.registry import Registry

    return _starting(incomplete, Registry().entries("kernel"))


def complete_datasets(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Return the data sets of the catalog."""
    from benchfw.cli.verbs.list import names_of
    from benchfw.registry import Registry

    return _starting(incomplete, names_of("datasets", Registry()))


def complete_exporters(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Return the forms in which plugins export runs."""
    from benchfw.registry import Registry

    return _starting(incomplete, Registry().entries("exporter"))


def complete_runs(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Return the runs of the store, the latest first, and the word last."""
    from benchfw.errors import BenchfwError
    from benchfw.provenance import DEFAULT_STORE
    from benchfw.store import Store

    found = ["last"]
    with contextlib.suppress(BenchfwError), Store(Path(ctx.params.get("store") or DEFAULT_STORE)) as store:
        found += [str(run.id) for run in reversed(store.runs())]
    return _starting(incomplete, found)


def _starting(incomplete: str, words: Iterable[str]) -> list[str]:
    return [word for word in dict.fromkeys(words) if word.startswith(incomplete)]
