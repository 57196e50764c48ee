"""What plugins read in a process: files, folders, variables, modules imported by a computed name.

Only what a plugin asks for counts (`callers.py`). What benchfw reads for itself does not.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from importlib.machinery import all_suffixes
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from benchfw.data.load import LOADED
from benchfw.harness.inputs import (
    ALL,
    GIVEN_VARIABLES,
    SHELL_VARIABLES,
    hash_folder,
    hash_variable,
    names_in,
    signature_of,
    variable_names,
)
from benchfw.harness.workers.reading.caches import Caches
from benchfw.harness.workers.reading.callers import (
    Callers,
    frames_between,
    is_importing,
    is_in,
    is_loaded,
    is_loader,
    is_looking_for_packages,
    is_ours,
    is_quoting,
    package_looked_for,
)
from benchfw.harness.workers.reading.notes import Note, Notes
from benchfw.harness.workers.reading.written import Written
from benchfw.records import Trial
from benchfw.registry import Registry
from benchfw.system import path_of_open_file

SYSTEM_FOLDERS = ("/proc/", "/sys/", "/dev/", "/usr/share/zoneinfo/")  # of Linux
SHARED_MEMORY = "/dev/shm/"  # noqa: S108 - files as everywhere else
FOLDER_VARIABLES = frozenset({"TMPDIR", "TEMP", "TMP"})  # what a trial puts there, it has written
IGNORED_VARIABLES = GIVEN_VARIABLES | FOLDER_VARIABLES
ASKING: dict[str, frozenset[str]] = {
    "ctypes/util.py": frozenset({"LD_LIBRARY_PATH"}),
    "platform.py": frozenset(),
    "sysconfig.py": frozenset(),
}
"""Parts of Python that copy all variables or ask for some, with those that decide what they answer."""
STARTING = ("tempfile.py", "multiprocessing/spawn.py")  # that ask for the working folder
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
REPLACING = os.O_TRUNC | os.O_EXCL


class Reader(NamedTuple):
    """Who reads: a plugin's file, and the frame in it; none in a thread that it has started."""

    file: str
    frame: FrameType | None


