"""A benchmark's folder: which file has which solver or data set, and their classes as benchopt loads them."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import io
import os
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchfw import BenchfwError, Unavailable
from benchfw.errors import nearest
from benchfw.loading import call_unnoted

EXAMPLE = Path(__file__).parent / "example"
"""A small benchmark, for checks and for a first look."""
ABSENT = "benchopt is not installed; pip install 'benchfw-bridges[benchopt]'"
UTILITIES = "benchmark_utils"
MODULES = ("benchmark", "utils.dynamic_modules", "utils.parametrized_name_mixin", "utils.run_context")


def is_installed() -> bool:
    """Return whether benchopt is installed; it is not imported, for it starts a thread and takes a second."""
    return importlib.util.find_spec("benchopt") is not None


@functools.cache
def import_benchopt() -> Any:
    """Return benchopt with the modules that are used here; Unavailable where it is not installed."""
    try:
        benchopt = call_unnoted(importlib.import_module, "benchopt")  # matplotlib reads a list of fonts
        for name in MODULES:
            importlib.import_module(f"benchopt.{name}")
    except ImportError as fault:
        raise Unavailable(ABSENT) from fault
    return benchopt


def check_folder(benchmark: str) -> Path:
    """Return the folder of a benchmark."""
    folder = Path(benchmark)
    if not (folder / "objective.py").is_file():
        raise BenchfwError(
            f"{folder} is not a benchopt benchmark: it has no objective.py; give the folder of a clone"
        )
    return folder


def read_classes(folder: Path, role: str) -> dict[str, Any]:
    """Return what benchopt knows of all solvers, or data sets, by name, without importing their files."""
    # the one file that is used is in the key of a trial: the others do not count as read
    try:
        names = call_unnoted(os.listdir, folder / f"{role}s")
    except OSError:
        return {}
    paths = [folder / f"{role}s" / name for name in sorted(names) if name.endswith(".py")]
    return _read_classes(folder, role, tuple((path, path.stat().st_mtime_ns) for path in paths))


@functools.lru_cache(maxsize=8)
def _read_classes(folder: Path, role: str, _files: tuple[tuple[Path, int], ...]) -> dict[str, Any]:
    benchopt = import_benchopt()
    listing = object.__new__(benchopt.benchmark.Benchmark)
    listing.benchmark_dir = folder
    with benchopt.utils.dynamic_modules.skip_import_ctx(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about a file without a name, which then has that of the file
        base = benchopt.BaseSolver if role == "solver" else benchopt.BaseDataset
        found = call_unnoted(listing._list_benchmark_classes, base)
    return {each.name: each for each in found}


def read_class(folder: Path, role: str, name: str) -> Any:
    """Return what benchopt knows of a solver or a data set, by its name or its file's, without its import."""
    found = read_classes(folder, role)
    by_file = {each._module_filename.stem: each for each in found.values()}
    chosen = found.get(name) or by_file.get(name) or _ignoring_case(found, name)
    if chosen is None:
        what = "data set" if role == "dataset" else role
        raise BenchfwError(f"the benchmark {folder.name} has no {what} '{name}'{nearest(name, found)}")
    return chosen


def _ignoring_case(found: Mapping[str, Any], name: str) -> Any:
    return next((each for key, each in found.items() if key.lower() == name.lower()), None)


def read_objective(folder: Path) -> Any:
    """Return what benchopt knows of the objective without importing it."""
    with import_benchopt().utils.dynamic_modules.skip_import_ctx():
        return _load(folder, folder / "objective.py", "Objective")


def load_class(folder: Path, role: str, name: str) -> Any:
    """Return the class of a solver or a data set; Unavailable where its requirements are missing."""
    file = read_class(folder, role, name)._module_filename
    found = _load(folder, file, role.capitalize())
    check_requirements(found)
    return found


def _load(folder: Path, file: Path, name: str) -> Any:
    return call_unnoted(import_benchopt().utils.dynamic_modules._load_class_from_module, folder, file, name)


def check_requirements(kind: Any) -> None:
    """Raise Unavailable, with what to install, where the file of a class cannot be imported."""
    if kind.is_installed(quiet=True):
        return
    fault = getattr(kind, "_exc", None)
    if isinstance(fault, SyntaxError) or not isinstance(fault, Exception):
        raise BenchfwError(f"{kind._module_filename} cannot be imported ({fault}); correct it")
    needs = _requirements_of(kind)
    advice = f"; {needs}" if needs else "; it does not say what it requires"
    what = kind._base_class_name.lower().replace("dataset", "data set")
    raise Unavailable(f"{what} '{kind.name}' cannot be imported ({type(fault).__name__}: {fault}){advice}")


def _requirements_of(kind: Any) -> str:
    """Return what to install, in words: packages of PyPI by pip, others by conda, as benchopt says."""
    try:
        every = kind.requirements or []
        script = kind.install_script if kind.install_cmd == "shell" else None
    except AttributeError:  # it cannot be read without importing the file
        return ""
    every = [*every.get("cpu", ())] if isinstance(every, Mapping) else list(every)
    from_pip = [each[4:].removeprefix(":") for each in every if each.startswith("pip:")]  # one colon is older
    others = [each.rpartition("::")[2] for each in every if not each.startswith("pip:")]
    ways = [f"pip install {' '.join(from_pip)}"] * bool(from_pip)
    ways += [f"install {', '.join(others)} (conda's names)"] * bool(others)
    ways += [f"run install_scripts/{script} of the benchmark"] * bool(script)
    return " and ".join(ways)


def settings_of(kind: Any, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of one instance: the given ones, and the first value of each of the others."""
    what = kind._base_class_name.lower().replace("dataset", "data set")
    try:
        known = kind.parameters
    except AttributeError:  # not a literal: known once the file is imported
        return dict(parameters)
    names = [name.strip() for key in known for name in key.split(",")]
    for name in parameters:
        if name not in names:
            choice = nearest(name, names) or "; it has none"
            raise BenchfwError(f"{what} '{kind.name}' has no parameter '{name}'{choice}")
    given = {name: (each,) for name, each in parameters.items()}
    return next(iter(_used_parameters(kind, given)))


def all_settings(kind: Any) -> list[dict[str, Any]]:
    """Return the parameters of every instance that `benchopt run` makes of a class."""
    try:
        return list(_used_parameters(kind, {}))
    except AttributeError:
        return [{}]


def _used_parameters(kind: Any, given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the parameters of each instance that benchopt makes where these values are given."""
    yield from map(dict, import_benchopt().utils.parametrized_name_mixin._get_used_parameters(kind, given))


def utilities_of(folder: Path) -> list[Path]:
    """Return the files that all parts of a benchmark may import."""
    return call_unnoted(sorted, (folder / UTILITIES).rglob("*.py"))


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Print nothing of what benchopt and a benchmark print."""
    with contextlib.redirect_stdout(io.StringIO()):
        yield
