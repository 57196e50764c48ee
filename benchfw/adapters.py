"""Objects of a session in the roles of a trial: copies of problems, counted oracles, functions as methods.

Workers import this file, so it imports little.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import inspect
import math
import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from benchfw.contract import Composite, FiniteSum, Problem, Smooth, SpectralSum, clip_gap, gains_of
from benchfw.counting import CountedProblem
from benchfw.errors import PluginError
from benchfw.parameters import fields_of, signature_of
from benchfw.records import GAP, OBJECTIVE

COUNTED = {"value": 0.5, "grad": 1.0, "value_and_grad": 1.0, "subgrad": 1.0, "prox": 0.0, "penalty": 0.0}
"""What a call of an oracle costs, in gradients: a value is about half the work."""
BATCHED = ("grad_batch", "grad_samples")
NEEDED = ("value", "grad")


class Oracles:
    """Functions as the oracles of one object."""

    def __init__(self, oracles: Mapping[str, Any]) -> None:
        vars(self).update(oracles)


class OracleProblem(CountedProblem):
    """Any object with oracles as a problem: its oracles are counted, all else is the object's own.

    Oracles of its own cost what its `costs` say, as in {"hess": 10}; else their cost is not known. Its start
    is the object's `start`, a method or an array. Without `metrics` of its own, the metric is the objective,
    and the gap to it at the object's `optimum`, if it has one.
    """

    def __init__(self, owner: Any, backend: Any) -> None:
        self.owner, self.backend = owner, backend
        costs = {**dict.fromkeys(BATCHED), **COUNTED, **check_costs(owner)}
        for name, cost in costs.items():
            if callable(getattr(owner, name, None)):
                setattr(self, name, _Oracle(owner, name, cost, self._count))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "owner" not in vars(self):  # as when it is copied
            raise AttributeError(name)
        try:
            found = getattr(self.owner, name)
        except AttributeError as fault:
            if fault.obj is not self.owner or fault.name != name:  # raised inside of a property
                raise
            what = "the problem" if isinstance(self.owner, Oracles) else type(self.owner).__name__
            raise AttributeError(f"{what} has no attribute '{name}'", name=name, obj=self.owner) from None
        if name == "optimum":
            return self._as_answer(found)
        if name.startswith("_") or not _is_function(found):
            return found

        @functools.wraps(found)
        def noted(*args: Any, **more: Any) -> Any:
            self._counter.unknown[name] = None
            return found(*args, **more)

        return noted

    def start(self) -> Any:
        """Return where every method begins: a copy of it, and of a list of numbers an array."""
        start = self.owner.start
        return self._as_answer(copy.deepcopy(start() if callable(start) else start))

    def project(self, params: Any) -> Any:
        """Return the nearest feasible point: the object's own `project`, or the point itself."""
        project = getattr(self.owner, "project", None)
        return params if project is None else project(params)

    def metrics(self, answer: Any) -> Mapping[str, float]:
        """Return the object's own metrics; else the objective, and the gap where the optimum is known."""
        if callable(getattr(self.owner, "metrics", None)):
            found: Mapping[str, float] = self.owner.metrics(answer)
            return found
        objective = self._objective(answer)
        optimum = getattr(self.owner, "optimum", None)
        if optimum is None:
            return {OBJECTIVE: objective}
        apart = objective - self._objective(self._as_answer(optimum))
        gap = clip_gap(-apart if OBJECTIVE in gains_of(self.owner) else apart, objective)
        return {GAP: gap, OBJECTIVE: objective}

    def _as_answer(self, given: Any) -> Any:
        """Return numbers in lists as an array of floats, anything else as it is."""
        if not isinstance(given, list | tuple):
            return given
        try:
            floats = _as_floats(given)
            return self.backend.asarray(floats)
        except (TypeError, ValueError):  # of arrays, or of lists of several lengths
            return given

    def _objective(self, params: Any) -> float:
        penalty = getattr(self.owner, "penalty", None)
        return _number("value", self.owner.value(params)) + (
            0.0 if penalty is None else _number("penalty", penalty(params))
        )


