"""Pages about many runs: the findings, a gallery, a static site with leaderboards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchfw import hookimpl

benchfw_api = 1


@hookimpl
def register_commands(register: Callable[[Any], None]) -> None:
    """Add the verbs."""
    from benchfw_site.verbs import findings, publish

    register(publish.command)
    register(findings.command)
