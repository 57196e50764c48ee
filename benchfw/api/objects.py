"""What is given to `compare` as tables of a suite: objects become entries of a registry."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from benchfw.adapters import ArrayData, MethodMaker, Oracles, ProblemMaker, method_class, split_parameters
from benchfw.api.problems import OwnProblem, name_of, problem_factory
from benchfw.callbacks import CallbackRun, from_callback
from benchfw.errors import BenchfwError, nearest
from benchfw.harness.workers.packing import pack_objects
from benchfw.loading import fault_text
from benchfw.parameters import signature_of
from benchfw.registry import GIVEN, NESTABLE, Given, Registry, is_nested, kind_of
from benchfw.search import SPACES
from benchfw.sources.objects import read_object
from benchfw.suite import SESSION_SOURCE

CALLS = {"run": "optimizer", "solve": "optimizer", "draw": "estimator"}
PLAIN = (bool, int, float, str)
TABLE_KEYS = frozenset({"use", "label", "on", "quick", "best", "tune"})
"""What a table says of a method beside its parameters."""


class Objects:
    """The objects of one call, as entries of a registry."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        self._given: dict[tuple[str, str], Given] = {}
        self._origins: dict[tuple[str, str], Any] = {}

    @property
    def given(self) -> tuple[Given, ...]:
        """The entries that were made."""
        return tuple(self._given.values())

    def tables(self, argument: str, given: Any) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """Yield where each problem or method was given, its kind, and its table."""
        if isinstance(given, Mapping) and "use" not in given:
            named = [(f"{argument}[{label!r}]", str(label), each) for label, each in given.items()]
        elif isinstance(given, list | tuple):
            named = [(f"{argument}[{number}]", "", each) for number, each in enumerate(given)]
        else:
            named = [(argument, "", given)]
        if not named:
            raise BenchfwError(f"{argument} is empty; give at least one")
        make = self.problem_table if argument == "problems" else self.method_table
        for place, label, each in named:
            kind, table = make(place, label, each)
            if kind == "distribution":
                raise BenchfwError(f"{place} is a distribution; give a method that takes it")
            use = table["use"]
            if label and table.get("label", label) != label:
                raise BenchfwError(f"{place} has the label {table['label']!r} too; give one of the two")
            if not label and isinstance(use, str) and use.startswith(GIVEN):
                label = use.removeprefix(GIVEN)
            yield place, kind, {**table, **({"label": label} if label else {})}

    def problem_table(self, place: str, label: str, given: Any) -> tuple[str, dict[str, Any]]:
        match given:
            case str():
                return "problem", {"use": given}
            case OwnProblem(loss=""):
                maker = ProblemMaker(given.oracles, "copied")
                return "problem", {
                    "use": self._add(place, "problem", label or "problem", maker, given.oracles)
                }
            case OwnProblem():
                return "problem", self._data_table(place, label, given)
            case Mapping():
                use, rest = self._split(place, given)
                table = {"use": use} if isinstance(use, list) else self.problem_table(place, label, use)[1]
                return "problem", {**table, **rest}
        found = self._registered("problem", given) if isinstance(given, type) else ""
        return "problem", {"use": found or self._problem_use(place, label, given)}

    def _problem_use(self, place: str, label: str, given: Any) -> str:
        name = name_of(given) if isinstance(given, type) else label or name_of(given)
        return self._add(place, "problem", name, problem_factory(given, place), given, label)

    def _data_table(self, place: str, label: str, given: OwnProblem) -> dict[str, Any]:
        try:
            parameters = self.registry.get("problem", given.loss).parameters
        except BenchfwError as fault:
            raise BenchfwError(f"loss of {place}: {fault}") from None
        names = [each.name for each in parameters.values() if each.names_dataset]
        if not names:
            raise BenchfwError(f"loss of {place}: problem '{given.loss}' does not take data")
        data = self._add(place, "dataset", label or given.loss, ArrayData(given.data), None)
        return {"use": given.loss, names[0]: data, **given.params}

    def method_table(self, place: str, label: str, given: Any) -> tuple[str, dict[str, Any]]:
        """Return the kind and the table of a method."""
        if isinstance(given, str):
            return self._kind_of_name(place, given), {"use": given}
        if isinstance(given, Mapping):
            use, rest = self._split(place, given)
            if isinstance(use, str):
                kind, table = self._kind_of_name(place, use), {"use": use}
            else:
                kind, table = self.method_table(place, label, use)
            return kind, {**table, **self._nested(place, rest)}
        if isinstance(given, type):
            return self._class_table(place, label, given)
        kind = _kind_of(given)
        if kind:
            return kind, self._instance_table(place, label, kind, given)
        if callable(given):
            return self._class_table(place, label or name_of(given), function_class(given, place), given)
        raise BenchfwError(
            f"{place} is {type(given).__name__}; a method is a name, an object with run, solve or draw, or "
            "a function of (problem, rng)"
        )

    def _nested(self, place: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return parameters with the methods among them, at any depth, as tables."""
        return {name: self._parameter(f"{place}, {name}", name, each) for name, each in params.items()}

    def _parameter(self, place: str, name: str, value: Any) -> Any:
        if kind_of(name) not in NESTABLE:
            return value
        if isinstance(value, list):
            return [self._parameter(place, name, each) for each in value]
        if is_nested(name, value) and isinstance(value["use"], str | list):
            return self._nested(place, value)
        if is_nested(name, value) or _is_part(name, value) or callable(value):
            kind, table = self.method_table(place, "", value)
            if kind != kind_of(name):
                raise BenchfwError(
                    f"{place} takes {kind_of(name)}s, and what is given is of another kind: {kind}"
                )
            return table
        return value

    def _class_table(
        self, place: str, label: str, given: type, origin: Any = None
    ) -> tuple[str, dict[str, Any]]:
        kind = _kind_of(given)
        if not kind:
            raise BenchfwError(f"{place}: {given.__name__} has neither run nor solve nor draw")
        use = self._registered(kind, given)
        name = name_of(given) if origin is None else label
        return kind, {"use": use or self._add(place, kind, name, given, origin or given, label)}

    def _instance_table(self, place: str, label: str, kind: str, given: Any) -> dict[str, Any]:
        """Return the class and the parameters of a dataclass; any other object is an entry by itself."""
        fields = self._fields(place, given)
        if fields is None:
            return {"use": self._add(place, kind, label or name_of(given), MethodMaker(given), type(given))}
        use = self._registered(kind, type(given))
        if use:  # as a suite would write it: what is not given is the default
            defaults = {each.name: each.default for each in dataclasses.fields(given)}
            fields = {name: each for name, each in fields.items() if getattr(given, name) != defaults[name]}
        return {
            "use": use or self._add(place, kind, name_of(type(given)), type(given), type(given), label),
            **fields,
        }

    def _fields(self, place: str, given: Any) -> dict[str, Any] | None:
        """Return the fields of a dataclass as a table; None where an object is not made by them alone."""
        if not dataclasses.is_dataclass(given) or not _is_made_by_fields(given):
            return None
        if TABLE_KEYS & {each.name for each in dataclasses.fields(given)}:
            return None
        found: dict[str, Any] = {}
        for each in dataclasses.fields(given):
            value = getattr(given, each.name)
            if _is_part(each.name, value):
                found[each.name] = self.method_table(f"{place}, {each.name}", "", value)[1]
            elif type(value) in (*PLAIN, *SPACES):  # not one of an enum, which a table would lose
                found[each.name] = value
            elif type(value) is tuple and all(type(part) in PLAIN for part in value):
                found[each.name] = [list(value)]  # a list inside of a list is a value, not a sweep
            elif value is None and each.default is None:
                continue  # TOML has no None
            else:
                return None
        return found

    def _registered(self, kind: str, made: type) -> str:
        """Return the name under which a plugin registers a class, if one does."""
        where = f"{made.__module__}:{made.__qualname__}"
        return next(
            (name for name, each in self.registry.entries(kind).items() if each.source in (made, where)), ""
        )

    def _kind_of_name(self, place: str, name: str) -> str:
        kinds = [kind for kind in ("optimizer", "estimator") if name in self.registry.entries(kind)]
        if len(kinds) == 1:
            return kinds[0]
        if kinds:
            raise BenchfwError(
                f"{place}: '{name}' is both an optimizer and an estimator; run a suite instead"
            )
        known = {each for kind in ("optimizer", "estimator") for each in self.registry.entries(kind)}
        try:
            self.registry.get("optimizer", name)
        except BenchfwError as fault:
            advice = nearest(name, known, otherwise="")
            raise BenchfwError(
                f"{place}: unknown method '{name}'{advice}" if advice else f"{place}: {fault}"
            ) from None
        return "optimizer"

    def _split(self, place: str, given: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
        rest = {str(name): copy.copy(each) for name, each in given.items() if name != "use"}
        if "use" not in given:
            raise BenchfwError(f"{place} is a dict without 'use'; name or give what its parameters are for")
        return given["use"], rest

    def _add(self, place: str, kind: str, name: str, factory: Any, origin: Any, otherwise: str = "") -> str:
        """Register an object, made of its origin; return its name. A second one may be called `otherwise`."""
        use = f"{GIVEN}{name}"
        source = read_object(factory)
        known = self._given.get((kind, use))
        if known is not None and known.factory is not factory and known.digest != source.digest:
            if otherwise and otherwise != name:
                return self._add(place, kind, otherwise, factory, origin)
            raise BenchfwError(
                f"{place}: another {kind} is called '{name}' too; give labels by a dict: {{'label': …}}"
            )
        if known is None:
            made = Given(kind, use, factory, source.digest, source.modules)
            _check_sendable(made, place)
            self._given[kind, use] = made
            self._origins[kind, use] = origin
        return use

    def describe(self) -> str:
        """Return the source of the objects as a comment for a suite's text, as far as it can be seen."""
        found: dict[str, None] = {}
        for origin in self._origins.values():
            for each in vars(origin).values() if isinstance(origin, Oracles) else (origin,):
                with contextlib.suppress(OSError, TypeError):
                    found[textwrap.dedent(inspect.getsource(each)).rstrip()] = None
        lines = [line for text in found for line in ("", *text.splitlines())]
        return "\n".join([SESSION_SOURCE, *(f"# {line}".rstrip() for line in lines)])


def _check_sendable(given: Given, place: str) -> None:
    try:
        pack_objects([given])
    except Exception as fault:  # noqa: BLE001 - what is packed may raise anything
        raise BenchfwError(
            f"{place} cannot be sent to a worker process ({fault_text(fault)}); make what cannot be copied "
            "inside of the function"
        ) from None


def function_class(given: Callable[..., Any], place: str) -> type:
    """Return the class of methods that a function makes: by its answers, its callback or its effort."""
    try:
        filled, _ = split_parameters(signature_of(given).parameters.values())
    except (TypeError, ValueError):
        raise BenchfwError(
            f"{place}: the parameters of {name_of(given)} cannot be read; wrap it in a function"
        ) from None
    if not filled:
        raise BenchfwError(
            f"{place}: {name_of(given)} takes no parameters; a method is a function of (problem, rng)"
        )
    if "callback" not in filled:
        return method_class(given)
    return from_callback(given)


def _kind_of(given: Any) -> str:
    """Return what an object or a class is by its members; nothing for a function."""
    if inspect.isfunction(given):
        return ""
    for name, kind in CALLS.items():
        member = getattr(given, name, None)
        if callable(member) or isinstance(member, CallbackRun):
            return kind
    both = all(callable(getattr(given, name, None)) for name in ("survival", "sample"))
    return "distribution" if both else ""


def _is_made_by_fields(given: Any) -> bool:
    """Return whether an object is what its class makes of its fields, and nothing was added to it."""
    fields = dataclasses.fields(given)
    if set(getattr(given, "__dict__", ())) - {each.name for each in fields}:
        return False
    try:
        return bool(type(given)(**{each.name: getattr(given, each.name) for each in fields}) == given)
    except Exception:  # noqa: BLE001 - a stranger's class may raise anything
        return False


def _is_part(name: str, value: Any) -> bool:
    """Return whether a parameter holds another method, as an object."""
    plain = isinstance(value, (*PLAIN, Mapping, list, tuple)) or value is None
    return kind_of(name) in NESTABLE and not plain and bool(_kind_of(value))
