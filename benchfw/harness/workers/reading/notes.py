"""What was read, what of it counts for a trial, and the name and hash by which the store knows it."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchfw.data.load import sources_of
from benchfw.errors import BenchfwError
from benchfw.harness.identity import files_of_trial
from benchfw.harness.inputs import ABSENT, CHANGED, Inputs, name_path, names_in, signature_of
from benchfw.records import Cell, Trial
from benchfw.registry import Registry


class Note(NamedTuple):
    """One thing that was read, and the file of the code that read it.

    `relative`: it was found from the working folder, which may be another one the next time. `source`: it is
    one of the modules that the reader imports by a statement, or that a library compiles. The key has it,
    unless it was found in a way that cannot be known from the source.
    """

    kind: str
    what: str
    reader: str
    relative: bool = False
    source: bool = False

    @property
    def computed(self) -> bool:
        """Whether this is a module that was imported by a computed name."""
        return self.kind == "module" and not self.source


class Notes:
    """What plugins have read in a process, each thing with its state when it was read."""

    def __init__(self, start: str) -> None:
        self.path: tuple[str, ...] = ()
        """Where modules are looked for, once all plugins are loaded."""
        self.tell: Callable[[str], None] = lambda _: None
        """Called with the name of each thing when it is first read: a trial that crashes says no more."""
        self._notes: dict[Note, Any] = {}
        self._start = start
        self._begun = 0
        self._files: dict[tuple[Cell, frozenset[Path]], frozenset[str]] = {}

    def __contains__(self, note: Note) -> bool:
        """Return whether a thing was read by the same code."""
        return note in self._notes

    def begin_trial(self) -> None:
        """Take what is added from now on for what the next trial reads."""
        self._begun = len(self._notes)
        self.path = self.path or tuple(sys.path)

    def of_trial(self, trial: Trial, registry: Registry) -> dict[str, str]:
        """Return what the trial read, with hashes: by itself, or before it by a module that it imports.

        A module that a plugin imported by a computed name counts for all trials: one that finds it loaded
        does not read it again. So does what the cells of a notebook have read.
        """
        notes = list(self._notes.items())
        if not notes:
            return {}
        with self._path_of_plugins():
            before, since = notes[: self._begun], notes[self._begun :]
            counted = [*since, *(each for each in before if each[0].computed)]
            if len(counted) < len(notes) or any(each.source for each, _ in since):
                files = self._files_of(trial, registry)
                counted += [
                    each
                    for each in before
                    if not each[0].computed and (each[0].reader in files or _is_unsaved(each[0].reader))
                ]
                counted = [each for each in counted if not (each[0].source and each[0].what in files)]
            known = (
                _datasets_of(trial, registry) if any(each.kind == "data set" for each, _ in counted) else ()
            )
            inputs = Inputs(registry.modules)
            return dict(
                self._seal(note, state, inputs)
                for note, state in counted
                if note.kind != "data set" or note.what not in known
            )

    def look_ahead(self, trial: Trial, registry: Registry) -> None:
        """Find out, before a process is forked for a trial, whatever `of_trial` will ask."""
        if any(not note.computed for note in self._notes):
            self._files_of(trial, registry)

    def _files_of(self, trial: Trial, registry: Registry) -> frozenset[str]:
        """Return the files of the modules that a trial imports, those with a computed name included."""
        modules = frozenset(Path(note.what) for note in self._notes if note.computed)
        known = self._files.get((trial.cell, modules))
        if known is None:
            known = files_of_trial(trial, registry, modules)
            self._files[trial.cell, modules] = known
        return known

    @contextlib.contextmanager
    def _path_of_plugins(self) -> Iterator[None]:
        """Let modules be found as the harness finds them, without what the trial has added to the path."""
        now = sys.path[:]
        changed = bool(self.path) and now != list(self.path)
        if changed:
            sys.path[:] = self.path
        try:
            yield
        finally:
            if changed:
                sys.path[:] = now

    def _seal(self, note: Note, state: Any, inputs: Inputs) -> tuple[str, str]:
        """Return the name of what was read and a hash of it, if it still is as it was."""
        name = self.name_of(note)
        match note.kind:
            case "variable" | "working folder":
                return name, state
            case "data set" | "package" | "packages":
                return name, inputs.state(name)
            case "folder":
                unchanged = state == names_in(note.what)
            case _:
                unchanged = state == signature_of(note.what)
        if state is None:
            return name, ABSENT
        return name, inputs.hash_path(note.kind, Path(note.what)) if unchanged else CHANGED

    def name_of(self, note: Note) -> str:
        """Return the name by which the store knows what was read."""
        if note.kind in {"variable", "data set", "working folder", "package", "packages"}:
            return f"{note.kind} {note.what}"
        if note.relative:
            return f"{note.kind} ./{Path(os.path.relpath(note.what, self._start)).as_posix()}"
        return name_path(note.kind, Path(note.what), self.path or sys.path)

    def add(self, note: Note, state: Any) -> None:
        """Add what was read, and the state that it was in."""
        if note not in self._notes:
            self._notes[note] = state
            self.tell(self.name_of(note))
        elif self._notes[note] != state:
            self._notes[note] = CHANGED


def _datasets_of(trial: Trial, registry: Registry) -> list[str]:
    """Return the data sets whose content is in a trial's key."""
    tables = [(trial.kind, trial.method.table), ("problem", trial.problem.table)]
    names = [registry.dataset_of(*each) for each in tables if trial.kind != "kernel"]
    try:
        return [each for name in names if name for each in sources_of(name)]
    except BenchfwError:
        return []


def _is_unsaved(reader: str) -> bool:
    """Whether code is in no file, as that of a notebook: it may be a part of any trial."""
    return not os.path.isfile(reader)  # noqa: PTH113 - often called
