"""A page with all that it needs inside it: one file to mail or to attach."""

from __future__ import annotations

import base64
import gzip
import html
import re
from pathlib import Path

_SMALL = 100_000  # bytes; larger tables go in compressed
_SCRIPT = re.compile(r'<script src="([^"]+)"></script>')
_OVERVIEW = re.compile(r' · <a href="\.\./[^"]*">all runs</a>')
_DOWNLOAD = re.compile(r'href="([^"]+)" download')


def single_file(index: Path) -> str:
    """Return the text of a page with its script and its downloads put in."""
    folder = index.parent

    def script(found: re.Match[str]) -> str:
        text = (folder / found[1]).read_text(encoding="utf-8").replace("</script", "<\\/script")
        return f"<script>{text}</script>"

    def download(found: re.Match[str]) -> str:
        name, data, kind = html.unescape(found[1]), (folder / found[1]).read_bytes(), "text/csv"
        if len(data) > _SMALL:
            name, data, kind = f"{name}.gz", gzip.compress(data, mtime=0), "application/gzip"
        return f'href="data:{kind};base64,{base64.b64encode(data).decode()}" download="{html.escape(name)}"'

    page = _OVERVIEW.sub("", index.read_text(encoding="utf-8"))
    # the page's own text has no such tags: names are escaped in it, and its data has no angle brackets
    return _SCRIPT.sub(script, _DOWNLOAD.sub(download, page))
