"""`benchfw run --slurm`: reads its options, prints the script of a job, or submits the jobs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import click

from benchfw.api.planning import Planned
from benchfw.errors import BenchfwError
from benchfw.harness.options import Options
from benchfw.report.text import plural

if TYPE_CHECKING:
    from benchfw.harness.dask.slurm import SlurmJobs


def read_jobs(
    count: int | None, settings: Sequence[str], dask: str | None, options: Options
) -> SlurmJobs | None:
    """Return the jobs that are asked for, if any are."""
    if count is None:
        if settings:
            raise BenchfwError("--slurm-set needs --slurm; add --slurm JOBS, the number of jobs to submit")
        return None
    if dask is not None:
        raise BenchfwError("--slurm starts a Dask cluster, --dask names one; leave one of them out")
    if options.jobs != 1:
        raise BenchfwError(
            "--jobs is for this machine: a SLURM job runs as many trials as its cores allow; leave it out"
        )
    from benchfw.harness.dask.slurm import SlurmJobs, read_settings

    jobs = SlurmJobs(count, read_settings(settings))
    jobs.check_threads(options.threads)
    return jobs


def print_script(jobs: SlurmJobs, planned: Sequence[Planned]) -> None:
    """Print the script of a job, and on standard error what would be done with it."""
    click.echo(jobs.script().rstrip("\n"))
    trials = sum(len(each.trials) for each in planned)
    click.echo(
        f"benchfw: would submit {plural(jobs.count, 'such job')} for {plural(trials, 'trial')}; which of "
        "these the store already has depends on the processor, and is known only when a job runs",
        err=True,
    )


@contextlib.contextmanager
def slurm_address(
    jobs: SlurmJobs | None, dask: str | None, note: Callable[[str], None]
) -> Iterator[str | None]:
    """Yield the address of a scheduler: of the jobs, which run by then, or the one that is named."""
    if jobs is None:
        yield dask
        return
    with jobs.submit(note) as address:
        yield address
