"""From planned trials to a stored run and its page, for the command line and for Python."""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchfw.api.planning import Planned
from benchfw.errors import BenchfwError, PluginError, StoreError
from benchfw.harness.against import Side, check_out, execute_both
from benchfw.harness.agenda import Agenda, prepare
from benchfw.harness.cluster import Cluster
from benchfw.harness.events import Listener
from benchfw.harness.options import Options
from benchfw.harness.run import execute
from benchfw.loading import fault_text
from benchfw.provenance import DEFAULT_STORE, Project, Run
from benchfw.registry import Registry
from benchfw.store import Store
from benchfw.tuning.run import Ahead, TunedSuite, execute_tuned, is_tuned, look_ahead

if TYPE_CHECKING:
    from benchfw.summary.model import Summary


def look_up(planned: Planned, store: Path, options: Options) -> Agenda:
    """Return what a run would do, without running or writing anything."""
    if not store.exists():
        return _prepare(planned, None, options)
    with Store(store) as opened:
        return _prepare(planned, opened, options)


def look_ahead_tuned(planned: Planned, store: Path, options: Options) -> list[Ahead]:
    """Return what the run of a suite that tunes would do, without running or writing anything."""
    tuned = TunedSuite(planned.suite, planned.trials, planned.registry, planned.changes, options)
    with planned.registry.activate(), contextlib.ExitStack() as stack:
        opened = stack.enter_context(Store(store)) if store.exists() else None
        return look_ahead(tuned, opened)


def _prepare(planned: Planned, store: Store | None, options: Options) -> Agenda:
    with planned.registry.activate():
        return prepare(planned.suite, planned.trials, planned.registry, store, options, planned.changes)


def run_planned(
    planned: Planned, store: Path, options: Options, listen: Listener = lambda _: None, *, page: bool = True
) -> tuple[Run, Summary]:
    """Run a planned suite, keep it in the store, write its page; return the run and its summary."""
    with Store(store, create=True) as opened:
        run = execute_planned(planned, opened, options, listen)
        return report_run(opened, run, planned.registry, page=page)


def execute_planned(planned: Planned, store: Store, options: Options, listen: Listener) -> Run:
    """Run a planned suite and keep it in the store."""
    with planned.registry.activate():
        tuned = tuned_suite(planned, options)
        if tuned is not None:
            return execute_tuned(tuned, store, listen)
    agenda = _prepare(planned, store, options)
    with planned.registry.activate():
        return execute(agenda, planned.registry, store, options, listen)


def tuned_suite(planned: Planned, options: Options) -> TunedSuite | None:
    """Return a suite whose methods are tuned, with how to run it; None where nothing is tuned."""
    if not is_tuned(planned.trials):
        return None
    return TunedSuite(planned.suite, planned.trials, planned.registry, planned.changes, options)


def find_cluster(
    executor: str | None, registry: Registry, options: Options, note: Callable[[str], None]
) -> Cluster | None:
    """Return what `--executor NAME:TEXT` means, not connected yet, or None; `note` shows the user a line."""
    if executor is None:
        return None
    if not isinstance(executor, str) or not executor:
        raise BenchfwError(f"executor must be a text, NAME or NAME:ADDRESS, got {executor!r}")
    name, _, address = executor.partition(":")
    entry = registry.get("executor", name)
    if options.jobs == 0:
        raise BenchfwError(
            "--jobs 0 runs trials in this process, --executor elsewhere; leave one of them out"
        )
    if options.keep_in:
        raise BenchfwError(
            "files are kept on this machine, and --executor runs trials elsewhere; leave out --keep"
        )
    try:
        cluster: Cluster = entry.factory(address, options, note)
    except BenchfwError:
        raise
    except Exception as fault:
        raise PluginError(f"the {entry} raised {fault_text(fault)}") from fault
    return cluster


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
    store: Store,
    run: Run,
    registry: Registry,
    *,
    page: bool = True,
    reload: int = 0,
    against: Run | None = None,
    folder: Path | None = None,
) -> tuple[Run, Summary]:
    """Summarize a stored run and write its page, with the figures of plugins, beside the store.

    A browser loads the page again every `reload` seconds, if that is not 0. The figures lie over those of the
    run `against`. With a folder the page is written there, and no overview of the store's runs.
    """
    from benchfw.summary.summarize import summarize

    if not page:
        return run, summarize(run, store.stream(run.id), figures=False, best_known=store.best_known)
    from benchfw.report.page import save_records, write_overview, write_report
    from benchfw.summary.exports import parameter_columns

    place = folder or page_folder(store.path, run)
    parameters = parameter_columns(store.specs(run.id))
    summary = summarize(
        run, save_records(place, run, store.stream(run.id), parameters), best_known=store.best_known
    )
    figures = draw_extra_figures(registry, summary)
    try:
        below = None
        if against is not None:
            other = summarize(against, store.stream(against.id), best_known=store.best_known)
            below = f"run {against.id}", other
        written = replace(run, report=write_report(summary, run, place, figures, reload, below))
    except OSError as fault:
        raise StoreError(
            f"the report cannot be written to {place} ({fault}); free some space or use --store"
        ) from None
    if folder is None:
        runs = store.runs()
        write_overview(runs, {each.id: page_folder(store.path, each) / "index.html" for each in runs})
    return written, summary


def draw_extra_figures(registry: Registry, summary: Summary) -> list[Mapping[str, Any]]:
    """Return the figures of plugins for a summary; one that cannot be drawn is noted in the registry."""
    from benchfw.report.figures.plot import extra_figure
    from benchfw.report.page import drawing_script
    from benchfw.report.text import script_json

    figures: list[Mapping[str, Any]] = []
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
    return figures


def page_folder(store: Path, run: Run) -> Path:
    """Return where a run's page goes: beside the store, named after it if it is not the usual one."""
    prefix = "" if store.name == DEFAULT_STORE.name else f"{store.stem}-"
    return store.parent / f"{prefix}run-{run.id}"


def describe_lack() -> str:
    """Return what a page needs and is not here, with the command that brings it; empty if all is here."""
    from benchfw.report.page import NO_JINJA, NO_SCRIPT, can_draw

    if importlib.util.find_spec("jinja2") is None:
        return NO_JINJA
    return "" if can_draw() else NO_SCRIPT
