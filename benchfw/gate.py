"""The comment of the gate on a pull request: what `benchfw run SUITE --against BASE --json` found.

A pull request has one comment, edited after every push. It is first written when something changes beyond
noise, so most pull requests have none. `action.yml` and the template for GitLab run this as
`python -m benchfw.gate FILE`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

from benchfw.errors import BenchfwError
from benchfw.report.text import escape_markdown, figures, plural

MARK = "<!-- benchfw gate: {} -->"
"""The first line of a comment: by it the comment of a suite is found again."""
MOST_ROWS = 12
LONGEST_CELL = 40  # characters
WORDS = ("regressed", "improved")
PAGE = 100  # comments that a host lists at a time
MOST_PAGES = 20
SECONDS = 30  # for an answer


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
    parser = argparse.ArgumentParser(prog="python -m benchfw.gate", description=__doc__)
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


@dataclass(frozen=True)
class Host:
    """Where the comments of one pull or merge request are read and written, on GitHub or GitLab."""

    listed: str
    """The address that lists and takes comments."""
    edited: str
    """The address below which one comment is edited by its number."""
    verb: str
    """What edits it: PATCH or PUT."""
    headers: Mapping[str, str]

    def find_comment(self, mark: str) -> int | None:
        """Return the number of the first comment that begins with a mark."""
        found = (each["id"] for each in self._comments() if str(each["body"]).startswith(mark))
        return next(found, None)

    def add_comment(self, body: str) -> None:
        self._ask("POST", self.listed, {"body": body})

    def edit_comment(self, number: int, body: str) -> None:
        self._ask(self.verb, f"{self.edited}/{number}", {"body": body})

    def _comments(self) -> Iterator[Mapping[str, Any]]:
        for page in range(1, MOST_PAGES + 1):
            found = self._ask("GET", f"{self.listed}?per_page={PAGE}&page={page}")
            yield from found
            if len(found) < PAGE:
                return

    def _ask(self, verb: str, address: str, data: Mapping[str, str] | None = None) -> Any:
        body = None if data is None else json.dumps(data).encode()
        headers = {"Content-Type": "application/json", "User-Agent": "benchfw", **self.headers}
        request = Request(address, body, headers, method=verb)  # noqa: S310 - the address is the CI server's own
        try:
            with urlopen(request, timeout=SECONDS) as answer:  # noqa: S310 - as above
                return json.load(answer)
        except (URLError, OSError, ValueError) as fault:
            raise BenchfwError(f"{verb} {address}: {fault}") from None


def find_host(environment: Mapping[str, str]) -> Host | None:
    """Return the request that a CI job is about; None if it is about none or has no token.

    ValueError or OSError if the event's file cannot be read.
    """
    token = environment.get("BENCHFW_GATE_TOKEN", "")
    if not token:
        return None
    if environment.get("CI_MERGE_REQUEST_IID"):
        project = f"{environment['CI_API_V4_URL']}/projects/{environment['CI_PROJECT_ID']}"
        notes = f"{project}/merge_requests/{environment['CI_MERGE_REQUEST_IID']}/notes"
        return Host(notes, notes, "PUT", {"PRIVATE-TOKEN": token})
    if environment.get("GITHUB_EVENT_PATH"):
        event = json.loads(Path(environment["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
        number = event.get("pull_request", {}).get("number")
        issues = f"{environment['GITHUB_API_URL']}/repos/{environment['GITHUB_REPOSITORY']}/issues"
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"}
        return Host(f"{issues}/{number}/comments", f"{issues}/comments", "PATCH", headers) if number else None
    return None


if __name__ == "__main__":
    sys.exit(main())
