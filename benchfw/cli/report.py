"""`benchfw report [RUN]`"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from benchfw.cli.options import plugin_option, store_option


@click.command(name="report")
@click.argument("run", default="last")
@plugin_option
@store_option
def command(run: str, plugins: tuple[str, ...], store: Path) -> None:
    """Print the summary of RUN (an id from `benchfw runs`, or last) and write its page again."""
    from benchfw.api import can_write_pages, report_run
    from benchfw.cli.execution import tell_broken
    from benchfw.registry import Registry
    from benchfw.report.terminal import print_summary
    from benchfw.store import Store

    with Store(store) as opened:
        page = can_write_pages()
        chosen = opened.run(run)
        # the figures of the run's own plugins, as far as they are still here
        own = [source for source in chosen.environment.get("plugins", ()) if Path(source).is_file()]
        registry = Registry([*own, *plugins])
        reported, summary = report_run(opened, chosen, registry, page=page)
    tell_broken(registry.broken)
    print_summary(summary, sys.stdout)
    if reported.report:
        click.echo(f"report: {reported.report}")
    else:
        click.echo("benchfw: no page without jinja2 and plotly; pip install 'benchfw[report]'", err=True)