class Reads:
    """What plugins have read in this process since it is watched."""

    def __init__(self) -> None:
        self._start = os.getcwd()  # noqa: PTH109
        self._moved = False  # to a folder that was given by its full path
        self._notes = Notes(self._start)
        self._written = Written()
        self._set_variables: set[str] = set()
        self._callers = Callers()
        self._caches = Caches()
        self._starters: WeakKeyDictionary[threading.Thread, str] = WeakKeyDictionary()
        self._noting = threading.local()

    def tell_first_reads(self, tell: Callable[[str], None]) -> None:
        """Call this with the name of each thing when it is first read: a trial that crashes says no more."""
        self._notes.tell = tell

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Note nothing in here: what is read is not a plugin's, and to find that out takes memory."""
        self._noting.now = True
        try:
            yield
        finally:
            self._noting.now = False

    def begin_trial(self) -> None:
        """Take what is read from now on for what the next trial reads."""
        self._notes.begin_trial()
        self._written.clear()

    def of_trial(self, trial: Trial, registry: Registry) -> dict[str, str]:
        """Return what the trial read, with hashes."""
        with self.paused():
            return self._notes.of_trial(trial, registry)

    def look_ahead(self, trial: Trial, registry: Registry) -> None:
        """Find out, before a process is forked for a trial, whatever `of_trial` will ask."""
        self._notes.look_ahead(trial, registry)

    def hear(self, event: str, arguments: tuple[Any, ...], frame: FrameType) -> None:
        """Take in an audit event and the frame that it comes from."""
        if getattr(self._noting, "now", False):
            return
        self._noting.now = True  # what is opened in here is not the plugin's
        try:
            if event == LOADED:
                reader = self._callers.find(frame, through=("library", "benchfw"))
                if reader is not None:
                    self._notes.add(Note("data set", str(arguments[0]), reader.f_code.co_filename), "")
            elif event == "os.rename":
                self._hear_path(event, arguments[1], frame)
            elif event == "sqlite3.connect":
                self._hear_database(arguments[0], frame)
            elif event == "os.chdir":
                self._hear_move(arguments[0])
            else:
                self._hear_path(event, arguments[0], frame, arguments[2] if event == "open" else 0)
        finally:
            self._noting.now = False

    def _find_reader(self, nearest: FrameType, through: tuple[str, ...]) -> Reader | None:
        frame = self._callers.find(nearest, through)
        if frame is not None:
            return Reader(frame.f_code.co_filename, frame)
        file = self._starters.get(threading.current_thread()) if self._starters else None
        return None if file is None else Reader(file, None)

    def _hear_move(self, given: Any) -> None:
        folder = _text(given)
        if folder is None or os.path.isabs(folder):  # noqa: PTH117
            self._moved = folder != self._start

    def _hear_database(self, given: Any, frame: FrameType) -> None:
        name = _text(given) or ""
        path = name.removeprefix("file:").partition("?")[0] if name.startswith("file:") else name
        if path and path != ":memory:":
            self._hear_path("open", path, frame, 0 if os.path.exists(path) else os.O_CREAT)  # noqa: PTH110

    def _hear_path(self, event: str, given: Any, nearest: FrameType, flags: int = 0) -> None:
        name = "." if given is None else _text(given)
        if name is None or (event == "ctypes.dlopen" and Path(name).name == name):
            return
        folder = getattr(self._noting, "folder", None)
        path = os.path.abspath(os.path.join(folder or "", name))  # noqa: PTH100, PTH118 - often called
        if folder or isinstance(given, int):  # an open folder: how it was found is not known
            relative = path.startswith(self._start + os.sep)
        else:
            relative = not (os.path.isabs(name) or self._moved)  # noqa: PTH117
        system = path.startswith(SYSTEM_FOLDERS) and not path.startswith(SHARED_MEMORY)
        if system or is_ours(path):
            return
        # a trial's own folder is made by benchfw, for the method that asks for it
        through = ("library", "benchfw") if event == "os.mkdir" else ("library",)
        reader = self._find_reader(nearest, through)
        if reader is None or self._is_aside(event, path, nearest, reader):
            return
        if event == "os.mkdir":
            if signature_of(path) is None:  # else there may be an error, or none
                self._written.add_folder(path)
        elif event == "os.rename" or (flags & WRITING and (flags & REPLACING or signature_of(path) is None)):
            self._written.add_file(path)
        elif not flags & os.O_WRONLY:  # who only adds to a file has not read it
            self._note_path(event, path, nearest, reader, relative=relative)

    def _is_aside(self, event: str, path: str, nearest: FrameType, reader: Reader) -> bool:
        """Return whether Python or a library opens this for itself, and not as what the plugin works on."""
        if is_loader(nearest):  # lists a folder to find a module: one that is not there is noted as absent
            return event.startswith("os.")
        if is_looking_for_packages(event, path, nearest, reader.frame):
            if event.startswith("os.") and self._asks_itself(nearest):
                self._notes.add(_note_of_package(package_looked_for(nearest, reader.frame), reader.file), "")
            return True
        kept = path in self._caches and not self._asks_itself(nearest)
        return kept or is_quoting(nearest, reader.frame)

    def _asks_itself(self, nearest: FrameType) -> bool:
        """Return whether nothing but Python stands between a plugin and what it asks for."""
        return self._callers.find(nearest, through=()) is not None

    def _note_path(
        self, event: str, path: str, nearest: FrameType, reader: Reader, *, relative: bool
    ) -> None:
        source = False
        if event.startswith("os."):
            kind, state = "folder", names_in(path)
        else:
            loaded = is_loader(nearest)
            path = _source_of(path) if loaded else path
            kind, state = ("module" if loaded and path.endswith(".py") else "file"), signature_of(path)
            if kind == "module" and is_importing(reader.frame):
                if not self._notes.path:  # plugins are being loaded: so the key finds it, too
                    return
                source = True
            elif path.endswith(".py") and not loaded and not self._asks_itself(nearest):
                source = path == reader.file or is_loaded(path)
        path = self._written.follow(path)
        if self._callers.kind_of(path) == "own" and state != "folder" and not self._written.has(path, state):
            self._notes.add(Note(kind, path, reader.file, relative, source), state)

    def note_package(self, name: str, nearest: FrameType) -> None:
        """Note that a plugin asked for the version of an installed package; without a name, for all."""
        frame = self._callers.find(nearest, through=())
        if frame is not None and not getattr(self._noting, "now", False):
            self._notes.add(_note_of_package(name, frame.f_code.co_filename), "")

    def note_found_module(self, origin: str | None, nearest: FrameType) -> None:
        """Note a module that `importlib.util.find_spec` found, without loading it."""
        frame = self._callers.find(nearest, through=())
        if frame is not None and origin and os.path.isabs(origin) and self._callers.kind_of(origin) == "own":  # noqa: PTH117
            self._notes.add(
                Note("module", origin, frame.f_code.co_filename, source=True), signature_of(origin)
            )

    def note_absent_module(self, name: str, folders: Sequence[str] | None, nearest: FrameType) -> None:
        """Note that a module was not found: by a plugin, or by a library in a package of a plugin's own.

        What an import statement does not find on the path of all plugins, the key has looked for.
        """
        if getattr(self._noting, "now", False):
            return
        frame = self._callers.find(nearest, through=() if folders is None else ("library",))
        if frame is None:
            return
        self._noting.now = True
        try:
            known = (self._notes.path or sys.path) if is_importing(frame) else ()
            last = name.rpartition(".")[2]
            for folder in sys.path if folders is None else folders:
                package = os.path.abspath(os.path.join(folder, "__init__.py"))  # noqa: PTH100, PTH118
                if folder in known or self._callers.kind_of(package) != "own":
                    continue
                for ending in (f"{os.sep}__init__.py", *all_suffixes()):
                    path = f"{package.removesuffix('__init__.py')}{last}{ending}"
                    self._notes.add(Note("file", path, frame.f_code.co_filename), signature_of(path))
                if folders is None and not known and folder in self._notes.path:
                    break  # its name, counted from there, leads to all folders of the path
        finally:
            self._noting.now = False

    def set_folder(self, folder: int | None) -> None:
        """Take what this thread opens from now on for paths counted from an open folder, or no longer."""
        self._noting.folder = None if folder is None else _text(folder)

    def note_working_folder(self, nearest: FrameType) -> None:
        """Note that the working folder was asked for."""
        if getattr(self._noting, "now", False) or is_in(nearest, STARTING):
            return
        reader = self._callers.find(nearest, through=())
        if reader is not None and not is_importing(reader):  # by a module of Python's that it imports
            self._notes.add(Note("working folder", ".", reader.f_code.co_filename), hash_folder(self._start))

    def note_thread(self, thread: threading.Thread, nearest: FrameType) -> None:
        """Remember whose code starts a thread: no function of a plugin's own may be in it."""
        reader = self._find_reader(nearest, ("library",))
        if reader is not None:
            self._starters[thread] = reader.file

    def note_module(self, module: ModuleType, frame: FrameType) -> None:
        """Note a module that `importlib.import_module` returned, whether or not it was loaded before.

        Of those that a library asks for, only a plugin's own.
        """
        origin = getattr(getattr(module, "__spec__", None), "origin", None)
        if not origin or not os.path.isabs(origin):  # noqa: PTH117
            return
        kind = self._callers.kind_of(origin)
        through = {"own": ("library",), "library": ()}.get(kind)
        reader = None if through is None else self._callers.find(frame, through=through)
        if reader is not None:
            source = not self._asks_itself(frame)
            note = Note("module", origin, reader.f_code.co_filename, source=source)
            self._notes.add(note, signature_of(origin))

    def note_variable(self, name: str, value: str | None, frame: FrameType) -> None:
        """Note an environment variable that was read."""
        reader = self._callers.find(frame, through=())
        if reader is None or name in IGNORED_VARIABLES or name in self._set_variables:
            return
        file = reader.f_code.co_filename
        asked_by_python = any(
            is_in(each, (part,)) and name not in names
            for each in frames_between(frame, reader)
            for part, names in ASKING.items()
        )
        copied = name in SHELL_VARIABLES and Note("variable", ALL, file) in self._notes
        if not (asked_by_python or copied or is_importing(reader)):
            value = variable_names() if name == ALL else value
            self._notes.add(Note("variable", name, file), hash_variable(name, value))

    def note_set_variable(self, name: str, frame: FrameType) -> None:
        """Note an environment variable that was set by somebody else than benchfw: its value is theirs."""
        if self._callers.find(frame, through=("library",)) is not None:
            self._set_variables.add(name)


def _note_of_package(name: str, reader: str) -> Note:
    return Note("package", name, reader) if name else Note("packages", ALL, reader)


def _text(given: Any) -> str | None:
    """Return a path as text: that of an open folder too, where the system tells; None where it is none."""
    if isinstance(given, int):
        return path_of_open_file(given)
    try:
        return os.fsdecode(given)
    except TypeError:
        return None


def _source_of(path: str) -> str:
    if not path.endswith(".pyc"):
        return path
    try:
        return importlib.util.source_from_cache(path)
    except ValueError:
        return path
