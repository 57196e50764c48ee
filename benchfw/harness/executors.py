"""Which executor runs the trials of a run: processes here, that of a cluster, or this process."""

from __future__ import annotations

from benchfw.harness.agenda import Agenda
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
    if options.jobs == 0:
        return InlineExecutor(registry, threads=options.threads, keep_in="" if again else options.keep_in)
    if options.cluster is not None:
        return options.cluster.start(options.terms_of(agenda.suite, registry))
    memory = options.memory if options.memory is not None else total_memory() // options.jobs
    return LocalExecutor(
        registry.sources,
        jobs=options.jobs,
        threads=options.threads,
        timeout=options.timeout_of(agenda.suite.budget),
        memory=memory,
        devices=find_devices(dict.fromkeys(first.backend for first in agenda.trials.firsts)),
        device_memory=options.memory,
        isolation=agenda.environment.isolation,
        note=registry.note,
        other_hashes=again,
        installed=registry.installed,
        objects=pack_objects(registry.objects),
        keep_in="" if again else options.keep_in,
    )
