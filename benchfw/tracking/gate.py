"""The comment of the gate on a pull request: what `benchfw run SUITE --against BASE --json` found.

A pull request has one comment, edited after every push. It is first written when something changes beyond
noise, so most pull requests have none. `action.yml` and the template for GitLab run this as
`python -m benchfw.tracking.gate FILE`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchfw.errors import BenchfwError
from benchfw.report.text import escape_markdown, figures, plural
from benchfw.tracking.hosts import Host, find_host

MARK = "<!-- benchfw gate: {} -->"
"""The first line of a comment: by it the comment of a suite is found again."""
MOST_ROWS = 12
LONGEST_CELL = 40  # characters
WORDS = ("regressed", "improved")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the comment and write it; say so if it cannot be written, which does not fail the gate."""
    given = _parse(arguments)
    try:
        found = json.loads(given.file.read_text(encoding="utf-8"))
        host = find_host(os.environ)
    except (OSError, ValueError) as fault:
        print(f"benchfw: {given.file} or the event's file cannot be read: {fault}", file=sys.stderr)
        return 2
    text = describe_change(found, failed=given.failed, link=given.link)
    print(text or "no change beyond noise")
    if host is not None:
        try:
            publish(host, MARK.format(given.name), text)
        except BenchfwError as fault:  # a token that may not write, as in pull requests from forks
            print(f"benchfw: the comment was not written: {fault}", file=sys.stderr)
    return 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchfw.tracking.gate", description=__doc__)
    parser.add_argument("file", type=Path, help="what `benchfw run SUITE --against BASE --json` printed")
    parser.add_argument("--name", default="", help="tells the comments of several gates apart")
    parser.add_argument("--link", default="", help="the address of the page")
    parser.add_argument("--failed", action="store_true", help="the run ended with exit code 1")
    return parser.parse_args(arguments)


def publish(host: Host, mark: str, text: str) -> None:
    """Edit the comment with this mark, or write a new one if there is something to say."""
    number = host.find_comment(mark)
    if number is None and not text:
        return
    body = f"{mark}\n{text or '**benchfw**: no change beyond noise any more.'}\n"
    if number is None:
        host.add_comment(body)
    else:
        host.edit_comment(number, body)


def describe_change(found: Mapping[str, Any], *, failed: bool = False, link: str = "") -> str:
    """Return what changed as Markdown of at most one screen; empty if nothing did."""
    changed = [row for word in WORDS for row in found["rows"] if row["verdict"] == word]
    regressed = any(row["verdict"] == "regressed" for row in changed)
    broken = found["not_compared"] if failed and not regressed else []
    if not changed and not broken:
        return ""
    counts = [f"{found['counts'][word]} {word}" for word in WORDS if found["counts"][word]]
    suites = ", ".join(f"`{each['suite']}`" for each in found["runs"])
    title = (
        f"**benchfw: {', '.join(counts) or 'trials failed'}** in {suites} against `{found['revision'][:12]}`"
    )
    parts = [title, *([_table(changed)] if changed else []), *_list(broken)]
    quiet = len(found["rows"]) - len(changed)
    rest = [f"Within noise: {plural(quiet, 'other comparison')}."] if quiet else []
    rest += [f"[The page]({link})"] if link else []
    return "\n\n".join([*parts, *([" ".join(rest)] if rest else [])])


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    lines = ["| | problem | method | quantity | before | after | change |", "|---|---|---|---|---|---|---|"]
    lines += [_line(row) for row in rows[:MOST_ROWS]]
    if len(rows) > MOST_ROWS:
        lines.append(f"\n… and {len(rows) - MOST_ROWS} more.")
    return "\n".join(lines)


def _line(row: Mapping[str, Any]) -> str:
    names = [*(row[key] for key in ("verdict", "problem", "method")), row["quantity"].replace("_", " ")]
    numbers = [figures(float(row[key])) for key in ("before", "after")]
    return f"| {' | '.join(map(_cell, [*names, *numbers, _change(row)]))} |"


def _change(row: Mapping[str, Any]) -> str:
    if row["sentence"]:
        return str(row["sentence"])
    kind, sign = ("ratio", "×") if "ratio" in row else ("difference", "")
    estimate, low, high = (figures(float(row[key])) for key in (kind, "low", "high"))
    return f"{sign}{estimate} [{low}, {high}]"


def _cell(text: str) -> str:
    shown = text if len(text) <= LONGEST_CELL else f"{text[: LONGEST_CELL - 1]}…"
    return escape_markdown(shown)


def _list(reasons: Iterable[str]) -> list[str]:
    shown = [f"- {escape_markdown(each[:200])}" for each in reasons]
    return ["\n".join(shown[:MOST_ROWS])] if shown else []


if __name__ == "__main__":
    sys.exit(main())
