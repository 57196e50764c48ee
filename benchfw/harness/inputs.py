"""What a trial read beyond what its key knows: how it is named, and the state that it is in now.

Each thing has a name of two parts, its kind and what it is: "file tables.json", "variable HOME". Paths are
written from the folder of Python's path that they are in, so that a project may be moved. One that begins
with "./" was found from the working folder, and is looked for from the present one.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchfw import data
from benchfw.errors import BenchfwError
from benchfw.records import Outcome
from benchfw.sources import Modules

THREAD_VARIABLES = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS", "NUMEXPR_NUM_THREADS",
)  # fmt: skip
ABSENT = "absent"
LEFT_BEHIND = re.compile(r"__pycache__|\..*\.sw[a-p]")
ALL = "*"
"""As the name of an environment variable: the names of all."""
GIVEN_VARIABLES = frozenset(
    {
        *THREAD_VARIABLES,
        "CUDA_VISIBLE_DEVICES",
        "CUPY_GPU_MEMORY_LIMIT",
        "KMP_DUPLICATE_LIB_OK",  # set by threadpoolctl
        "KMP_INIT_AT_FORK",
        "PYTHONHASHSEED",
    }
)
"""The environment variables that workers get from the harness: threads and device are in the key."""
SHELL_VARIABLES = frozenset({"_", "COLUMNS", "LINES", "OLDPWD", "SHLVL", "TERM"})
"""The environment variables that a shell sets anew, to which no program gives a meaning for its results."""
UNKNOWN = ""
"""The state of what a trial read that crashed or was stopped."""
CHANGED = "changed while it was read"
"""The state of what was no longer the same at the end of the trial: never found again."""


class Inputs:
    """Looks at what trials read, at each thing once."""

    def __init__(self, find_modules: Callable[[], Modules]) -> None:
        self._find_modules = find_modules
        self._modules: Modules | None = None
        self._states: dict[str, str] = {}

    def describe_change(self, reads: Mapping[str, str]) -> str:
        """Return which thing is not as it was read, in words; nothing where all are."""
        changed = (name for name, state in reads.items() if self.state(name) != state)
        return next((f"{_describe(*_split(name))} has changed" for name in changed), "")

    def state(self, name: str) -> str:
        """Return the state that a thing is in now."""
        if name not in self._states:
            self._states[name] = self._find_state(*_split(name))
        return self._states[name]

    def hash_path(self, kind: str, path: Path) -> str:
        """Return the state of a file, a module or a folder."""
        try:
            if kind == "folder":
                return _short_hash("\0".join(list_folder(path)).encode())
            found = path.stat()
            if not stat.S_ISREG(found.st_mode):
                return ABSENT
            return self._hash_module(path) if kind == "module" else _hash_content(path)
        except OSError:
            return ABSENT

    def _find_state(self, kind: str, what: str) -> str:
        if kind == "variable":
            return hash_variable(what, os.environ.get(what) if what != ALL else variable_names())
        if kind == "working folder":
            return hash_folder(os.getcwd())  # noqa: PTH109
        if kind in {"package", "packages"}:
            return _hash_packages(what)
        if kind == "data set":
            try:
                return data.fingerprint(what)
            except BenchfwError:
                return ABSENT
        states = {self.hash_path(kind, path) for path in _places(what, sys.path)}
        return states.pop() if len(states) == 1 else CHANGED if states else ABSENT

    def _hash_module(self, path: Path) -> str:
        """Return the hash of a module and all that it imports; benchfw itself is in the key."""
        if self._modules is None:
            self._modules = self._find_modules()
        found = self._modules.closure([path], leave_out=lambda name: name.startswith("benchfw."))
        return found.digest[:32]


def complete_reads(outcome: Outcome, find_modules: Callable[[], Modules]) -> Outcome:
    """Return the outcome with the state, as of now, of what a trial read that could not tell it any more."""
    if UNKNOWN not in outcome.reads.values():
        return outcome
    inputs = Inputs(find_modules)
    return replace(
        outcome, reads={name: state or inputs.state(name) for name, state in outcome.reads.items()}
    )


def name_path(kind: str, path: Path, folders: Sequence[str]) -> str:
    """Return the name of a file: the shortest that leads to it, and to no other, from folders of the path."""
    for folder in sorted(folders, key=len, reverse=True):
        root = Path(folder or Path.cwd())
        if path.is_relative_to(root):
            inside = path.relative_to(root).as_posix()
            if all(each == path for each in _places(inside, folders)):
                return f"{kind} {inside}"
    return f"{kind} {path}"


def hash_variable(name: str, value: str | None) -> str:
    """Return a hash of an environment variable, which may be a secret: too short to find the value by it."""
    return ABSENT if value is None else _short_hash(f"{name}={value}".encode(errors="surrogateescape"))[:12]


def variable_names() -> str:
    """Return the names of all environment variables that neither the harness nor a shell sets."""
    return " ".join(sorted(os.environ.keys() - GIVEN_VARIABLES - SHELL_VARIABLES))


def hash_folder(path: str) -> str:
    """Return a hash of where a folder is."""
    return _short_hash(os.fsencode(path))[:12]


def list_folder(path: Path) -> list[str]:
    """Return the names in a folder, without those that Python and editors leave there."""
    return sorted(name for name in os.listdir(path) if not LEFT_BEHIND.fullmatch(name))  # noqa: PTH208


def signature_of(path: str) -> Any:
    """Return what changes with a file: None where there is none, "folder" for a folder."""
    try:
        found = os.stat(path)  # noqa: PTH116 - called for every file that is opened
    except OSError:
        return None
    return "folder" if stat.S_ISDIR(found.st_mode) else (found.st_mtime_ns, found.st_size, found.st_ino)


def names_in(path: str) -> Any:
    """Return what `list_folder` does; None where there is no folder."""
    try:
        return list_folder(Path(path))
    except OSError:
        return None


def _hash_packages(name: str) -> str:
    """Return a hash of the version of an installed package, or of the versions and entry points of all."""
    from importlib.metadata import PackageNotFoundError, distributions, version

    if name == ALL:
        found = [f"{each.name} {each.version} {each.entry_points}" for each in distributions()]
        return _short_hash("\n".join(sorted(found)).encode())
    try:
        return _short_hash(version(name).encode())
    except PackageNotFoundError:
        return ABSENT


def _places(what: str, folders: Sequence[str]) -> list[Path]:
    """Return where a path leads now, from each of these folders."""
    if Path(what).is_absolute() or what.startswith("./"):
        return [Path(what)]
    found = (Path(folder or Path.cwd()) / what for folder in dict.fromkeys(folders))
    return [each for each in dict.fromkeys(found) if each.exists()]


def _split(name: str) -> tuple[str, str]:
    for kind in ("variable", "data set", "module", "folder", "working folder", "package", "packages"):
        if name.startswith(f"{kind} "):
            return kind, name[len(kind) + 1 :]
    return "file", name.removeprefix("file ")


def _describe(kind: str, what: str) -> str:
    if (kind, what) == ("variable", ALL):
        return "the list of environment variables"
    words = {
        "variable": f"the environment variable {what}",
        "data set": f"the data set '{what}'",
        "folder": f"the folder {what.removeprefix('./')}",
        "working folder": "the working folder",
        "package": f"the package {what}",
        "packages": "the list of installed packages",
    }
    return words.get(kind, what.removeprefix("./"))


def _hash_content(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:32]


def _short_hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]
