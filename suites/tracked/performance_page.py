"""The tables of docs/performance.md from the runs stored in suites/tracked/measured: `make performance`.

A table stands below a line `<!-- measured: NAME -->`, up to `<!-- end -->`, and is that of NAME.json, which
the scripts beside this one write with `--to suites/tracked/measured`. Nothing is run here.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from _measured import Stored, Value, load_table

from benchfw.errors import BenchfwError, nearest

FOLDER = Path(__file__).parent / "measured"
PAGE = Path(__file__).parents[2] / "docs" / "performance.md"
MARK = re.compile(r"^(<!-- measured: (\S+) -->)$.*?^<!-- end -->$", re.MULTILINE | re.DOTALL)


def fill(text: str, folder: Path = FOLDER) -> str:
    """Return the text of a page with the stored tables that its marks ask for."""
    return MARK.sub(lambda found: f"{found[1]}\n\n{render(_find(found[2], folder))}\n\n<!-- end -->", text)


def render(table: Stored) -> str:
    """Return a table in Markdown, and below it the day, the machine, the versions and the command."""
    lines = [table.columns, ["---"] * len(table.columns), *map(_texts, table.rows)]
    packages = ", ".join(f"{name} {version}" for name, version in table.packages.items())
    return "\n".join(
        [
            f"{table.title}:",
            "",
            *(f"| {' | '.join(line)} |" for line in lines),
            "",
            f"*Measured on {table.date} by `{table.command}`: {table.machine}; {packages}.*",
        ]
    )


def _texts(row: tuple[Value, ...]) -> list[str]:
    return ["" if each is None else each if isinstance(each, str) else _three_digits(each) for each in row]


def _three_digits(number: float) -> str:
    """Return a number with three digits, and all of those before the point."""
    if number == 0 or abs(number) >= 100:
        return f"{number:,.0f}"
    text = f"{number:#.3g}".rstrip(".")
    return f"{number:.1e}" if "e" in text else text


def _find(name: str, folder: Path) -> Stored:
    path = folder / f"{name}.json"
    if not path.exists():
        known = [each.stem for each in folder.glob("*.json")]
        raise BenchfwError(f"no stored table '{name}' in {folder.name}{nearest(name, known)}")
    return load_table(path)


def main() -> None:
    """Bring the page up to date."""
    before = PAGE.read_text(encoding="utf-8")
    try:
        after = fill(before)
    except BenchfwError as fault:
        print(f"performance_page.py: {fault}", file=sys.stderr)
        sys.exit(2)
    if after != before:
        PAGE.write_text(after, encoding="utf-8")
    print(f"{'written' if after != before else 'as it was'}: docs/{PAGE.name}")


if __name__ == "__main__":
    main()
