"""Lets `Reads` see what happens in this process: an audit hook, `os.environ`, a few functions.

An audit hook sees what Python opens. What native code or another process reads is not seen, and neither are
looks at whether a file exists.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
import threading
from collections.abc import Collection, Iterator, Sequence
from types import ModuleType
from typing import Any

from benchfw.data.load import LOADED
from benchfw.harness.inputs import ALL
from benchfw.harness.workers.reading.reads import Reads

EVENTS = frozenset(
    {
        "open", "os.chdir", "os.listdir", "os.scandir", "os.mkdir", "os.rename",
        "ctypes.dlopen", "sqlite3.connect", LOADED,
    }
)  # fmt: skip


class _Switch:
    """Who hears what happens; nobody while it is None. A hook cannot be removed."""

    reads: Reads | None = None
    installed = False
    knows_packages = False


_switch = _Switch()


def watch() -> Reads:
    """Note from now on what plugins read in this process."""
    _switch.reads = reads = Reads()
    _install()
    return reads


def stop_watching() -> None:
    """Note nothing more."""
    _switch.reads = None


def _install() -> None:
    if _switch.installed:
        return
    _switch.installed = True
    sys.addaudithook(_hear)
    os.environ.__class__ = _WatchedVariables
    if hasattr(os, "environb"):
        os.environb.__class__ = _WatchedVariables
    importlib.import_module = _note_import(importlib.import_module)
    importlib.util.find_spec = _note_search(importlib.util.find_spec)
    sys.meta_path.append(_Absences())
    threading.Thread.start = _note_thread(threading.Thread.start)  # type: ignore[method-assign]
    os.getcwd, os.getcwdb = _note_working_folder(os.getcwd), _note_working_folder(os.getcwdb)
    os.open = _note_folder(os.open)
    os.supports_dir_fd.add(os.open)


def _hear(
    event: str, arguments: tuple[Any, ...], events: Collection[str] = EVENTS, switch: _Switch = _switch
) -> None:
    # both by default arguments: the names of this module are gone before Python's last events
    if event in events and switch.reads is not None:
        if not switch.knows_packages and hasattr(sys.modules.get("importlib.metadata"), "version"):
            switch.knows_packages = True
            _note_packages()
        frame = sys._getframe(1)  # noqa: SLF001 - who asks is what counts
        if frame.f_code.co_filename == __file__ and frame.f_back is not None:  # of os.open, below
            frame = frame.f_back
        switch.reads.hear(event, arguments, frame)


def _note_import(import_module: Any) -> Any:
    @functools.wraps(import_module)
    def noted(name: str, package: str | None = None) -> ModuleType:
        module: ModuleType = import_module(name, package)
        if _switch.reads is not None:
            _switch.reads.note_module(module, sys._getframe(1))  # noqa: SLF001
        return module

    return noted


def _note_search(find_spec: Any) -> Any:
    @functools.wraps(find_spec)
    def noted(name: str, package: str | None = None) -> Any:
        found = find_spec(name, package)
        if _switch.reads is not None and found is not None:
            _switch.reads.note_found_module(found.origin, sys._getframe(1))  # noqa: SLF001
        return found

    return noted


def _note_packages() -> None:
    """Note which packages are asked for, once `importlib.metadata` is there: it lists folders only once."""
    distribution: Any = sys.modules["importlib.metadata"].Distribution
    discover = distribution.discover.__func__

    def noted(cls: Any, /, *, context: Any = None, **options: Any) -> Any:
        if _switch.reads is not None:
            name = options.get("name") or getattr(context, "name", None) or ""
            _switch.reads.note_package(name, sys._getframe(1))  # noqa: SLF001
        return discover(cls, context=context, **options)

    distribution.discover = classmethod(noted)


def _note_thread(start: Any) -> Any:
    @functools.wraps(start)
    def noted(self: threading.Thread) -> None:
        if _switch.reads is not None:
            _switch.reads.note_thread(self, sys._getframe(1))  # noqa: SLF001
        start(self)

    return noted


class _Absences:
    """The last finder of modules: it hears of those that no other one has found, and finds none."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> None:
        """Note that the module is absent."""
        del target
        if _switch.reads is not None:
            _switch.reads.note_absent_module(name, path, sys._getframe(1))  # noqa: SLF001


def _note_working_folder(get_folder: Any) -> Any:
    @functools.wraps(get_folder)
    def noted() -> Any:
        if _switch.reads is not None:
            _switch.reads.note_working_folder(sys._getframe(1))  # noqa: SLF001
        return get_folder()

    return noted


def _note_folder(open_file: Any) -> Any:
    @functools.wraps(open_file)
    def noted(*arguments: Any, dir_fd: int | None = None, **options: Any) -> Any:
        reads = _switch.reads if dir_fd is not None else None
        if reads is None:
            return open_file(*arguments, dir_fd=dir_fd, **options)
        reads.set_folder(dir_fd)
        try:
            return open_file(*arguments, dir_fd=dir_fd, **options)
        finally:
            reads.set_folder(None)

    return noted


class _WatchedVariables(os._Environ):  # type: ignore[type-arg]  # noqa: SLF001 - the class of os.environ
    """The class that `os.environ` has once it is watched."""

    def __getitem__(self, key: Any) -> Any:
        try:
            value = super().__getitem__(key)
        except KeyError:
            _note_variable(key, None)
            raise
        _note_variable(key, value)
        return value

    def __iter__(self) -> Iterator[Any]:
        _note_variable(ALL, None)
        return super().__iter__()

    def __setitem__(self, key: Any, value: Any) -> None:
        if _switch.reads is not None:
            _switch.reads.note_set_variable(_text(key), sys._getframe(1))  # noqa: SLF001
        super().__setitem__(key, value)

    def __delitem__(self, key: Any) -> None:
        if _switch.reads is not None:
            _switch.reads.note_set_variable(_text(key), sys._getframe(1))  # noqa: SLF001
        super().__delitem__(key)


def _note_variable(key: Any, value: Any) -> None:
    reads = _switch.reads
    if reads is not None and isinstance(key, str | bytes):
        reads.note_variable(_text(key), None if value is None else _text(value), sys._getframe(2))  # noqa: SLF001


def _text(value: str | bytes) -> str:
    return value if isinstance(value, str) else os.fsdecode(value)
