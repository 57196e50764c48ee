"""The script that draws figures: the small build that the package carries, or the whole one of plotly."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from benchfw.errors import BenchfwError
from benchfw.report.figures.plot import Figure

INSTALL = "pip install 'benchfw[report]'"
SMALL = (
    Path(__file__).parent / "assets" / "plotly-basic.min.js"
)  # there if npm was when the package was built
KINDS = {"scatter", "bar", "pie"}  # of marks, that the small build draws; ours are all among them


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
