"""What runs inside a Dask worker: it drives worker processes of benchfw, kept from trial to trial.

So a trial has the same walls around it as on one machine: a time limit, a memory limit, a status and the
records so far when its process dies.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any

from distributed import Worker, WorkerPlugin, get_worker

from benchfw.backends import Device
from benchfw.errors import BenchfwError
from benchfw.harness.environment import total_memory
from benchfw.harness.events import Finished
from benchfw.harness.workers.executor import LocalExecutor
from benchfw.records import Isolation, Trial
from benchfw.sources import Modules
from benchfw_cluster.survey import MachineSurvey, SurveyRequest, survey_apart

IDLE_SECONDS = 30.0  # after which processes without a trial end: the client may have died without a word


@dataclass(frozen=True)
class PackedPlugins:
    """The plugins of a run; one that is a file is its name and the content of every file it needs."""

    parts: tuple[str | tuple[str, Mapping[str, bytes]], ...]

    def unpack(self, folder: Path) -> tuple[str, ...]:
        """Write the files below a folder; return the plugins as a registry takes them."""
        return tuple(
            part if isinstance(part, str) else _write(folder / str(number), *part)
            for number, part in enumerate(self.parts)
        )


def pack(sources: Iterable[str]) -> PackedPlugins:
    """Return plugins, given as a registry takes them, ready to travel."""
    return PackedPlugins(
        tuple(_read(Path(each).resolve()) if Path(each).is_file() else each for each in sources)
    )


def _read(path: Path) -> tuple[str, Mapping[str, bytes]]:
    files = with_helpers(path)
    return path.name, {each.relative_to(path.parent).as_posix(): each.read_bytes() for each in files}


def with_helpers(path: Path) -> list[Path]:
    """Return a plugin's file and, of what it imports in turn, the modules and whole packages beside it."""
    folder = path.parent
    found = [Path(each) for each in Modules([folder]).closure([path]).files]
    beside = [each.relative_to(folder) for each in found if each.is_relative_to(folder)]
    packages = {each.parts[0] for each in beside if len(each.parts) > 1}
    inside = [each for name in packages for each in (folder / name).rglob("*") if each.is_file()]
    modules = [folder / each for each in beside if len(each.parts) == 1]
    return sorted([*modules, *(each for each in inside if "__pycache__" not in each.parts)])


def _write(folder: Path, name: str, files: Mapping[str, bytes]) -> str:
    for each, content in files.items():
        path = folder / each
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return str(folder / name)


@dataclass(frozen=True)
class WorkerTerms:
    """How every trial of a run is to be run."""

    plugins: PackedPlugins
    threads: int
    timeout: float | None
    memory: int | None
    isolation: Isolation = "trial"
    objects: bytes = b""


def run_here(name: str, trials: Sequence[Trial], device: Device | None) -> list[Finished]:
    """Run trials, one after the other, on the Dask worker that this task is on."""
    pool: WorkerPool = get_worker().plugins[name]
    return pool.run(trials, device)


def survey_here(plugins: PackedPlugins, request: SurveyRequest) -> MachineSurvey:
    """Return the survey of the machine of the Dask worker that this task is on, and its share of it."""
    worker = get_worker()
    with tempfile.TemporaryDirectory(prefix="benchfw-") as folder:
        found = survey_apart(replace(request, sources=plugins.unpack(Path(folder))))
    resources = worker.state.total_resources
    return replace(found, threads=worker.state.nthreads, gpus=int(resources.get("GPU", 0)))


class WorkerPool(WorkerPlugin):  # type: ignore[misc]
    """The worker processes of one run on one Dask worker."""

    def __init__(self, terms: WorkerTerms) -> None:
        self._terms = terms

    def setup(self, worker: Worker) -> None:
        """Start with no process."""
        self._worker = worker
        self._folder = tempfile.mkdtemp(prefix="benchfw-")
        self._sources = self._terms.plugins.unpack(Path(self._folder))
        self._idle: dict[Device | None, list[LocalExecutor]] = defaultdict(list)
        self._busy: dict[str, LocalExecutor] = {}
        self._closed = False
        self._used = monotonic()
        self._watch = asyncio.create_task(self._end_idle())

    def run(self, trials: Sequence[Trial], device: Device | None) -> list[Finished]:
        """Run trials in a process that has run some before, if there is one; called in a task's thread."""
        try:  # another thread may take the last one
            executor = self._idle[device].pop()
        except IndexError:
            executor = self._new(device)
        key = get_worker().get_current_task()
        self._busy[key] = executor
        try:
            if self._closed:  # between the look at `idle` and here
                executor.interrupt()
            ended = [event for event in executor.run(trials) if isinstance(event, Finished)]
        except BaseException:
            executor.close()
            raise
        finally:
            del self._busy[key]
            self._used = monotonic()
        if len(ended) < len(trials):
            executor.close()
            raise BenchfwError("cancelled: no client is waiting for it")
        self._idle[device].append(executor)
        if self._closed:
            self._close_idle()
        return ended

    def transition(self, key: str, start: str, finish: str, **_: Any) -> None:
        """Stop a trial that runs but is wanted no more: its client has cancelled it, or has died."""
        executor = self._busy.get(key)
        if executor is not None and start == "executing" and finish == "released":
            executor.interrupt()

    def teardown(self, worker: Worker) -> None:  # noqa: ARG002
        """Stop all processes."""
        self._closed = True
        self._watch.cancel()
        for executor in list(self._busy.values()):
            executor.interrupt()
        self._close_idle()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _new(self, device: Device | None) -> LocalExecutor:
        terms, worker = self._terms, self._worker
        share = worker.state.nthreads // terms.threads
        limit = worker.memory_manager.memory_limit or total_memory()
        return LocalExecutor(
            self._sources,
            threads=terms.threads,
            timeout=terms.timeout,
            memory=limit // share if terms.memory is None else terms.memory,
            devices=(device,) if device else (),
            isolation=terms.isolation,
            needs_device=lambda _: device is not None,  # the client knows, and sends such trials alone
            objects=terms.objects,
        )

    def _close_idle(self) -> None:
        for executors in list(self._idle.values()):
            while executors:
                executors.pop().close()

    async def _end_idle(self) -> None:
        while True:
            await asyncio.sleep(IDLE_SECONDS)
            if not self._busy and monotonic() - self._used > IDLE_SECONDS:
                self._close_idle()
