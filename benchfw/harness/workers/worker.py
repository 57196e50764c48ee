"""A worker process: takes trials from a pipe one after the other, and sends back what it measures.

With isolation by trial the worker is a template: it imports the plugins, warms up the libraries and forks a
process for every trial, so that nothing a method does can reach another trial. A process with threads cannot
be forked safely, and a device cannot be shared: then the worker runs one trial itself and is not used again.
With isolation by worker it runs one trial after the other itself, until one leaves something behind.
"""

from __future__ import annotations

import contextlib
import faulthandler
import mmap
import os
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter
from typing import Any

from benchfw.backends import get_backend
from benchfw.harness.workers.messages import (
    FAMILIAR,
    PROTOCOL,
    RAN_HERE,
    Request,
    Setup,
    pack_repeat,
    plain_outcome,
    receive_repeat,
    receive_whole,
    write_line,
)
from benchfw.harness.workers.packing import unpack_objects
from benchfw.harness.workers.reading.reads import Reads
from benchfw.harness.workers.reading.watch import watch
from benchfw.harness.workers.supervisor import children, end_as, end_leftovers, end_process
from benchfw.harness.workers.surroundings import (
    Surroundings,
    ThreadWatch,
    encoded_variables,
    import_known,
    is_library,
    warm_libraries,
)
from benchfw.measure.clock import count_cpu_seconds
from benchfw.measure.endings import explain, field_names
from benchfw.measure.kernels import Ceilings, known_ceilings
from benchfw.measure.seeding import data_seed, method_seed
from benchfw.measure.sharing import shared_arrays
from benchfw.measure.trial import REHEARSAL, rehearsal_registry, run_trial, warm_up
from benchfw.records import Cell, Ending, Outcome, Record, Status, change
from benchfw.registry import Registry
from benchfw.system import CAN_FORK_TRIALS, count_threads, forget_peak, limit_memory, peak_memory

REHEARSALS = 12  # Python adapts code to what it does after eight calls
MEMORY_MARGIN = 2**30  # bytes that libraries reserve and do not use: the parent watches what is held


class Again(BaseException):
    """The trial imported modules while it was measured; a plugin's `except Exception` does not catch it."""


