"""Install wheels from a folder into clean environments, and do there what a newcomer does first.

python .ci/dist_install.py dist [PYTHON]

Without a family, `benchfw run quickstart` says in one line what to install; that done, it runs, whatever
extra came first. With the extra `report` it writes a page. The tests of the sdists pass against the wheels.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path

FAMILIES = "benchfw[families]"
NOT_ALONE = {"families", "all", "cuda12", "cuda13"}
"""Extras that bring the families, and those that need a GPU."""
TESTS = {
    "benchfw": ["tests/analysis", "tests/store", "tests/test_suite.py", "tests/test_plan.py"],
    "benchfw_firstorder": ["tests/test_optimizers.py", "tests/test_problems.py"],
    "benchfw_spectral": ["tests/test_chebyshev.py", "tests/test_functions.py"],
}
TEST_TOOLS = ["array-api-strict", "hypothesis", "pytest", "pytest-benchmark", "scikit-learn"]


@dataclass(frozen=True)
class Environment:
    """A virtual environment in a folder of its own, with no checkout near."""

    folder: Path
    wheels: Path

    def call(self, program: str, *words: object, inside: str = ".") -> subprocess.CompletedProcess[str]:
        """Run a program of the environment in its folder, or in one inside."""
        scripts = self.folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
        command = [scripts / program, *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=self.folder / inside)

    def install(self, *requirements: str) -> None:
        """Let pip install what is asked for, ours from the folder."""
        limits = self.folder / "constraints.txt"  # by name alone, pip would take a newer release
        names = {each: each.name.partition("-")[0].replace("_", "-") for each in self.wheels.glob("*.whl")}
        limits.write_text("".join(f"{name} @ {each.resolve().as_uri()}\n" for each, name in names.items()))
        words = ["-m", "pip", "install", "--quiet", "--no-compile", "--constraint", limits]
        done = self.call("python", *words, *requirements)
        assert done.returncode == 0, f"{requirements} cannot be installed:\n{done.stdout}{done.stderr}"

    def size(self) -> float:
        """Return the megabytes of what is installed, but for pip."""
        (packages,) = (self.folder / "venv").rglob("site-packages")
        own = {packages / "pip", packages / "setuptools"}
        found = (each for each in packages.rglob("*") if each.is_file() and not own & {*each.parents})
        return sum(each.stat().st_size for each in found) / 1e6


def check_installed(wheels: Path, python: str = sys.executable) -> None:
    """Check each extra alone, what the README asks for, and everything; print how large each is."""
    for requirement in ("benchfw", *(f"benchfw[{extra}]" for extra in extras_of(wheels))):
        with make_environment(wheels, python) as place:
            place.install(requirement)
            report(place, requirement)
            check_advice(place)
            place.install(FAMILIES)
            if requirement == "benchfw":
                report(place, FAMILIES)
            check_quickstart(place, advice=requirement != "benchfw[report]")
    for requirement in ("benchfw[families,report]", "benchfw[all]"):
        with make_environment(wheels, python) as place:
            place.install(requirement)
            report(place, requirement)
            check_quickstart(place, advice=False)
            if requirement == "benchfw[families,report]":
                check_tests(place)


@contextmanager
def make_environment(wheels: Path, python: str) -> Iterator[Environment]:
    """Make an environment that is removed afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([python, "-m", "venv", Path(folder) / "venv"], check=True)
        yield Environment(Path(folder), wheels)


def extras_of(wheels: Path) -> list[str]:
    """Return the extras of benchfw that can be tried alone, as its wheel names them."""
    (core,) = wheels.glob("benchfw-*.whl")
    with zipfile.ZipFile(core) as packed:
        (metadata,) = (name for name in packed.namelist() if name.endswith(".dist-info/METADATA"))
        found = HeaderParser().parsestr(packed.read(metadata).decode()).get_all("Provides-Extra", [])
    return [each for each in found if each not in NOT_ALONE]


def report(place: Environment, requirement: str) -> None:
    """Print how large the environment is."""
    print(f"{place.size():7.0f} MB  {requirement}", flush=True)


def check_advice(place: Environment) -> None:
    """Without any family, one line says what to install."""
    done = place.call("benchfw", "run", "quickstart")
    assert done.returncode == 2, done.stdout + done.stderr
    (line,) = done.stderr.splitlines()
    assert "pip install" in line, line


def check_quickstart(place: Environment, advice: bool) -> None:
    """The first suite of the README runs and writes a page; or, where it may, a line says what that needs."""
    done = place.call("benchfw", "run", "quickstart", "--quick")
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    written = (place.folder / "reports" / "run-1" / "index.html").is_file()
    assert written or (advice and "pip install 'benchfw[report]'" in said), said


def check_tests(place: Environment) -> None:
    """Some tests of the core and of families pass, from their sdists, against the wheels."""
    place.install(*TEST_TOOLS)
    for name, files in TESTS.items():
        (archive,) = place.wheels.glob(f"{name}-*.tar.gz")
        with tarfile.open(archive) as packed:
            packed.extractall(place.folder, filter="data")
        source = archive.name.removesuffix(".tar.gz")
        done = place.call("python", "-P", "-m", "pytest", "-q", *files, inside=source)
        assert done.returncode == 0, done.stdout + done.stderr
        print(f"{archive.name}: {done.stdout.splitlines()[-1]}", flush=True)


if __name__ == "__main__":
    check_installed(Path(sys.argv[1]).resolve(), *sys.argv[2:])
