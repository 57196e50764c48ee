"""Plans a suite: Suite + Registry -> Trials, every mistake found before anything runs.

Pure: nothing of a plugin runs here, only signatures are read.
"""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from benchfw.claims.check import check_claims
from benchfw.counting import check_counted
from benchfw.errors import PluginError, SuiteError, nearest
from benchfw.parameters import Count, fits, hints_of, is_protocol
from benchfw.records import Cell, MethodKind, Spec, Trial
from benchfw.registry import Registry, is_nested, kind_of
from benchfw.search import Tuning, read_spaces, spaces_in
from benchfw.suite import METHOD_KINDS, QUICK_TUNING, TOP_SETTINGS, Suite, check_type, parse_suite
from benchfw.sweep import expand, label_specs
from benchfw.tables import check_datasets, check_table, without
from benchfw.trials import Trials

MOST_TRIALS = 1_000_000

TO_TARGET = " to target"
ARRIVALS = tuple(f"{axis}{TO_TARGET}" for axis in ("cost", "seconds", "iterations"))
"""The metrics of tuning that are what it takes to reach the target; all others are metrics at the end."""

EVERY = "*"
"""`use = "*"` in a [[kernel]] table stands for every kernel that is registered."""

RESERVED: Mapping[str, Mapping[str, Any]] = {
    "estimator": {"at": Literal["start", "optimum"]},
    "kernel": {"size": Count, "dtype": Literal["float32", "float64"]},
}
"""Keys of a table that the harness reads itself, beside the plugin's own parameters."""


@dataclass(frozen=True)
class Method:
    """One method of a suite after its sweeps are expanded; `on` names its problems, none meaning all."""

    kind: MethodKind
    spec: Spec
    at: Literal["start", "optimum"] = "start"
    on: tuple[str, ...] = ()


def plan(suite: Suite, registry: Registry, where: str = "", *, datasets: bool = True) -> Trials:
    """Return the suite's trials, problem by problem, methods in the file's order, repetitions last.

    Unless `datasets` is false, the names of all data sets must be known.
    """
    where = where or suite.name
    found = _specs(suite, "problem", registry, where, datasets=datasets)
    problems, best = [spec for spec, _ in found], {spec.label: rest.best for spec, rest in found}
    methods = [
        _method(kind, spec, rest.on)
        for kind in METHOD_KINDS
        for spec, rest in _specs(suite, kind, registry, where, datasets=datasets)
    ]
    if not methods:
        raise SuiteError(f"{where}: names no method; add an [[optimizer]], [[estimator]] or [[kernel]] table")
    if not problems and any(method.kind != "kernel" for method in methods):
        raise SuiteError(f"{where}: names no problem; add a [[problem]] table")
    _check_backends(suite, registry, where)
    _check_places(problems, methods, where)
    _check_oracles(problems, methods, registry, where)
    _check_reference(suite, methods, where)
    _check_tuning(suite, methods, registry, where)
    pairs = list(_pairs(problems, methods))
    cells = (Cell(problem.label, each.kind, each.spec.label, "") for problem, each in pairs)
    check_claims(
        suite.claims,
        cells,
        registry.backends.names,
        targets=bool(suite.target),
        where=where,
        quick=suite.quick,
    )
    total = len(pairs) * len(suite.backends) * suite.repetitions
    total += count_tuning_trials(suite, [method.spec for _, method in pairs])
    if total > MOST_TRIALS:
        raise SuiteError(
            f"{where}: asks for {total:,} trials, and a run takes at most {MOST_TRIALS:,}; ask for fewer"
        )
    firsts = (_first(suite, *pair, backend, best) for pair in pairs for backend in suite.backends)
    return Trials(firsts, suite.repetitions)


def check_quick(suite: Suite, registry: Registry, where: str, *, datasets: bool = True) -> None:
    """Raise a SuiteError for a mistake in what `--quick` changes, also where a run is not quick."""
    if suite.quick or "quick" not in suite.text:  # most suites, and planning a large one takes a while
        return
    where = f"{where} with --quick"
    shortened = parse_suite(suite.text, where, quick=True)
    plan(replace(shortened, backends=suite.backends), registry, where, datasets=datasets)


def _method(kind: MethodKind, spec: Spec, on: tuple[str, ...]) -> Method:
    if kind != "estimator":  # an optimizer's own parameter may be called `at` too
        return Method(kind, spec, on=on)
    return Method(kind, replace(spec, params=without(spec.params, "at")), spec.params.get("at", "start"), on)


def _meet(problem: Spec, method: Method) -> bool:
    return not method.on or problem.label in method.on


def _check_places(problems: list[Spec], methods: list[Method], where: str) -> None:
    labels = [problem.label for problem in problems]
    for method in methods:
        for name in method.on:
            if name not in labels:
                raise SuiteError(
                    f"{where}: '{method.spec.label}' is on an unknown problem '{name}'{nearest(name, labels)}"
                )


