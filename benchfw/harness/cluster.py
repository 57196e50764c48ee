"""What runs trials elsewhere: the contract of the hook `register_executors`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from benchfw.harness.events import Executor
from benchfw.provenance import Environment
from benchfw.records import Isolation, Trial
from benchfw.registry import Registry


@dataclass(frozen=True)
class Terms:
    """How every trial of a run is to be run; `memory` is in bytes, None as much as there is for one."""

    registry: Registry
    backends: tuple[str, ...]
    threads: int
    timeout: float | None
    memory: int | None
    isolation: Isolation


class Cluster(Protocol):
    """Machines that run trials in place of this one; what a factory of `register_executors` returns.

    The factory is called with the text behind its name in `--executor NAME:TEXT`, the options of the run, and
    a function that shows the user a line; it connects to nothing. `with cluster:` does, and ends what was
    started. What is wrong is raised as a BenchfwError of one sentence.
    """

    @property
    def capacity(self) -> int:
        """How many trials run at once, known once the machines were inspected."""
        ...

    def __enter__(self) -> object: ...

    def __exit__(self, *fault: object) -> None: ...

    def preview(self, trials: int) -> str:
        """Return what a dry run shows instead of connecting, such as the script of a job; "" to connect."""
        ...

    def inspect(self, trials: Sequence[Trial], terms: Terms) -> Environment:
        """Return the environment that trials like these will find, for their keys and the report.

        Machines that would give other records than this one, for want of a package, say, are an error.
        """
        ...

    def start(self, terms: Terms) -> Executor:
        """Return what runs the trials of a run; a run that tunes may start several, one after the other."""
        ...
