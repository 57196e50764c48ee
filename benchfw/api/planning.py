"""From a suite's name, text or tables to its trials: everything is checked, nothing has run."""

from __future__ import annotations

import importlib.util
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchfw import data
from benchfw.api.toml import texts_in, write_toml
from benchfw.claims import Claim
from benchfw.claims.check import find_cells
from benchfw.errors import PluginError, PluginNotFound, SuiteError
from benchfw.harness.agenda import check_files, check_methods
from benchfw.harness.identity import datasets_read
from benchfw.loading import is_file_name
from benchfw.parameters import Parameter
from benchfw.plan import check_quick, plan, select
from benchfw.provenance import Changes, Run
from benchfw.records import Trial
from benchfw.registry import Registry
from benchfw.report.text import FEW_NAMES, join_names, printable
from benchfw.suite import Suite, find_suite, find_suites, parse_suite, read_suite
from benchfw.trials import Trials

LONGEST_PLUGIN = 200  # characters of a plugin's name that a store gives


@dataclass(frozen=True)
class Planned:
    """A suite that was read, checked and spelled out; nothing has run."""

    suite: Suite
    trials: Trials
    registry: Registry
    changes: Changes


def plan_suite(
    name: str | Path,
    plugins: Iterable[str] = (),
    changes: Changes | None = None,
    try_plugin: Callable[[str], None] = lambda _: None,
) -> Planned:
    """Read a suite, apply the changes, and plan its trials with all mistakes found."""
    registry = Registry(plugins)
    return _plan(find_suite(str(name), registry.suite_folders), registry, changes or Changes(), try_plugin)


def plan_suites(
    name: str,
    plugins: Iterable[str],
    changes: Changes,
    try_plugin: Callable[[str], None] = lambda _: None,
) -> list[Planned]:
    """Plan a suite, or every suite of a folder; each plugin that a suite names is handed to `try_plugin`."""
    registry = Registry(plugins)
    paths = find_suites(name, registry.suite_folders)
    return [_plan(path, registry, changes, try_plugin) for path in paths]


def _plan(
    path: Path, registry: Registry, changes: Changes, try_plugin: Callable[[str], None] = lambda _: None
) -> Planned:
    suite = read_suite(path, quick=changes.quick)
    return _plan_parsed(suite, path, _with_plugins(suite, path, registry, try_plugin), changes)


def _with_plugins(
    suite: Suite, path: Path, registry: Registry, try_plugin: Callable[[str], None] = lambda _: None
) -> Registry:
    """Return a registry that has the plugins that a suite names, too."""
    if not suite.plugins:
        return registry
    named = [_locate_plugin(path, each) for each in suite.plugins]
    for each in named:
        try_plugin(each)
    try:
        return registry.with_plugins(named)
    except PluginNotFound as fault:
        raise SuiteError(f"{path}, plugins: {fault}") from None


def plan_text(text: str, name: str, registry: Registry, changes: Changes | None = None) -> Planned:
    """Plan a suite that is in no file; `name` is the suite's, and names it in messages."""
    changes = changes or Changes()
    suite, path = parse_suite(text, name, quick=changes.quick), Path(name)
    return _plan_parsed(suite, path, _with_plugins(suite, path, registry), changes)


def plan_tables(
    suite: Mapping[str, Any], plugins: Iterable[str] = (), changes: Changes | None = None
) -> Planned:
    """Plan a suite that is a dict of what its file would hold: it is written as that file first."""
    return plan_text(write_toml(suite), "suite", Registry(plugins), changes)


def plan_bundle(run: Run, plugins: Iterable[str] = ()) -> Planned:
    """Plan what the run in a bundle ran, with installed plugins and those given by hand alone."""
    run.check_measured("running a bundle again")
    path, changes, given = run.store, run.environment.changes, list(plugins)
    suite = parse_suite(run.text, str(path), quick=changes.quick)
    registry = trusted_registry(run, given)
    registered = {each["hash"]: each["registered"] for each in run.environment.claims}
    claims = tuple(replace(each, registered=registered.get(each.digest, "")) for each in suite.claims)
    suite = replace(suite, name=run.suite, title=run.title, claims=claims)
    return _plan_parsed(suite, path, registry, changes, lambda found: check_code(run, found, registry, given))


def trusted_registry(run: Run, plugins: Iterable[str]) -> Registry:
    """Return what a stored run needs; a plugin that is neither installed nor given is a PluginError."""
    registry = Registry([each for each in plugins if not _is_folder(each)])
    absent = describe_absent(run, registry)
    if absent:
        raise PluginError(f"{run.store} was made with {absent[0]}, neither installed nor given; {absent[1]}")
    return registry


def _is_folder(given: str) -> bool:
    """Return whether what is given by hand is a folder of code rather than a plugin."""
    if not Path(given).is_dir():
        return False
    try:
        return is_file_name(given) or importlib.util.find_spec(given) is None
    except ImportError:  # of what stands before a dot
        return True


