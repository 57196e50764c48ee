"""Runs trials one after the other in this process: for a debugger and for tests.

Trials share the process, so that one can change what the next finds; limits of time and memory do not apply.
"""

from __future__ import annotations

import random
from bdb import BdbQuit
from collections.abc import Iterator, Sequence
from time import perf_counter

import numpy as np

from benchfw.harness.events import Event, Finished, Started
from benchfw.harness.workers.reading.watch import stop_watching, watch
from benchfw.harness.workers.surroundings import Surroundings
from benchfw.measure.trial import collector, run_trial, warm_up
from benchfw.records import Cell, Outcome, Trial, change
from benchfw.registry import Registry


class InlineExecutor:
    """No process of its own: `breakpoint()` in a method stops there, and what it prints is seen.

    The registry is active while trials run.
    """

    def __init__(self, registry: Registry, *, threads: int = 1, keep_in: str = "") -> None:
        self._registry = registry
        self._keep_in = keep_in
        self._surroundings = Surroundings(threads)
        self._generators = random.getstate(), np.random.get_state()  # noqa: NPY002 - trials seed it
        self._warm: set[Cell] = set()
        self._reads = watch()

    def run(self, trials: Sequence[Trial]) -> Iterator[Event]:
        """Run the trials in the order given."""
        for trial in trials:
            yield Started(trial)
            yield Finished(trial, self._measure(trial))

    def close(self) -> None:
        """Put back the state of the global generators, which every trial seeds, and note nothing more."""
        stop_watching()
        random.setstate(self._generators[0])
        np.random.set_state(self._generators[1])  # noqa: NPY002 - as above

    def _measure(self, trial: Trial) -> Outcome:
        began = perf_counter()
        if trial.cell not in self._warm:
            warm_up(trial, self._registry, collector()[1], _stop_if_debugger_quit)
            self._surroundings.restore()
            self._surroundings.limit_new_libraries()
            self._warm.add(trial.cell)
        records, emit = collector()
        self._reads.begin_trial()
        try:
            outcome = run_trial(trial, self._registry, emit, _stop_if_debugger_quit, self._keep_in)
        finally:
            self._surroundings.restore()
        reads = self._reads.of_trial(trial, self._registry)
        return change(outcome, records=tuple(records), seconds=perf_counter() - began, reads=reads)


def _stop_if_debugger_quit(fault: BaseException) -> None:
    """Let the whole run end when the user leaves the debugger, rather than note a failed trial."""
    if isinstance(fault, BdbQuit):
        raise KeyboardInterrupt
