"""The way from a suite's name to a stored run with its page: for the command line and for notebooks."""

from __future__ import annotations

import contextlib
import importlib.util
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchfw import data
from benchfw.errors import BenchfwError, PluginError, StoreError, SuiteError, nearest
from benchfw.harness.against import Side, check_out, execute_both
from benchfw.harness.agenda import Agenda, check_methods, prepare
from benchfw.harness.events import Listener
from benchfw.harness.identity import datasets_read
from benchfw.harness.options import Options
from benchfw.harness.run import execute
from benchfw.loading import fault_text
from benchfw.plan import plan, select
from benchfw.records import Trial
from benchfw.registry import Registry
from benchfw.report.text import FEW_NAMES, join_names, printable
from benchfw.runs import DEFAULT_STORE, Changes, Project, Run
from benchfw.store import Store
from benchfw.suite import Suite, find_suite, find_suites, parse_suite, read_suite

if TYPE_CHECKING:
    import pandas as pd

    from benchfw.summary.model import Summary

LONGEST_PLUGIN = 200  # characters of a plugin's name that a store gives


@dataclass(frozen=True)
class Planned:
    """A suite that was read, checked and spelled out; nothing has run."""

    suite: Suite
    trials: Sequence[Trial]
    registry: Registry
    changes: Changes


def plan_suite(name: str | Path, plugins: Iterable[str] = (), changes: Changes | None = None) -> Planned:
    """Read a suite, apply the changes, and plan its trials with all mistakes found."""
    registry = Registry(plugins)
    return _plan(find_suite(str(name), registry.suite_folders), registry, changes or Changes())


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
    if suite.plugins:
        named = [_beside(path, each) for each in suite.plugins]
        for each in named:
            try_plugin(each)
        registry = Registry([*registry.sources, *named])
    return _plan_parsed(suite, path, registry, changes)


def plan_text(text: str, name: str, registry: Registry) -> Planned:
    """Plan a suite that is in no file; `name` is the suite's, and names it in messages."""
    return _plan_parsed(parse_suite(text, name), Path(name), registry, Changes())


def plan_bundle(run: Run, plugins: Iterable[str] = ()) -> Planned:
    """Plan what the run in a bundle ran, with installed plugins and those given by hand alone."""
    path, changes = run.store, run.environment.changes
    registry = trusted_registry(run, plugins)
    suite = parse_suite(run.text, str(path), quick=changes.quick)
    return _plan_parsed(replace(suite, name=run.suite, title=run.title), path, registry, changes)


def trusted_registry(run: Run, plugins: Iterable[str] = ()) -> Registry:
    """Return what a stored run needs; a plugin that is neither installed nor given is a PluginError."""
    registry = Registry(plugins)
    absent = describe_absent(run, registry)
    if absent:
        raise PluginError(f"{run.store} was made with {absent[0]}, neither installed nor given; {absent[1]}")
    return registry


def describe_absent(run: Run, registry: Registry) -> tuple[str, str] | None:
    """Return the plugins that only the store of a run names, and the advice to give them by hand; or None."""
    absent = [printable(each)[:LONGEST_PLUGIN] for each in registry.lacks(run.environment.plugins)]
    options = " ".join(f"--plugin {shlex.quote(each)}" for each in absent[:FEW_NAMES])
    advice = f"if you trust {'it' if len(absent) == 1 else 'them'}, pass {options}"
    return (join_names(absent), advice) if absent else None


def _plan_parsed(suite: Suite, path: Path, registry: Registry, changes: Changes) -> Planned:
    if changes.backends:
        suite = replace(suite, backends=changes.backends)
    if changes.repetitions is not None:
        suite = replace(suite, repetitions=changes.repetitions)
    try:
        trials = plan(suite, registry, str(path))
    except RecursionError:
        raise SuiteError(f"{path}: its tables are nested too deeply; write them flatter") from None
    if changes.only:
        trials = select(trials, changes.only)
    check_methods(trials, registry, str(path))
    return Planned(suite, trials, registry, changes)


def datasets_of(planned: Planned) -> list[str]:
    """Return the data sets that the trials read."""
    return datasets_read(planned.trials, planned.registry)


def bring_data(planned: Planned, progress: Callable[[str, int, int | None], None] | None = None) -> None:
    """Fetch the data sets that the trials read and that are not here: once, rather than in every worker."""
    with planned.registry.activate():
        for name in datasets_of(planned):
            data.ensure_available(name, progress)


def _beside(path: Path, plugin: str) -> str:
    """Return a plugin as named in a suite; a file is looked up beside the suite first."""
    beside = path.parent / plugin
    return str(beside) if plugin.endswith(".py") and beside.is_file() else plugin


def look_up(planned: Planned, store: Path, options: Options) -> Agenda:
    """Return what a run would do, without running or writing anything."""
    if not store.exists():
        return _prepare(planned, None, options)
    with Store(store) as opened:
        return _prepare(planned, opened, options)


def _prepare(planned: Planned, store: Store | None, options: Options) -> Agenda:
    with planned.registry.activate():
        return prepare(planned.suite, planned.trials, planned.registry, store, options, planned.changes)


def run_planned(
    planned: Planned, store: Path, options: Options, listen: Listener = lambda _: None, *, page: bool = True
) -> tuple[Run, Summary]:
    """Run a planned suite, keep it in the store, write its page; return the run and its summary."""
    with Store(store, create=True) as opened:
        agenda = _prepare(planned, opened, options)
        with planned.registry.activate():
            run = execute(agenda, planned.registry, opened, options, listen)
        return report_run(opened, run, planned.registry, page=page)


