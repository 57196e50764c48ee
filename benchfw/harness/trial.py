"""Builds a trial's problem and method and measures them; whatever happens becomes a status."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchfw.backends import get_backend
from benchfw.errors import BackendUnavailable, BenchfwError
from benchfw.harness.measure import Emit, Ending, measure_estimator, measure_kernel, measure_optimizer
from benchfw.harness.seeding import data_seed, method_seed
from benchfw.records import Budget, Record, Status, Trial
from benchfw.registry import Registry

WARM_UP = Budget(iterations=1)


def run_trial(
    trial: Trial, registry: Registry, emit: Emit, hear: Callable[[BaseException], None] = lambda _: None
) -> Ending:
    """Run a trial in this process, handing over records as they are measured.

    Its faults are not raised: they become the status, and `hear` is told of them.
    """
    try:
        return measure_trial(trial, registry, emit)
    except BackendUnavailable as fault:
        return Status.SKIPPED, str(fault)
    except MemoryError as fault:
        return Status.OUT_OF_MEMORY, f"not enough memory: {fault or 'an allocation was refused'}"
    except BenchfwError as fault:
        return Status.FAILED, str(fault)
    except Exception as fault:  # noqa: BLE001 - a stranger's method may raise anything
        hear(fault)
        return Status.FAILED, explain(fault)


def warm_up(trial: Trial, registry: Registry, emit: Emit) -> None:
    """Run the trial's first iteration once, so that imports, compilation and caches are paid for."""
    # two draws are the fewest that have a variance
    budget = Budget(iterations=2) if trial.kind == "estimator" else WARM_UP
    run_trial(replace(trial, budget=budget, target={}, precision=None), registry, emit)


def measure_trial(trial: Trial, registry: Registry, emit: Emit) -> Ending:
    """Run a trial in this process and let its faults through."""
    backend = get_backend(trial.backend)
    if trial.kind == "kernel":
        entry = registry.get("kernel", trial.method.use)
        assert entry.sample is not None, "kernels are registered with a sample"  # noqa: S101 - for the type checker
        arguments = entry.sample(backend, backend.rng(data_seed(trial)), trial.problem.params["size"])
        return measure_kernel(trial, backend, entry.factory, arguments, emit)
    problem = registry.build("problem", trial.problem.table, backend, backend.rng(data_seed(trial)))
    method = registry.build(trial.kind, trial.method.table)
    rng = backend.rng(method_seed(trial))
    measure = measure_optimizer if trial.kind == "optimizer" else measure_estimator
    return measure(trial, problem, method, rng, emit)


def explain(fault: BaseException) -> str:
    """Return a fault as one line: its type, its message, and where in whose file it was raised."""
    frames = traceback.extract_tb(fault.__traceback__)
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    message = " ".join(str(fault).split())
    return f"{type(fault).__name__}: {message}{place}" if message else f"{type(fault).__name__}{place}"


def collector() -> tuple[list[Record], Emit]:
    """Return a list and a function that adds records to it."""
    kept: list[Record] = []

    def emit(records: Sequence[Any]) -> None:
        kept.extend(records)

    return kept, emit
