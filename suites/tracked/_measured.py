"""Tables that scripts measure, stored as JSON with day, machine and versions for docs/performance.md."""

from __future__ import annotations

import importlib.metadata
import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchfw.harness.environment import describe, machine

PACKAGES = (
    *("numpy", "scipy", "numba", "cupy"),
    *("torch", "gpytorch", "imate", "linear_operator", "jax", "matfree", "sklearn"),
)
Value = str | float | None


@dataclass(frozen=True)
class Table:
    """What was measured: a title, names of columns with their units, and rows of texts and plain numbers."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Value]]


@dataclass(frozen=True)
class Stored(Table):
    """A table, and the command, the day, the machine and the packages that it was measured with."""

    command: str
    date: str
    machine: str
    packages: dict[str, str]


def store_table(folder: Path, name: str, table: Table, *, on_gpu: bool = False) -> None:
    """Write NAME.json into a folder, which is made where it is missing."""
    here = machine()
    found = [here.processor, "1 core" if here.cores == 1 else f"{here.cores} cores"]
    if on_gpu:
        found.insert(0, describe("cupy").get("device", ""))
    words = ["python", f"suites/tracked/{Path(sys.argv[0]).name}", *_without_folder(sys.argv[1:])]
    stored = Stored(
        **asdict(table),
        command=shlex.join(words),
        date=datetime.now(UTC).date().isoformat(),
        machine=", ".join(filter(None, found)),
        packages=_versions(),
    )
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(asdict(stored), indent=1, ensure_ascii=False)
    (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def load_table(path: Path) -> Stored:
    """Return what `store_table` wrote."""
    return Stored(**json.loads(path.read_text(encoding="utf-8")))


def _versions() -> dict[str, str]:
    """Return the versions of the packages above; CuPy's have other names."""
    names = importlib.metadata.packages_distributions()
    found = {name: names[name][0] for name in PACKAGES if name in names}
    return {name: importlib.metadata.version(package) for name, package in found.items()}


def _without_folder(words: Sequence[str]) -> list[str]:
    """Return the words of a command line but for where its tables are stored."""
    at = words.index("--to") if "--to" in words else len(words)
    return [*words[:at], *words[at + 2 :]]