class Worker:
    """One worker and its end of the pipes."""

    def __init__(self, setup: Setup, requests: int, bell: int) -> None:
        self._setup, self._requests, self._bell = setup, requests, bell
        self._replies = bell if setup.replies < 0 else setup.replies  # a pipe of replies needs no bell
        self._process, self._forked = os.getpid(), False
        self._run_trial = partial(run_trial, keep_in=setup.keep_in)
        sys.path[:] = [*setup.overlay, *setup.path]
        self._reads = watch()  # before any plugin is imported
        self._reads.tell_first_reads(self._tell_read)
        with ThreadWatch() as self._watch:
            self._registry = Registry(setup.plugins, setup.installed, unpack_objects(setup.objects))
            self._registry.activate()  # for good: a worker has one
        if setup.resources:
            count_cpu_seconds()
        warm_libraries()
        # what plugins started when they were imported
        self._helpers = children() if CAN_FORK_TRIALS else frozenset[int]()
        self._finished = mmap.mmap(-1, 1)  # shared with forked processes: whether they sent all messages
        if setup.memory is not None:
            # the last line of defence: a trial that allocates faster than the parent looks is refused here
            limit_memory(setup.memory + MEMORY_MARGIN)
        with self._reads.paused():
            self._surroundings = Surroundings(setup.threads)
        self._inspected, self._rehearsed = set[Cell](), set[Cell]()
        self._modules = frozenset(sys.modules)
        self._tried: set[str] = set()  # modules that the parent has named
        self._new: list[Request] = []  # requests that others repeat
        self._left: tuple[str, ...] = ()  # what a trial left behind in this process
        if setup.isolation == "trial":
            self._rehearse()

    def _rehearse(self) -> None:
        """Measure a method that does nothing: Python is faster with code that it has run a few times.

        What it learns of the harness here, the processes that are forked for trials need not.
        """
        own = self._replies, self._bell, self._registry, self._reads, self._left
        requests, handed_over = os.pipe()
        like = Request(REHEARSAL)
        with open(os.devnull, "wb") as nowhere:  # noqa: PTH123 - as short as it can be
            self._replies = self._bell = nowhere.fileno()
            self._registry, self._reads = rehearsal_registry(), Reads()
            for _ in range(REHEARSALS):
                os.write(handed_over, pack_repeat(0, like, bell=False))
                os.read(requests, len(FAMILIAR))
                self._measure(run_trial, receive_repeat(requests, [like]))
        os.close(handed_over)
        os.close(requests)
        self._replies, self._bell, self._registry, self._reads, self._left = own

    def serve(self) -> None:
        """Run trials until the parent closes the pipe, or one leaves something behind."""
        self._tell("ready", self._process, PROTOCOL)
        self._ring()
        while not self._left and (tag := os.read(self._requests, 1)):
            if tag == FAMILIAR and self._can_fork():
                self._run_in_fork(self._repeat)  # every page that this process touches is copied
                continue
            request = self._repeat() if tag == FAMILIAR else self._receive()
            if self._setup.isolation == "worker":
                self._run_among_others(request)
            elif not request.alone and self._can_fork():
                self._run_in_fork(partial(change, request))
            else:
                self._run_here(request)

    def _tell(self, kind: str, *content: Any) -> None:
        write_line(self._replies, [kind, *content])

    def _ring(self) -> None:
        if self._bell != self._replies:
            os.write(self._bell, b".")

    def _can_fork(self) -> bool:
        """Return whether a trial may be forked from this process now."""
        return CAN_FORK_TRIALS and self._setup.isolation == "trial" and count_threads() == 1

    def _receive(self) -> Request:
        request: Request = receive_whole(self._requests)
        self._new.append(request)
        self._learn(request)
        return request

    def _repeat(self) -> Request:
        return receive_repeat(self._requests, self._new)

    def _learn(self, request: Request) -> None:
        """Import what the trial will, and take over what others measured of the machine."""
        known, trial = request.known, request.trial
        new = [name for name in known.modules if name not in self._tried]
        if new or trial.cell not in self._inspected:
            with self._watch, contextlib.suppress(Exception, SystemExit):  # the trial will fail by itself
                import_known(new)
                if request.alone or self._setup.isolation == "worker":  # a template touches no device
                    get_backend(trial.backend)
                self._registry.inspect(trial.kind, trial.method.table)
                if trial.kind != "kernel":
                    self._registry.inspect("problem", trial.problem.table)
                    shared_arrays(self._registry.get("problem", trial.problem.use).factory)
                field_names(self._registry.get(trial.kind, trial.method.use).factory)
            self._tried.update(new)
            self._inspected.add(trial.cell)
            self._modules = frozenset(sys.modules)
            self._surroundings.note()  # imports leave warning filters behind, and are no trial's fault
        self._reads.look_ahead(trial, self._registry)
        method_seed(trial, data_seed(trial))  # the text that they hash is made once
        for place, (flop_rate, footprints, bandwidths) in known.ceilings.items():
            backend, _, dtype = place.rpartition(" ")
            ceilings = Ceilings(flop_rate, tuple(footprints), tuple(bandwidths))
            known_ceilings().setdefault((backend, dtype), ceilings)

    def _run_in_fork(self, receive: Callable[[], Request]) -> None:
        """Run a trial in a process of its own, which receives it, and end whatever that process started."""
        self._finished[0] = 0
        child = os.fork()
        if child == 0:
            os.setpgid(0, 0)
            self._process, self._forked = os.getpid(), True
            main: Any = threading.main_thread()
            main._native_id = self._process  # noqa: SLF001 - Python 3.11 leaves it as it was
            end_process(lambda: self._run_here(receive()))
        _, status = os.waitpid(child, 0)
        end_leftovers(child, self._helpers)
        if not self._finished[0]:  # it crashed, or exited by itself: so does this process now
            end_as(status)

    def _run_here(self, request: Request) -> None:
        """Run a trial in this process, in which none has run before."""
        if self._setup.threads > 1:
            self._surroundings.set_threads()
        try:
            self._measure(warm_up if request.rehearsal else self._run_trial, request)
        except Again:
            self._left = self._left_behind()
            self._tell("again", self._new_modules(), self._left)
        self._finished[0] = 1
        if request.bell or self._left:
            self._ring()

    def _run_among_others(self, request: Request) -> None:
        """Run a trial in this process, after others."""
        if request.trial.cell not in self._rehearsed:
            modules = frozenset(sys.modules)
            _contain_faults(partial(warm_up, request.trial, self._registry, lambda _: None))
            self._check_process()
            self._rehearsed.add(request.trial.cell)
            self._surroundings.note_threads()
            if len(sys.modules) != len(modules):
                self._surroundings.note_imports(sys.modules.keys() - modules)
        self._measure(self._run_trial, request)
        if request.bell or self._left:
            self._ring()

    def _measure(self, run: Callable[..., Outcome], request: Request) -> None:
        began = perf_counter()
        self._reads.begin_trial()
        watched = self._setup.resources and forget_peak()
        outcome = _contain_faults(partial(run, request.trial, self._registry, self._emitter(request)))
        plain = plain_outcome(outcome)
        if watched and not outcome.status.faulty:  # one that broke has no peak to compare
            plain["peak_memory"] = peak_memory()
        self._check_process()
        reads = self._reads.of_trial(request.trial, self._registry)
        plain |= {"seconds": perf_counter() - began, "reads": reads}
        self._left = self._left_behind(functions=request.bell or outcome.status.faulty)
        write_line(self._replies, ("end", plain, self._lesson(), self._left))

    def _lesson(self) -> list[Any] | None:
        """Return what the trial has taught, as messages carry it."""
        # to look at all names would copy many pages of a fork
        modules = () if len(sys.modules) == len(self._modules) else self._new_modules()
        measured, threads_of = known_ceilings(), self._watch.culprit
        if not (modules or measured or threads_of):
            return None
        ceilings = {" ".join(place): [*vars(each).values()] for place, each in measured.items()}
        return [modules, ceilings, threads_of]

    def _emitter(self, request: Request) -> Callable[[Sequence[Record]], None]:
        """Return a function that writes records down, and ends a trial that imports modules if it may."""
        modules, known, variables = len(sys.modules), self._tried, self._surroundings.variables
        last = request.last or self._setup.isolation == "worker"

        def emit(records: Sequence[Record]) -> None:
            self._check_process()
            # a module that is imported after a variable was set may have read it
            changed = not last and len(sys.modules) != modules and encoded_variables() == variables
            if changed and not known.issuperset(self._new_modules()):
                raise Again
            if records:
                write_line(self._replies, records)

        return emit

    def _tell_read(self, name: str) -> None:
        """Tell the parent at once what is read, in case that the trial crashes or is stopped."""
        if os.getpid() == self._process and threading.current_thread() is threading.main_thread():
            self._tell("read", name, not self._forked)

    def _left_behind(self, *, functions: bool = True) -> tuple[str, ...]:
        """Return why this process, or the one that forked it, cannot run another trial."""
        if self._setup.isolation == "worker":
            return self._surroundings.changes(functions=functions)
        return () if self._forked else (RAN_HERE,)

    def _new_modules(self) -> tuple[str, ...]:
        return tuple(
            name
            for name, module in list(sys.modules.items())
            if name not in self._modules and is_library(name, module)
        )

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            os._exit(1)  # a child that the trial forked: its records are not the trial's


def _contain_faults(run: Callable[[], Outcome]) -> Outcome:
    """Return how a trial ended, also where what it raises is beyond `run_trial`."""
    try:
        return run()
    except Again:
        raise
    except MemoryError:  # the method had kept all there was
        return Outcome(Status.OUT_OF_MEMORY, Ending.FAULT, "not enough memory to continue")
    except BaseException as fault:  # noqa: BLE001 - no key of the user's: this process has its own session
        return Outcome(Status.FAILED, Ending.FAULT, explain(fault))


def serve(requests: int, bell: int) -> None:
    """Run what is asked for through one file descriptor, and ring the other."""
    faulthandler.enable()
    os.read(requests, 1)  # the tag
    Worker(receive_whole(requests), requests, bell).serve()