def _check_reference(suite: Suite, methods: list[Method], where: str) -> None:
    name, labels = suite.reference, [each.spec.label for each in methods if each.kind != "kernel"]
    if name and name not in labels:
        raise SuiteError(f"{where}: reference '{name}' is not the label of a method{nearest(name, labels)}")


def tuning_of(suite: Suite) -> Tuning:
    """Return the allowance for tuning: the suite's, or the usual one, or that of a quick run."""
    return suite.tune or (QUICK_TUNING if suite.quick else Tuning())


def count_tuning_trials(suite: Suite, methods: Iterable[Spec]) -> int:
    """Return how many trials tuning takes at most."""
    tuning = tuning_of(suite)
    tuned = sum(1 for spec in methods if spaces_in(spec.params)) * len(suite.backends)
    return tuned * tuning.trials * tuning.repetitions


def _check_tuning(suite: Suite, methods: list[Method], registry: Registry, where: str) -> None:
    tuned = [method for method in methods if spaces_in(method.spec.params)]
    if suite.tune is not None and not tuned:
        raise SuiteError(
            f"{where}: tune gives an allowance, and no method has a parameter to tune; write one as "
            '{ tune = "log", from = …, to = … }'
        )
    if not tuned:
        return
    other = next((each for each in tuned if each.kind != "optimizer"), None)
    if other is not None:
        raise SuiteError(
            f"{where}: {other.kind} '{other.spec.label}' has a search space, and only optimizers are tuned; "
            "give values, or a list of them"
        )
    tuning = tuning_of(suite)
    tuner = registry.get("tuner", tuning.tuner, f"{where}, tune").factory
    if tuning.across and not getattr(tuner, "is_sequence", False):
        known = registry.entries("tuner").items()
        sequences = [name for name, each in known if getattr(each.factory, "is_sequence", False)]
        raise SuiteError(
            f"{where}: tune.across needs a tuner whose settings do not depend on results "
            f"({' or '.join(sequences)}), and '{tuning.tuner}' is none"
        )
    if tuning.metric.endswith(TO_TARGET) and tuning.metric not in ARRIVALS:
        raise SuiteError(f"{where}: unknown tune.metric '{tuning.metric}'{nearest(tuning.metric, ARRIVALS)}")
    if tuning.metric in ARRIVALS and not suite.target:
        raise SuiteError(f"{where}: tune.metric is '{tuning.metric}', and no target is given")


def _check_backends(suite: Suite, registry: Registry, where: str) -> None:
    known = registry.backends.names
    for name in suite.backends:
        if name not in known:
            raise SuiteError(f"{where}: unknown backend '{name}'{nearest(name, known)}")
        if suite.backends.count(name) > 1:
            raise SuiteError(f"{where}: backend '{name}' is named twice; remove one of the two")


def _pairs(problems: list[Spec], methods: list[Method]) -> Iterable[tuple[Spec, Method]]:
    for problem in problems:
        for method in methods:
            if method.kind != "kernel" and _meet(problem, method):
                yield problem, method
    for method in methods:
        if method.kind == "kernel":  # a kernel's problem is its size
            size, dtype = method.spec.params["size"], without(method.spec.params, "size")
            label = " ".join([method.spec.use, *(f"({name})" for name in dtype.values())])
            yield (
                Spec("size", {"size": size}, f"size {size:,}"),
                replace(method, spec=Spec(method.spec.use, dtype, label)),
            )


def _first(
    suite: Suite, problem: Spec, method: Method, backend: str, best: Mapping[str, float | None]
) -> Trial:
    return Trial(
        kind=method.kind,
        problem=problem,
        method=method.spec,
        backend=backend,
        repetition=0,
        seed=suite.seed,
        budget=suite.budget,
        target=suite.target if method.kind == "optimizer" else {},
        precision=suite.precision if method.kind == "estimator" else None,
        at=method.at,
        best=best.get(problem.label) if method.kind == "optimizer" else None,
    )


def select(trials: Trials, pattern: str) -> Trials:
    """Return the trials whose `problem/method/backend` contains the pattern (* and ? are wildcards)."""
    chosen = [
        trial
        for trial in trials.firsts
        if fnmatch.fnmatchcase(f"{trial.problem.label}/{trial.method.label}/{trial.backend}", f"*{pattern}*")
    ]
    if not chosen:
        names = {trial.method.label for trial in trials.firsts}
        raise SuiteError(f"--only '{pattern}' matches no trial{nearest(pattern, names)}")
    return Trials(chosen, trials.repetitions)


class Rest(NamedTuple):
    """What a table says beside the plugin's parameters: on which problems, or their best objective."""

    on: tuple[str, ...] = ()
    best: float | None = None


_OWN_KEYS = {
    "problem": ("label", "best"),
    "kernel": (),
    "optimizer": ("label", "on"),
    "estimator": ("label", "on"),
}


