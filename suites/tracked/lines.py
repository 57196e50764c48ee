"""How large the code is: files and lines of Python by room of benchfw, of the plugins and of the tests.

`make lines`, or `python suites/tracked/lines.py [REVISION] [--base REVISION]`: of the working tree unless a
revision is given, and beside another one with --base.
"""

from __future__ import annotations

import argparse
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[2]
GROUPS = "benchfw", "plugins", "tests"
Row = tuple[str, str]  # group and room


def git(*words: str, given: bytes = b"") -> bytes:
    """Return what git prints; where it fails, its message ends the script."""
    done = subprocess.run(["git", *words], cwd=ROOT, input=given, capture_output=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr.decode().strip())
    return done.stdout


def read_sources(revision: str | None) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of every Python file of a revision, or of the working tree."""
    if revision is None:
        for name in git("ls-files", "-z", "-co", "--exclude-standard", "*.py").decode().split("\0"):
            if name and (ROOT / name).is_file():  # one that was deleted is listed, too
                yield name, (ROOT / name).read_bytes()
        return
    listed = git("ls-tree", "-r", "-z", revision).decode().split("\0")
    names = [each.rpartition("\t") for each in listed if each.endswith(".py")]
    content = git("cat-file", "--batch", given="\n".join(blob.split()[2] for blob, _, _ in names).encode())
    start = 0
    for _, _, path in names:
        begin = content.index(b"\n", start) + 1
        size = int(content[start:begin].split()[2])
        yield path, content[begin : begin + size]
        start = begin + size + 1


def room_of(path: str) -> Row | None:
    """Return the row of a file, None for what is in no group."""
    group, *folders = PurePosixPath(path).parts[:-1] or ("",)
    if group == "plugins" and "tests" in folders:
        return "tests", "of plugins"
    rooms = {"benchfw": "flat modules", "tests": "of the core", "plugins": ""}
    if group not in rooms:
        return None
    return group, folders[0] if folders and group != "tests" else rooms[group]


def count(revision: str | None) -> tuple[Counter[Row], Counter[Row]]:
    """Return the number of files and of lines in each row, totals of groups under an empty name."""
    files, lines = Counter[Row](), Counter[Row]()
    for path, content in read_sources(revision):
        row = room_of(path)
        if row is not None:
            for place in (row, (row[0], "")):
                files[place] += 1
                lines[place] += content.count(b"\n")
    return files, lines


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("revision", nargs="?", help="the working tree unless it is given")
    parser.add_argument("--base", metavar="REVISION", help="what to compare with")
    asked = parser.parse_args()
    files, lines = count(asked.revision)
    files_before, lines_before = count(asked.base) if asked.base else (files, lines)
    change = f"{'before':>18}{'change':>8}" if asked.base else ""
    print(f"{'':<28}{'files':>6}{'lines':>8}{change}")
    for group in GROUPS:
        rooms = sorted({room for found, room in {*lines, *lines_before} if found == group and room})
        for room in [*rooms, ""]:
            row = group, room
            name = f"  {room}" if room else f"{group}: all"
            before = f"{files_before[row]:>10}{lines_before[row]:>8,}{lines[row] - lines_before[row]:>+8,}"
            print(f"{name:<28}{files[row]:>6}{lines[row]:>8,}{before if asked.base else ''}")


if __name__ == "__main__":
    main()
