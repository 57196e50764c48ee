"""The manual builds without a word, leaves nothing public out, and has no dead link."""

import html
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchfw import hookspecs
from benchfw.claims.read import KEYS
from benchfw.plan import RESERVED
from benchfw.suite import BUDGET_KEYS, QUICK_KEYS, TOP_KEYS

pytest.importorskip("benchfw_firstorder", reason="the reference has what the plugins register")

pytestmark = pytest.mark.families

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The manual as `make docs` builds it: a dead link, or a name without documentation, is an error."""
    folder = tmp_path_factory.mktemp("site")
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(words, cwd=ROOT, env=quiet, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return folder


def headings(site, page):
    text = (site / page).read_text(encoding="utf-8")
    return re.findall(r'<h[1-6] id="[^"]*">(?:<code>)?([^<]+)', text)


def public(pattern):
    """Return what a pattern matches at the beginning of the lines of the stored public names."""
    stored = (ROOT / "tests" / "public_names.txt").read_text(encoding="utf-8")
    return re.findall(f"^{pattern}", stored, re.MULTILINE)


@pytest.mark.thorough
def test_every_public_name_has_a_place_in_the_manual(site):
    names = headings(site, "api.html")
    kernels = headings(site, "reference/kernels.html")
    assert set(public(r"benchfw\.(?:testing\.)?(\w+)\b(?!\.)")) <= set(names)
    for name in public(r"benchfw\.kernels\.(\w+)"):
        assert name in names or name.replace("_", "-") in kernels


@pytest.mark.thorough
def test_every_verb_has_a_page_with_all_its_options(site):
    verbs = public(r"verb (\w+)[^:]*:(.*)")
    assert "run" in dict(verbs)
    for verb, words in verbs:
        text = (site / "verbs" / f"{verb}.html").read_text(encoding="utf-8")
        assert headings(site, f"verbs/{verb}.html")[0] == f"benchfw {verb}"
        options = text.partition('id="options"')[2]
        for option in re.findall(r"--[\w-]+", words):
            assert option in options, f"{verb} {option}"


def test_every_hook_has_a_heading_and_every_heading_a_hook():
    written = re.findall(r"^## (.*)$", (DOCS / "hooks.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert written == [name for name, value in vars(hookspecs).items() if hasattr(value, "benchfw_spec")]


def test_every_suite_key_has_a_row_and_every_row_a_key():
    written = re.findall(r"^\| `([\w.]+)` \|", (DOCS / "suite.md").read_text(encoding="utf-8"), re.MULTILINE)
    nested = {"budget": BUDGET_KEYS, "quick": QUICK_KEYS, "claim": KEYS, **RESERVED}
    known = [*TOP_KEYS, *(f"{table}.{key}" for table, keys in nested.items() for key in keys)]
    assert sorted(written) == sorted(known)


@pytest.mark.thorough
def test_the_reference_has_what_show_prints(site):
    done = subprocess.run(
        [sys.executable, "-m", "benchfw", "show", "heavy-ball"], capture_output=True, text=True, check=True
    )
    text = (site / "reference" / "optimizers.html").read_text(encoding="utf-8")
    block = text[text.index('id="heavy-ball"') :].partition("</code>")[0]
    assert done.stdout.strip() in html.unescape(re.sub(r"<[^>]+>", "", block))


@pytest.mark.parametrize("page", ["README.md", "CHANGELOG.md"])
def test_links_of_what_stands_outside_the_manual_lead_somewhere(page):
    links = re.findall(r"\]\((?!https?:)([^)#]+)", (ROOT / page).read_text(encoding="utf-8"))
    assert links
    for link in links:
        assert (ROOT / link).exists(), link


SEARCH = """((field) => {
    field.focus();
    field.value = "barzilai";
    field.dispatchEvent(new KeyboardEvent("keyup", {bubbles: true}));
})(document.querySelector("[data-md-component=search-query]"))"""


@pytest.mark.thorough
def test_the_manual_can_be_read_and_searched_from_disk_without_asking_anyone(site, browser):
    page = browser.open(site / "index.html")
    page.evaluate(SEARCH)
    page.wait_for("document.querySelector('.md-search-result__item a[href*=tutorial]')")
    assert all(address.startswith(("file:", "data:")) for address in page.requests)
    assert page.console == []
    page.close()


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["index.html", "api.html", "verbs/run.html", "reference/optimizers.html"])
def test_a_page_of_the_manual_fits_a_narrow_screen(site, browser, name):
    page = browser.open(site / name, 390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.close()


@pytest.fixture(scope="module")
def generated():
    spec = importlib.util.spec_from_file_location("generated", DOCS / "_build" / "generated.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_pages_say_of_code_what_it_says_itself(generated):
    assert generated.find_stale() == [], "run `make reference`"


def test_a_notebook_is_run_again_only_where_its_page_shows_other_cells(generated, monkeypatch):
    monkeypatch.setitem(generated.MAKERS, "notebook", lambda path: f"{path} was run")
    page = (DOCS / "example.md").read_text(encoding="utf-8")
    assert generated.fill_marks(page) == page
    for other in (page.replace("return np.array([-1.0, 1.0])", "return np.ones(2)"), page.split("```")[0]):
        assert "compare.ipynb was run" in generated.fill_marks(other)
