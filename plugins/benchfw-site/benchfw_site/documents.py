"""The documents that claims are from: who they are by, and in which order a page has them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from benchfw.errors import BenchfwError, nearest
from benchfw_site.findings import Finding


@dataclass(frozen=True)
class Document:
    """A document: what `source` in its claims begins with, a heading, and what a reader should know of it."""

    name: str
    title: str = ""
    about: str = ""

    @property
    def slug(self) -> str:
        """Return the name for a file."""
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-") or "others"

    def has(self, source: str) -> bool:
        """Whether a claim with this source is from the document."""
        return source.lower().startswith(self.name.lower())

    def place(self, source: str) -> str:
        """Return where in the document a claim stands."""
        return source[len(self.name) :].lstrip(", ")


@dataclass(frozen=True)
class Documents:
    """The documents in order, and the heading and introduction of their page."""

    title: str = "Findings"
    introduction: str = ""
    documents: tuple[Document, ...] = field(default=())


def read_documents(path: Path) -> Documents:
    """Read a TOML file with `title`, `introduction` and [[document]] tables."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as fault:
        raise BenchfwError(f"{path}: cannot be read ({fault}); give a TOML file with [[document]]") from None
    tables = table.pop("document", [])
    if not isinstance(tables, list) or not all(isinstance(each, dict) and "name" in each for each in tables):
        raise BenchfwError(f"{path}: documents must be written as [[document]] tables, each with a name")
    documents = (
        Document(**_check(each, Document, f"{path}, [[document]] {number}"))
        for number, each in enumerate(tables, 1)
    )
    return Documents(**_check(table, Documents, str(path)), documents=tuple(documents))


def group_by_document(
    findings: Iterable[Finding], known: Sequence[Document]
) -> dict[Document, list[Finding]]:
    """Return the findings of each document: the known ones first, then others as they appear."""
    found: dict[Document, list[Finding]] = {each: [] for each in known}
    longest = sorted(known, key=lambda each: -len(each.name))
    for finding in findings:
        source = finding.claim.source
        own = next((each for each in longest if each.has(source)), None)
        found.setdefault(own or Document(source.partition(",")[0].strip()), []).append(finding)
    return found


def _check(table: Mapping[str, Any], kind: type, place: str) -> Mapping[str, Any]:
    """Return a table whose keys are texts of a class; anything else is a BenchfwError."""
    legal = {each.name for each in fields(kind)} - {"documents"}
    for key, value in table.items():
        if key not in legal:
            raise BenchfwError(f"{place}: unknown key '{key}'{nearest(key, legal)}")
        if not isinstance(value, str):
            raise BenchfwError(f"{place}: '{key}' must be a text, got {value!r}")
    return table
