"""The executors `dask` and `slurm`, as the core asks for them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Self

from benchfw.errors import BenchfwError
from benchfw.harness.cluster import Terms
from benchfw.harness.events import Executor
from benchfw.harness.options import Options
from benchfw.harness.workers.packing import pack_objects
from benchfw.provenance import Environment
from benchfw.records import Trial
from benchfw_cluster.executor import DaskExecutor
from benchfw_cluster.scheduler import Scheduler, connected
from benchfw_cluster.slurm import SlurmJobs, read_jobs
from benchfw_cluster.survey import survey_request, versions
from benchfw_cluster.worker import WorkerTerms, pack

LOCAL = "local"
Note = Callable[[str], None]


class Workers:
    """The workers of a scheduler, started here or elsewhere."""

    def __init__(self, connection: contextlib.AbstractContextManager[Scheduler], note: Note) -> None:
        self._connection, self._note = connection, note
        self._scheduler: Scheduler

    def __enter__(self) -> Self:
        self._scheduler = self._connection.__enter__()
        return self

    def __exit__(self, *fault: object) -> None:
        self._connection.__exit__(*fault)  # type: ignore[arg-type]

    @property
    def capacity(self) -> int:
        """How many trials run at once."""
        return self._scheduler.capacity

    def preview(self, trials: int) -> str:  # noqa: ARG002
        """Return nothing: a dry run asks the workers, too."""
        return ""

    def inspect(self, trials: Sequence[Trial], terms: Terms) -> Environment:
        """Return the environment of the workers; those unlike this client are refused."""
        request = survey_request(trials, terms.registry, terms.backends, terms.threads)
        return self._scheduler.inspect(request, versions(terms.registry, request))

    def start(self, terms: Terms) -> Executor:
        """Return what runs trials as tasks."""
        registry = terms.registry
        packed = WorkerTerms(
            pack(registry.sources),
            terms.threads,
            terms.timeout,
            terms.memory,
            terms.isolation,
            pack_objects(registry.objects),
        )
        return DaskExecutor(self._scheduler, packed, registry.note)


class DaskCluster(Workers):
    """A Dask cluster: tcp://HOST:PORT, a scheduler's file, or local, with --jobs workers here."""

    def __init__(self, address: str, options: Options, note: Note) -> None:
        if not address:
            raise BenchfwError("a Dask cluster is tcp://HOST:PORT, a scheduler's file or local; name one")
        if address != LOCAL and options.jobs != 1:
            raise BenchfwError(
                "--jobs is for this machine: the workers of a Dask cluster have threads, and run as many "
                "trials as these allow; leave it out"
            )
        super().__init__(connected(address, options.jobs, options.threads, note), note)


class SlurmCluster(Workers):
    """SLURM jobs, from a login node: how many, and what each asks for, as in "8 cores=32 memory=120GB"."""

    def __init__(self, text: str, options: Options, note: Note) -> None:
        if options.jobs != 1:
            raise BenchfwError(
                "--jobs is for this machine: a SLURM job runs as many trials as its cores allow; leave it out"
            )
        self._jobs = read_jobs(text)
        self._jobs.check_threads(options.threads)
        super().__init__(_submitted(self._jobs, options.threads, note), note)

    def preview(self, trials: int) -> str:
        """Return the script of a job, and note what would be done with it."""
        self._note(
            f"would submit {self._jobs.count} such jobs for {trials} trials; which of these the store has "
            "already depends on the processor, and is known only when a job runs"
        )
        return self._jobs.script().rstrip("\n")


@contextlib.contextmanager
def _submitted(jobs: SlurmJobs, threads: int, note: Note) -> Iterator[Scheduler]:
    with jobs.submit(note) as address, connected(address, 1, threads, note) as scheduler:
        yield scheduler
