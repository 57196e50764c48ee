"""What differs between operating systems: everything else asks here for what the system can do.

Linux has all of it. macOS has no /proc, and its libraries do not survive a fork: each trial has a new
process. Windows also has no supervisor of workers and no limits of a process. `LACKS` says so in sentences.
"""

from __future__ import annotations

import _thread
import errno
import functools
import importlib
import os
import platform
import re
import signal
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

TASKS = Path("/proc/self/task")  # has a folder for each thread of this process
CLEAR_PEAK = Path("/proc/self/clear_refs")
STATUS = Path("/proc/self/status")
PROCESSORS = Path("/proc/cpuinfo")
OPEN_FILES = "/proc/self/fd"
GOVERNOR = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
PARENT_DEATH_SIGNAL, CHILD_SUBREAPER = 1, 36  # PR_SET_PDEATHSIG and PR_SET_CHILD_SUBREAPER of Linux's prctl
WINDOWS_PROCESSOR = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"


def _module(name: str) -> Any:
    """Return a module that only some systems have, or None."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


_fcntl, _resource, _winreg = _module("fcntl"), _module("resource"), _module("winreg")

CAN_SUPERVISE = hasattr(os, "fork")
"""A supervisor can stand between the parent and a worker: forks, process groups, inherited descriptors."""
CAN_FORK_TRIALS = CAN_SUPERVISE and TASKS.is_dir()
"""A trial can be forked from a worker: where threads can be counted, and libraries survive a fork."""
CAN_LIMIT_MEMORY = _resource is not None
"""The system itself refuses memory beyond a limit."""

NO_MEMORY_LIMIT = "no hard limit of memory: --memory is checked ten times a second"
LACKS: tuple[str, ...] = (
    *(() if CAN_FORK_TRIALS else ("trials are not forked: each starts a new process, which takes longer",)),
    *(() if CAN_LIMIT_MEMORY else (NO_MEMORY_LIMIT,)),
    *(() if CAN_SUPERVISE else ("processes that a trial started and that outlive a crash are not ended",)),
    *(() if STATUS.is_file() else ("the peak memory of a trial is not measured for --against",)),
)
"""What a user should know that this system cannot do, a sentence each."""

SIGNALS = tuple(getattr(signal, name) for name in ("SIGALRM", "SIGINT", "SIGTERM") if hasattr(signal, name))
"""What a plugin may handle and forget about."""

ALARM: signal.Signals = getattr(signal, "SIGALRM", signal.SIGTERM)
"""What `set_alarm` sends. Windows has no alarm, and nobody else sends SIGTERM there."""
_timers: list[threading.Timer] = []

LIMITS = ("RLIMIT_AS", "RLIMIT_CPU", "RLIMIT_DATA", "RLIMIT_NOFILE", "RLIMIT_STACK")


def process_state() -> Mapping[str, Callable[[], Any]]:
    """Return what a trial can change about its process on this system, and how to read it."""
    state: dict[str, Callable[[], Any]] = {}
    if _resource is not None:
        limits = [getattr(_resource, name) for name in LIMITS if hasattr(_resource, name)]
        state["limits of the process"] = lambda: list(map(_resource.getrlimit, limits))
    if hasattr(os, "getpriority"):
        state["priority"] = lambda: os.getpriority(os.PRIO_PROCESS, 0)
    if hasattr(signal, "getitimer"):
        state["alarm"] = lambda: signal.getitimer(signal.ITIMER_REAL)[0] > 0
    return state


def set_alarm(seconds: float) -> float:
    """Send ALARM to the main thread after so many seconds, with 0 never; return what was left of another."""
    if hasattr(signal, "setitimer"):
        return signal.setitimer(signal.ITIMER_REAL, seconds)[0]
    while _timers:
        _timers.pop().cancel()
    if seconds:
        _timers.append(threading.Timer(seconds, _thread.interrupt_main, [ALARM]))
        _timers[0].daemon = True
        _timers[0].start()
    return 0.0


def open_lock(file: Path, flags: int) -> int:
    """Open a lock file without waiting for anything; OSError for a link, which Windows would follow."""
    if not hasattr(os, "O_NOFOLLOW") and file.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(file))
    safe = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    return os.open(file, flags | safe, 0o666)


def try_lock(handle: int, *, shared: bool = False) -> bool:
    """Return whether the lock of an open file could be taken at once; its end is that of the process.

    Only with flock can several share a lock.
    """
    if _fcntl is None:
        from filelock import lock_descriptor

        return lock_descriptor(handle, blocking=False)
    try:
        _fcntl.flock(handle, (_fcntl.LOCK_SH if shared else _fcntl.LOCK_EX) | _fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def wait_for_lock(handle: int) -> None:
    """Take the lock of an open file, when others let it go."""
    if _fcntl is None:
        from filelock import lock_descriptor

        lock_descriptor(handle)
    else:
        _fcntl.flock(handle, _fcntl.LOCK_EX)


def limit_memory(size: int) -> None:
    """Let this process, and those that it starts, allocate so many bytes at most, where that can be."""
    if _resource is not None:
        _, most = _resource.getrlimit(_resource.RLIMIT_DATA)
        size = size if most == _resource.RLIM_INFINITY else min(size, most)
        _resource.setrlimit(_resource.RLIMIT_DATA, (size, size))


def leave_no_core() -> None:
    """Write no file when this process is killed."""
    if _resource is not None:
        _resource.setrlimit(_resource.RLIMIT_CORE, (0, 0))


def forget_peak() -> bool:
    """Make the memory that this process holds now its peak; return whether this system can."""
    try:
        CLEAR_PEAK.write_text("5", encoding="ascii")  # "reset the peak resident set size", proc(5)
    except OSError:
        return False
    return True


def peak_memory() -> int:
    """Return the most bytes that this process has held."""
    if STATUS.is_file():  # a started process inherits its parent's ru_maxrss on Linux, but not this
        found = re.search(r"VmHWM:\s+(\d+) kB", STATUS.read_text(encoding="ascii"))
        if found:
            return int(found[1]) * 1024
    if _resource is not None:
        peak = int(_resource.getrusage(_resource.RUSAGE_SELF).ru_maxrss)
        return peak if platform.system() == "Darwin" else peak * 1024  # all but macOS count in KiB
    import psutil

    info = psutil.Process().memory_info()
    return int(getattr(info, "peak_wset", info.rss))  # Windows calls it the peak of the working set


def count_threads() -> int:
    """Return the threads of this process, except those by which jemalloc returns memory.

    That library prepares itself for a fork. Whatever imports pandas starts one, with pyarrow.
    """
    if not CAN_FORK_TRIALS:
        import psutil

        return int(psutil.Process().num_threads())
    count = os.stat(TASKS).st_nlink - 2  # noqa: PTH116 - every import is looked at
    return count if count == 1 else count - sum(map(_returns_memory, TASKS.iterdir()))


def _returns_memory(task: Path) -> bool:
    try:
        return (task / "comm").read_text(encoding="utf-8").strip() == "jemalloc_bg_thd"
    except FileNotFoundError:  # it has just ended
        return False


def count_usable_cores() -> int:
    """Return the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def own_seconds() -> float | None:
    """Return the CPU seconds of this process and of those that it has waited for, if the system tells."""
    return sum(os.times()[:4]) if _resource is not None else None


