"""Another revision of the repository one stands in: its files and its packages, in a temporary folder.

Dependencies are those of this environment; only what the repository itself provides is replaced, so that two
revisions differ in nothing else.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchfw.errors import BenchfwError


@dataclass(frozen=True)
class Revision:
    """A commit, the folder of its files, that of its packages, and the repository that they come from."""

    commit: str
    tree: Path
    packages: Path
    repository: Path

    def sources(self, plugins: Iterable[str]) -> tuple[str, ...]:
        """Return plugins as this revision has them: a file of the repository is taken from the tree."""
        found = []
        for plugin in plugins:
            path = Path(plugin).resolve()
            if path.is_file() and path.is_relative_to(self.repository):
                path = self.tree / path.relative_to(self.repository)
                found += [str(path)] if path.is_file() else []
            else:
                found.append(plugin)
        return tuple(found)


@contextlib.contextmanager
def checked_out(name: str) -> Iterator[Revision]:
    """Yield a revision; its worktree and its packages are removed in the end, also after an interruption."""
    repository = Path(_git("rev-parse", "--show-toplevel"))
    commit = _commit(name)
    with tempfile.TemporaryDirectory(prefix="benchfw-against-") as folder:
        tree, packages = Path(folder, "tree"), Path(folder, "packages")
        packages.mkdir()
        try:
            _git("worktree", "add", "--detach", str(tree), commit)
            _install(_projects(tree), packages)
            yield Revision(commit, tree, packages, repository)
        finally:
            with contextlib.suppress(BenchfwError):  # not there yet
                _git("worktree", "remove", "--force", str(tree))


def _commit(name: str) -> str:
    done = _call(["git", "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"])
    if done.returncode:
        raise BenchfwError(f"--against {name}: there is no such revision; give a commit, a branch or a tag")
    return done.stdout.strip()


def _projects(tree: Path) -> list[Path]:
    """Return the folders of all projects in a tree that are installed in this environment too."""
    files = _git("-C", str(tree), "ls-files", ":(glob)**/pyproject.toml").splitlines()
    return [tree / Path(file).parent for file in files if _is_installed(_project_name(tree / file))]


def _project_name(file: Path) -> str:
    try:
        return str(tomllib.loads(file.read_text(encoding="utf-8"))["project"]["name"])
    except (KeyError, ValueError):
        return ""


def _is_installed(name: str) -> bool:
    try:
        return bool(name) and importlib.metadata.distribution(name) is not None
    except importlib.metadata.PackageNotFoundError:
        return False


def _install(projects: Sequence[Path], folder: Path) -> None:
    """Install projects without their dependencies; what builds them is taken from here if it is here."""
    if not projects:
        return
    words = ["install", "--quiet", "--disable-pip-version-check", "--no-deps", "--target", str(folder)]
    for isolated in (["--no-build-isolation"], []):
        done = _call([sys.executable, "-m", "pip", *words, *isolated, *map(str, projects)])
        if done.returncode == 0:
            return
    raise BenchfwError(f"--against: the revision cannot be installed: {_last_line(done.stderr)}")


def _git(*words: str) -> str:
    try:
        done = _call(["git", *words])
    except OSError as fault:
        raise BenchfwError(f"--against needs git, which does not start ({fault})") from None
    if done.returncode:
        raise BenchfwError(f"--against: git {words[0]} said: {_last_line(done.stderr)}")
    return done.stdout.strip()


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["nothing"])[-1]


def _call(words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    # in a session of its own: Ctrl-C ends this process, which then removes what these have made
    return subprocess.run(words, capture_output=True, text=True, check=False, start_new_session=True)
