"""`benchfw.compare`: methods on problems, both as objects or by name."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from benchfw.api.arguments import BudgetTable, as_bytes, as_folder, as_names, as_path, faults_in_python
from benchfw.api.objects import Objects
from benchfw.api.planning import Planned, plan_text
from benchfw.api.result import RunResult
from benchfw.api.session import run_with_progress
from benchfw.api.toml import write_toml
from benchfw.backends.threads import default_threads
from benchfw.errors import BenchfwError, SuiteError
from benchfw.harness.options import Options
from benchfw.provenance import DEFAULT_STORE
from benchfw.registry import Registry

NAME = "compare"
TABLE = re.compile(rf"{NAME}, \[\[(\w+)\]\] (\d+)")
OF_SUITES = {
    "is a key of the suite; move it above the first [[table]]": "is an argument by itself; move it out",
    "a table with 'use'": "a dict with 'use'",
}
"""What messages on suites say, and what that is for who has given arguments."""

BARE = re.compile(r"\[\[(\w+)\]\]")


@faults_in_python()
def compare(
    problems: Any,
    methods: Any,
    *,
    repetitions: int = 5,
    target: Mapping[str, float] | None = None,
    budget: BudgetTable | Mapping[str, float] | None = None,
    precision: float | None = None,
    seed: int = 0,
    backends: str | Sequence[str] = "numpy",
    reference: str | None = None,
    tune: Mapping[str, Any] | None = None,
    claims: Sequence[Mapping[str, Any]] = (),
    title: str = "Comparison",
    plugins: str | Sequence[str] = (),
    store: str | Path = DEFAULT_STORE,
    jobs: int = 1,
    threads: int | None = None,
    timeout: float | None = None,
    memory: int | str | None = None,
    isolation: Literal["trial", "worker"] = "trial",
    fresh: bool = False,
    retry_failed: bool = False,
    fail_fast: bool = False,
    keep: str | Path | None = None,
    replay: bool = True,
    executor: str | None = None,
    progress: bool | None = None,
) -> RunResult:
    """Compare methods on problems, each given as an object or by name, and return what was found.

    A problem is an object with value, grad and start, which every trial copies; a class, called with backend
    and rng or with nothing; what `benchfw.problem` returns; or a registered name. A method is an object or a
    class with `run`, `solve` or `draw`; a generator function of (problem, rng); a function that takes a
    `callback` or an `effort` too; or a registered name.

    One or a list of them is given, or a dict, whose keys are the labels. {"use": method, "step": [0.1, 1]}
    gives a method, or a problem, parameters; a list of values is a sweep.

    All else is as in a suite: each trial has `budget` ({"seconds": 10, "iterations": 10000}) to get to the
    `target` ({"gap": 1e-6}), in a process of its own. Ratios are relative to `reference`, the label of a
    method, or to the first. A parameter whose value is a search space, such as `benchfw.Log(1e-4, 1)`, is
    chosen on other seeds, with the same allowance `tune` ({"trials": 32, "repetitions": 3}) for each method.
    `claims` are what you expect, decided by the run: a list of {"says": "b is faster", "method": "b", "than":
    "a", "quantity": "cost to target", "ratio": {"below": 1}}, with the keys of a suite's [[claim]].
    Trials that the store has are not run again; those of objects are known by their code and data.
    `executor` is what runs trials elsewhere, NAME or NAME:ADDRESS, as for `benchfw run --executor`.
    """
    options = Options(
        jobs=jobs,
        threads=default_threads() if threads is None else threads,
        timeout=timeout,
        memory=as_bytes(memory, "memory"),
        fresh=fresh,
        retry_failed=retry_failed,
        fail_fast=fail_fast,
        keep_in=as_folder(keep, "keep"),
        replay=replay,
    )
    suite = {
        "title": title,
        "seed": seed,
        "repetitions": repetitions,
        "backends": as_names(backends, "backends"),
        "isolation": isolation,
        "budget": budget,
        "target": target,
        "precision": precision,
        "reference": reference,
        "tune": tune,
        "plugins": as_names(plugins, "plugins") or None,
    }
    for name in ("title", "seed", "repetitions", "isolation"):
        if suite[name] is None:
            raise BenchfwError(f"{name} must be given, or left out; got None")
    given = {name: value for name, value in suite.items() if value is not None}
    with _faults_of_arguments(places := {"claim": _claim_places(claims)}):
        planned = _plan(problems, methods, {**given, "claim": list(claims)}, places)
        return run_with_progress(planned, as_path(store, "store"), options, executor, progress)


def _claim_places(claims: Any) -> list[str]:
    """Return what to call each claim; what is not a list of tables is a BenchfwError."""
    if not isinstance(claims, list | tuple):
        raise BenchfwError(f"claims must be a list of dicts, got {type(claims).__name__}")
    for number, each in enumerate(claims):
        if not isinstance(each, Mapping):
            raise BenchfwError(f"claims[{number}] must be a dict with 'says', got {each!r}")
    return [f"claims[{number}]" for number in range(len(claims))]


@contextlib.contextmanager
def _faults_of_arguments(places: Mapping[str, Sequence[str]]) -> Iterator[None]:
    """Let faults of the suite that was made of arguments name these; `places` are those of its tables."""

    def name_argument(found: re.Match[str]) -> str:
        return "problems:" if found[1] == "problem" else "methods:"

    def name_place(found: re.Match[str]) -> str:
        return places[found[1]][int(found[2]) - 1]

    try:
        yield
    except SuiteError as fault:
        said = TABLE.sub(name_place, str(fault)).removeprefix(f"{NAME}: ")
        for words, own in OF_SUITES.items():
            said = said.replace(words, own)
        raise BenchfwError(BARE.sub(name_argument, said)) from None


def _plan(problems: Any, methods: Any, suite: Mapping[str, Any], places: dict[str, list[str]]) -> Planned:
    """Plan the suite that arguments make; `places` gets what to call its tables."""
    objects = Objects(Registry(suite.get("plugins", ())))
    tables: dict[str, list[dict[str, Any]]] = {}
    for argument, given in (("problems", problems), ("methods", methods)):
        for place, kind, table in objects.tables(argument, given):
            tables.setdefault(kind, []).append(table)
            places.setdefault(kind, []).append(place)
    text = write_toml({**suite, **tables}, NAME)
    if objects.given:
        text += f"\n{objects.describe()}\n"
    return plan_text(text, NAME, objects.registry.with_objects(objects.given))
