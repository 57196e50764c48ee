"""The commands that run, report or compare what was stored: a suite, the run in a bundle, one trial."""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchfw.provenance import DEFAULT_STORE, Run
from benchfw.registry import GIVEN


def suite_command(suite: str, run: Run | None) -> str:
    """Return the command that runs a suite, by its name or its file, as it was run before."""
    words = ["benchfw", "run", suite]
    if run is not None:
        changes, environment = run.environment.changes, run.environment
        named = {Path(each).name for each in _plugins_in(run.text)}
        words += _plugin_options(each for each in _plugins_of(run) if each not in named)
        words += ["--quick"] * changes.quick
        words += ["--only", changes.only] if changes.only else []
        words += [word for name in changes.backends for word in ("--backend", name)]
        words += ["--repetitions", str(changes.repetitions)] if changes.repetitions else []
        words += ["--threads", str(environment.threads)] if environment.threads != 1 else []
    return shlex.join(words)


def bundle_command(bundle: str, run: Run) -> str:
    """Return the command that runs the run in a bundle again: what it names is loaded only if it is given."""
    return shlex.join(["benchfw", "run", "--from-bundle", bundle, *_plugin_options(_plugins_of(run))])


def replay_command(trial: int | str, plugins: Iterable[str], store: Path) -> str:
    """Return the command that runs a trial of a store again."""
    return shlex.join(["benchfw", "replay", str(trial), *_plugin_options(plugins), *_store_option(store)])


def check_command(name: str, plugins: Iterable[str]) -> str:
    """Return the command that checks a problem or a method of plugins that are given by hand."""
    return shlex.join(["benchfw", "check", name, *_plugin_options(plugins)])


def report_command(run: Run, *words: str) -> str:
    """Return the command that reports a run of a store, or the one in a bundle."""
    bundled = run.store.suffix == ".zip"
    place = [str(run.store)] if bundled else [str(run.id), *_store_option(run.store)]
    return shlex.join(["benchfw", "report", *place, *words])


def compare_command(before: str, after: str, store: Path) -> str:
    """Return the command that compares two runs, of which one or both are in a store."""
    return shlex.join(["benchfw", "compare", before, after, *_store_option(store)])


def can_run_again(run: Run) -> bool:
    """Return whether a command can run it again, which takes neither a session nor another program."""
    return not run.environment.imported and f'"{GIVEN}' not in run.text


def _plugin_options(plugins: Iterable[str]) -> list[str]:
    return [word for each in plugins for word in ("--plugin", each)]


def _store_option(store: Path) -> list[str]:
    return ["--store", str(store)] if store.absolute() != DEFAULT_STORE.absolute() else []


def _plugins_of(run: Run) -> list[str]:
    """Return the plugins of a run without the folders of its machine."""
    return [Path(each).name for each in run.environment.plugins]


def _plugins_in(text: str) -> Sequence[str]:
    """Return the plugins that a suite's text names: they come with it."""
    try:
        found = tomllib.loads(text).get("plugins", ())
    except (ValueError, RecursionError):  # what stands in a bundle may be anything
        return ()
    return [each for each in found if isinstance(each, str)] if isinstance(found, list) else ()