def check_code(run: Run, trials: Iterable[Trial], registry: Registry, plugins: Iterable[str]) -> None:
    """Raise a PluginError for code that parameters of stored trials name and that is not given by hand.

    That it is installed is not enough: with arguments from a store, many a function of a library runs
    whatever the store says.
    """
    given = list(plugins)
    names: dict[str, str] = {}
    for kind, table in (each for trial in trials for each in trial.tables):
        for parameter, value in registry.code_in(kind, table):
            for place in texts_in(value):
                source = _source_of(parameter, place)
                if not parameter.trusts(place) and not _is_given(source, given):
                    names[source] = parameter.name
    if names:
        sources = [printable(each)[:LONGEST_PLUGIN] for each in names]
        parameters = join_names(list(dict.fromkeys(names.values())))
        raise PluginError(
            f"{run.store} names code in its parameter{'s' * (len(set(names.values())) > 1)} {parameters}: "
            f"{join_names(sources)}; {_advise_giving(sources)}"
        )


def _source_of(parameter: Parameter, place: str) -> str:
    """Return the module, the file or the folder of code at a place."""
    if parameter.names_path:
        return place
    source, colon, _ = place.rpartition(":")
    return source if colon else place if is_file_name(place) else place.rpartition(".")[0] or place


def _is_given(source: str, given: Iterable[str]) -> bool:
    """Return whether a module, a file or a folder is among what is given by hand, or inside of that."""
    if is_file_name(source):
        path = Path(source).resolve()
        return any(path.is_relative_to(Path(each).resolve()) for each in given)
    return any(f"{source}.".startswith(f"{each}.") for each in given)


def describe_absent(run: Run, registry: Registry) -> tuple[str, str] | None:
    """Return the plugins that only the store of a run names, and the advice to give them by hand; or None."""
    absent = [printable(each)[:LONGEST_PLUGIN] for each in registry.lacks(run.environment.plugins)]
    return (join_names(absent), _advise_giving(absent)) if absent else None


def _advise_giving(plugins: Sequence[str]) -> str:
    options = " ".join(f"--plugin {shlex.quote(each)}" for each in plugins[:FEW_NAMES])
    return f"if you trust {'it' if len(plugins) == 1 else 'them'}, pass {options}"


def _plan_parsed(
    suite: Suite,
    path: Path,
    registry: Registry,
    changes: Changes,
    check: Callable[[Iterable[Trial]], None] = lambda _: None,
) -> Planned:
    """Plan a suite that was read; `check` may refuse its trials before any code that they name runs."""
    if changes.backends:
        suite = replace(suite, backends=changes.backends)
    if changes.repetitions is not None:
        suite = replace(suite, repetitions=changes.repetitions)
    try:
        # a part of a suite may be run where the data of the others are unknown
        trials = plan(suite, registry, str(path), datasets=not changes.only)
    except RecursionError:
        raise SuiteError(f"{path}: its tables are nested too deeply; write them flatter") from None
    check_quick(suite, registry, str(path), datasets=not changes.only)
    if changes.only:
        chosen = select(trials, changes.only)
        suite = replace(suite, claims=tuple(_note_left_out(suite.claims, trials, chosen, registry)))
        trials = chosen
    check(trials.firsts)
    check_methods(trials.firsts, registry, str(path))
    check_files(trials.firsts, registry, str(path))
    return Planned(suite, trials, registry, changes)


def _note_left_out(
    claims: Iterable[Claim], every: Trials, chosen: Trials, registry: Registry
) -> Iterator[Claim]:
    """Yield the claims with what of them is not among the chosen trials."""
    kept = {first.cell for first in chosen.firsts}
    left = [cell for cell in dict.fromkeys(first.cell for first in every.firsts) if cell not in kept]
    for claim in claims:
        missing = find_cells(claim, left, registry.backends.names)
        yield replace(claim, left_out=tuple(map(str, missing)))


def datasets_of(planned: Planned) -> list[str]:
    """Return the data sets that the trials read."""
    return datasets_read(planned.trials.firsts, planned.registry)


def bring_data(planned: Planned, progress: Callable[[str, int, int | None], None] | None = None) -> None:
    """Fetch the data sets that the trials read and that are not here: once, rather than in every worker."""
    with planned.registry.activate():
        for name in datasets_of(planned):
            data.ensure_available(name, progress)


def _locate_plugin(path: Path, plugin: str) -> str:
    """Return where a plugin is that a suite names; a file is looked up beside the suite first."""
    beside = path.parent / plugin
    if plugin.endswith(".py") and beside.is_file():
        return str(beside)
    if is_file_name(plugin) and not Path(plugin).exists():
        folders = dict.fromkeys(map(str, [path.parent.resolve(), Path.cwd()]))
        raise SuiteError(
            f"{path}, plugins: no file '{plugin}' in {' or '.join(folders)}; correct its name or its path"
        )
    return plugin
