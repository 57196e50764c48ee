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

from benchfw.data.load import LOADED, sources_of
from benchfw.errors import BenchfwError
from benchfw.harness.identity import files_of_trial
from benchfw.harness.inputs import (
    ABSENT,
    ALL,
    CHANGED,
    GIVEN_VARIABLES,
    SHELL_VARIABLES,
    Inputs,
    hash_folder,
    hash_variable,
    name_path,
    names_in,
    signature_of,
    variable_names,
)
from benchfw.harness.workers.caches import Caches
from benchfw.harness.workers.callers import (
    Callers,
    frames_between,
    is_importing,
    is_loaded,
    is_loader,
    is_looking_for_packages,
    is_ours,
    is_quoting,
    package_looked_for,
)
from benchfw.records import Cell, Trial
from benchfw.registry import Registry
from benchfw.sources import is_python
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


class Note(NamedTuple):
    """One thing that was read, and the file of the code that read it.

    `relative`: it was found from the working folder, which may be another one the next time. `source`: it is
    one of the modules that the reader imports by a statement, or that a library compiles. The key has it,
    unless it was found in a way that cannot be known from the source.
    """

    kind: str
    what: str
    reader: str
    relative: bool = False
    source: bool = False

    @property
    def computed(self) -> bool:
        """Whether this is a module that was imported by a computed name."""
        return self.kind == "module" and not self.source


class Reader(NamedTuple):
    """Who reads: a plugin's file, and the frame in it; none in a thread that it has started."""

    file: str
    frame: FrameType | None


