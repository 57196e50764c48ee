"""What a machine would run a trial with: its facts, the versions of all that decides records, its GPUs.

`python -m benchfw_cluster.survey` answers a request in JSON on standard input. A Dask worker asks it in
a process of its own, so that what is compared is what the process of a trial would find.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import benchfw
from benchfw import data
from benchfw.backends import Device
from benchfw.errors import BenchfwError, DataError
from benchfw.harness.environment import DEVICE_PACKAGES, PACKAGES, find_devices, gather, packages
from benchfw.harness.identity import HASH_PREFIX, TrialSources, datasets_read
from benchfw.provenance import Environment
from benchfw.records import Spec, Trial
from benchfw.registry import GIVEN, Registry
from benchfw.system import count_usable_cores, set_path_of_programs

SURVEY_SECONDS = 1800.0  # a machine may have to fetch a data set first


@dataclass(frozen=True)
class SurveyRequest:
    """What a run needs to know of a machine; `entries` are kind and name of all that trials are made of.

    `modules` and `files` are what objects of a session use, which travel without them.
    """

    sources: tuple[str, ...]
    entries: tuple[tuple[str, str], ...]
    backends: tuple[str, ...]
    threads: int
    datasets: tuple[str, ...]
    modules: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class MachineSurvey:
    """What a machine has: usable `cores`, devices, and the share of a Dask worker in its threads and GPUs."""

    environment: Environment
    versions: Mapping[str, str]
    host: str
    cores: int
    devices: tuple[Device, ...] = ()
    threads: int = 0
    gpus: int = 0


def survey(request: SurveyRequest) -> MachineSurvey:
    """Look at this machine, from this process."""
    registry = Registry(request.sources)
    with registry.activate():
        return MachineSurvey(
            gather(request.backends, request.threads),
            versions(registry, request),
            platform.node(),
            count_usable_cores(),
            find_devices(request.backends),
        )


def versions(registry: Registry, request: SurveyRequest) -> dict[str, str]:
    """Return what must be equal wherever the trials of a run are run.

    Python, packages, the source of benchfw and of the modules involved, the libraries that these import, the
    data. What drives GPUs is left out: a backend's description has it.
    """
    found = {name: version for name, version in packages().items() if name in PACKAGES}
    found["Python"] = ".".join(platform.python_version_tuple()[:2])
    # what is missing here is a difference too: its package and its version are then not among these
    known = [entry for kind, name in request.entries if (entry := registry.entries(kind).get(name))]
    found |= {entry.plugin.distribution: entry.plugin.version for entry in known if entry.plugin.version}
    roots = [root for entry in known for root in entry.roots]
    there = [path for each in request.files if (path := Path(each)).is_file()]
    code = TrialSources(registry).closure([*roots, *request.modules, *there])
    found |= code.libraries
    found |= {f"the source of {name}": each[:HASH_PREFIX] for name, each in code.by_package().items()}
    for name in request.datasets:
        try:
            data.ensure_available(name)
            found[f"the data set '{name}'"] = data.fingerprint(name)[:HASH_PREFIX]
        except DataError as fault:
            found[f"the data set '{name}'"] = f"absent ({fault})"
    return {name: version for name, version in found.items() if name not in DEVICE_PACKAGES}


def survey_request(
    trials: Sequence[Trial], registry: Registry, backends: Sequence[str], threads: int
) -> SurveyRequest:
    """Return what to ask of a machine before it runs these trials."""
    specs = {(kind, str(spec.table)): (kind, spec.table) for trial in trials for kind, spec in _specs(trial)}
    used = [entry for kind, table in specs.values() for entry in registry.entries_of(kind, table)]
    entries = sorted({(entry.kind, entry.name) for entry in used if entry.given is None})
    roots = {root for each in registry.objects for root in each.roots}
    return SurveyRequest(
        registry.sources,
        tuple(entries),
        tuple(backends),
        threads,
        tuple(name for name in datasets_read(trials, registry) if not name.startswith(GIVEN)),
        tuple(sorted(root for root in roots if isinstance(root, str))),
        tuple(sorted(str(root) for root in roots if isinstance(root, Path))),
    )


def _specs(trial: Trial) -> Iterator[tuple[str, Spec]]:
    yield trial.kind, trial.method
    if trial.kind != "kernel":
        yield "problem", trial.problem


def survey_apart(request: SurveyRequest) -> MachineSurvey:
    """Return the survey of this machine as a new process sees it; BenchfwError if there is none."""
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", __name__],
            input=json.dumps(
                {
                    **asdict(request),
                    "path": sys.path,
                    "path_of_programs": os.environ.get("PYTHONPATH", ""),
                }
            ),
            env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, _homes()))},
            capture_output=True,
            text=True,
            timeout=SURVEY_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise BenchfwError(f"it could not look at what it has within {SURVEY_SECONDS:g} s") from None
    try:
        answer: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        last = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        raise BenchfwError(f"it could not look at what it has: {last[0]}") from None
    if "fault" in answer:
        raise BenchfwError(answer["fault"])
    environment, devices = Environment.from_json(answer["environment"]), answer["devices"]
    return MachineSurvey(
        **{**answer, "environment": environment, "devices": tuple(Device(*each) for each in devices)}
    )


def _homes() -> set[Path]:
    """Return the folders that the core and this package are imported from, which may be on no usual path."""
    return {Path(benchfw.__file__).parents[1], Path(__file__).parents[1]}


def main() -> None:
    """Answer on standard output; what plugins print goes to standard error."""
    asked = json.load(sys.stdin)
    sys.path[:] = asked.pop("path")
    set_path_of_programs(asked.pop("path_of_programs"))
    asked = {name: tuple(each) if isinstance(each, list) else each for name, each in asked.items()}
    with contextlib.redirect_stdout(sys.stderr):
        try:
            answer = asdict(survey(SurveyRequest(**asked)))
        except BenchfwError as fault:
            answer = {"fault": str(fault)}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
