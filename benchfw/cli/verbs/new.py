"""`benchfw new KIND NAME`"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from shlex import quote

import click

from benchfw.errors import BenchfwError
from benchfw.packages import bound_version, install_command

FILES = (
    "optimizer", "estimator", "problem", "distribution", "kernel", "dataset", "figure", "backend", "exporter",
    "executor",
)  # fmt: skip
KINDS = (*FILES, "package", "suite")
TEMPLATES = Path(__file__).parents[2] / "templates"


@click.command(name="new")
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("name")
@click.option(
    "--into",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    help="Folder to write into. [default: the current one]",
)
@click.option(
    "--from-benchopt",
    "benchmark",
    type=click.Path(path_type=Path),
    help="With suite: write one with all solvers of this benchopt benchmark, a cloned folder.",
)
def command(kind: str, name: str, into: Path, benchmark: Path | None) -> None:
    """Write a plugin to start from: a file that runs at once, or a whole package.

    KIND is optimizer, estimator, problem, distribution, kernel, dataset, figure, backend, exporter or
    executor (one file each), package (a folder to install, with tests, a suite, a workflow), or suite (a
    copy of quickstart). Nothing is overwritten.

    \b
    Examples:
      benchfw new optimizer heavy-ball-2      writes heavy_ball_2.py
      benchfw new package benchfw-mine        writes the folder benchfw-mine
      benchfw new suite mine                  writes mine.toml
      benchfw new suite lasso --from-benchopt benchmark_lasso
    """
    check_spelling(name)
    if benchmark is not None:
        if kind != "suite":
            raise BenchfwError(
                f"--from-benchopt is for a suite, not for a new {kind}; use `benchfw new suite NAME`"
            )
        files = {Path(f"{name}.toml"): _suite_of_benchmark("benchopt", benchmark, into)}
    else:
        files = _suite(name) if kind == "suite" else render(kind, name)
    written = {into / path: text for path, text in files.items()}
    check_free([into / name] if kind == "package" else written)
    if kind != "suite":
        check_untaken(kind, name)
    _write(written)
    for path in written:
        click.echo(f"wrote {path}")
    for hint in _hints(kind, name, into):
        click.echo(hint)


def check_spelling(name: str) -> None:
    """Raise BenchfwError for what cannot be a name."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise BenchfwError(
            f"'{name}' is not a valid name; use a-z, 0-9 and hyphens, a letter first, as in my-method"
        )


def check_free(paths: Iterable[Path]) -> None:
    """Raise BenchfwError where something would be overwritten."""
    for path in paths:
        if path.exists():
            raise BenchfwError(f"{path} already exists; remove it, or choose another name")


def check_untaken(kind: str, name: str) -> None:
    """Raise BenchfwError for a name that is a Python word, a module, or registered already."""
    import importlib.util
    import keyword

    from benchfw.registry import Registry

    module = _module(name)
    if keyword.iskeyword(module) or importlib.util.find_spec(module) is not None:
        raise BenchfwError(f"'{module}' is already a Python keyword or module; choose another name")
    role, own = ("optimizer", _short(name)) if kind == "package" else (kind, name)
    taken = Registry().entries(role).get(own)
    if taken is not None:
        raise BenchfwError(f"{taken} already exists; choose another name")


def render(kind: str, name: str) -> dict[Path, str]:
    """Return the files of a new plugin, by their path."""
    if kind != "package":
        return {
            Path(f"{_module(name)}.py"): _fill(f"{kind}.py.template", _words(name, f"{_module(name)}.py"))
        }
    module, short = _module(name), _short(name)
    words = {**_words(short, module), "distribution": name, "module": module}
    places = {"MODULE": module, "NAME": short}
    files = {}
    for template in sorted((TEMPLATES / "package").rglob("*.template")):
        relative = template.relative_to(TEMPLATES).as_posix()
        parts = relative.removesuffix(".template").removeprefix("package/").split("/")
        stems = [re.sub("^dot-", ".", part) for part in parts]
        path = Path(name, *(re.sub("MODULE|NAME", lambda found: places[found[0]], stem) for stem in stems))
        files[path] = _fill(relative, words)
    files[Path(name, module, "optimizer.py")] = _fill("optimizer.py.template", words)
    problem = {**words, **_words(f"{short}-problem", module)}
    files[Path(name, module, "problem.py")] = _fill("problem.py.template", problem)
    return files


def _words(name: str, source: str) -> dict[str, str]:
    """Return what stands for the marks in a template; `source` is what --plugin takes."""
    from benchfw import API_VERSION, __version__

    return {
        "name": name,
        "class_name": "".join(part.capitalize() for part in name.split("-")),
        "function": _module(name),
        "source": source,
        "api_version": str(API_VERSION),
        "bounds": bound_version(__version__),
    }


def _module(name: str) -> str:
    return name.replace("-", "_")


def _short(distribution: str) -> str:
    """Return what a package calls its first optimizer and its suite."""
    return distribution.removeprefix("benchfw-")


def _fill(template: str, words: Mapping[str, str]) -> str:
    from string import Template

    return Template((TEMPLATES / template).read_text(encoding="utf-8")).substitute(words)


def _suite(name: str) -> dict[Path, str]:
    from benchfw.registry import Registry
    from benchfw.suite import find_suite

    text = find_suite("quickstart", Registry().suite_folders).read_text(encoding="utf-8")
    return {Path(f"{name}.toml"): text}


def _suite_of_benchmark(program: str, folder: Path, into: Path) -> str:
    """Return the text of a suite for what another program has in a folder; its importer writes it."""
    from benchfw.registry import Registry

    known = Registry().entries("importer")
    if program not in known:
        command = install_command(f"benchfw-bridges[{program}]")
        raise BenchfwError(f"no plugin here knows {program}; {command}")
    text: str = known[program].factory().write_suite(folder, into)
    return text


def _write(files: Mapping[Path, str]) -> None:
    try:
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except OSError as fault:
        raise BenchfwError(f"{path} cannot be written ({fault.strerror}); use another --into") from None


def _hints(kind: str, name: str, into: Path) -> list[str]:
    """Return what to do next, commands on lines of their own."""
    if kind == "suite":
        return [f"next: edit it, then benchfw run {into / name}.toml"]
    if kind == "package":
        commands = (
            f"cd {quote(str(into / name))}",
            'pip install --editable ".[test]"',
            "benchfw check .",
            "pytest",
        )
        return ["next:", *(f"  {command}" for command in commands)]
    package = into / "__init__.py"
    if package.is_file():  # what a package registers is what its own hooks do
        hook, file = f"register_{kind}s", f"{_module(name)}.py"
        return [f"next: call {hook} of {file} from {hook} in {package}, then benchfw check {into}"]
    file = quote(str(into / f"{_module(name)}.py"))
    command = {
        "dataset": f"benchfw data show {name} --plugin {file}",
        "figure": f"benchfw run quickstart --plugin {file}",
        "executor": f"benchfw run quickstart --executor {name}:2 --plugin {file}",
        "exporter": f"benchfw export last --format {name} --plugin {file}",
    }
    return [f"next: {command.get(kind, f'benchfw check {file}')}"]
