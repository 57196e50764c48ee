"""Who asks for something: the nearest frame that is in a plugin's own file, and what it is about.

A plugin's own file is neither Python's, nor benchfw's, nor an installed library's.
"""

from __future__ import annotations

import opcode
import os
import sys
from pathlib import Path
from types import FrameType

import benchfw
from benchfw.sources import Installed, is_python

OWN_FOLDER = f"{Path(benchfw.__file__).parent}{os.sep}"
QUOTING = (f"{os.sep}warnings.py", f"{os.sep}traceback.py")  # what opens source only to show a line of it
LOADERS = ("<frozen importlib", "<frozen runpy", "<frozen zipimport")  # what opens source to run it
INSTALLED = (f"{os.sep}importlib{os.sep}metadata{os.sep}__init__.py",)  # what looks for installed packages
IMPORT_NAME = opcode.opmap["IMPORT_NAME"]


class Callers:
    """Finds the plugin's frame among those that lead to a call."""

    def __init__(self) -> None:
        self._kinds: dict[str, str] = {}
        self._installed = Installed()

    def find(self, frame: FrameType | None, through: tuple[str, ...]) -> FrameType | None:
        """Return the nearest frame in a plugin's own file, behind those of Python and of these kinds."""
        while frame is not None:
            name = frame.f_code.co_filename
            kind = self._kinds.get(name)
            if name.startswith("<") and frame.f_globals.get("__name__") == "__main__":
                kind = "own"  # typed at a prompt; what libraries make by `exec` has their names
            elif kind is None:
                kind = self._kinds[name] = self.kind_of(name)
            if kind == "own":
                return frame
            if kind != "python" and kind not in through:
                return None
            frame = frame.f_back
        return None

    def kind_of(self, path: str) -> str:
        """Return whose a file is: "python", "benchfw", "library", or a plugin's "own"."""
        if path.startswith("<") or is_python(path):
            return "python"
        if path.startswith(OWN_FOLDER):
            return "benchfw"
        return "own" if self._installed.owner(path) is None else "library"


def is_ours(path: str) -> bool:
    """Return whether a file is Python's or benchfw's."""
    return path.startswith(OWN_FOLDER) or is_python(path)


def is_loader(frame: FrameType) -> bool:
    """Return whether a frame opens source to run it."""
    return frame.f_code.co_filename.startswith(LOADERS)


def is_importing(frame: FrameType) -> bool:
    """Return whether a frame is at an import statement, which the key has read already."""
    return frame.f_code.co_code[frame.f_lasti] == IMPORT_NAME


def is_quoting(nearest: FrameType, reader: FrameType) -> bool:
    """Return whether a file is opened to show a line of it, as for a warning."""
    return _is_between(nearest, reader, QUOTING)


def is_looking_for_packages(nearest: FrameType, reader: FrameType) -> bool:
    """Return whether a folder is listed, or an archive opened, to find installed packages."""
    return _is_between(nearest, reader, INSTALLED)


def is_loaded(path: str, reader: FrameType) -> bool:
    """Return whether a file is the source of the reader or of a loaded module: the key has read it."""
    files = (getattr(each, "__file__", None) for each in list(sys.modules.values()))
    return path == reader.f_code.co_filename or path in files


def _is_between(nearest: FrameType, reader: FrameType, files: tuple[str, ...]) -> bool:
    frame: FrameType | None = nearest
    while frame is not None and frame is not reader:
        if frame.f_code.co_filename.endswith(files):
            return True
        frame = frame.f_back
    return False
