"""Facts about the machine and the project, gathered once a run."""

from __future__ import annotations

import contextlib
import os
import platform
from collections.abc import Iterable

from benchfw import hookspecs
from benchfw.backends import Device, get_backend, is_on_device
from benchfw.errors import BackendUnavailable
from benchfw.loading import find_entry_points
from benchfw.provenance import Environment, Machine, Project
from benchfw.system import governor, processor

PACKAGES = ("benchfw", "numpy", "scipy", "array-api-compat", "threadpoolctl", "pluggy")
DEVICE_PACKAGES = ("cupy", "cupyx", "cupy-cuda12x", "cupy-cuda13x")
"""What drives devices, as it is installed and imported; a backend's description has the versions too."""


def gather(backends: Iterable[str], threads: int) -> Environment:
    """Return what this machine, its packages and the user's project say about themselves."""
    return Environment(
        machine=machine(),
        python=platform.python_version(),
        packages=packages(),
        threads=threads,
        backends={name: describe(name) for name in backends},
        project=project(),
    )


def describe(backend: str) -> dict[str, str]:
    """Return a backend's device and versions, or why it is not available."""
    try:
        return dict(get_backend(backend).describe())
    except BackendUnavailable as fault:
        return {"unavailable": str(fault)}


def machine() -> Machine:
    """Return the computer: processor, cores, memory, system, load."""
    import psutil

    return Machine(
        system=platform.platform(),
        processor=processor(),
        cores=os.cpu_count() or 0,
        memory=total_memory(),
        load=round(psutil.getloadavg()[0], 2),
        governor=governor(),
    )


def find_devices(backends: Iterable[str]) -> tuple[Device, ...]:
    """Return the devices for trials on these backends, as the first of them that is here counts them."""
    for name in backends:
        if is_on_device(name):
            with contextlib.suppress(BackendUnavailable):
                return get_backend(name).devices()
    return ()


def total_memory() -> int:
    """Return the bytes of memory of this machine."""
    import psutil

    return int(psutil.virtual_memory().total)


def packages() -> dict[str, str]:
    """Return the versions of the packages that matter, and of every package with a benchfw plugin."""
    plugins = {point.distribution for point in find_entry_points(hookspecs.PROJECT)}
    found = {name: _version(name) for name in sorted({*PACKAGES, *DEVICE_PACKAGES, *plugins})}
    return {name: version for name, version in found.items() if version}


def _version(package: str) -> str:
    """Return the version of a package; "" where it is not installed.

    Only the headers of its metadata are parsed: the text below them is as long as a README.
    """
    import importlib.metadata

    try:
        found = importlib.metadata.distribution(package)
    except importlib.metadata.PackageNotFoundError:
        return ""
    headers, _, _ = (found.read_text("METADATA") or found.read_text("PKG-INFO") or "").partition("\n\n")
    return next((line[9:] for line in headers.splitlines() if line.startswith("Version: ")), "")


def project() -> Project | None:
    """Return the git commit of the folder the user stands in, its date, and whether files of it were changed.

    Files that git does not know are not asked about: the reports of earlier runs may be among them. Where
    git cannot say, as in a container without it, the commit is that of BENCHFW_COMMIT.
    """
    commit, _, date = (_git("show", "--no-patch", "--format=%H %cI", "HEAD") or "").partition(" ")
    if not commit:
        given = os.environ.get("BENCHFW_COMMIT", "")
        return Project(given) if given else None
    changes = _git("--no-optional-locks", "status", "--porcelain", "--untracked-files=no")
    return Project(commit, date, None if changes is None else bool(changes))


def _git(*words: str) -> str | None:
    """Return what git says; None if it fails or takes too long."""
    import subprocess

    try:
        done = subprocess.run(
            ["git", *words],
            capture_output=True,
            encoding="utf-8",
            errors="replace",  # names of files may be in any encoding
            timeout=5,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
