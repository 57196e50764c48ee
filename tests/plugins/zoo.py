"""Four healthy methods and one method for every way to go wrong."""

import ctypes
import os
import random
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import bowls
import numpy as np
from threadpoolctl import threadpool_limits

from benchfw import Smooth, hookimpl

SLEEP = "import time; time.sleep(300)"


class Bowl(bowls.Bowl):
    """A bowl that counts as lost beyond 1e6."""

    def value(self, params):
        gap = super().value(params)
        return float("inf") if gap > 1e6 else gap


@dataclass(frozen=True)
class Aware:
    """Gradient descent whose step is 0.5 only where the surroundings are as they should be."""

    solves = Smooth

    def run(self, problem, rng):
        from threadpoolctl import threadpool_info

        threads = {each["num_threads"] for each in threadpool_info()}
        untouched = Path("zoo.toml").exists() and "ZOO" not in os.environ and threads <= {1}
        answer = problem.start()
        while True:
            yield answer
            # a method that draws from global generators: the same numbers in every order of trials
            noise = 1e-3 * (np.random.random() + random.random())  # noqa: NPY002
            answer = answer - (0.5 if untouched else 0.1) * problem.grad(answer) - noise


def raises(problem):
    raise RuntimeError("I give up")


def gives_nan(problem):
    yield problem.start() * float("nan")


def gives_infinity(problem):
    yield problem.start() + float("inf")


def hangs(problem):
    while True:
        time.sleep(1)


def hangs_in_native_code(problem):
    ctypes.PyDLL(None).sleep(300)  # PyDLL keeps the interpreter's lock


def segfaults(problem):
    def go_down_so_that_what_python_says_of_the_stack_is_long(left):
        if left:
            go_down_so_that_what_python_says_of_the_stack_is_long(left - 1)
        ctypes.string_at(0)

    go_down_so_that_what_python_says_of_the_stack_is_long(100)


def exits(problem):
    os._exit(3)


def eats_memory(problem):
    kept = []
    while True:
        kept.append(np.ones(10_000_000))


def prints_much(problem):
    for file in (sys.stdout, sys.stderr):
        for _ in range(50):
            file.write("x" * 1_000_000)
    yield problem.start()


def leaves_children(problem):
    for new_session in (False, True):
        words = [sys.executable, "-c", SLEEP, problem.nickname]
        subprocess.Popen(words, start_new_session=new_session)
    daemon = f"import subprocess, sys; subprocess.Popen({words!r}, start_new_session=True)"
    subprocess.run([sys.executable, "-c", daemon], check=True)
    yield problem.start()


def crashes_with_children(problem):
    next(leaves_children(problem))
    os._exit(4)


def disturbs(problem):
    os.chdir("/")
    os.environ["ZOO"] = "open"
    np.random.seed(1)  # noqa: NPY002
    random.seed(1)
    threadpool_limits(4)
    yield problem.start()


def yields_fast(problem):
    one, other = problem.start(), problem.start()
    while True:  # never twice the same array: an answer that is overwritten would be copied
        yield one
        yield other


def never_yields(problem):
    while True:
        time.sleep(0.01)
        if problem is None:
            yield


def yields_nothing(problem):
    yield from ()


FAULTS = {
    "raises": raises,
    "gives nan": gives_nan,
    "gives infinity": gives_infinity,
    "hangs": hangs,
    "hangs in native code": hangs_in_native_code,
    "segfaults": segfaults,
    "exits": exits,
    "eats memory": eats_memory,
    "prints much": prints_much,
    "leaves children": leaves_children,
    "crashes with children": crashes_with_children,
    "disturbs": disturbs,
    "yields fast": yields_fast,
}
FROM_THE_START = {"never yields": never_yields, "yields nothing": yields_nothing}


def method(name, break_down):
    """Return the class of a method that gives the start and then breaks down, or breaks down at once."""

    @dataclass(frozen=True)
    class Broken:
        solves = Smooth
        nickname: str = ""

        def run(self, problem, rng):
            problem.nickname = self.nickname
            if name in FAULTS:
                yield problem.start()
            yield from break_down(problem) or ()

    return Broken


@hookimpl
def register_problems(register):
    register("bowl", Bowl)


@hookimpl
def register_optimizers(register):
    register("slide", bowls.Slide)
    register("aware", Aware)
    for name, break_down in {**FAULTS, **FROM_THE_START}.items():
        register(name.replace(" ", "-"), method(name, break_down))
