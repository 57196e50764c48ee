"""Methods that leave something behind, and one that looks for what others have left."""

import functools
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchfw import CountedProblem, Problem, hookimpl

COUNT = [0]
DOT = np.dot


class Point(CountedProblem):
    """An answer is a number, and that is what is measured."""

    def __init__(self, backend, rng):
        self.backend = backend

    def start(self):
        return 0.0

    def metrics(self, answer):
        if threading.active_count() > 1:
            time.sleep(0.05)  # for a thread to work meanwhile
        return {"found": answer}


def state():
    """Return what a process shares with all that runs in it."""
    return (
        Path.cwd(),
        dict(os.environ),
        threading.active_count(),
        np.geterr(),
        len(warnings.filters),
        sys.getrecursionlimit(),
        resource.getrlimit(resource.RLIMIT_NOFILE),
        signal.getitimer(signal.ITIMER_REAL)[0] > 0,
        np.dot is DOT,
        COUNT[0],
    )


CLEAN = state()

MESS = {
    "folder": lambda: os.chdir("/"),
    "variable": lambda: os.environ.update(LEFT="behind"),
    "thread": lambda: threading.Thread(target=time.sleep, args=(60,), daemon=True).start(),
    "errors": lambda: np.seterr(all="raise"),
    "warnings": lambda: warnings.simplefilter("error"),
    "recursion": lambda: sys.setrecursionlimit(150),
    "limit": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)),
    "alarm": lambda: signal.alarm(1),
    "patch": lambda: setattr(np, "dot", lambda *_: 0),
    "process": lambda: subprocess.Popen(["sleep", "60"]),
}


@dataclass(frozen=True)
class Leave:
    """Leaves something behind."""

    what: str
    solves = Problem

    def run(self, problem, rng):
        yield problem.start()
        problem.charge(1)
        MESS[self.what]()
        yield problem.start()


@dataclass(frozen=True)
class Look:
    """Answers with the number of things that are not as they were when this file was imported."""

    solves = Problem

    def run(self, problem, rng):
        yield problem.start()
        problem.charge(1)
        yield float(sum(now != before for now, before in zip(state(), CLEAN, strict=True)))


@dataclass(frozen=True)
class Count:
    """Answers with the number of times that it has run in this process."""

    solves = Problem

    def run(self, problem, rng):
        yield problem.start()
        problem.charge(1)
        COUNT[0] += 1
        yield float(COUNT[0])


@functools.lru_cache
def factorize(size):
    """Return how long ago this was computed, in calls."""
    COUNT[0] += 1
    return size


@dataclass(frozen=True)
class Cached:
    """Does the work of its set-up only where it was not done before: answers with how often it was."""

    solves = Problem

    def run(self, problem, rng):
        yield problem.start()
        problem.charge(1)
        before = COUNT[0]
        factorize(3)
        yield float(COUNT[0] - before)


@dataclass(frozen=True)
class Lazy:
    """Imports a module in its first iteration: answers with whether it was there already."""

    solves = Problem

    def run(self, problem, rng):
        yield problem.start()
        problem.charge(1)
        known = "colorsys" in sys.modules
        import colorsys  # noqa: F401

        yield float(known)


@dataclass(frozen=True)
class Moody:
    """Draws from outside: the system's entropy, or the order of a set of strings."""

    source: str = "entropy"
    solves = Problem

    def run(self, problem, rng):
        yield problem.start()
        problem.charge(1)
        if self.source == "entropy":
            yield float(np.random.default_rng().random())
        elif self.source == "set":
            yield float("".join(set("0123456789")))
        else:
            yield random.random() + float(rng.standard_normal(1)[0])


@dataclass(frozen=True)
class Spawn:
    """Holds memory in a process that it starts."""

    solves = Problem

    def run(self, problem, rng):
        yield problem.start()
        problem.charge(1)
        subprocess.run(
            [sys.executable, "-c", "x = bytes(range(256)) * 2_000_000; input()"], stdin=HELD[0], check=False
        )
        yield problem.start()


HELD = os.pipe()


def spin(seconds):
    """Use the processor for so long."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        pass


@dataclass(frozen=True)
class Beside:
    """Works in a thread while metrics are taken, or has one that waits."""

    works: bool = True
    solves = Problem

    def run(self, problem, rng):
        worker = threading.Thread(target=spin if self.works else time.sleep, args=(60,), daemon=True)
        worker.start()
        yield problem.start()
        problem.charge(1)
        yield problem.start()


@dataclass(frozen=True)
class Patchy:
    """Imports a module of its own, after it has set a variable that the module reads."""

    solves = Problem

    def run(self, problem, rng):
        yield problem.start()
        problem.charge(1)
        os.environ["MODE"] = "7"
        import patchy

        yield float(patchy.MODE)


@dataclass(frozen=True)
class Threads:
    """Answers with the least number of threads that a native library has, SciPy's own included."""

    solves = Problem

    def run(self, problem, rng):
        import scipy.linalg
        from threadpoolctl import threadpool_info

        yield problem.start()
        problem.charge(1)
        scipy.linalg.cholesky(np.eye(3))
        yield float(min(each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"))


@dataclass(frozen=True)
class Forge:
    """Makes the clock of its process show hours that did not pass."""

    solves = Problem

    def run(self, problem, rng):
        yield problem.start()
        problem.charge(1)
        clock = sys.modules["benchfw.measure.clock"]
        clock.Clock.seconds = property(lambda _: 7200.0, lambda *_: None)
        yield problem.start()


@hookimpl
def register_problems(register):
    register("point", Point)


@hookimpl
def register_optimizers(register):
    for name, method in {
        "leave": Leave, "look": Look, "count": Count, "cached": Cached, "lazy": Lazy, "moody": Moody,
        "forge": Forge, "spawn": Spawn, "beside": Beside, "patchy": Patchy, "threads": Threads,
    }.items():  # fmt: skip
        register(name, method)