def _as_floats(given: Any) -> Any:
    if isinstance(given, list | tuple):
        return [_as_floats(each) for each in given]
    if not isinstance(given, numbers.Real):
        raise TypeError
    return float(given)


def _number(name: str, found: Any) -> float:
    try:
        return float(found)
    except (TypeError, ValueError):
        shape = getattr(found, "shape", None)
        what = type(found).__name__ if shape is None else f"an array of the shape {tuple(shape)}"
        raise PluginError(f"{name} must return one number, and returned {what}") from None


def _is_function(found: Any) -> bool:
    """Return whether it is a function, a method, or made of one; other objects may have members."""
    return inspect.isroutine(found) or isinstance(found, functools.partial) or hasattr(found, "__wrapped__")


def check_costs(owner: Any) -> Mapping[str, float]:
    """Return what an object says that calls of its oracles cost."""
    costs = getattr(owner, "costs", {})
    name = type(owner).__name__
    if not isinstance(costs, Mapping):
        raise PluginError(f'costs of {name} must name oracles, as in {{"hess": 10}}, got {costs!r}')
    for oracle, cost in costs.items():
        if not callable(getattr(owner, str(oracle), None)):
            raise PluginError(f"costs of {name} names {oracle!r}, which it does not have")
        if not isinstance(cost, int | float) or isinstance(cost, bool) or not 0 <= cost < math.inf:
            raise PluginError(f"costs of {name}: {oracle} costs {cost!r}; a cost is a number from 0")
    return costs


class _Oracle:
    """An oracle of an object, which counts its calls; without a cost, by the share of samples in a batch."""

    def __init__(self, owner: Any, name: str, cost: float | None, count: Callable[[float], None]) -> None:
        self._owner, self._name, self._cost, self._count = owner, name, cost, count

    def __call__(self, *args: Any, **more: Any) -> Any:
        if self._cost is not None:
            self._count(self._cost)
        else:
            batch = (*args[1:], *more.values())[0]
            self._count(len(batch) / self._owner.num_samples)
        return getattr(self._owner, self._name)(*args, **more)


def is_whole(made: Any) -> bool:
    """Return whether an object or a class is a problem as it stands: it counts, and has metrics."""
    kind = made if isinstance(made, type) else type(made)
    cost = inspect.getattr_static(kind, "cost", None)
    return callable(getattr(kind, "metrics", None)) and hasattr(type(cost), "__set__")


class ProblemMaker:
    """Makes the problem of a trial from what was given: an object to copy, or what makes one.

    `call` says how that is called: with "backend and rng", with "nothing", or not at all: it is "copied".
    """

    def __init__(self, given: Any, call: str) -> None:
        self.given, self.call = given, call
        if call == "backend and rng":
            self.__signature__ = inspect.signature(given)
        else:
            empty = [
                inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in ("backend", "rng")
            ]
            own = inspect.signature(given).parameters.values() if call == "nothing" else ()
            self.__signature__ = inspect.Signature([*empty, *own])

    @property
    def makes(self) -> type | None:
        """The class of what it makes, as far as that is known without making it."""
        sample = self.given if self.call == "copied" or isinstance(self.given, type) else None
        if sample is None or is_whole(sample):
            return sample if isinstance(sample, type) else None if sample is None else type(sample)
        oracles = [
            name
            for name in dir(sample)
            if not name.startswith("_") and not hasattr(OracleProblem, name)
            if callable(inspect.getattr_static(sample, name, None))
        ]
        return type(type(sample).__name__, (OracleProblem,), dict.fromkeys(oracles, _promise))

    def __call__(self, backend: Any, rng: Any, **params: Any) -> Any:
        """Return a problem that no other trial has seen."""
        if self.call == "copied":
            made = copy.deepcopy(self.given)
            if isinstance(made, CountedProblem):
                vars(made).pop("_counter", None)  # copies share one
        else:
            made = self.given(*((backend, rng) if self.call == "backend and rng" else ()), **params)
        if not is_whole(made):
            lacks = [name for name in (*NEEDED, "start") if not hasattr(made, name)]
            if lacks:
                what = f"{getattr(self.given, '__name__', 'the function')} made {type(made).__name__}"
                raise PluginError(f"{what}, which has no {', '.join(lacks)}; make an object that has them")
            return OracleProblem(made, backend)
        if not hasattr(made, "backend"):
            made.backend = backend
        return made


