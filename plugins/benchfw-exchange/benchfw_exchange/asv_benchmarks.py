"""Benchmarks for airspeed velocity (ASV), made from what is registered and from suites.

A file in ASV's folder of benchmarks needs no more than this::

    from benchfw_exchange.asv_benchmarks import absent as __getattr__
    from benchfw_exchange.asv_benchmarks import kernel_benchmarks

    globals().update(kernel_benchmarks())

A kernel or a method is a class; backends, sizes and problems are its parameters. ASV knows parameters by
their number, also on another commit: so no list that grows with every new method is one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from benchfw.errors import BenchfwError
from benchfw.plan import plan
from benchfw.records import Budget, MethodKind, Result, Status, Trial
from benchfw.registry import Registry, is_nested, kind_of
from benchfw.suite import Suite, parse_suite, read_suite
from benchfw_exchange.asv import identifier

KERNELS = """
budget = { seconds = 2 }
[[kernel]]
use = "*"
size = [10_000, 1_000_000]
"""

Benchmarks = dict[str, type]


class MethodBenchmark:
    """One method of a suite: what its first repetition gives. Seeds are fixed: any change is a real one."""

    trials: ClassVar[Mapping[tuple[str, str], Trial]]
    plugins: ClassVar[tuple[str, ...]] = ()
    param_names: ClassVar = ("problem", "backend")
    timeout: ClassVar = 300

    def setup(self, problem: str, backend: str) -> None:
        """Run the trial."""
        _use_one_thread()
        self.found = _quantities(self.trials[problem, backend], Registry(self.plugins))


def _in(unit: str) -> Callable[[Any], Any]:
    """Give a benchmark the unit that ASV shows."""

    def mark(benchmark: Any) -> Any:
        benchmark.unit = unit
        return benchmark

    return mark


class EstimatorBenchmark(MethodBenchmark):
    """Variance of a draw, and what it is when a draw of twice the cost counts twice."""

    @_in("squared error")
    def track_variance(self, *_: str) -> float:
        """Return the variance."""
        return self.found["variance"]

    @_in("squared error x oracle calls")
    def track_work_normalized_variance(self, *_: str) -> float:
        """Return variance x cost of a draw."""
        return self.found["variance"] * self.found["cost_per_draw"]


class OptimizerBenchmark(MethodBenchmark):
    """What it takes to reach the suite's target."""

    @_in("iterations")
    def track_iterations_to_target(self, *_: str) -> float:
        """Return the iterations."""
        return self.found["iterations_to_target"]

    @_in("oracle calls")
    def track_cost_to_target(self, *_: str) -> float:
        """Return the oracle calls."""
        return self.found["cost_to_target"]


class KernelBenchmark(MethodBenchmark):
    """One kernel by one thread, measured as in any trial."""

    def setup(self, problem: str, backend: str) -> None:
        """Warm up by one call, by the clock that stands still while others use the processor."""
        from benchfw.measure.clock import count_cpu_seconds

        _use_one_thread()
        count_cpu_seconds()
        once = replace(self.trials[problem, backend], budget=Budget(iterations=1))
        self.found = _quantities(once, Registry(self.plugins))

    @_in("seconds")
    def track_seconds_per_call(self, problem: str, backend: str) -> float:
        """Return the median over blocks of calls."""
        return _quantities(self.trials[problem, backend], Registry(self.plugins))["seconds_per_call"]

    @_in("bytes")
    def track_bytes_held(self, *_: str) -> float:
        """Return the size of the arguments, and the most that a call holds beside them."""
        return sum(self.found[name] for name in ("argument_bytes", "peak_bytes"))


BASES: Mapping[MethodKind, type] = {
    "estimator": EstimatorBenchmark,
    "optimizer": OptimizerBenchmark,
    "kernel": KernelBenchmark,
}


def kernel_benchmarks(plugins: Iterable[str] = ()) -> Benchmarks:
    """Return a class for every registered kernel."""
    registry = Registry(plugins)
    suite = replace(parse_suite(KERNELS, "kernels"), backends=registry.backends.names)
    found: Benchmarks = {}
    _add_methods(found, "kernel", suite, registry, "")
    return found


