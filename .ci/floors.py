"""Print the lowest version that each of some projects allows of what it needs: constraints for pip.

python .ci/floors.py . plugins/benchfw-firstorder > floors.txt
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

FLOOR = re.compile(r"([A-Za-z0-9._-]+)(?:\[.*?\])?>=([0-9.]+)")


def floors_of(folder: Path) -> list[tuple[str, str]]:
    """Return the names and floors of all that a project and its extras need, but for packages of ours."""
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = [project["dependencies"], *project.get("optional-dependencies", {}).values()]
    found = [FLOOR.match(each) for group in groups for each in group]
    return [(each[1], each[2]) for each in found if each and not each[1].startswith("benchfw")]


def main(folders: list[str]) -> None:
    """Print a line a name, with the highest of its floors."""
    floors: dict[str, str] = {}
    for name, floor in (each for folder in folders for each in floors_of(Path(folder))):
        floors[name] = max(floors.get(name, floor), floor, key=lambda text: [*map(int, text.split("."))])
    print(*(f"{name}=={floor}" for name, floor in sorted(floors.items())), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