def _specs(
    suite: Suite, kind: str, registry: Registry, where: str, *, datasets: bool
) -> list[tuple[Spec, Rest]]:
    """Return the specs of one kind, each with the rest of its table."""
    specs, rests = [], []
    for number, table in enumerate(suite.tables.get(kind, ()), 1):
        place = f"{where}, [[{kind}]] {number}"
        if kind == "kernel" and table["use"] == EVERY:
            table = {**table, "use": list(registry.entries("kernel"))}
        own = {key: table[key] for key in _OWN_KEYS[kind] if key in table}
        label, best = own.get("label", ""), own.get("best")
        check_type(label, str, "label", place)
        if best is not None and not (fits(best, float) and math.isfinite(best)):
            raise SuiteError(f"{place}: best must be a number, got {best!r}")
        rest = Rest(_labels(own.get("on", ()), place), best)
        for each in expand(read_spaces(without(table, *own), place), place):
            reserved = RESERVED.get(kind, {})
            table = check_table(kind, each, registry, place, reserved, elsewhere=TOP_SETTINGS)
            if datasets and kind != "kernel":
                check_datasets(kind, table, registry, place)
            specs.append(Spec(table.pop("use"), table, label))
            rests.append(rest)
    if kind == "estimator" and any("at" in spec.params for spec in specs):
        # where one says where it draws, all do: the start, written or not, is the same place
        specs = [replace(spec, params={"at": "start", **spec.params}) for spec in specs]
    # labels say a path as the suite does: they are in bundles and on pages, where no folder of a machine is
    folder = Path(where).parent
    specs = [
        replace(spec, params=without(registry.with_paths(kind, spec.table, folder), "use"))
        for spec in label_specs(specs, kind, where)
    ]
    return list(zip(specs, rests, strict=True))


def _labels(value: Any, place: str) -> tuple[str, ...]:
    """Return the problems that `on` names: one, or a list, which is not a sweep."""
    names = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list | tuple) else None
    if names is None or not all(isinstance(name, str) for name in names):
        raise SuiteError(f"{place}: 'on' must be the label of a problem or a list of them, got {value!r}")
    return names


def _check_oracles(problems: list[Spec], methods: list[Method], registry: Registry, where: str) -> None:
    for problem in problems:
        made = produced_class(registry.get("problem", problem.use).factory)
        if made is not None:
            _check_counted(problem, made, where)
        meeting = [method for method in methods if _meet(problem, method)]
        needs = {need for method in meeting for need in needs_of(method.kind, method.spec.table, registry)}
        for name, protocols in sorted(needs, key=str):
            lacks = [missing_oracles(protocol, made) if made is not None else [] for protocol in protocols]
            if all(lacks):
                wanted = " or ".join(protocol.__name__ for protocol in protocols)
                fewest: list[str] = min(lacks, key=len)
                lack = f"problem '{problem.use}' has no {', '.join(fewest)}"
                raise SuiteError(
                    f"{where}: {name} needs a {wanted} problem, but {lack}; "
                    "choose another problem or remove the method"
                )


def _check_counted(problem: Spec, made: type, where: str) -> None:
    try:
        check_counted(made)
    except PluginError as fault:
        raise SuiteError(f"{where}: problem '{problem.use}': {fault}") from None


def needs_of(
    kind: str, table: Mapping[str, Any], registry: Registry
) -> Iterable[tuple[str, tuple[type, ...]]]:
    """Yield (who, oracle protocols) for a method, the methods in its tables, and those it has by default.

    Of several protocols any one is enough.
    """
    entry = registry.get(kind, table["use"])
    name = f"{kind} '{entry.name}'"
    parameters = {} if kind == "kernel" else entry.parameters
    makers = [(name, entry.factory)]
    makers += [
        (f"{name} ({key} by default)", each.default) for key, each in parameters.items() if key not in table
    ]
    for who, maker in makers:
        wanted = getattr(maker, "solves", None)
        protocols = wanted if isinstance(wanted, tuple) else (wanted,)
        if all(isinstance(each, type) for each in protocols):  # else known only when built: the trial says so
            yield who, protocols
    for key, value in table.items():
        if is_nested(key, value):
            yield from needs_of(kind_of(key), value, registry)


def produced_class(factory: Any) -> type | None:
    """Return the class whose objects a factory makes: itself, or what its return annotation names."""
    if isinstance(factory, type):
        return factory
    made = getattr(factory, "makes", None) or hints_of(factory).get("return")
    # a protocol or Any promises less than what is made may have
    vague = made in {Any, object} or is_protocol(made)
    return made if isinstance(made, type) and not vague else None


def missing_oracles(protocol: type, made: type) -> list[str]:
    """Return the methods of an oracle protocol that a problem's class lacks.

    Only methods count: attributes such as `num_samples` are often set when a problem is built.
    """
    members = {
        name
        for base in protocol.__mro__
        if is_protocol(base)
        for name, member in vars(base).items()
        if not name.startswith("_") and callable(member)
    }
    return sorted(name for name in members if not callable(getattr(made, name, None)))
