"""The script that draws figures, small or whole, and pages with it and their downloads put inside."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import re
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from benchfw.errors import BenchfwError
from benchfw.report.figures.plot import Figure

INSTALL = "pip install 'benchfw[report]'"
# there if npm was when the package was built
SMALL = Path(__file__).parent / "assets" / "plotly-basic.min.js"
KINDS = {"scatter", "bar", "pie"}  # of marks, that the small build draws; ours are all among them

_LARGE = 100_000  # bytes; tables from here on go into a page compressed
_SCRIPT = re.compile(r'<script src="([^"]+)"></script>')
_OVERVIEW = re.compile(r' · <a href="\.\./[^"]*">all runs</a>')
_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_ALLOWED = re.compile(r"script-src [^;]*;")
_DOWNLOAD = re.compile(r'href="([^"]+)" download')


def drawing_script(figures: Iterable[Figure]) -> Path:
    """Return the smallest script at hand that draws these figures."""
    marks = [mark for each in figures for view in each.views for mark in view.data]
    if SMALL.is_file() and all(str(mark.get("type", "scatter")) in KINDS for mark in marks):
        return SMALL
    whole = _whole()
    if whole is None:
        raise BenchfwError(f"the report needs plotly, which is not installed: {INSTALL}")
    if not whole.is_file():
        raise BenchfwError(f"the installed plotly has no {whole.name}; reinstall it: {INSTALL}")
    return whole


def can_draw() -> bool:
    """Return whether there is a script."""
    return SMALL.is_file() or _whole() is not None


def _whole() -> Path | None:
    """Return where the plotly package has its script, without importing the package."""
    spec = find_spec("plotly")
    return Path(spec.origin).parent / "package_data" / "plotly.min.js" if spec and spec.origin else None


def allow_scripts(page: str) -> str:
    """Return a page whose own scripts alone a browser runs: no other, and no attribute such as `onload`."""
    digests = [hashlib.sha256(text.encode()).digest() for text in _INLINE.findall(page)]
    hashes = "".join(f" 'sha256-{base64.b64encode(each).decode()}'" for each in digests)
    return _ALLOWED.sub(lambda _: f"script-src 'self' file:{hashes};", page, count=1)


def single_file(index: Path) -> str:
    """Return the text of a page with its script and its downloads put in."""
    folder = index.parent

    def script(found: re.Match[str]) -> str:
        text = (folder / found[1]).read_text(encoding="utf-8").replace("</script", "<\\/script")
        return f"<script>{text}</script>"

    def download(found: re.Match[str]) -> str:
        name, data, kind = html.unescape(found[1]), (folder / found[1]).read_bytes(), "text/csv"
        if len(data) > _LARGE:
            name, data, kind = f"{name}.gz", gzip.compress(data, mtime=0), "application/gzip"
        return f'href="data:{kind};base64,{base64.b64encode(data).decode()}" download="{html.escape(name)}"'

    page = _OVERVIEW.sub("", index.read_text(encoding="utf-8"))
    # the page's own text has no such tags: names are escaped in it, and its data has no angle brackets
    return allow_scripts(_SCRIPT.sub(script, _DOWNLOAD.sub(download, page)))
