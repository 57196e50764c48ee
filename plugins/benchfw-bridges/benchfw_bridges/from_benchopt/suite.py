"""Writes a suite of a benchmark: its default data set, and all of its solvers with all their settings."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchfw_bridges.from_benchopt import folder as folders
from benchfw_bridges.from_benchopt.problem import default_dataset

TAKEN = frozenset(
    {"use", "label", "on", "best", "quick", "benchmark", "dataset", "objective", "solver", "seed", "maximize"}
    | {"parameters", "tune"}
)
"""What tables of problems and optimizers have beside the parameters of data set and solver."""


def write_suite(benchmark: Path, into: Path) -> str:
    """Return the text; paths in it count from the folder `into`."""
    folders.import_benchopt()
    folder = folders.check_folder(str(benchmark))
    return "\n".join(_lines(folder, os.path.relpath(folder.resolve(), into.resolve()))) + "\n"


def _lines(folder: Path, path: str) -> Iterator[str]:
    objective = folders.read_objective(folder)
    yield f"title = {_value(str(objective.name))}"
    yield "repetitions = 5"
    yield "budget = { seconds = 10 }"
    settings = folders.all_settings(objective)
    dataset = folders.read_class(folder, "dataset", default_dataset(folder))
    chosen = dataset.name
    for number, each in enumerate(folders.all_settings(dataset)):
        yield from ("", "[[problem]]", 'use = "benchopt"', f"benchmark = {_value(path)}")
        yield f"dataset = {_value(chosen)}"
        yield from _own_parameters(each)
        if number == 0 and len(settings) > 1:
            yield "# the objective has more settings; a list here runs them all"
        if settings[0]:
            yield f"objective = {{ {', '.join(_parameters(settings[0]))} }}"
    others = [name for name in folders.read_classes(folder, "dataset") if name != chosen]
    if others:
        yield from ("", f"# more data sets: {', '.join(others)}")
    for name, kind in folders.read_classes(folder, "solver").items():
        for each in folders.all_settings(kind):
            shown = ", ".join(f"{key}={value}" for key, value in each.items())
            yield from ("", "[[optimizer]]", 'use = "benchopt"', f"benchmark = {_value(path)}")
            yield f"solver = {_value(name)}"
            yield f"label = {_value(f'{name} ({shown})' if shown else name)}"
            yield from _own_parameters(each)


def _own_parameters(settings: Mapping[str, Any]) -> Iterator[str]:
    """Yield parameters as lines, those whose names a table has already inside of `parameters`."""
    yield from _parameters({key: each for key, each in settings.items() if key not in TAKEN})
    taken = _parameters({key: each for key, each in settings.items() if key in TAKEN})
    if taken:
        yield f"parameters = {{ {', '.join(taken)} }}"


def _parameters(settings: Mapping[str, Any]) -> list[str]:
    """Return parameters as lines of TOML; what TOML does not have, such as None, is left to benchopt."""
    return [f"{key} = {_value(each)}" for key, each in settings.items() if _fits(each)]


def _fits(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_fits, value))
    return isinstance(value, bool | int | float | str)


def _value(value: Any) -> str:
    """Return a value as TOML has it; a list is a value, not a sweep, inside another list."""
    if isinstance(value, list | tuple):
        return f"[[{', '.join(map(_value, value))}]]"
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value, ensure_ascii=False)
