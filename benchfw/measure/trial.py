"""Builds a trial's problem and method and measures them; whatever happens becomes a status."""

from __future__ import annotations

import random
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchfw.backends import Rng, get_backend
from benchfw.contract import cost_unit_of
from benchfw.errors import BenchfwError, Unavailable
from benchfw.measure.endings import told
from benchfw.measure.estimators import measure_estimator
from benchfw.measure.kernels import kernel_arguments, measure_kernel
from benchfw.measure.meter import Emit, Ending
from benchfw.measure.optimizers import measure_optimizer
from benchfw.measure.seeding import data_seed, method_seed
from benchfw.records import Budget, Record, Status, Trial
from benchfw.registry import Registry

Measure = Callable[[Trial, Any, Any, Rng, Emit], Ending]

LONGEST_REASON = 500  # characters: a reason is repeated in every row of an export


class Ended(NamedTuple):
    """How a trial ended, and what one unit of its cost is."""

    status: Status
    reason: str
    cost_unit: str


def run_trial(
    trial: Trial, registry: Registry, emit: Emit, hear: Callable[[BaseException], None] = lambda _: None
) -> Ended:
    """Run a trial in this process, handing over records as they are measured.

    Its faults are not raised: they become the status, and `hear` is told of them.
    """
    cost_unit, seed = "", method_seed(trial)
    _seed_global_generators(seed)
    try:
        cost_unit, measure = build_trial(trial, registry, seed)
        status, reason = measure(emit)
    except (Exception, SystemExit) as fault:  # noqa: BLE001 - a stranger's method may raise anything
        if not isinstance(fault, BenchfwError | MemoryError):
            hear(fault)
        status, reason = ending_of(fault)
    return Ended(status, reason, cost_unit)


def _seed_global_generators(seed: int) -> None:
    """Give a method that draws from them, though it should not, the same numbers in any order of trials."""
    random.seed(seed % 2**32)
    np.random.seed(seed % 2**32)  # noqa: NPY002 - the legacy generator is the global one


def ending_of(fault: BaseException) -> Ending:
    """Return the status and the reason of what raised this."""
    match fault:
        case Unavailable():
            return Status.SKIPPED, str(fault)
        case MemoryError():
            return Status.OUT_OF_MEMORY, f"not enough memory: {str(fault) or 'an allocation was refused'}"
        case BenchfwError():
            return Status.FAILED, str(fault)
    return Status.FAILED, explain(fault)


def warm_up(
    trial: Trial, registry: Registry, emit: Emit, hear: Callable[[BaseException], None] = lambda _: None
) -> Ended:
    """Run the trial's first iteration once, so that imports, compilation and caches are paid for."""
    iterations = 2 if trial.kind == "estimator" else 1  # two draws are the fewest that have a variance
    seconds = trial.budget.seconds if trial.kind == "kernel" else None  # a call may be too long to be made
    budget = Budget(seconds, iterations)
    return run_trial(replace(trial, budget=budget, target={}, precision=None), registry, emit, hear)


def build_trial(trial: Trial, registry: Registry, seed: int) -> tuple[str, Callable[[Emit], Ending]]:
    """Build a trial's problem and its method, which draws from `seed`.

    Return the unit of its cost, and the call that measures it.
    """
    backend = get_backend(trial.backend)
    if trial.kind == "kernel":
        entry = registry.get("kernel", trial.method.use)
        dtype = trial.method.params.get("dtype")
        arguments_of = partial(kernel_arguments, entry, backend, data_seed(trial), dtype)
        return "calls", partial(measure_kernel, trial, backend, entry.factory, arguments_of)
    problem = registry.build("problem", trial.problem.table, backend, backend.rng(data_seed(trial)))
    method = registry.build(trial.kind, trial.method.table)
    measure = measure_optimizer if trial.kind == "optimizer" else measure_estimator
    unit = cost_unit_of(problem)
    return unit, partial(_measure, measure, trial, problem, method, backend.rng(seed))


def _measure(measure: Measure, trial: Trial, problem: Any, method: Any, rng: Rng, emit: Emit) -> Ending:
    status, reason = measure(trial, problem, method, rng, emit)
    facts, reason = told(method, problem, reason)
    emit(facts)
    return status, reason


def explain(fault: BaseException) -> str:
    """Return a fault as one line: its type, its message, and where in whose file it was raised."""
    frames = traceback.extract_tb(fault.__traceback__)
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    try:
        message = " ".join(str(fault).split())
    except Exception:  # noqa: BLE001 - a stranger's exception may not even print
        message = "its message cannot be printed"
    short = message if len(message) <= LONGEST_REASON else f"{message[:LONGEST_REASON]}…"
    return f"{type(fault).__name__}: {short}{place}" if short else f"{type(fault).__name__}{place}"


def collector() -> tuple[list[Record], Emit]:
    """Return a list and a function that adds records to it."""
    kept: list[Record] = []

    def emit(records: Sequence[Any]) -> None:
        kept.extend(records)

    return kept, emit
