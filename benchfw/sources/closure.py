"""The modules that a module imports, in turn, found without importing any of them.

Python's own modules are left out, and those that a distribution installed are known by its version.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import importlib.machinery
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from benchfw.sources.installed import Distribution, Installed, is_python, normal_name
from benchfw.sources.parse import Import, SourceFile, attributes_used, parse_file, save_parsed


class Module(NamedTuple):
    """A module that is followed: `path` is None for a folder without __init__; `folders` has its parts."""

    name: str
    path: str | None
    folders: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Closure:
    """Modules with the hashes of their source, their files, and the libraries that they import."""

    modules: Mapping[str, str]
    files: frozenset[str]
    libraries: Mapping[str, str]

    @functools.cached_property
    def digest(self) -> str:
        """Return the hash of all of it; where the files lie is not in it."""
        return _hash(*sorted(self.modules.items()), *sorted(self.libraries.items()))

    def by_package(self) -> dict[str, str]:
        """Return a hash of the modules in each top-level package."""
        found: dict[str, list[tuple[str, str]]] = {}
        for name, digest in sorted(self.modules.items()):
            found.setdefault(name.partition(".")[0], []).append((name, digest))
        return {name: _hash(*each) for name, each in found.items()}


class Modules:
    """Finds modules as Python would now, from `folders` and then from its path.

    `hashed` are distributions whose modules are followed though they are installed. What was found is kept as
    long as this object lives.
    """

    def __init__(self, folders: Iterable[Path] = (), hashed: Collection[str] = ()) -> None:
        importlib.invalidate_caches()  # a file may have been written in the same moment as the last look
        self._folders = [str(each) for each in folders]
        self._hashed = frozenset(map(normal_name, hashed))
        self._installed = Installed()
        self._edges = functools.cache(self._find_edges)
        self.find = functools.cache(self._find)

    def closure(
        self, roots: Iterable[str | Path], leave_out: Callable[[str], bool] = lambda _: False
    ) -> Closure:
        """Return modules, given by name or by file, with all that they import in turn."""
        waiting: list[Module | Distribution] = []
        for root in roots:
            found = self.at_file(root) if isinstance(root, Path) else self.find(root)
            waiting += [] if found is None else [*self._parents(found), found]
        seen: set[Module | Distribution] = set()
        while waiting:
            each = waiting.pop()
            if each not in seen and not (isinstance(each, Module) and leave_out(each.name)):
                seen.add(each)
                waiting += self._edges(each) if isinstance(each, Module) else ()
        modules = [each for each in seen if isinstance(each, Module) and each.path]
        digests: dict[str, set[str]] = {}
        for each in modules:
            digests.setdefault(each.name, set()).add(_read(each).digest)
        closure = Closure(
            # files that are given by their path may share a name
            {name: each.pop() if len(each) == 1 else _hash(*sorted(each)) for name, each in digests.items()},
            frozenset(each.path for each in modules if each.path),
            {each.name: each.version for each in seen if isinstance(each, Distribution)},
        )
        save_parsed()
        return closure

    def at_file(self, path: Path) -> Module | Distribution | None:
        """Return the module of a file: by the name under which it can be imported, or by that of the file."""
        for folder in [*self._folders, *sys.path]:
            if path.is_relative_to(folder or Path.cwd()):
                parts = path.relative_to(folder or Path.cwd()).with_suffix("").parts
                found = self.find(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
                if isinstance(found, Distribution) or (found and found.path == str(path)):
                    return found
        return Module(path.stem, str(path))

    def below(self, package: Module | Distribution | None) -> Iterator[str]:
        """Yield the names of the modules of a package that is followed, at any depth, and its own."""
        if not isinstance(package, Module):
            return
        yield package.name
        for folder in package.folders or ():
            for path in sorted(Path(folder).rglob("*.py")):
                parts = path.relative_to(folder).with_suffix("").parts
                yield ".".join([package.name, *(parts[:-1] if parts[-1] == "__init__" else parts)])

    def _find(self, name: str) -> Module | Distribution | None:
        """Return a module to follow, or the distribution it is of; None for Python's own and for none."""
        package, _, _ = name.rpartition(".")
        inside: list[str] | None = None
        if package:
            parent = self.find(package)
            if not isinstance(parent, Module):
                return parent
            if parent.folders is None:
                return None
            inside = list(parent.folders)
        spec = self._find_spec(name, inside)
        if spec is None or spec.origin in {"built-in", "frozen"} or is_python(spec.origin or ""):
            return None
        owner = self._installed.owner(spec.origin) if spec.origin else None
        if owner is not None and owner.name not in self._hashed:
            return owner
        folders = spec.submodule_search_locations
        return Module(name, spec.origin, None if folders is None else tuple(folders))

    def _find_spec(self, name: str, inside: list[str] | None) -> importlib.machinery.ModuleSpec | None:
        finders: list[Callable[[], Any]] = [
            functools.partial(importlib.machinery.PathFinder.find_spec, name, self._folders)
        ] * (inside is None and bool(self._folders))
        finders += [
            functools.partial(each.find_spec, name, inside)
            for each in sys.meta_path
            if hasattr(each, "find_spec")
        ]
        for find in finders:
            with contextlib.suppress(Exception):  # a stranger's finder may raise anything
                found: importlib.machinery.ModuleSpec | None = find()
                if found is not None:
                    return found
        return None

    def _parents(self, module: Module | Distribution) -> Iterator[Module]:
        """Yield the packages that a module is in: their __init__ is run before it."""
        name = module.name.rpartition(".")[0]
        while name:
            found = self.find(name)
            if isinstance(found, Module):
                yield found
            name = name.rpartition(".")[0]

    def _find_edges(self, module: Module) -> tuple[Module | Distribution, ...]:
        if module.path is None:
            return ()
        found: dict[Module | Distribution, None] = {}
        for each in _read(module).imports:
            for name in self._names(module, each):
                target = self.find(name)
                if isinstance(target, Module):
                    found |= dict.fromkeys((*self._parents(target), target))
                elif target is not None:
                    found[target] = None
        return tuple(found)

    def _names(self, module: Module, each: Import) -> Iterator[str]:
        """Yield the modules that an import statement of a module may bring."""
        base = _absolute(module, each)
        yield base
        target = self.find(base)
        if not isinstance(target, Module):
            return
        if each.name == "*":
            yield from self.below(target)
        elif each.name and self.find(f"{base}.{each.name}"):
            yield f"{base}.{each.name}"
            yield from self._taken(module, f"{base}.{each.name}")
        elif each.name:
            yield from self._homes(target, each.name)
        else:
            yield from self._taken(module, base.partition(".")[0])
            yield from self._taken(module, base)

    def _taken(self, module: Module, name: str) -> Iterator[str]:
        """Yield what a module takes from one that it imports as a whole and that imports by `__getattr__`."""
        target = self.find(name)
        if not isinstance(target, Module) or target.path is None or _read(target).lazy is None:
            return
        for attribute in attributes_used(module.path or "", name):
            first = attribute.partition(".")[0]
            if first and self.find(f"{name}.{first}"):
                yield f"{name}.{first}"
            elif first:
                yield from self._homes(target, first)
            else:
                yield from self.below(target)

    def _homes(self, module: Module, name: str) -> Iterator[str]:
        """Yield where a module gets an attribute from by `__getattr__`; all it has where that is unknown."""
        source = _read(module) if module.path else None
        if source is None or source.lazy is None or name in source.bound or name.startswith("__"):
            return
        home = source.lazy.get(name)
        if home is None:
            yield from self.below(module)
            return
        for place in (f"{module.name}.{home.module}", _absolute(module, home)):
            if self.find(place):
                yield place
                return


def file_of(thing: Any) -> Path | None:
    """Return the file of the module that a function, a class or an object of one comes from."""
    while isinstance(thing, functools.partial):
        thing = thing.func
    home = getattr(thing, "__module__", None) or type(thing).__module__
    file = getattr(sys.modules.get(home), "__file__", None)
    return Path(file) if file else None


def _read(module: Module) -> SourceFile:
    try:
        return parse_file(module.path or "")
    except OSError:
        return SourceFile("absent")


def _absolute(module: Module, each: Import) -> str:
    if not each.level:
        return each.module
    package = module.name if module.folders is not None else module.name.rpartition(".")[0]
    for _ in range(each.level - 1):
        package = package.rpartition(".")[0]
    return f"{package}.{each.module}".strip(".")


def _hash(*values: Any) -> str:
    return hashlib.sha256(repr(values).encode()).hexdigest()
