"""What a trial finds around itself: libraries loaded and warm, threads, and the state of the process."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import contextlib
import functools
import gc
import importlib
import os
import sys
import threading
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Self

import numpy as np
from threadpoolctl import ThreadpoolController  # sets a variable: not later than the plugins are imported

from benchfw.backends import get_backend
from benchfw.harness.inputs import THREAD_VARIABLES
from benchfw.harness.workers.messages import FUNCTIONS_OF
from benchfw.sources import SITE_FOLDERS, Installed, is_python
from benchfw.system import CAN_FORK_TRIALS, SIGNALS, count_threads, has_children, process_state


def warm_libraries() -> None:
    """Use NumPy once: what it loads at the first draw and the first product would count as a trial's time."""
    backend = get_backend("numpy")
    square = backend.rng(0).standard_normal((64, 64))
    np.linalg.eigh(square @ square.T)
    np.linalg.solve(square, np.random.default_rng(0).random(64))


def is_library(name: str, module: Any) -> bool:
    """Return whether a module is Python's, benchfw's or an installed library's: its import is not a method's.

    A plugin's own may be where the work is done, and what one leaves behind would be found by all that are
    forked after it.
    """
    path = getattr(module, "__file__", None) or ""
    if not path or is_python(path) or name.startswith("benchfw."):
        return True
    # a library may also lie in a folder of PYTHONPATH; which files are its own, its list of them says
    return any(folder in path for folder in SITE_FOLDERS) or _installed().owner(path) is not None


@functools.cache
def _installed() -> Installed:
    return Installed()


def import_known(modules: Iterable[str]) -> None:
    """Import modules that trials import; what cannot be imported by its name alone is left to them."""
    for name in modules:
        with contextlib.suppress(Exception, SystemExit):
            importlib.import_module(name)


class ThreadWatch:
    """Notices, while it is entered, which import starts threads: a process that has some cannot be forked.

    Where no process is forked for a trial, it notices nothing.
    """

    def __init__(self) -> None:
        self.culprit = ""
        self._importing = ""
        self._count = count_threads() if CAN_FORK_TRIALS else 0

    def __enter__(self) -> Self:
        if CAN_FORK_TRIALS:
            sys.meta_path.insert(0, self)
        return self

    def __exit__(self, *_: object) -> None:
        if CAN_FORK_TRIALS:
            self._look("")
            sys.meta_path.remove(self)

    def find_spec(self, name: str, *_: object) -> None:
        """Note the import of a module; others find it."""
        self._look(name)

    def _look(self, name: str) -> None:
        if not self.culprit and count_threads() > self._count:
            self.culprit = self._importing.partition(".")[0] or "a plugin"
        self._importing = name


class Surroundings:
    """The state of the process that trials run in."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._pools = ThreadpoolController()
        self._folder = os.getcwd()  # noqa: PTH109 - a string is all that is needed
        self._variables = dict(os.environ)
        self._native_threads = 0
        self.note()

    def note(self) -> None:
        """Take the state of the process as it is now for granted."""
        self._before = [read() for read in _STATE.values()]
        self.variables = encoded_variables()
        self._watched = {
            name: vars(module)
            for name, module in list(sys.modules.items())
            if name in _WATCHED_MODULES or name.startswith(_WATCHED_PACKAGES)
        }
        self._names = {name: tuple(content) for name, content in self._watched.items()}
        self._functions = self._read_functions()

    def note_imports(self, modules: Collection[str]) -> None:
        """Take filters for granted that these modules may have set for their own warnings."""
        place, filters = list(_STATE).index(_FILTERS), _STATE[_FILTERS]()
        before = self._before[place]
        new = filters[: len(filters) - len(before)]
        if filters[len(new) :] == before and all(
            category.__module__ in modules for _, _, category, *_ in new
        ):
            self._before[place] = filters

    def _read_functions(self) -> list[list[Any]]:
        return [list(content.values()) for content in self._watched.values()]

    def limit_new_libraries(self) -> None:
        """Give native libraries that were loaded since the start their number of threads."""
        self._pools = ThreadpoolController()
        self._pools.limit(limits=self._threads)

    def set_threads(self) -> None:
        """Give the native libraries their number of threads, here and in processes that a trial starts.

        The variables that a trial finds are noted: to look at them for each trial would copy their pages.
        """
        if self._threads > 1:
            os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(self._threads)))
            ThreadpoolController().limit(limits=self._threads)  # also of what was loaded since
            self.variables = encoded_variables()

    def note_threads(self) -> None:
        """Take the threads that run now for granted: those of the native libraries stay."""
        self._native_threads = count_threads()

    def changes(self, *, functions: bool = True) -> tuple[str, ...]:
        """Return what has changed, and would affect the next trial.

        Functions, of which there are many, are looked at on request, and where something else has changed.
        """
        found = []
        now = [read() for read in _STATE.values()]
        if not _same(now, self._before):
            pairs = zip(_STATE, now, self._before, strict=True)
            found += [name for name, one, other in pairs if not _same(one, other)]
        if count_threads() > self._native_threads:
            found.append("threads")
        if any(pool.num_threads != self._threads for pool in self._pools.lib_controllers):
            found.append("threads of native libraries")
        if has_children():
            found.append("processes")
        if (functions or found) and not _same(self._read_functions(), self._functions):
            found += self._changed_functions()
        return tuple(found)

    def _changed_functions(self) -> list[str]:
        """Return the modules in which a name stands for something else than before; more names are fine."""
        return [
            f"{FUNCTIONS_OF}{name}"
            for (name, names), before in zip(self._names.items(), self._functions, strict=True)
            if not _same([self._watched[name].get(each) for each in names], before)
        ]

    def restore(self) -> None:
        """Put back the working directory, the environment variables and the native thread counts."""
        os.chdir(self._folder)
        if os.environ != self._variables:
            os.environ.clear()
            os.environ.update(self._variables)
        if any(pool.num_threads != self._threads for pool in self._pools.lib_controllers):
            self._pools.limit(limits=self._threads)


def _same(one: Any, other: Any) -> bool:
    try:
        return bool(one == other)
    except Exception:  # noqa: BLE001 - arrays and strangers' objects compare as they like
        return False


def encoded_variables() -> dict[bytes, bytes]:
    """Return what os.environ keeps: to decode all of it after every trial would cost more than the rest."""
    return dict(os.environ._data)  # type: ignore[attr-defined]  # noqa: SLF001


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


_WATCHED_PACKAGES = ("benchfw.backends.", "benchfw.kernels.", "benchfw.measure.")
_WATCHED_MODULES = frozenset(
    ("builtins", "math", "random", "time", "numpy", "numpy.linalg", "numpy.random", "scipy.linalg")
)

_FILTERS = "warning filters"
_STATE: Mapping[str, Callable[[], Any]] = {
    "working directory": os.getcwd,
    "environment variables": encoded_variables,
    "umask": _umask,
    "Python threads": threading.active_count,
    "error state of NumPy": np.geterr,
    "error callback of NumPy": np.geterrcall,
    _FILTERS: lambda: list(warnings.filters),
    "recursion limit": sys.getrecursionlimit,
    "switch interval": sys.getswitchinterval,
    **process_state(),
    "signal handlers": lambda: list(map(_signal.getsignal, SIGNALS)),  # signal's own takes 30 times as long
    "import path": lambda: list(sys.path),
    "garbage collector": lambda: (gc.isenabled(), gc.get_threshold()),
    "trace function": lambda: (sys.gettrace(), sys.getprofile()),
    "standard streams": lambda: (sys.stdin, sys.stdout, sys.stderr),
}