class Reads:
    """What plugins have read in this process since it is watched."""

    def __init__(self) -> None:
        self._notes: dict[Note, Any] = {}  # with the state of each when it was read
        self._written: set[str] = set()
        self._made: set[str] = set()  # folders
        self._set_variables: set[str] = set()
        self._callers = Callers()
        self._caches = Caches()
        self._starters: WeakKeyDictionary[threading.Thread, str] = WeakKeyDictionary()
        self._path: tuple[str, ...] = ()  # of imports, once all plugins are loaded
        self._begun = 0
        self._files: dict[tuple[Cell, frozenset[Path]], frozenset[str]] = {}
        self._noting = threading.local()
        self.tell: Callable[[str], None] = lambda _: None
        """Called with the name of each thing when it is first read: a trial that crashes says no more."""
        self._start = os.getcwd()  # noqa: PTH109
        self._moved = False  # to a folder that was given by its full path

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
        self._begun = len(self._notes)
        self._path = self._path or tuple(sys.path)
        self._written.clear()
        self._made.clear()

    def of_trial(self, trial: Trial, registry: Registry) -> dict[str, str]:
        """Return what the trial read, with hashes: by itself, or before it by a module that it imports.

        A module that a plugin imported by a computed name counts for all trials: one that finds it loaded
        does not read it again. So does what the cells of a notebook have read.
        """
        notes = list(self._notes.items())
        if not notes:
            return {}
        with self.paused(), self._path_of_plugins():
            before, since = notes[: self._begun], notes[self._begun :]
            counted = [*since, *(each for each in before if each[0].computed)]
            if len(counted) < len(notes) or any(each.source for each, _ in since):
                files = self._files_of(trial, registry)
                counted += [
                    each
                    for each in before
                    if not each[0].computed and (each[0].reader in files or _is_unsaved(each[0].reader))
                ]
                counted = [each for each in counted if not (each[0].source and each[0].what in files)]
            known = (
                _datasets_of(trial, registry) if any(each.kind == "data set" for each, _ in counted) else ()
            )
            inputs = Inputs(registry.modules)
            return dict(
                self._seal(note, state, inputs)
                for note, state in counted
                if note.kind != "data set" or note.what not in known
            )

    def look_ahead(self, trial: Trial, registry: Registry) -> None:
        """Find out, before a process is forked for a trial, whatever `of_trial` will ask."""
        if any(not note.computed for note in self._notes):
            self._files_of(trial, registry)

    def _files_of(self, trial: Trial, registry: Registry) -> frozenset[str]:
        """Return the files of the modules that a trial imports, those with a computed name included."""
        modules = frozenset(Path(note.what) for note in self._notes if note.computed)
        known = self._files.get((trial.cell, modules))
        if known is None:
            known = files_of_trial(trial, registry, modules)
            self._files[trial.cell, modules] = known
        return known

    @contextlib.contextmanager
    def _path_of_plugins(self) -> Iterator[None]:
        """Let modules be found as the harness finds them, without what the trial has added to the path."""
        now = sys.path[:]
        changed = bool(self._path) and now != list(self._path)
        if changed:
            sys.path[:] = self._path
        try:
            yield
        finally:
            if changed:
                sys.path[:] = now

    def hear(self, event: str, arguments: tuple[Any, ...], frame: FrameType) -> None:
        """Take in an audit event and the frame that it comes from."""
        if getattr(self._noting, "now", False):
            return
        self._noting.now = True  # what is opened in here is not the plugin's
        try:
            if event == LOADED:
                reader = self._callers.find(frame, through=("library", "benchfw"))
                if reader is not None:
                    self._add(Note("data set", str(arguments[0]), reader.f_code.co_filename), "")
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
                self._made |= {path, os.path.realpath(path)}
        elif event == "os.rename" or (flags & WRITING and (flags & REPLACING or signature_of(path) is None)):
            self._written.add(path)
        elif not flags & os.O_WRONLY:  # who only adds to a file has not read it
            self._note_path(event, path, nearest, reader, relative=relative)

    def _is_aside(self, event: str, path: str, nearest: FrameType, reader: Reader) -> bool:
        """Return whether Python or a library opens this for itself, and not as what the plugin works on."""
        if is_loader(nearest):  # lists a folder to find a module: one that is not there is noted as absent
            return event.startswith("os.")
        if is_looking_for_packages(event, path, nearest, reader.frame):
            if event.startswith("os.") and self._asks_itself(nearest):
                self._add(_note_of_package(package_looked_for(nearest, reader.frame), reader.file), "")
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
                if not self._path:  # plugins are being loaded: so the key finds it, too
                    return
                source = True
            elif path.endswith(".py") and not loaded and not self._asks_itself(nearest):
                source = path == reader.file or is_loaded(path)
        path = self._behind_links(path)
        if self._callers.kind_of(path) == "own" and state != "folder" and not self._has_written(path, state):
            self._add(Note(kind, path, reader.file, relative, source), state)

    def _behind_links(self, path: str) -> str:
        """Return where a path leads from a folder that the trial has made, maybe a new one each time."""
        return os.path.realpath(path) if self._is_in_made_folder(path) else path

    def _is_in_made_folder(self, path: str) -> bool:
        """Return whether a path is in a folder that the trial has made."""
        return bool(self._made) and not self._made.isdisjoint(map(str, Path(path).parents))

    def _has_written(self, path: str, state: Any) -> bool:
        """Return whether the trial has written a file or made a folder, or another program in such a folder.

        What is not there has not been written, and what a hard link leads to was there before.
        """
        if path in self._written or path in self._made:
            return True
        return state is not None and self._is_in_made_folder(path) and not _has_links(path)

    def note_package(self, name: str, nearest: FrameType) -> None:
        """Note that a plugin asked for the version of an installed package; without a name, for all."""
        frame = self._callers.find(nearest, through=())
        if frame is not None and not getattr(self._noting, "now", False):
            self._add(_note_of_package(name, frame.f_code.co_filename), "")

    def note_found_module(self, origin: str | None, nearest: FrameType) -> None:
        """Note a module that `importlib.util.find_spec` found, without loading it."""
        frame = self._callers.find(nearest, through=())
        if frame is not None and origin and os.path.isabs(origin) and self._callers.kind_of(origin) == "own":  # noqa: PTH117
            self._add(Note("module", origin, frame.f_code.co_filename, source=True), signature_of(origin))

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
            known = (self._path or sys.path) if is_importing(frame) else ()
            last = name.rpartition(".")[2]
            for folder in sys.path if folders is None else folders:
                package = os.path.abspath(os.path.join(folder, "__init__.py"))  # noqa: PTH100, PTH118
                if folder in known or self._callers.kind_of(package) != "own":
                    continue
                for ending in (f"{os.sep}__init__.py", *all_suffixes()):
                    path = f"{package.removesuffix('__init__.py')}{last}{ending}"
                    self._add(Note("file", path, frame.f_code.co_filename), signature_of(path))
                if folders is None and not known and folder in self._path:
                    break  # its name, counted from there, leads to all folders of the path
        finally:
            self._noting.now = False

    def set_folder(self, folder: int | None) -> None:
        """Take what this thread opens from now on for paths counted from an open folder, or no longer."""
        self._noting.folder = None if folder is None else _text(folder)

    def note_working_folder(self, nearest: FrameType) -> None:
        """Note that the working folder was asked for."""
        if getattr(self._noting, "now", False) or _is_in(nearest, STARTING):
            return
        reader = self._callers.find(nearest, through=())
        if reader is not None and not is_importing(reader):  # by a module of Python's that it imports
            self._add(Note("working folder", ".", reader.f_code.co_filename), hash_folder(self._start))

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
            self._add(note, signature_of(origin))

    def note_variable(self, name: str, value: str | None, frame: FrameType) -> None:
        """Note an environment variable that was read."""
        reader = self._callers.find(frame, through=())
        if reader is None or name in IGNORED_VARIABLES or name in self._set_variables:
            return
        file = reader.f_code.co_filename
        asked_by_python = any(
            _is_in(each, (part,)) and name not in names
            for each in frames_between(frame, reader)
            for part, names in ASKING.items()
        )
        copied = name in SHELL_VARIABLES and Note("variable", ALL, file) in self._notes
        if not (asked_by_python or copied or is_importing(reader)):
            value = variable_names() if name == ALL else value
            self._add(Note("variable", name, file), hash_variable(name, value))

    def note_set_variable(self, name: str, frame: FrameType) -> None:
        """Note an environment variable that was set by somebody else than benchfw: its value is theirs."""
        if self._callers.find(frame, through=("library",)) is not None:
            self._set_variables.add(name)

    def _seal(self, note: Note, state: Any, inputs: Inputs) -> tuple[str, str]:
        """Return the name of what was read and a hash of it, if it still is as it was."""
        name = self.name_of(note)
        match note.kind:
            case "variable" | "working folder":
                return name, state
            case "data set" | "package" | "packages":
                return name, inputs.state(name)
            case "folder":
                unchanged = state == names_in(note.what)
            case _:
                unchanged = state == signature_of(note.what)
        if state is None:
            return name, ABSENT
        return name, inputs.hash_path(note.kind, Path(note.what)) if unchanged else CHANGED

    def name_of(self, note: Note) -> str:
        """Return the name by which the store knows what was read."""
        if note.kind in {"variable", "data set", "working folder", "package", "packages"}:
            return f"{note.kind} {note.what}"
        if note.relative:
            return f"{note.kind} ./{Path(os.path.relpath(note.what, self._start)).as_posix()}"
        return name_path(note.kind, Path(note.what), self._path or sys.path)

    def _add(self, note: Note, state: Any) -> None:
        if note not in self._notes:
            self._notes[note] = state
            self.tell(self.name_of(note))
        elif self._notes[note] != state:
            self._notes[note] = CHANGED


def _datasets_of(trial: Trial, registry: Registry) -> list[str]:
    """Return the data sets whose content is in a trial's key."""
    tables = [(trial.kind, trial.method.table), ("problem", trial.problem.table)]
    names = [registry.dataset_of(*each) for each in tables if trial.kind != "kernel"]
    try:
        return [each for name in names if name for each in sources_of(name)]
    except BenchfwError:
        return []


def _has_links(path: str) -> bool:
    """Return whether a file has more than one name."""
    try:
        return os.path.isfile(path) and os.stat(path).st_nlink > 1  # noqa: PTH113, PTH116 - often called
    except OSError:
        return False


def _note_of_package(name: str, reader: str) -> Note:
    return Note("package", name, reader) if name else Note("packages", ALL, reader)


def _is_in(frame: FrameType, files: tuple[str, ...]) -> bool:
    """Return whether a frame is in one of these files of Python's."""
    name = frame.f_code.co_filename
    return is_python(name) and name.replace(os.sep, "/").endswith(files)


def _is_unsaved(reader: str) -> bool:
    """Whether code is in no file, as that of a notebook: it may be a part of any trial."""
    return not os.path.isfile(reader)  # noqa: PTH113 - often called


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