def session() -> int:
    """Return a number that processes have in common which a worker forks: that of the worker."""
    return os.getsid(0) if hasattr(os, "getsid") else os.getpid()


def path_of_open_file(handle: int) -> str | None:
    """Return where an open file or folder is, if the system tells."""
    try:
        found = os.readlink(f"{OPEN_FILES}/{handle}")  # noqa: PTH115
    except OSError:
        return None
    return found if os.path.isabs(found) else None  # noqa: PTH117 - often called


@functools.cache
def _prctl() -> Any:
    """Return the system call that sets options of a process; only Linux has one."""
    import ctypes

    return getattr(ctypes.CDLL(None), "prctl", None) if CAN_SUPERVISE else None


def can_adopt_orphans() -> bool:
    """Return whether this system knows what `adopt_orphans` asks for."""
    return _prctl() is not None


def adopt_orphans() -> None:
    """Become the parent of every process below this one that loses its own, where that can be."""
    if can_adopt_orphans():
        _prctl()(CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with_parent() -> None:
    """Let this process end when its parent does, where that can be."""
    if can_adopt_orphans():
        _prctl()(PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)


def has_children() -> bool:
    """Return whether a process that this one started still runs; those that have ended are reaped."""
    if not hasattr(os, "WNOHANG"):
        return has_processes()
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def has_processes() -> bool:
    """Return whether this process has started others that nobody has waited for; they are not touched."""
    if not hasattr(os, "waitid"):
        import psutil

        return bool(psutil.Process().children())
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def set_path_of_programs(path: str) -> None:
    """Set PYTHONPATH for the programs that this process starts; its own path is not changed."""
    os.environ.pop("PYTHONPATH", None)
    if path:
        os.environ["PYTHONPATH"] = path


def end_children(process: int | None = None) -> None:
    """End all processes below one, by default this one."""
    import psutil

    try:
        left = psutil.Process(process).children(recursive=True)
    except psutil.Error:
        return
    for each in left:
        try:
            each.kill()
        except psutil.Error:  # has ended meanwhile, or is another user's
            continue


def governor() -> str:
    """Return what decides the clock of the processor, if the system tells."""
    return GOVERNOR.read_text(encoding="ascii").strip() if GOVERNOR.is_file() else ""


@functools.cache
def processor(listed: Path = PROCESSORS) -> str:
    """Return the CPU's model name, or the best that the system says about it."""
    text = listed.read_text(encoding="utf-8", errors="replace") if listed.exists() else ""
    first = (line.partition(":") for line in text.partition("\n\n")[0].splitlines())
    facts = {name.strip(): value.strip() for name, _, value in first}
    if "model name" in facts:
        return facts["model name"]
    known = platform.processor() or platform.machine()
    if "CPU part" in facts:  # an ARM core says who designed it and which one it is, in numbers
        return f"{known} (implementer {facts.get('CPU implementer')}, part {facts['CPU part']})"
    return _processor_in_registry() or _processor_by_sysctl() or known


def _processor_in_registry() -> str:
    """Return what Windows calls the processor."""
    if _winreg is None:
        return ""
    with _winreg.OpenKey(_winreg.HKEY_LOCAL_MACHINE, WINDOWS_PROCESSOR) as key:
        return str(_winreg.QueryValueEx(key, "ProcessorNameString")[0]).strip()


def _processor_by_sysctl() -> str:
    """Return what macOS calls the processor."""
    import subprocess

    words = ["sysctl", "-n", "machdep.cpu.brand_string"]
    try:
        done = subprocess.run(words, capture_output=True, encoding="utf-8", timeout=5, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
