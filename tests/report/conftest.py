"""Pages in a browser, and the folder of a run of the quickstart."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def draw_all():
    """Draw also what nobody has come near yet, as printing does."""

    def draw(page) -> None:
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        plots = "[...document.querySelectorAll('.plot')]"
        page.wait_for(f"{plots}.every((each) => each.querySelector('.main-svg'))")

    return draw


@pytest.fixture
def look(browser, draw_all):
    """Open a page, wait until all is drawn, and close it in the end."""
    pages = []

    def opened(path, width=1400, **options):
        page = browser.open(path, width, **options)
        pages.append(page)
        draw_all(page)
        return page

    yield opened
    for page in pages:
        page.close()


@pytest.fixture(scope="session")
def quickstart(tmp_path_factory) -> Path:
    """The folder of reports after `benchfw run quickstart --quick`."""
    pytest.importorskip("benchfw_firstorder", reason="the quickstart's methods are not installed")
    folder = tmp_path_factory.mktemp("quickstart")
    words = [sys.executable, "-m", "benchfw", "run", "quickstart", "--quick", "--no-replay"]
    subprocess.run(words, cwd=folder, check=True, capture_output=True, timeout=300)
    return folder / "reports"
