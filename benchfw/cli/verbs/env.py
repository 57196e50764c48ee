"""`benchfw env`"""

from __future__ import annotations

import click

from benchfw.cli.options import echo_facts, echo_json, json_option

SHOWN = ("machine", "python", "packages", "threads", "backends", "project")
"""What is known of a machine before anything runs."""


@click.command(name="env")
@json_option
def command(as_json: bool) -> None:
    """Show this machine, its backends and the versions that a report would name.

    `lacks` says what this operating system cannot do for a run, as compared with Linux.

    \b
    Examples:
      benchfw env
      benchfw env --json
    """
    from benchfw.backends.threads import default_threads
    from benchfw.harness.environment import gather
    from benchfw.registry import active_registry
    from benchfw.system import LACKS

    found = gather(active_registry().backends.names, default_threads()).to_json()
    facts = {name: found[name] for name in SHOWN if found[name]}
    if as_json:
        echo_json({**facts, "lacks": list(LACKS)} if LACKS else facts)
    else:
        echo_facts({**facts, "lacks": "; ".join(LACKS)})
