"""Builds a trial's problem and method and measures them; whatever happens becomes a status."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

from benchfw.backends import Backend, Rng, get_backend, is_on_device
from benchfw.contract import cost_unit_of
from benchfw.counting import CountedProblem
from benchfw.errors import BackendUnavailable, BenchfwError, PluginError
from benchfw.measure.audit import Rebuild
from benchfw.measure.clock import Clock, is_device, is_wall_time
from benchfw.measure.endings import facts_of_method, outcome_of, with_parts
from benchfw.measure.estimators import measure_estimator
from benchfw.measure.files import TrialFiles, kept_folder
from benchfw.measure.kernels import kernel_arguments, measure_kernel
from benchfw.measure.meter import Emit
from benchfw.measure.optimizers import measure_optimizer
from benchfw.measure.seeding import data_seed, method_seed, seed_global_generators
from benchfw.measure.sharing import shared_arrays
from benchfw.records import Budget, Counting, Outcome, Record, Spec, Trial, change
from benchfw.registry import Given, Registry

Measure = Callable[[Trial, Any, Any, Rng, Emit], Outcome]

UNKNOWN = (
    "it calls {}, whose cost is not known, and so its own is not: say what a call costs, as in "
    'costs = {{"hess": 10}} of the problem, or declare it by problem.charge'
)


def run_trial(
    trial: Trial,
    registry: Registry,
    emit: Emit,
    hear: Callable[[BaseException], None] = lambda _: None,
    keep_in: str = "",
) -> Outcome:
    """Run a trial in this process, handing over records as they are measured: the outcome holds none.

    Its faults are not raised: they become the status, and `hear` gets them. Its files and
    its last answer are kept in the folder `keep_in`, if there is one.
    """
    cost_unit, drawn_from = "", data_seed(trial)
    seed = method_seed(trial, drawn_from)
    seed_global_generators(seed)
    if trial.holds_out:
        from benchfw.data.split import validation_seed  # few trials need it, and all pay for an import

        validation_seed.set(drawn_from)
    with TrialFiles(kept_folder(trial, keep_in) if keep_in else None):
        try:
            cost_unit, measure = build_trial(trial, registry, drawn_from, seed)
            outcome = measure(emit)
            backend = get_backend(trial.backend)
            if is_device(backend):  # an executor that has several knows which
                outcome = change(outcome, device=str(backend.describe().get("device") or backend.name))
        except (Exception, SystemExit) as fault:  # noqa: BLE001 - a stranger's method may raise anything
            if not isinstance(fault, BenchfwError | MemoryError):
                hear(fault)
            outcome = outcome_of(fault)
        finally:
            if trial.holds_out:
                validation_seed.set(None)
    return outcome if outcome.cost_unit == cost_unit else change(outcome, cost_unit=cost_unit)


def warm_up(
    trial: Trial, registry: Registry, emit: Emit, hear: Callable[[BaseException], None] = lambda _: None
) -> Outcome:
    """Run the trial's first iteration once, so that imports, compilation and caches are paid for.

    On a device, where a kernel is compiled when it is first called, up to nine more, for about a second: they
    may call others.
    """
    iterations = 2 if trial.kind == "estimator" else 1  # two draws are the fewest that have a variance
    seconds = trial.budget.seconds if trial.kind == "kernel" else None  # a call may be too long to be made
    with contextlib.suppress(BackendUnavailable):  # the trial will say so
        if trial.kind != "kernel" and is_on_device(trial.backend):
            iterations, emit = 10, _end_after(1.0, emit)
    budget = Budget(seconds, iterations)
    return run_trial(change(trial, budget=budget, target={}, precision=None, best=None), registry, emit, hear)


def _end_after(seconds: float, emit: Emit) -> Emit:
    """Return an `emit` that ends a trial so many seconds after its first iteration."""
    first: list[float] = []

    def limited(records: Sequence[Record]) -> None:
        emit(records)
        times = [each.seconds for each in records if each.iteration >= 1]
        first.extend(times[: not first])
        if times and times[-1] - first[0] > seconds:
            raise BenchfwError(f"ended after {seconds:g} seconds")

    return limited


def build_trial(
    trial: Trial, registry: Registry, drawn_from: int, seed: int
) -> tuple[str, Callable[[Emit], Outcome]]:
    """Build a trial's problem, with data drawn from one seed, and its method, which draws from the other.

    Return the unit of its cost, and the call that measures it.
    """
    backend = get_backend(trial.backend)
    if trial.kind == "kernel":
        entry = registry.get("kernel", trial.method.use)
        dtype = trial.method.params.get("dtype")
        arguments_of = partial(kernel_arguments, entry, backend, drawn_from, dtype)
        return "calls", partial(measure_kernel, trial, backend, entry.factory, arguments_of)

    def build() -> Any:
        return registry.build("problem", trial.problem.table, backend, backend.rng(drawn_from))

    # where memory is measured, a second problem and copies would be part of it
    wall_time = is_wall_time()
    shared = shared_arrays(registry.get("problem", trial.problem.use).factory) if wall_time else ()
    began = perf_counter()
    problem = build()
    rebuild = Rebuild(build, perf_counter() - began, shared) if wall_time else None
    method = registry.build(trial.kind, trial.method.table)
    measure = partial(measure_optimizer, rebuild=rebuild) if trial.kind == "optimizer" else measure_estimator
    unit = cost_unit_of(problem)
    return unit, partial(_measure, measure, unit, trial, problem, method, backend.rng(seed))


def _measure(
    measure: Measure, unit: str, trial: Trial, problem: Any, method: Any, rng: Rng, emit: Emit
) -> Outcome:
    prepared = prepare_method(method, problem, "run" if trial.kind == "optimizer" else "draw")
    outcome = measure(trial, problem, prepared.method, rng, emit)
    facts, caveats = facts_of_method(prepared.method, problem)
    counting = outcome.counting
    if counting is Counting.UNKNOWN:
        caveats = (UNKNOWN.format(", ".join(problem.unknown_oracles)), *caveats)
    elif not getattr(method, "knows_cost", True):
        counting = Counting.UNKNOWN
    return change(
        outcome,
        facts={**outcome.facts, **facts},
        caveats=tuple(dict.fromkeys((*outcome.caveats, *caveats))),
        prepare_seconds=prepared.seconds,
        counting=counting,
        prepare_cost=None if counting is Counting.UNKNOWN else prepared.cost,
        cost_unit=unit,
    )


class Prepared(NamedTuple):
    """The method to run, and what preparing it took: None where there was nothing to prepare."""

    method: Any
    seconds: float | None = None
    cost: float | None = None


def prepare_method(method: Any, problem: Any, call: str) -> Prepared:
    """Prepare a method, and before it the methods in its fields, for a problem; `call` is "run" or "draw"."""
    for each in with_parts(method):
        if hasattr(each, "prepare"):
            break
    else:
        return Prepared(method)
    clock, before = Clock(problem.backend), float(problem.cost)
    with clock:
        prepared = _prepare(method, problem)
    calls = ("run", "solve") if call == "run" else (call,)
    if not any(callable(getattr(prepared, each, None)) for each in calls):
        raise PluginError(
            f"prepare() of {type(method).__name__} returned {type(prepared).__name__}, without "
            f"{'() or '.join(calls)}(); "
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


def collector() -> tuple[list[Record], Emit]:
    """Return a list and a function that adds records to it."""
    kept: list[Record] = []

    def emit(records: Sequence[Any]) -> None:
        kept.extend(records)

    return kept, emit


REHEARSAL = Trial("optimizer", Spec("nothing"), Spec("idle"), "numpy", 0, 0, Budget(iterations=1))
"""A trial of a method that does nothing on a problem with nothing to solve."""


def rehearsal_registry() -> Registry:
    """Return a registry that can build REHEARSAL."""
    given = [Given("problem", "nothing", _Nothing, ""), Given("optimizer", "idle", _Idle, "")]
    return Registry((), (), given)


class _Nothing(CountedProblem):
    def __init__(self, backend: Backend, rng: Rng) -> None:
        self.backend = backend
        self._start = rng.standard_normal((2,))

    def start(self) -> Any:
        return self._start

    def metrics(self, answer: Any) -> Mapping[str, float]:
        self._count(1.0)
        return {"size": float(answer @ answer), "gap": 0.0}


@dataclass(frozen=True)
class _Idle:
    def run(self, problem: Any, _rng: Rng) -> Iterator[Any]:
        while True:
            yield problem.start()
