"""Every hook of benchfw, with an example of its use.

A plugin is a module (or any object) whose functions carry `@hookimpl`. It is found by the entry-point
group `benchfw`, by `--plugin FILE.py`, by `--plugin module`, or by `plugins = [...]` in a suite.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pluggy

if TYPE_CHECKING:  # every plugin imports this file
    from benchfw.provenance import Run
    from benchfw.records import Result, Status, Trial

PROJECT = "benchfw"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
"""Marks a function of a plugin as the hook of its name: write `@hookimpl` above it."""


class Register(Protocol):
    """What a `register_*` hook calls once for each name that it adds.

    A package with many methods may give "module:name" instead of the factory: it is then imported when it
    is first used, and the command line starts no slower for it.
    """

    def __call__(self, name: str, factory: Callable[..., Any] | str) -> None: ...


class RegisterDataset(Protocol):
    """What `register_datasets` calls: a `Dataset`, a function that returns the arrays, or "module:name"."""

    def __call__(self, name: str, dataset: Any) -> None: ...


class RegisterKernel(Protocol):
    """What `register_kernels` calls: the kernel, and how to make arguments of a given size for it.

    Both may be given as "module:name"; the name of "module:soft_threshold" is then "soft-threshold".
    """

    def __call__(self, kernel: Any | str, sample: Callable[..., tuple[Any, ...]] | str) -> None: ...


@hookspec
def register_problems(register: Register) -> None:
    """Add problems: `factory(backend, rng, **params)` returns a problem.

    ::

        @hookimpl
        def register_problems(register):
            register("quadratic", Quadratic)
    """


@hookspec
def register_estimators(register: Register) -> None:
    """Add estimators: `factory(**params)` returns an estimator, usually a frozen dataclass.

    ::

        @hookimpl
        def register_estimators(register):
            register("minibatch", Minibatch)
    """


@hookspec
def register_optimizers(register: Register) -> None:
    """Add optimizers: `factory(**params)` returns an optimizer, usually a frozen dataclass.

    ::

        @hookimpl
        def register_optimizers(register):
            register("heavy-ball", HeavyBall)
    """


@hookspec
def register_distributions(register: Register) -> None:
    """Add degree distributions: `factory(**params)` returns a distribution.

    ::

        @hookimpl
        def register_distributions(register):
            register("poisson", Poisson)
    """


@hookspec
def register_kernels(register: RegisterKernel) -> None:
    """Add kernels: `sample(backend, rng, size)` returns the kernel's arguments for a problem of that size.

    ::

        @hookimpl
        def register_kernels(register):
            register(soft_threshold, lambda backend, rng, size: (rng.standard_normal(size), 0.5))
    """


@hookspec
def register_datasets(register: RegisterDataset) -> None:
    """Add data sets: a `benchfw.data.Dataset`, or a function that returns the arrays by name.

    A Dataset is plain data and is best given as "module:NAME"; its module should import nothing heavy. A name
    that ends in ":" is a source of many sets: a function that is given the rest of a name and returns its
    Dataset.

    ::

        @hookimpl
        def register_datasets(register):
            register("my-survey", "my_package.surveys:SURVEY")
            register("my-simulation", simulate)
    """


@hookspec
def register_suites(register: Callable[[Path], None]) -> None:
    """Add a folder of suite files that `benchfw run NAME` searches.

    ::

        @hookimpl
        def register_suites(register):
            register(Path(__file__).parent / "suites")
    """


@hookspec
def register_backends(register: Register) -> None:
    """Add a backend: `factory()` returns a `benchfw.backends.Backend` or raises BackendUnavailable.

    Kernels run the body for this name on arrays that the backend owns.

    ::

        @hookimpl
        def register_backends(register):
            register("my-device", MyBackend)
    """


@hookspec
def register_figures(register: Register) -> None:
    """Add a figure to the report: `factory(summary)` returns a Plotly figure as a dict, or None.

    ::

        @hookimpl
        def register_figures(register):
            register("degrees", draw_degrees)
    """


@hookspec
def register_tuners(register: Register) -> None:
    """Add a tuner, which chooses what settings are tried: `factory()` returns a `benchfw.tuning.Tuner`.

    ::

        @hookimpl
        def register_tuners(register):
            register("my-tuner", MyTuner)
    """


@hookspec
def register_importers(register: Register) -> None:
    """Add an importer of what another program measured, for `benchfw import FILE`.

    `factory()` returns an object with `read_run(path)`, which returns a `benchfw.provenance.ImportedRun`. One
    with `write_suite(folder, into)` also returns the text of a suite of what the program has in a folder.

    ::

        @hookimpl
        def register_importers(register):
            register("my-program", MyImporter)
    """


class Exporter(Protocol):
    """What a factory of `register_exporters` returns; the first line of its docstring says what it is for."""

    ending: str
    """That of the file it makes, as ".json"; "/" if it writes a folder, "" if it sends the run elsewhere."""

    def export(self, run: Run, summary: Any, results: Iterable[Result], destination: Path | None) -> str:
        """Return the content of the file; or, once the folder `destination` is written, a line that says so.

        `summary` has the comparisons that a report shows, as figures get them, `results` every trial with
        its records.
        """
        ...


@hookspec
def register_exporters(register: Register) -> None:
    """Add an exporter of runs to another tool, for `benchfw export --format NAME`.

    `factory()` returns an `Exporter`.

    ::

        @hookimpl
        def register_exporters(register):
            register("my-tool", MyExporter)
    """


@hookspec
def register_executors(register: Register) -> None:
    """Add what runs trials elsewhere, for `benchfw run SUITE --executor NAME[:ADDRESS]`.

    `factory(address, options, note)` returns a `benchfw.harness.cluster.Cluster`.

    ::

        @hookimpl
        def register_executors(register):
            register("my-machines", MyCluster)
    """


@hookspec
def register_commands(register: Callable[[Any], None]) -> None:
    """Add a verb to the command line: `register(click_command)`.

    ::

        @hookimpl
        def register_commands(register):
            register(my_click_command)
    """


@hookspec
def trial_started(trial: Trial) -> None:
    """Called when a trial starts, in the process that runs the suite.

    ::

        @hookimpl
        def trial_started(trial):
            print("started", trial)
    """


@hookspec
def trial_finished(trial: Trial, status: Status) -> None:
    """Called when a trial has ended and has been stored.

    ::

        @hookimpl
        def trial_finished(trial, status):
            print(trial, "ended as", status)
    """


@hookspec
def run_finished(run: Run) -> None:
    """Called at the end of a run.

    ::

        @hookimpl
        def run_finished(run):
            print("run", run.id, "is in", run.store)
    """
