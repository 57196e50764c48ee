"""Comments of pull requests on GitHub and of merge requests on GitLab, by their web interfaces."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

from benchfw.errors import BenchfwError

PAGE = 100
MOST_PAGES = 20
SECONDS = 30


@dataclass(frozen=True)
class Host:
    """Where the comments of one pull or merge request are read and written."""

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
        """Write a new comment."""
        self._ask("POST", self.listed, {"body": body})

    def edit_comment(self, number: int, body: str) -> None:
        """Replace the text of a comment."""
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