def method_benchmarks(kind: MethodKind, suites: Iterable[Path], plugins: Iterable[str] = ()) -> Benchmarks:
    """Return a class for every estimator, or every optimizer that has a target, of the suites.

    A table that names something which is not registered, on an older commit say, is left out.
    """
    registry = Registry(plugins)
    found: Benchmarks = {}
    for path in suites:
        suite = _runnable(read_suite(path), kind, registry)
        if suite.tables[kind]:
            _add_methods(found, kind, suite, registry, f"{suite.name} ")
    return found


def _add_methods(found: Benchmarks, kind: MethodKind, suite: Suite, registry: Registry, prefix: str) -> None:
    """Add a class for every method of a suite; an optimizer without a target has nothing to follow."""
    methods: dict[str, dict[tuple[str, str], Trial]] = {}
    for trial in plan(replace(suite, repetitions=1), registry):
        if kind != "optimizer" or trial.target:
            methods.setdefault(trial.method.label, {})[trial.problem.label, trial.backend] = trial
    for label, trials in methods.items():
        name = identifier(prefix + label)
        if name in found:
            raise BenchfwError(
                f"two benchmarks for ASV would be called {name}; give '{prefix}{label}' another label"
            )
        own = {
            "plugins": registry.sources,
            "trials": trials,
            "params": (tuple(dict.fromkeys(problem for problem, _ in trials)), suite.backends),
            "version": _version(trials.values()),
        }
        found[name] = type(name, (BASES[kind],), own)


def _version(trials: Iterable[Trial]) -> str:
    """Return a hash of what is asked of a method: where that changes, ASV starts a new series."""
    names = ("backend", "seed", "at", "budget", "target", "precision", "best")
    asked = [
        (each.problem.table, each.method.table, [getattr(each, name) for name in names]) for each in trials
    ]
    return hashlib.sha256(repr(asked).encode()).hexdigest()


def absent(name: str) -> type:
    """Return a benchmark that ASV shows as n/a: what a commit does not have yet. A module's `__getattr__`."""
    if not name[:1].isupper():  # ASV asks modules for attributes too
        raise AttributeError(name)
    benchmarks = [each for base in BASES.values() for each in vars(base) if each.startswith("track_")]
    # more numbers of parameters than any benchmark has
    own = {"setup": _refuse, "params": (tuple(range(1000)),), **dict.fromkeys(benchmarks, _refuse)}
    return type(name, (), own)


def _refuse(self: object, *_: object) -> None:
    raise NotImplementedError(f"{type(self).__name__} is not in this commit")


def _runnable(suite: Suite, kind: MethodKind, registry: Registry) -> Suite:
    tables = {
        each: [table for table in suite.tables[each] if _is_known(each, table, registry)]
        for each in ("problem", kind)
    }
    return replace(suite, tables=tables)


def _is_known(kind: str, table: Mapping[str, Any], registry: Registry) -> bool:
    names = table["use"] if isinstance(table["use"], list) else [table["use"]]
    inner = [(kind_of(key), value) for key, value in table.items() if is_nested(key, value)]
    return registry.entries(kind).keys() >= set(names) and all(
        _is_known(each, value, registry) for each, value in inner
    )


def _use_one_thread() -> None:
    import scipy.linalg  # noqa: F401 - its BLAS, which kernels would load later, is limited as well
    from threadpoolctl import threadpool_limits

    threadpool_limits(limits=1)


def _quantities(trial: Trial, registry: Registry) -> dict[str, float]:
    """Run a trial in this process; return what it says about each quantity."""
    from benchfw.measure.trial import collector, run_trial, warm_up
    from benchfw.summary.histories import Reader
    from benchfw.summary.samples import sample_trials
    from benchfw.summary.targets import choose_targets

    records, emit = collector()
    with registry.activate():
        if trial.kind == "kernel":
            warm_up(trial, registry, collector()[1])
        outcome = run_trial(trial, registry, emit)
    status = outcome.status
    if status is Status.SKIPPED:
        raise NotImplementedError(outcome.reason)
    if status is not Status.REACHED and (status is not Status.DONE or trial.target):
        raise RuntimeError(f"{trial}: {status}: {outcome.reason}")
    result = Result(0, trial, replace(outcome, records=tuple(records)))
    histories = [Reader().read(result)]
    sample = sample_trials(trial.kind, histories, choose_targets([histories]))
    found = {**sample.values, **sample.facts}
    return {
        quantity: -values[trial.repetition] if sample.is_gain(quantity) else values[trial.repetition]
        for quantity, values in found.items()
    }
