"""Who asks for something: the nearest frame that is in a plugin's own file, and what it is about.

A plugin's own file is neither Python's, nor benchfw's, nor an installed library's.
"""

from __future__ import annotations

import opcode
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import benchfw
from benchfw.sources import Installed, is_python

OWN_FOLDER = f"{Path(benchfw.__file__).parent}{os.sep}"
QUOTING = (f"{os.sep}warnings.py", f"{os.sep}traceback.py")  # what opens source only to show a line of it
LOADERS = ("<frozen importlib", "<frozen runpy", "<frozen zipimport")  # what opens source to run it
METADATA = (
    f"{os.sep}importlib{os.sep}metadata{os.sep}__init__.py",
    f"{os.sep}importlib_metadata{os.sep}__init__.py",
)  # what looks for installed packages
RESOURCES = (f"{os.sep}pkg_resources{os.sep}__init__.py",)  # what looks for them, and opens files of them
WATCH = f"{Path(__file__).parent}{os.sep}watch.py"  # stands between a plugin and what it calls
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
            if name == WATCH:
                frame = frame.f_back
                continue
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


def is_importing(frame: FrameType | None) -> bool:
    """Return whether a frame is at an import statement, which the key has read already."""
    return frame is not None and frame.f_code.co_code[frame.f_lasti] == IMPORT_NAME


def is_quoting(nearest: FrameType, reader: FrameType | None) -> bool:
    """Return whether a file is opened to show a line of it, as for a warning."""
    return any(each.f_code.co_filename.endswith(QUOTING) for each in frames_between(nearest, reader))


def is_looking_for_packages(event: str, path: str, nearest: FrameType, reader: FrameType | None) -> bool:
    """Return whether a folder is listed, or a file opened, to find installed packages."""
    names = [each.f_code.co_filename for each in frames_between(nearest, reader)]
    if any(each.endswith(METADATA) for each in names):
        return True
    folder = os.path.dirname(path)  # noqa: PTH120 - often called
    is_search = event.startswith("os.") or folder.endswith((".dist-info", ".egg-info"))
    return is_search and any(each.endswith(RESOURCES) for each in names)


def package_looked_for(nearest: FrameType, reader: FrameType | None) -> str:
    """Return the name of the package that `importlib.metadata` looks for; nothing where it lists all."""
    named = (each for each in frames_between(nearest, reader) if each.f_code.co_name == "from_name")
    return next((str(each.f_locals.get("name", "")) for each in named), "")


def is_loaded(path: str) -> bool:
    """Return whether a file is the source of a module that is loaded."""
    return path in (getattr(each, "__file__", None) for each in list(sys.modules.values()))


def is_in(frame: FrameType, files: tuple[str, ...]) -> bool:
    """Return whether a frame is in one of these files of Python's."""
    name = frame.f_code.co_filename
    return is_python(name) and name.replace(os.sep, "/").endswith(files)


def frames_between(nearest: FrameType, reader: FrameType | None) -> Iterator[FrameType]:
    """Yield the frames from the nearest one up to the reader's, which is not among them; without one, all."""
    frame: FrameType | None = nearest
    while frame is not None and frame is not reader:
        yield frame
        frame = frame.f_back
