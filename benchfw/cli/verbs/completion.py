"""`benchfw completion SHELL`"""

from __future__ import annotations

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
