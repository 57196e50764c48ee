"""Jobs of SLURM as the workers of a Dask cluster, by dask-jobqueue.

What a job asks for is in Dask's configuration (`jobqueue.slurm`), which a site may have set up, or is given.
"""

from __future__ import annotations

import contextlib
import logging
import shlex
import shutil
import subprocess
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import dask
from distributed.utils import silence_logging_cmgr

from benchfw.errors import BenchfwError, nearest

SETTINGS = (
    "account", "cores", "death_timeout", "interface", "job_cpu", "job_directives_skip",
    "job_extra_directives", "job_mem", "job_script_prologue", "local_directory", "log_directory", "memory",
    "python", "queue", "shebang", "walltime", "worker_extra_args",
)  # fmt: skip
LISTS = frozenset({"job_directives_skip", "job_extra_directives", "job_script_prologue", "worker_extra_args"})
ALONE = ["--exclusive"]  # trials of others on the same machine would disturb the times
EXAMPLE = "8 cores=32 memory=120GB"


@dataclass(frozen=True)
class SlurmJobs:
    """How many jobs to submit, and what each asks for beyond Dask's configuration."""

    count: int
    settings: Mapping[str, Any] = field(default_factory=dict)

    def script(self, scheduler: str = "tcp://SCHEDULER:PORT", name: str = "benchfw-0") -> str:
        """Return the script of a job whose worker connects to a scheduler."""
        job = _load_jobqueue().slurm.SLURMJob
        try:
            script: str = job(scheduler=scheduler, name=name, **self._options()).job_script()
        except (ValueError, TypeError) as fault:
            said = str(fault).strip().partition("\n")[0]
            raise BenchfwError(f"SLURM can have no job of these settings ({said})") from None
        return script

    @contextlib.contextmanager
    def submit(self, note: Callable[[str], None]) -> Iterator[str]:
        """Submit the jobs, wait until all run, and yield the address of their scheduler; cancel them then.

        The number is fixed: a benchmark should use the same machines from its first trial to its last.
        """
        script = self.script()
        _check_with_slurm(script)
        options = self._options()
        start = partial(_load_jobqueue().SLURMCluster, scheduler_options=_scheduler_options())
        with silence_logging_cmgr(logging.CRITICAL), start(**options, silence_logs=False) as cluster:
            cluster.scale(jobs=self.count)
            place = options.get("log_directory") or "the working folder"
            note(f"waiting for {self.count} SLURM jobs, which `squeue` lists; they log to {place}")
            cluster.wait_for_workers(self.count)
            yield str(cluster.scheduler_address)

    def check_threads(self, threads: int) -> None:
        """Raise a BenchfwError if a job has fewer cores than a trial has threads: it would wait in vain."""
        cores = self._options()["cores"]
        if cores < threads:
            raise BenchfwError(
                f"a SLURM job has {cores} cores and a trial asks for {threads} threads; "
                "give it more cores or lower --threads"
            )

    def _options(self) -> dict[str, Any]:
        """Return what is given to dask-jobqueue: one Dask worker a job, which has all its cores."""
        _load_jobqueue()  # with it come its defaults
        configured = dask.config.get("jobqueue.slurm")
        found = {name: self.settings.get(name, configured.get(name.replace("_", "-"))) for name in SETTINGS}
        if found["cores"] is None or found["memory"] is None:
            raise BenchfwError(
                f"SLURM must know what a job asks for, as in '{EXAMPLE}'; or set jobqueue.slurm in the "
                "configuration of Dask"
            )
        if type(found["cores"]) is not int or found["cores"] < 1:
            raise BenchfwError(f"cores of a SLURM job must be a whole number from 1, got {found['cores']!r}")
        if not found["job_extra_directives"]:
            found["job_extra_directives"] = ALONE
        return {**found, "processes": 1, "job_name": "benchfw"}


def read_jobs(text: str) -> SlurmJobs:
    """Return the jobs that a text such as "8 cores=32 memory=120GB" asks for, with quotes as in a shell."""
    try:
        count, *settings = shlex.split(text)
        jobs = int(count)
    except ValueError:
        jobs = 0
    if jobs < 1:
        raise BenchfwError(
            f"SLURM takes a number of jobs and what each asks for, as in '{EXAMPLE}', got '{text}'"
        )
    return SlurmJobs(jobs, read_settings(settings))


def read_settings(given: Sequence[str]) -> dict[str, Any]:
    """Return settings from texts such as cores=32; a list is written as in TOML, or one setting an item."""
    settings: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals:
            raise BenchfwError(f"a setting of SLURM's jobs is KEY=VALUE, as in cores=32, got '{text}'")
        if name not in SETTINGS:
            raise BenchfwError(f"SLURM's jobs have no setting '{name}'{nearest(name, SETTINGS)}")
        found = _read_value(value.strip())
        if name in LISTS:
            items = found if isinstance(found, list) else [value.strip()]
            settings[name] = [*settings.get(name, []), *map(str, items)]
        else:
            settings[name] = found
    return settings


def _read_value(text: str) -> Any:
    """Return a whole number or a list as TOML has them; anything else, such as 08:00:00, is text."""
    try:
        found = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
    return found if type(found) in {int, list} else text.strip("\"'")


def _load_jobqueue() -> Any:
    try:
        import dask_jobqueue
        import dask_jobqueue.slurm
    except ImportError:
        raise BenchfwError("SLURM jobs need dask-jobqueue; pip install 'benchfw-cluster[slurm]'") from None
    return dask_jobqueue


def _scheduler_options() -> dict[str, Any]:
    return {
        "dashboard": False,
        "dashboard_address": ":0",
        **dask.config.get("jobqueue.slurm.scheduler-options"),
    }


def _check_with_slurm(script: str) -> None:
    """Raise a BenchfwError if SLURM would not take the job, or is not here."""
    if shutil.which("sbatch") is None:
        raise BenchfwError(
            "SLURM jobs need sbatch, which this machine does not have; run it on a login node of the "
            "cluster, or add --dry-run to see the job script"
        )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "job.sh")
        file.write_text(script, encoding="utf-8")
        words = ["sbatch", "--test-only", str(file)]
        done = subprocess.run(words, capture_output=True, encoding="utf-8", errors="replace", check=False)
    if done.returncode:
        said = (done.stderr.strip() or f"exit code {done.returncode}").splitlines()[-1]
        raise BenchfwError(f"SLURM refuses the job ({said}); --dry-run shows its script")
