"""A Dask cluster as a run sees it: its workers, whether they are like the client, what they can take."""

from __future__ import annotations

import contextlib
import json
import logging
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import dask
from distributed import Client, Future, LocalCluster, Security
from distributed.utils import silence_logging_cmgr

from benchfw.backends import Device, is_on_device
from benchfw.errors import BenchfwError
from benchfw.harness.environment import project
from benchfw.provenance import Environment
from benchfw_cluster.survey import MachineSurvey, SurveyRequest
from benchfw_cluster.worker import pack, survey_here

FIRST_WORKER_SECONDS = 60  # that the first worker of a cluster may take to come
SCHEDULER_FILE_SECONDS = 60  # that a scheduler which was just started may take to write its file
POLL_SECONDS = 1.0  # between looks at which workers there are
IGNORE_INTERRUPT = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"
"""Ctrl-C reaches every process of a terminal: it is the client that ends the workers of a local cluster."""


@dataclass
class WorkerSlot:
    """A worker that trials may go to: how many it can take at once, and the GPUs among that."""

    address: str
    capacity: int
    devices: list[Device]


class Scheduler:
    """A connection to a scheduler; what its workers were asked last, and what they must answer."""

    def __init__(self, client: Client, address: str) -> None:
        self.client = client
        self.address = address
        self.worker_slots: dict[str, WorkerSlot] = {}
        self._request = SurveyRequest((), (), (), 1, ())
        self._versions: Mapping[str, str] = {}
        self._backends: Mapping[str, Mapping[str, str]] = {}

    def inspect(self, request: SurveyRequest, versions: Mapping[str, str]) -> Environment:
        """Compare every worker with the client's versions; return the environment of the workers.

        A BenchfwError names every worker and every thing in which it differs.
        """
        self._request, self._versions = request, versions
        self._await_workers()
        surveys = self._surveys()
        self._backends = {name: _describe_backend(name, surveys.values()) for name in request.backends}
        _refuse({address: self.faults(found) for address, found in surveys.items()})
        self.worker_slots = {address: self.slot_of(address, found) for address, found in surveys.items()}
        environment = next(iter(surveys.values())).environment
        shares = self._shares(surveys.values())
        return replace(environment, backends=self._backends, project=project(), cluster=shares)

    def ask(self, address: str) -> Future:
        """Ask one worker for its survey."""
        plugins = pack(self._request.sources)
        return self.client.submit(survey_here, plugins, self._request, workers=[address], pure=False)

    def faults(self, found: MachineSurvey) -> list[str]:
        """Return every reason why no trial may run where this survey was made."""
        faults = [
            f"{name} is {found.versions.get(name, 'absent')} there and {version} here"
            for name, version in sorted(self._versions.items())
            if found.versions.get(name) != version
        ]
        for name, description in self._backends.items():
            its = found.environment.backends[name]
            if _offers(name, found) and its != description:
                faults.append(f"{name} is {_words(its)} there and {_words(description)} on another worker")
        if found.threads < self._request.threads:
            faults.append(
                f"it has {found.threads} threads and a trial asks for {self._request.threads}; "
                "give it more or lower --threads"
            )
        return faults

    def slot_of(self, address: str, found: MachineSurvey) -> WorkerSlot:
        """Return what a worker can take."""
        devices = list(found.devices[: found.gpus])
        return WorkerSlot(address, found.threads // self._request.threads, devices)

    def _await_workers(self) -> None:
        try:
            self.client.wait_for_workers(1, timeout=FIRST_WORKER_SECONDS)
        except TimeoutError:
            raise BenchfwError(f"the Dask cluster at {self.address} has no workers; start some") from None
        # before anything of benchfw is sent to where it may be absent
        for package in ("benchfw", "benchfw-cluster"):
            found, here = self.client.run(version, package, on_error="return"), version(package)
            unlike = {address: its for address, its in found.items() if its != here}
            told = {address: its if isinstance(its, str) else "absent" for address, its in unlike.items()}
            _refuse({address: [f"{package} is {its} there and {here} here"] for address, its in told.items()})

    def _surveys(self) -> dict[str, MachineSurvey]:
        """Return the survey of every worker that stays."""
        asked = {address: self.ask(address) for address in self.client.nthreads()}
        found = {address: self._answer(address, future) for address, future in asked.items()}
        answers = {address: answer for address, answer in found.items() if answer is not None}
        if not answers:
            raise BenchfwError(
                f"the workers of the Dask cluster at {self.address} left; start some that stay"
            )
        return answers

    def _answer(self, address: str, future: Future) -> MachineSurvey | None:
        """Return a worker's survey, or None if the worker is lost before it has answered."""
        while True:
            try:
                survey: MachineSurvey = future.result(timeout=POLL_SECONDS)
            except BenchfwError as fault:
                _refuse({address: [str(fault)]})
            except TimeoutError:
                if address not in self.client.nthreads():
                    return None
            else:
                return survey

    @property
    def capacity(self) -> int:
        """How many trials run at once."""
        return sum(slot.capacity for slot in self.worker_slots.values())

    def _shares(self, surveys: Collection[MachineSurvey]) -> dict[str, Any]:
        """Return how the cores are divided: a fact of the report."""
        threads = sum(found.threads for found in surveys)
        cores = sum({found.host: found.cores for found in surveys}.values())
        shares = f"trials at once: {self.capacity}, threads for each: {self._request.threads}, cores: {cores}"
        crowd = "; they disturb each other's times" if threads > cores else ""
        return {
            "scheduler": self.address,
            "workers": len(surveys),
            "shares": f"{shares}{crowd}",
        }


def _refuse(faults: Mapping[str, Sequence[str]]) -> None:
    """Raise what was found against workers, if anything was."""
    lines = [f"{address}: {each}" for address, some in faults.items() for each in some]
    if lines:
        raise BenchfwError("\n  ".join(["nothing was run, since Dask workers differ:", *lines]))


def _offers(backend: str, found: MachineSurvey) -> bool:
    return bool(found.gpus) or not is_on_device(backend)


def _describe_backend(name: str, surveys: Iterable[MachineSurvey]) -> Mapping[str, str]:
    """Return a backend's description on the first worker that offers it."""
    able = (found.environment.backends[name] for found in surveys if _offers(name, found))
    reason = f"no Dask worker declares a GPU for {name}; start one with --resources GPU=1"
    return next(able, {"unavailable": reason})


def _words(description: Mapping[str, str]) -> str:
    return ", ".join(f"{key} {value}" for key, value in description.items())


@contextlib.contextmanager
def connected(
    address: str, jobs: int, threads: int, note: Callable[[str], None] = lambda _: None
) -> Iterator[Scheduler]:
    """Yield a connection to the scheduler at an address or in a file; 'local' makes one, with a worker a job.

    `note` gets a line when a file is waited for.
    """
    if address.startswith("tls:") and not Security().get_connection_args("client").get("ssl_context"):
        raise BenchfwError(
            f"'{address}' needs certificates: set distributed.comm.tls.client.cert and .key in the "
            "configuration of Dask"
        )
    with contextlib.ExitStack() as stack:
        # it logs a lost connection with its traceback; what a user can do about it is said in a line
        stack.enter_context(silence_logging_cmgr(logging.CRITICAL))
        if address == "local":
            # it gives a worker up for good that is away so long, though its nanny may be at its next start
            stack.enter_context(dask.config.set({"distributed.deploy.lost-worker-timeout": "1 day"}))
            made = LocalCluster(
                n_workers=jobs,
                threads_per_worker=threads,
                scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
                silence_logs=logging.CRITICAL,
                preload=[IGNORE_INTERRUPT],
            )
            given: dict[str, Any] = {"address": stack.enter_context(made)}
        elif address.endswith(".json") or Path(address).is_file():
            given = {"address": _await_address(Path(address), note)}
        else:
            given = {"address": address}
        try:
            client = Client(**given, set_as_default=False)
        except (OSError, ValueError, TypeError) as fault:
            raise BenchfwError(
                f"no Dask scheduler answers at '{address}' ({fault}); give tcp://HOST:PORT, a scheduler file "
                "or 'local'"
            ) from None
        yield Scheduler(stack.enter_context(client), address)


def _await_address(file: Path, note: Callable[[str], None]) -> str:
    """Return the address in a scheduler's file; one that was just started may not have written it yet."""
    if not file.parent.is_dir():
        raise BenchfwError(f"no folder '{file.parent}' for the scheduler file; give a path that exists")
    if _read_address(file) is None:
        note(f"waiting for the scheduler file '{file}', at most {SCHEDULER_FILE_SECONDS} s")
    ends = monotonic() + SCHEDULER_FILE_SECONDS
    while (address := _read_address(file)) is None:
        if monotonic() > ends:
            raise BenchfwError(
                f"no scheduler has written '{file}' within {SCHEDULER_FILE_SECONDS} s; start one with "
                f"dask scheduler --scheduler-file {shlex.quote(str(file))}"
            )
        sleep(0.05)
    return address


def _read_address(file: Path) -> str | None:
    """Return the address in a scheduler's file, or None while there is none."""
    try:
        return str(json.loads(file.read_bytes())["address"])
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None
    except OSError as fault:
        raise BenchfwError(f"the scheduler file '{file}' cannot be read ({fault.strerror})") from None
