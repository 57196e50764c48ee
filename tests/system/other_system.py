"""Runs Python as if on another system: `python other_system.py windows|macos PYTHON -m MODULE …`.

benchfw finds no module, function or file that the other system lacks; the libraries below it, such as psutil,
which have bodies of their own for that system, find them as ever.
PYTHON is what a process of ours starts for a child, for which the same holds.
"""

import builtins
import ctypes
import errno
import importlib
import io
import os
import runpy
import select
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import filelock  # noqa: F401
import platformdirs  # noqa: F401
import psutil  # noqa: F401

MODULES = {"fcntl", "resource", "termios", "pwd", "grp"}
FUNCTIONS = {
    os: (
        "fork forkpty setsid getsid setpgid getpgid getpgrp killpg pread pwrite getloadavg sysconf "
        "getpriority setpriority PRIO_PROCESS environb wait waitid WNOHANG WIFSIGNALED WTERMSIG "
        "register_at_fork O_NOFOLLOW O_NONBLOCK sched_getaffinity set_blocking getuid geteuid mkfifo"
    ),
    signal: "SIGALRM SIGKILL SIGHUP SIGQUIT setitimer getitimer ITIMER_REAL alarm pthread_sigmask",
    select: "poll epoll",
}
LIBRARY = {"pathlib", "genericpath", "posixpath", "importlib", "tempfile", "shutil", __name__}


def asked_by_benchfw():
    """Return whether the call comes from benchfw, by way of Python's own modules or not."""
    frame = sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in LIBRARY:
        frame = frame.f_back
    return frame is not None and frame.f_globals.get("__name__", "").startswith("benchfw")


def without_proc(function):
    """Return a function that finds nothing in /proc when benchfw asks."""

    def look(path, *arguments, **options):
        text = os.fspath(path) if isinstance(path, str | Path) else ""
        if text.startswith(("/proc", "/sys")) and asked_by_benchfw():
            raise FileNotFoundError(errno.ENOENT, "hidden by the test", text)
        return function(path, *arguments, **options)

    return of_python(look)


def without_modules(function):
    """Return an import that finds no module of POSIX when benchfw asks."""

    def find(name, *arguments, **options):
        if name in MODULES and asked_by_benchfw():
            raise ModuleNotFoundError(name)
        return function(name, *arguments, **options)

    return of_python(find)


def of_python(function):
    """Return a function that benchfw takes for one of Python's when it asks which plugin has read a file."""
    function.__code__ = function.__code__.replace(co_filename=os.__file__)
    return function


class WindowsPopen(subprocess.Popen):
    """Hands down nothing but the standard streams."""

    def __init__(self, *arguments, pass_fds=(), preexec_fn=None, **options):
        assert not pass_fds, "pass_fds not supported on Windows."
        assert preexec_fn is None, "preexec_fn is not supported on Windows platforms"
        super().__init__(*arguments, **options)


class MacLibrary(ctypes.CDLL):
    """Has no prctl."""

    def __getattr__(self, name):
        if name == "prctl":
            raise AttributeError(name)
        return super().__getattr__(name)


def pretend(system):
    """Hide what the system lacks."""
    os.stat, os.readlink = without_proc(os.stat), without_proc(os.readlink)
    os.listdir, os.scandir = without_proc(os.listdir), without_proc(os.scandir)
    builtins.open = io.open = without_proc(io.open)
    ctypes.CDLL = MacLibrary
    if system == "macos":
        del os.sched_getaffinity
        return
    builtins.__import__ = without_modules(builtins.__import__)
    importlib.import_module = without_modules(importlib.import_module)
    subprocess.Popen = WindowsPopen
    for module, names in FUNCTIONS.items():
        give_libraries_their_own(module)
        for name in names.split():
            delattr(module, name)


def give_libraries_their_own(module):
    """Let all that is imported by now keep the module as it is."""
    whole = SimpleNamespace(**vars(module))
    for library in list(sys.modules.values()):
        if vars(library).get(module.__name__) is module and library.__name__ != "__main__":
            setattr(library, module.__name__, whole)


def main():
    system, sys.executable, *words = sys.argv[1:]
    if words[:2] == ["-m", "pytest"]:
        importlib.import_module("getpass")
        importlib.import_module("pytest")
    pretend(system)
    if words[0] == "-P":
        words = words[1:]
    sys.path[0] = str(Path.cwd())
    match words:
        case ["-m", module, *rest]:
            sys.argv = [module, *rest]
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        case ["-c", code, *rest]:
            sys.argv = ["-c", *rest]
            exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})


if __name__ == "__main__":
    main()
