"""Optimizers made of solvers that call back: `from_callback`."""

from __future__ import annotations

import contextvars
import copy
import dataclasses
import inspect
import threading
from collections.abc import Callable, Iterator
from functools import partial
from queue import SimpleQueue
from typing import Any, overload

import numpy as np

from benchfw.contract import Smooth
from benchfw.errors import PluginError
from benchfw.parameters import fields_of, is_protocol, signature_of

GIVEN = ("problem", "rng", "callback")
PATIENCE = 5.0  # seconds for a solver to end after it was stopped


class Stopped(BaseException):
    """Raised out of a callback to end the solver; its `except Exception` does not catch it."""


def copy_answer(answer: Any) -> Any:
    """Return an answer that stays what it is when the solver goes on and writes into its arrays."""
    if type(answer) is np.ndarray and not answer.dtype.hasobject:
        return answer.copy(order="K")  # every answer may be copied, and deepcopy() takes six times as long
    return copy.deepcopy(answer) if _is_array(answer) or isinstance(answer, tuple | list | dict) else answer


def is_overwritten(before: Any, answer: Any) -> bool:
    """Return whether an answer lies in the arrays of the one before, so that the next may overwrite it."""
    if isinstance(answer, np.ndarray) and isinstance(before, np.ndarray):
        return bool(np.may_share_memory(before, answer))
    if isinstance(answer, tuple | list) and isinstance(before, tuple | list):
        return any(map(is_overwritten, before, answer))
    if isinstance(answer, dict) and isinstance(before, dict):
        return any(is_overwritten(before.get(name), each) for name, each in answer.items())
    return before is answer and _is_array(answer)


def _is_array(answer: Any) -> bool:
    return hasattr(answer, "shape") and hasattr(answer, "dtype")


class CallbackRun:
    """The `run` of an optimizer that calls back.

    A trial hands `solve` a callback of its own. Called like any other `run`, it yields the problem's start
    and then what the callback is given; the solver works in a thread, which makes this slow.
    """

    def __init__(self, solve: Callable[..., Any], first: int = 1) -> None:
        self.solve, self._first = solve, first
        self.__doc__ = solve.__doc__

    def __get__(self, owner: Any, kind: Any = None) -> CallbackRun:
        first = getattr(owner, "first", 1)
        return self if owner is None else CallbackRun(partial(self.solve, owner), first)

    def __call__(self, problem: Any, rng: Any) -> Iterator[Any]:
        """Yield the problem's start, where it has one, then the answers; the last is that before the end."""
        if hasattr(problem, "start") and self._first:
            yield problem.start()
        answers: SimpleQueue[tuple[str, Any]] = SimpleQueue()
        turn, ended = threading.Semaphore(0), threading.Event()

        def callback(answer: Any, *_: Any, **__: Any) -> None:
            answers.put(("answer", copy_answer(answer)))
            turn.acquire()
            if ended.is_set():
                raise Stopped

        def work() -> None:
            turn.acquire()
            try:
                if not ended.is_set():
                    self.solve(problem, rng, callback)
                answers.put(("end", None))
            except BaseException as fault:  # noqa: BLE001 - raised again where the answers are awaited
                answers.put(("fault", fault))

        context = contextvars.copy_context()  # the backends that are known by name, say
        thread = threading.Thread(target=context.run, args=(work,), daemon=True)
        thread.start()
        try:
            while True:
                turn.release()
                what, found = answers.get()
                if what == "fault":
                    raise found
                if what == "end":
                    return
                yield found
        finally:
            ended.set()
            turn.release()
            thread.join(PATIENCE)


@overload
def from_callback(solve: Callable[..., Any], *, solves: type = ..., projects: bool = ...) -> type[Any]: ...
@overload
def from_callback(
    solve: None = None, *, solves: type = ..., projects: bool = ...
) -> Callable[[Callable[..., Any]], type[Any]]: ...
def from_callback(
    solve: Callable[..., Any] | None = None, *, solves: type = Smooth, projects: bool = False
) -> Any:
    """Make an optimizer of `solve(problem, rng, callback)`, which calls `callback(answer)` once an iteration.

    A function becomes a frozen dataclass, whose parameters are what the function takes besides these three;
    `solves` is the protocol that it needs, and `projects` says whether it keeps to the problem's feasible
    set. Inside of a class, decorate its method `run(self, problem, rng, callback)`.

    The problem's start is measured first, before the solver is called: the first callback is iteration 1.
    What else the callback is given, and what `solve` returns, is ignored. The clock stands still while an
    answer is measured. When the trial is to end, the callback raises an exception that only
    `except BaseException` would catch.
    """
    if not (isinstance(solves, type) and is_protocol(solves)):
        raise PluginError(f"solves must be a protocol such as benchfw.Smooth, got {solves!r}")
    if not isinstance(projects, bool):
        raise PluginError(f"projects must be True or False, got {projects!r}")
    if solve is None:
        return partial(from_callback, solves=solves, projects=projects)
    if not callable(solve):
        raise PluginError(
            f"from_callback needs a function of ({', '.join(GIVEN)}), got {type(solve).__name__}"
        )
    try:
        every = signature_of(solve).parameters.values()
    except ValueError:
        raise PluginError(
            f"the parameters of {_name_of(solve)} cannot be read; from_callback needs a function of "
            f"({', '.join(GIVEN)})"
        ) from None
    parameters = [each for each in every if each.kind not in {each.VAR_POSITIONAL, each.VAR_KEYWORD}]
    names = [each.name for each in parameters if each.kind is not each.KEYWORD_ONLY]
    if names[:1] == ["self"]:
        return CallbackRun(solve)
    if len(names) < len(GIVEN):
        raise PluginError(
            f"{_name_of(solve)} takes ({', '.join(names)}); from_callback needs a function of "
            f"({', '.join(GIVEN)}) that calls callback(answer) once an iteration"
        )
    return _optimizer_class(solve, parameters[len(GIVEN) :], solves=solves, projects=projects)


def _optimizer_class(
    solve: Callable[..., Any], parameters: list[inspect.Parameter], *, solves: type, projects: bool
) -> type:
    """Return a frozen dataclass with these parameters, whose `run` calls the function."""
    fields = fields_of(solve, parameters)
    names = [each.name for each in parameters]

    def run(self: Any, problem: Any, rng: Any, callback: Callable[..., None]) -> None:
        solve(problem, rng, callback, **{name: getattr(self, name) for name in names})

    run.__doc__ = solve.__doc__
    members = {"run": CallbackRun(run), "solves": solves, "projects": projects, "__doc__": solve.__doc__}
    made = dataclasses.make_dataclass(_name_of(solve), fields, namespace=members, frozen=True, kw_only=True)
    made.__module__ = solve.__module__  # where pickle looks for it, by the name of what was decorated
    made.__qualname__ = getattr(solve, "__qualname__", made.__name__)
    return made


def _name_of(solve: Callable[..., Any]) -> str:
    return getattr(solve, "__name__", type(solve).__name__)
