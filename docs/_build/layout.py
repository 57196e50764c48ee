"""How single pages are laid out: a hook of MkDocs. Other programs build the same pages without it."""

from __future__ import annotations

from typing import Any

from benchfw_site.findings_page import MADE


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Hide the contents beside the page of findings, whose tables need the room."""
    if markdown.startswith(MADE):
        page.meta["hide"] = ["toc"]
    return markdown
