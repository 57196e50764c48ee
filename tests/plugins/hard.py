"""Methods that break their process in ways that are hard to notice."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass

from benchfw import CountedProblem, Problem, hookimpl

time.sleep(float(os.environ.get("SLOW_IMPORT", "0")))


class Point(CountedProblem):
    """Nothing to solve; as many metrics as asked for."""

    def __init__(self, backend, rng, metrics: int = 1):
        self.backend = backend
        self.names = [f"metric {number}" for number in range(metrics)]

    def metrics(self, answer):
        return dict.fromkeys(self.names, 1.0)


class Odd(BaseException):
    """Nothing that `except Exception` would catch."""


@dataclass(frozen=True)
class Hard:
    """Gives the start, then does what it is told."""

    how: str = "nothing"
    solves = Problem

    def run(self, problem, rng):
        if self.how == "number":
            return 3
        if self.how == "work":
            time.sleep(0.2)
        return self.answers(problem)

    def answers(self, problem):
        yield 0
        match self.how:
            case "child":  # keeps the worker's pipe open after its death
                multiprocessing.get_context("fork").Process(target=time.sleep, args=(60,)).start()
                os._exit(3)
            case "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            case "unknown signal":
                os.kill(os.getpid(), 40)
            case "exit":
                sys.exit("enough")
            case "interrupt":
                raise KeyboardInterrupt
            case "fork":
                if os.fork() == 0:
                    raise RuntimeError("I am the child")
            case "orphan":
                subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
            case "falling cost":
                problem.cost = -5.0
            case "long words":
                raise ValueError("x" * 5_000_000)
            case "base":
                raise Odd("beyond Exception")
            case "limit":
                raise ValueError(f"the pool's limit is {os.environ.get('CUPY_GPU_MEMORY_LIMIT')}")
            case "one call":
                problem.charge(1)
        while True:
            yield 1


@hookimpl
def register_problems(register):
    register("point", Point)


@hookimpl
def register_optimizers(register):
    register("hard", Hard)
