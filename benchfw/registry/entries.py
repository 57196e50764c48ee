"""What one name stands for: an entry of a plugin, or an object of a Python session."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchfw.errors import PluginError
from benchfw.loading import Plugin, fault_text, read_docstring

if TYPE_CHECKING:
    from benchfw.parameters import Parameter

KINDS = (
    "problem", "estimator", "optimizer", "distribution", "dataset", "figure", "tuner", "importer", "exporter",
    "executor",
)  # fmt: skip
PARAMETRIC = frozenset({"problem", "estimator", "optimizer", "distribution"})
NESTABLE = frozenset({"estimator", "optimizer", "distribution"})


GIVEN = "object:"
"""Begins the name of what was given to `benchfw.compare` as an object: no plugin registers such names."""


class Given(NamedTuple):
    """An object of a Python session in a role; the digest is of its code and data, as far as it has its own.

    `roots` are the modules, by name or by file, that it uses beyond that.
    """

    kind: str
    name: str
    factory: Any
    digest: str
    roots: tuple[str | Path, ...] = ()


class Entry(NamedTuple):
    """One registered name; `source` is the factory, or where to import it from when it is first used."""

    kind: str
    name: str
    source: Callable[..., Any] | str
    plugin: Plugin
    sample_source: Callable[..., tuple[Any, ...]] | str | None = None
    given: Given | None = None

    def __str__(self) -> str:
        return f"{self.kind} '{self.name}' of {self.plugin}"

    @property
    def factory(self) -> Callable[..., Any]:
        """What makes the object, imported now if it was registered by name."""
        source = self.source
        return self._resolve(source) if isinstance(source, str) else source

    @property
    def sample(self) -> Callable[..., tuple[Any, ...]]:
        """What makes a kernel's arguments, imported now if it was registered by name."""
        if self.sample_source is None:
            raise PluginError(f"{self} was registered without a sample")
        return self._resolve(self.sample_source)

    def _resolve(self, source: Callable[..., Any] | str) -> Callable[..., Any]:
        if not isinstance(source, str):
            return source
        module, _, name = source.partition(":")
        try:
            found: Callable[..., Any] = getattr(importlib.import_module(module), name)
        except Exception as fault:
            raise PluginError(
                f"{self} is not at '{source}' ({fault_text(fault)}); register it as 'module:name'"
            ) from fault
        return found

    @property
    def roots(self) -> list[str | Path]:
        """Return the modules that decide what this entry does, by name or by file.

        Where an object was registered, the module that did so is among them: it may have made the object.
        """
        if self.given is not None:
            return list(self.given.roots)
        from benchfw.sources import file_of

        given = [each for each in (self.source, self.sample_source) if each is not None]
        names: list[str | Path] = [each.partition(":")[0] for each in given if isinstance(each, str)]
        objects = [each for each in given if not isinstance(each, str)]
        files = [*map(file_of, objects), self.plugin.path if objects else None]
        return [*names, *(each for each in files if each is not None)]

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """Return the parameters that a suite may set, by name."""
        from benchfw.parameters import parameters_of

        factory: Any = self.factory
        if not callable(factory):
            return {}  # a data set as plain data
        try:
            return parameters_of(factory, hidden=2 if self.kind == "problem" else 0)
        except (TypeError, ValueError) as fault:
            raise PluginError(f"{self} has no readable signature ({fault}); wrap it in a function") from fault

    @property
    def summary(self) -> str:
        """Return the first line of the documentation, from the source if nothing has imported it yet."""
        text = None
        if isinstance(self.source, str):
            module, _, name = self.source.partition(":")
            text = None if module in sys.modules else read_docstring(module, name)
        if text is None:
            text = self.factory.__doc__
        return next(iter((text or "").strip().splitlines()), "")


def kind_of(key: str) -> str:
    """Return the kind that a parameter's name asks for: its last word, as in `inner_estimator`."""
    return key.rpartition("_")[2]


def is_nested(key: str, value: Any) -> bool:
    """Return whether a parameter holds another plugin's table."""
    return isinstance(value, Mapping) and "use" in value and kind_of(key) in NESTABLE
