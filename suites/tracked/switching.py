"""What a callback costs an iteration, on the clock, beside a generator: `python suites/tracked/switching.py`.

The solver does nothing, so that its seconds are the harness's own. It hands over two arrays in turn, or one
array again and again, as a solver does that works in place: then each answer is copied, off the clock. A
thread for the solver, with two locks, is what code without `from_callback` would need.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from benchfw import CountedProblem, from_callback
from benchfw.backends import get_backend
from benchfw.measure.optimizers import measure_optimizer
from benchfw.measure.trial import collector
from benchfw.records import Budget, Spec, Trial

ITERATIONS = 200_000
THREAD_ITERATIONS = 20_000
REPEATS = 5
MOST = 30e-6  # seconds an iteration


class Nothing(CountedProblem):
    """A problem with nothing to solve."""

    def __init__(self) -> None:
        self.backend = get_backend("numpy")

    def start(self) -> Any:
        """Return ones."""
        return np.ones(100)

    def metrics(self, answer: Any) -> dict[str, float]:
        """Return the first entry."""
        return {"first": float(answer[0])}


@dataclass(frozen=True)
class Yielding:
    """Yields ones again and again, of one array or of two in turn."""

    in_place: bool = False

    def run(self, problem: Any, _rng: Any) -> Iterator[Any]:
        """Yield them."""
        x = problem.start()
        y = x if self.in_place else problem.start()
        while True:
            yield x
            yield y


@from_callback
def calling(problem: Any, _rng: Any, callback: Any, in_place: bool = False) -> None:
    """Hand over ones again and again, of one array or of two in turn."""
    x = problem.start()
    y = x if in_place else problem.start()
    while True:
        callback(x)
        callback(y)


@dataclass(frozen=True)
class Threaded:
    """The same from a thread, which waits for its turn."""

    def run(self, problem: Any, _rng: Any) -> Iterator[Any]:
        """Yield what the thread hands over."""
        mine, its = threading.Semaphore(0), threading.Semaphore(0)
        x, y = problem.start(), problem.start()

        def work() -> None:
            while True:
                its.acquire()
                mine.release()

        threading.Thread(target=work, daemon=True).start()
        while True:
            its.release()
            mine.acquire()
            yield x
            x, y = y, x


def measure(method: Any, iterations: int) -> float:
    """Return the fewest seconds an iteration of several trials."""
    trial = Trial("optimizer", Spec("p"), Spec("m"), "numpy", 0, 1, Budget(iterations=iterations))
    found = []
    for _ in range(REPEATS):
        records, emit = collector()
        problem = Nothing()
        measure_optimizer(trial, problem, method, problem.backend.rng(1), emit)
        found.append(records[-1].seconds / iterations)
    return min(found)


def main() -> None:
    """Print the seconds, and fail where a callback takes too many."""
    began = perf_counter()
    plain, called = measure(Yielding(), ITERATIONS), measure(calling(), ITERATIONS)
    rows = {
        "generator": plain,
        "generator, in place": measure(Yielding(in_place=True), ITERATIONS),
        "callback": called,
        "callback, in place": measure(calling(in_place=True), ITERATIONS),
        "thread": measure(Threaded(), THREAD_ITERATIONS),
    }
    for name, seconds in rows.items():
        print(f"{name:20} {1e6 * seconds:6.2f} µs an iteration, {seconds / plain:.1f} times the generator's")
    print(f"{perf_counter() - began:.1f} s")
    if called > MOST:
        raise SystemExit(f"a callback takes more than {1e6 * MOST:g} µs")


if __name__ == "__main__":
    main()