@contextlib.contextmanager
def on_cluster(address: str | None, options: Options) -> Iterator[Options]:
    """Yield the options with a Dask cluster connected, when there is an address."""
    if address is None:
        yield options
        return
    if address != "local" and options.jobs != 1:
        raise BenchfwError(
            "--jobs is for this machine: the workers of a Dask cluster have threads, and run as many trials "
            "as these allow; leave it out"
        )
    if options.jobs == 0:
        raise BenchfwError("--jobs 0 runs trials in this process, --dask in others; leave one of them out")
    from benchfw.harness.dask.cluster import connected

    with connected(address, options.jobs, options.threads) as cluster:
        yield replace(options, cluster=cluster)


def run_against(
    planned: Sequence[Planned],
    revision: str,
    store: Path,
    options: Options,
    listen: Listener = lambda _: None,
) -> list[tuple[Run, Run]]:
    """Run planned suites on another revision of this repository and on the working tree, in turn.

    Return two runs per suite, the other revision's first.
    """
    sources = tuple(dict.fromkeys(source for each in planned for source in each.registry.sources))
    options = replace(options, fresh=True)
    with check_out(revision) as other, Store(store, create=True) as opened:
        plugins = other.sources(sources)
        if plugins == sources and not any(other.packages.iterdir()):
            raise BenchfwError(
                f"--against {revision}: both sides would run the same code: no project of this repository is "
                "installed, and no plugin is a file of it; pip install it first"
            )
        agendas = [_prepare(each, opened, options) for each in planned]
        project = Project(other.commit, changed=False)
        before = Side(other.commit, project, plugins, (str(other.packages),))
        after = Side("files", agendas[0].environment.project, sources)
        return execute_both(agendas, (before, after), opened, options, listen)


def report_run(
    store: Store, run: Run, registry: Registry, *, page: bool = True, reload: int = 0
) -> tuple[Run, Summary]:
    """Summarize a stored run and write its page, with the figures of plugins, beside the store.

    A browser loads the page again every `reload` seconds, if that is not 0.
    """
    from benchfw.summary.summarize import summarize

    if not page:
        return run, summarize(run, store.stream(run.id), figures=False)
    from benchfw.report.figures.plot import extra_figure
    from benchfw.report.page import drawing_script, save_records, write_overview, write_report
    from benchfw.report.text import script_json

    folder = page_folder(store.path, run)
    summary = summarize(run, save_records(folder, run, store.stream(run.id)))
    figures = []
    for entry in registry.entries("figure").values():
        try:
            figure = entry.factory(summary)
            if figure is not None:
                drawn = extra_figure(figure)
                drawing_script([drawn])
                script_json(drawn.as_data())  # what cannot be drawn is found here
                figures.append(figure)
        except (Exception, SystemExit) as fault:  # noqa: BLE001 - a stranger's figure may raise anything
            registry.note(f"figure '{entry.name}' of {entry.plugin} raised {fault_text(fault)}")
    try:
        written = replace(run, report=write_report(summary, run, folder, figures, reload))
    except OSError as fault:
        raise StoreError(
            f"the report cannot be written to {folder} ({fault}); free some space or use --store"
        ) from None
    runs = store.runs()
    write_overview(runs, {each.id: page_folder(store.path, each) / "index.html" for each in runs})
    return written, summary


def page_folder(store: Path, run: Run) -> Path:
    """Return where a run's page goes: beside the store, named after it if it is not the usual one."""
    prefix = "" if store.name == DEFAULT_STORE.name else f"{store.stem}-"
    return store.parent / f"{prefix}run-{run.id}"


def can_write_pages() -> bool:
    """Return whether the packages that the page needs are installed."""
    from benchfw.report.page import can_draw

    return importlib.util.find_spec("jinja2") is not None and can_draw()


def run(
    suite: str | Path,
    *,
    store: str | Path = DEFAULT_STORE,
    plugins: Sequence[str] = (),
    only: str | None = None,
    backends: Sequence[str] = (),
    repetitions: int | None = None,
    quick: bool = False,
    dask: str | None = None,
    **options: Any,
) -> Run:
    """Run a suite, given by path or by name, and return the run.

    Further keywords are those of `benchfw run`: jobs, threads, timeout (seconds), memory (bytes), fresh,
    retry_failed, fail_fast. So is `dask`: a scheduler's address or file, or 'local'.
    """
    names = [field.name for field in fields(Options) if field.name != "cluster"]
    for name in options:
        if name not in names:
            raise BenchfwError(f"benchfw.run has no option '{name}'{nearest(name, names)}")
    how = Options(**options)
    changes = Changes(only, (backends,) if isinstance(backends, str) else tuple(backends), repetitions, quick)
    planned = plan_suite(suite, [plugins] if isinstance(plugins, str) else plugins, changes)
    bring_data(planned)
    with on_cluster(dask, how) as where:
        return run_planned(planned, Path(store), where, page=can_write_pages())[0]


def load(run: Run | int | str = "last", store: str | Path = DEFAULT_STORE) -> pd.DataFrame:
    """Return the records of a run in long form, one row per measured value."""
    try:
        import pandas as pd
    except ImportError:
        raise BenchfwError("benchfw.load needs pandas; pip install 'benchfw[report]'") from None
    from benchfw.summary.exports import RECORD_COLUMNS, record_rows

    path, name = (run.store, run.id) if isinstance(run, Run) else (Path(store), run)
    with Store(path) as opened:
        chosen = opened.run(name)
        return pd.DataFrame(record_rows(chosen, opened.stream(chosen.id)), columns=list(RECORD_COLUMNS))