def _promise(*_: Any) -> Any:
    """Stand for an oracle in a class that only says which oracles its problems have."""
    raise NotImplementedError


class MethodMaker:
    """Makes the method of a trial: a copy of an object."""

    def __init__(self, given: Any) -> None:
        self.given = given
        self.solves = getattr(given, "solves", None)

    def __call__(self) -> Any:
        """Return the copy."""
        return copy.deepcopy(self.given)


class ArrayData:
    """A data set in memory: arrays by name."""

    def __init__(self, arrays: Mapping[str, Any]) -> None:
        self.arrays = dict(arrays)

    def __call__(self) -> dict[str, Any]:
        """Return the arrays."""
        return dict(self.arrays)


def method_class(function: Callable[..., Any], solves: type | None = None) -> type:
    """Return a frozen dataclass whose `run`, or `solve` where it takes an effort, is a function.

    The first parameter is the problem, the second the generator; one called `effort` makes it a solver. The
    others are the parameters of the method.
    """
    parameters = list(signature_of(function).parameters.values())
    filled, own = split_parameters(parameters)
    fields = fields_of(function, own)
    names = [each.name for each in own]
    by_name = {each.name for each in parameters if each.kind is each.KEYWORD_ONLY} & {*filled}

    def call(self: Any, problem: Any, rng: Any, effort: int = 0) -> Any:
        given = {"problem": problem, "rng": rng, "effort": effort}
        named = {name: getattr(self, name) for name in names} | {role: given[role] for role in by_name}
        return function(*(given[role] for role in filled if role not in by_name), **named)

    role = "solve" if "effort" in filled else "run"
    members: dict[str, Any] = {
        role: call,
        "solves": solves or infer_protocol(function),
        "__doc__": function.__doc__,
    }
    name = call.__name__ = getattr(function, "__name__", type(function).__name__)
    made = dataclasses.make_dataclass(
        name if name.isidentifier() else "function", fields, namespace=members, frozen=True, kw_only=True
    )
    made.__module__ = getattr(function, "__module__", None) or "__main__"
    made.__qualname__ = f"{name} as a method"  # no module has it: it travels by value
    return made


def split_parameters(parameters: Iterable[inspect.Parameter]) -> tuple[list[str], list[inspect.Parameter]]:
    """Return what a trial fills in, in the order of the parameters, and those that are the method's own."""
    filled: list[str] = []
    own: list[inspect.Parameter] = []
    for each in parameters:
        if not filled:
            filled.append("problem")
        elif each.name in {"rng", "effort", "callback"} and not own:
            filled.append(each.name)
        elif (
            len(filled) == 1 and each.default is each.empty and each.kind is not each.KEYWORD_ONLY and not own
        ):
            filled.append("rng")
        elif each.kind not in {each.VAR_KEYWORD, each.VAR_POSITIONAL}:
            own.append(each)
    return filled, own


def infer_protocol(function: Callable[..., Any]) -> type:
    """Return the oracles that a function uses, as far as its code says so; one that asks first needs none."""
    code = getattr(function, "__code__", None)
    names = set(_attributes_of(code)) if code is not None else set()
    if names & {"hasattr", "getattr"}:
        return Problem
    protocols = {
        "matmat": SpectralSum,
        "grad_batch": FiniteSum,
        "prox": Composite,
        "grad": Smooth,
        "value": Smooth,
    }
    return next((protocol for name, protocol in protocols.items() if name in names), Problem)


def _attributes_of(code: Any) -> Sequence[str]:
    found = list(code.co_names)
    for constant in code.co_consts:
        if hasattr(constant, "co_names"):
            found += _attributes_of(constant)
    return found
