"""Which executor runs the trials of a run: processes here, that of a cluster, or this process."""

from __future__ import annotations

from collections.abc import Iterable

from benchfw.harness.agenda import Agenda
from benchfw.harness.cluster import Terms
from benchfw.harness.environment import find_devices, total_memory
from benchfw.harness.events import Executor
from benchfw.harness.options import Options
from benchfw.harness.workers.executor import LocalExecutor
from benchfw.harness.workers.inline import InlineExecutor
from benchfw.harness.workers.packing import pack_objects
from benchfw.registry import Registry


def count_at_once(options: Options) -> int:
    """Return how many trials run at a time."""
    return max(1, options.jobs) if options.cluster is None else options.cluster.capacity


def make_executor(agenda: Agenda, registry: Registry, options: Options, *, again: bool = False) -> Executor:
    """Return what runs the trials of an agenda; `again` is for a replay, which keeps no files."""
    keep_in = "" if again else options.keep_in
    if options.jobs == 0:
        return InlineExecutor(registry, threads=options.threads, keep_in=keep_in)
    terms = options.terms_of(agenda.suite, registry)
    if options.cluster is not None:
        return options.cluster.start(terms)
    backends = dict.fromkeys(first.backend for first in agenda.trials.firsts)
    return start_workers(terms, options.jobs, backends, other_hashes=again, keep_in=keep_in)


def start_workers(
    terms: Terms,
    jobs: int,
    backends: Iterable[str] | None = None,
    *,
    other_hashes: bool = False,
    keep_in: str = "",
) -> LocalExecutor:
    """Return worker processes on this machine, with its devices for trials on these backends, or on all."""
    registry = terms.registry
    return LocalExecutor(
        registry.sources,
        jobs=jobs,
        threads=terms.threads,
        timeout=terms.timeout,
        memory=total_memory() // jobs if terms.memory is None else terms.memory,
        devices=find_devices(terms.backends if backends is None else backends),
        device_memory=terms.memory,
        isolation=terms.isolation,
        note=registry.note,
        other_hashes=other_hashes,
        installed=registry.installed,
        objects=pack_objects(registry.objects),
        keep_in=keep_in,
    )
