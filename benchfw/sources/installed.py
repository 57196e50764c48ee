"""Tells Python's own files and those of installed distributions from all others."""

from __future__ import annotations

import functools
import hashlib
import os
import re
import sys
from pathlib import Path
from typing import NamedTuple

PYTHON = f"{Path(os.__file__).parent}{os.sep}"
SITES = ("site-packages", "dist-packages")
SITE_FOLDERS = tuple(f"{os.sep}{site}{os.sep}" for site in SITES)
METADATA = frozenset({".dist-info", ".egg-info"})


class Distribution(NamedTuple):
    """An installed distribution; the version of one that no index gave is followed by a hash of its files."""

    name: str
    version: str


class Installed:
    """Says who installed a file; what it looked up is kept as long as it lives."""

    def __init__(self) -> None:
        self._owner = functools.cache(self._find_owner)
        self._listed = functools.cache(self._find_listed)
        self._metadata = functools.cache(_list_metadata)
        self._version = functools.cache(_version)
        self._record = functools.cache(_read_record)

    def owner(self, path: str) -> Distribution | None:
        """Return the distribution whose list of files has this one; None for any other file.

        An editable installation lists none of its modules, so that these have no owner.
        """
        return self._owner(path)

    def _find_owner(self, path: str) -> Distribution | None:
        file = Path(path)
        for folder in file.parents:
            if str(folder) in sys.path or folder.name in SITES:
                inside = file.relative_to(folder)
                metadata = folder / inside.parts[0]
                if metadata.suffix in METADATA:  # no list is asked: who looks for plugins reads them all
                    return Distribution(_name(metadata), self._version(metadata))
                package = Path(inside.parts[0], "__init__.py")
                # importing a package's __init__ may use all of it, its compiled files too
                owner = self._listed(str(folder), package) or self._listed(str(folder), inside)
                if owner is not None:
                    return owner
        return None

    def _find_listed(self, folder: str, file: Path) -> Distribution | None:
        # a distribution with the name of the module is the likely one, and its list the first to be read
        for each in sorted(self._metadata(folder), key=lambda each: not _same_name(each, file.parts[0])):
            if self._lists(each, file):
                return Distribution(_name(each), self._version(each))
        return None

    def _lists(self, metadata: Path, file: Path) -> bool:
        record = self._record(metadata)
        if record:
            return f"\n{file.as_posix()}," in record
        # without a list of files, as a system's own packages are: the top-level names say it
        return metadata.parent.name in SITES and _same_name(metadata, file.parts[0])


def is_python(path: str) -> bool:
    """Return whether a file, or what a code object has for one, belongs to Python itself."""
    return path.startswith(("<frozen ", "<string>")) or (
        path.startswith(PYTHON) and not any(folder in path for folder in SITE_FOLDERS)
    )


def is_installed(path: str) -> bool:
    """Return whether a file belongs to Python or to what was installed, and so to nobody's own project."""
    return is_python(path) or any(folder in path for folder in SITE_FOLDERS)


def _list_metadata(folder: str) -> tuple[Path, ...]:
    try:
        return tuple(each for each in sorted(Path(folder).iterdir()) if each.suffix in METADATA)
    except OSError:
        return ()


def _same_name(metadata: Path, module: str) -> bool:
    return _name(metadata) == normal_name(module.partition(".")[0])


@functools.cache
def _name(metadata: Path) -> str:
    return normal_name(metadata.name.removesuffix(metadata.suffix).partition("-")[0])


@functools.cache
def normal_name(distribution: str) -> str:
    """Return the name of a distribution as indexes write it, whatever the spelling."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


def _read_record(metadata: Path) -> str:
    try:
        return "\n" + (metadata / "RECORD").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _version(metadata: Path) -> str:
    version = metadata.name.removesuffix(metadata.suffix).partition("-")[2].partition("-")[0]
    if (metadata / "direct_url.json").is_file():
        # from a folder, a repository or a file: two that differ may have one version
        own = [
            line
            for line in _read_record(metadata).splitlines()
            if not line.startswith("..") and "__pycache__" not in line and ".dist-info/" not in line
        ]
        version += "+" + hashlib.sha256("\n".join(own).encode()).hexdigest()[:12]
    return version
