"""The pages of the manual are what suites and bundles give, and name only tests that exist."""

from __future__ import annotations

import ast
import inspect
import re
import runpy
from pathlib import Path, PurePath
from xml.etree import ElementTree as ET

import pytest

from benchfw.registry import Registry
from benchfw.report.text import escape_markdown
from benchfw.suite import parse_suite, read_suite
from benchfw.summary.summarize import summarize
from benchfw_site import findings_page
from benchfw_site.documents import read_documents
from benchfw_site.exhibits import Exhibit
from benchfw_site.findings import find_findings, read_bundles, read_claiming_suites
from benchfw_site.gallery_page import build_gallery_page

pytest.importorskip("benchfw_firstorder", reason="the suites of the pages are not installed")

ROOT = Path(__file__).parents[3]
DOCS, FINDINGS = ROOT / "docs", ROOT / "findings"
BUNDLES = sorted([*FINDINGS.rglob("*.zip"), *(ROOT / "gallery").glob("*.zip")])
DOCUMENTS = FINDINGS / "documents.toml"

MEASURED = re.compile(r"\d\.\d|\d %|\[\d")


@pytest.fixture
def built(monkeypatch):
    """What `make findings` writes, by place below docs."""
    monkeypatch.chdir(ROOT)
    suites = read_claiming_suites(Registry().suites)
    found, unused = find_findings(suites, read_bundles([Path("findings")]))
    assert not unused, "a bundle of no suite that makes claims"
    pages = findings_page.build_page(found, suites, read_documents(DOCUMENTS), PurePath("findings"))
    return {PurePath("findings.md") if place == PurePath() else place: text for place, text in pages.items()}


SVG = "{http://www.w3.org/2000/svg}"


def words_of(drawing):
    """Return the words of a drawing in their order; where they stand depends on fonts and on matplotlib."""
    return [part.text for part in ET.fromstring(drawing).iter(f"{SVG}text")]


def curves_of(drawing):
    """Return the colour of each curve or band, and how many points it has."""
    paths = [part for part in ET.fromstring(drawing).iter(f"{SVG}path") if part.get("clip-path")]
    return [(re.findall(r"#\w+", part.get("style")), part.get("d").count(" ")) for part in paths]


@pytest.mark.thorough
def test_the_page_and_its_figures_are_what_suites_and_bundles_give(built):
    kept = {PurePath(path.relative_to(DOCS)): path.read_text("utf-8") for path in DOCS.glob("findings/*")}
    assert (DOCS / "findings.md").read_text("utf-8") == built.pop(PurePath("findings.md")), "`make findings`"
    assert {place: words_of(each) for place, each in kept.items()} == {
        place: words_of(each) for place, each in built.items()
    }, "run `make findings`"


def test_no_result_is_typed_into_what_the_page_is_made_of():
    words = [each.value for each in ast.walk(ast.parse(inspect.getsource(findings_page)))
             if isinstance(each, ast.Constant) and isinstance(each.value, str)]  # fmt: skip
    assert not MEASURED.findall("\n".join([*words, DOCUMENTS.read_text("utf-8")]))
    assert MEASURED.findall("it is 1.3 [1.1, 1.6] times faster, in 5 % of the runs")


def test_a_bundle_of_the_full_size_stands_for_a_quick_one_and_not_the_reverse():
    is_current = runpy.run_path(str(ROOT / "suites/tracked/bundles.py"))["is_current"]
    full, quick = "kernelmachines/mnist_error", "variational/unbiased"
    found = {
        (name, asked): is_current(
            FINDINGS / machine / f"{name.replace('/', '-')}.zip",
            name,
            read_suite(Registry().suites[name]),
            quick=asked,
        )
        for name, machine in ((full, "cpu"), (quick, "gpu"))
        for asked in (True, False)
    }
    assert found == {(full, True): True, (full, False): True, (quick, True): True, (quick, False): False}


@pytest.mark.parametrize(("repetitions", "current"), [("repetitions = 5", True), ("repetitions = 7", False)])
def test_a_bundle_with_fewer_repetitions_than_its_suite_now_has_is_made_anew(repetitions, current):
    is_current = runpy.run_path(str(ROOT / "suites/tracked/bundles.py"))["is_current"]
    suite = read_suite(Registry().suites["kernelmachines/mnist_error"])
    changed = parse_suite(suite.text.replace("repetitions = 6", repetitions), suite.name)
    bundle = FINDINGS / "cpu" / "kernelmachines-mnist_error.zip"
    assert is_current(bundle, "kernelmachines/mnist_error", changed, quick=False) is current


def test_the_gallery_has_a_picture_and_the_bundle_of_every_entry():
    text = (DOCS / "gallery.md").read_text("utf-8")
    entries = text.split("\n## ")[1:]
    shown = set()
    for entry in entries:
        (picture,) = re.findall(r"^!\[.*\]\((gallery/[\w-]+\.svg)\)$", entry, re.MULTILINE)
        assert (DOCS / picture).read_text("utf-8").startswith("<svg")
        (bundle,) = re.findall(r"`benchfw run --from-bundle (\S+)`", entry)
        assert ROOT / bundle in BUNDLES
        shown.add(Path(bundle).stem)
    assert shown == {path.stem for path in BUNDLES}, "run `make gallery`"


@pytest.mark.thorough
def test_a_picture_of_the_gallery_is_what_its_bundle_gives():
    ((path, run, results),) = read_bundles([ROOT / "gallery" / "bridges-adam.zip"])
    exhibit = Exhibit(path.stem, "bridges/adam", run, summarize(run, results))
    pages = build_gallery_page([exhibit], "Gallery", PurePath("gallery"))
    kept = (DOCS / "gallery.md").read_text("utf-8")
    assert escape_markdown(exhibit.finding) in kept, "run `make gallery`"
    picture = PurePath("gallery/bridges-adam.svg")
    kept, made = (DOCS / picture).read_text("utf-8"), pages[picture]
    assert {"adam", "optax", "gradients", "gap"} <= {*words_of(kept)} == {*words_of(made)}, (
        "run `make gallery`"
    )
    assert curves_of(kept) == curves_of(made), "run `make gallery`"


def test_the_tests_that_findings_name_are_there():
    pages = [DOCS / "findings.md", DOCS / "misprints.md", *ROOT.glob("plugins/*/*/suites/**/*.toml")]
    text = "\n".join(path.read_text("utf-8") for path in pages)
    named = set(re.findall(r"\b(test_\w+\.py)::(test_\w+)", text))
    files = [*ROOT.glob("tests/**/test_*.py"), *ROOT.glob("plugins/*/tests/**/test_*.py")]
    defined = {
        (path.name, name)
        for path in files
        for name in re.findall(r"^def (test_\w+)", path.read_text("utf-8"), re.MULTILINE)
    }
    assert named
    assert named <= defined, sorted(named - defined)
