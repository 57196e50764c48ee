"""The command line: one file a verb, imported only when that verb is called."""

from __future__ import annotations

import errno
import importlib
import io
import os
import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from benchfw.registry import Registry

PROGRAM = "benchfw"
COMPLETE_VARIABLE = "_BENCHFW_COMPLETE"  # in which a shell asks for completions

FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO})  # what a file system says that takes no more
VERBS = {
    "run": "Run suites: every method on every problem, then a report.",
    "list": "List suites, problems, estimators, optimizers, distributions, kernels.",
    "show": "Describe a name: what it is, its parameters, where it comes from.",
    "runs": "List the runs in the store.",
    "report": "Print the summary of a run and write its page again.",
    "compare": "Compare two runs: what got better, what got worse, what is noise.",
    "export": "Write a run as a table, for another tool, or packed for another machine.",
    "import": "Import results that another program measured, as a run.",
    "replay": "Run one stored trial again, here, and compare its records.",
    "time": "Time kernels at every size and backend, against what the hardware can do.",
    "store": "Look for damage in a store, and save what can be read.",
    "new": "Write a plugin to start from: one file, or a whole package.",
    "check": "Check a plugin: what is wrong with it, and how to fix it.",
    "data": "List, fetch and verify data sets.",
    "completion": "Print the completion script for bash, zsh or fish.",
    "env": "Show this machine, its backends and relevant versions.",
}


class Verbs(click.Group):
    """A group whose commands are imported when they are called, not when help is printed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs in the order of use, then those that plugins add."""
        return [*VERBS, *_plugin_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a verb's command; one that plugins add is looked for last."""
        if cmd_name in VERBS:
            command: click.Command = importlib.import_module(f"benchfw.cli.verbs.{cmd_name}").command
            return command
        return _plugin_commands(ctx).get(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Explain an unknown verb with the package that has it, or with the nearest one."""
        if self.get_command(ctx, args[0]) is None:
            from benchfw.errors import BenchfwError, nearest
            from benchfw.packages import advise_install

            advice = advise_install("verb", args[0])
            if advice:
                raise BenchfwError(f"no verb '{args[0]}' here; {advice}")
            broken = _registry(ctx).broken
            reasons = f" (not loaded: {'; '.join(broken)})" if broken else ""
            ctx.fail(f"no verb '{args[0]}'{nearest(args[0], self.list_commands(ctx))}{reasons}")
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the verbs that a word may become, or the options; none of ours is imported for it."""
        from click.shell_completion import CompletionItem

        known = VERBS if any(verb.startswith(incomplete) for verb in VERBS) else _describe_added(ctx)
        found = [
            CompletionItem(verb, help=text) for verb, text in known.items() if verb.startswith(incomplete)
        ]
        return found or click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the verbs with one line each, without importing ours; then those that plugins add."""
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))
        added = _describe_added(ctx)
        if added:
            with formatter.section("Verbs of plugins"):
                formatter.write_dl(list(added.items()))


def _registry(ctx: click.Context) -> Registry:
    """Return what the installed plugins register, read once a call."""
    if PROGRAM not in ctx.meta:
        from benchfw.registry import Registry

        ctx.meta[PROGRAM] = Registry()
    registry: Registry = ctx.meta[PROGRAM]
    return registry


def _plugin_commands(ctx: click.Context) -> dict[str, click.Command]:
    """Return the verbs of the installed plugins by name, but for those that have a name of ours."""
    added = [each for each in _registry(ctx).commands if isinstance(each, click.Command)]
    return {str(each.name): each for each in added if each.name not in VERBS}


def _describe_added(ctx: click.Context) -> dict[str, str]:
    """Return the verbs of the installed plugins with a line each."""
    return {name: each.get_short_help_str(100) for name, each in _plugin_commands(ctx).items()}


def _version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from benchfw import __version__

        click.echo(f"benchfw {__version__}")
        ctx.exit()


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Print the version."
)
def cli() -> None:
    """Honest benchmarks of randomized methods.

    A suite names problems and methods; benchfw runs every method on every problem with paired seeds and
    says, with intervals, which has less variance, which is faster, which converges.

    \b
    Start with:
      benchfw run quickstart          run the first suite and write its report
      benchfw list optimizers         what can be compared
      benchfw run my.toml --dry-run   what a suite of your own would do

    Exit codes: 0 done; 1 some trial failed, nothing was measured, a comparison found a regression, or a
    required claim is not shown to hold; 2 bad input; 130 interrupted, finished trials kept.
    """


def main() -> None:
    """Run the command line; a fault of the user's is one line without a traceback."""
    from benchfw.errors import BenchfwError
    from benchfw.report.text import printable

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not stream.isatty():
            stream.reconfigure(encoding="utf-8", errors=stream.errors)  # in a file or pipe on Windows too
    try:
        code = cli.main(prog_name=PROGRAM, complete_var=COMPLETE_VARIABLE, standalone_mode=False)
    except click.ClickException as fault:
        text = io.StringIO()
        fault.show(text)
        click.echo("\n".join(map(printable, text.getvalue().split("\n"))), err=True, nl=False)
        code = fault.exit_code
    except BenchfwError as fault:
        click.echo("benchfw: " + "\n".join(map(printable, str(fault).split("\n"))), err=True)
        code = 2
    except OSError as fault:
        if fault.errno == errno.ENAMETOOLONG:
            said = f"invalid file name {printable(str(fault.filename))[:60]}…"
        elif fault.errno in FULL:
            said = f"{printable(fault.filename or 'standard output')} cannot be written ({fault.strerror})"
        else:
            raise
        click.echo(f"benchfw: {said}", err=True)
        code = 2
    except (KeyboardInterrupt, click.Abort):
        import signal

        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second one would end this line with a traceback
        click.echo("benchfw: interrupted", err=True)
        code = 130
    code = code if isinstance(code, int) else 0
    try:
        sys.stdout.flush()
    except OSError:  # what could not be written is dropped, or Python tries once more and ends with 120
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = code or 2
    sys.exit(code)
