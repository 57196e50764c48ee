"""The set-up that a method may ask for before its clock starts: compilation, factorizations."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

from benchfw.errors import PluginError
from benchfw.measure.clock import Clock
from benchfw.measure.endings import with_parts


class Prepared(NamedTuple):
    """The method to run, and what preparing it took: None where there was nothing to prepare."""

    method: Any
    seconds: float | None = None
    cost: float | None = None


def prepare_method(method: Any, problem: Any, call: str) -> Prepared:
    """Prepare a method, and before it the methods in its fields, for a problem; `call` is "run" or "draw"."""
    if not any(hasattr(each, "prepare") for each in with_parts(method)):
        return Prepared(method)
    clock, before = Clock(problem.backend), float(problem.cost)
    with clock:
        prepared = _prepare(method, problem)
    if not callable(getattr(prepared, call, None)):
        raise PluginError(
            f"prepare() of {type(method).__name__} returned {type(prepared).__name__}, without {call}(); "
            "return the method that is to run: self, or dataclasses.replace(self, …)"
        )
    return Prepared(prepared, clock.seconds, float(problem.cost) - before)


def _prepare(method: Any, problem: Any) -> Any:
    if dataclasses.is_dataclass(method) and not isinstance(method, type):
        parts = {each.name: getattr(method, each.name) for each in dataclasses.fields(method) if each.init}
        ready = {name: _prepare(part, problem) for name, part in parts.items() if _is_method(part)}
        changed = {name: part for name, part in ready.items() if part is not parts[name]}
        method = dataclasses.replace(method, **changed) if changed else method
    return method.prepare(problem) if hasattr(method, "prepare") else method


def _is_method(part: Any) -> bool:
    return dataclasses.is_dataclass(part) and not isinstance(part, type)
