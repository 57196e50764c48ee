"""The gallery in a browser: it is searched, read on a phone, in the dark and by keyboard, from disk."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchfw.summary.summarize import summarize
from benchfw_site.exhibits import Exhibit, sort_exhibits
from benchfw_site.gallery import write_gallery, write_run

pytestmark = pytest.mark.thorough

# the lowest ratio of the luminances of text and what is behind it (WCAG 2.1, 1.4.3)
CONTRAST = """(() => {
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => [r, g, b]
    .map((each) => each / 255)
    .map((each) => each <= 0.03928 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4)
    .reduce((sum, each, i) => sum + each * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const colour = parse(getComputedStyle(each).backgroundColor);
      if (colour.length === 3 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  const ratios = [...document.querySelectorAll("body *")]
    .filter((each) => [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
    .filter((each) => each.checkVisibility() && !["SCRIPT", "STYLE"].includes(each.tagName))
    .map((each) => {
      const style = getComputedStyle(each), back = behind(each);
      const front = parse(each instanceof SVGElement ? style.fill : style.color);
      const share = Number(each.getAttribute("opacity") || 1);
      const mixed = front.slice(0, 3).map((value, i) => share * value + (1 - share) * back[i]);
      const [low, high] = [luminance(mixed), luminance(back)].sort((a, b) => a - b);
      return (high + 0.05) / (low + 0.05);
    });
  return Math.min(...ratios);
})()"""


@pytest.fixture
def site(make, run, tmp_path):
    exhibits = []
    for number, (suite, method) in enumerate(
        {"one/first": "momentum", "two/second": "a method with a long name"}.items()
    ):
        results = [
            make.result(
                "optimizer", f"problem {number}", name, r, make.curve("gap", [9, end]), target={"gap": 1.0}
            )
            for name, end in {"gd": 0.5, method: 0.25}.items()
            for r in range(6)
        ]
        title = replace(run, suite=suite, title=suite)
        exhibit = Exhibit(f"run-{number}", suite, title, summarize(title, results))
        bundle = tmp_path / f"{number}.zip"
        bundle.write_bytes(b"")
        write_run(replace(exhibit, run=replace(title, store=bundle)), tmp_path / "site")
        exhibits.append(exhibit)
    return write_gallery(sort_exhibits(exhibits, []), tmp_path / "site", "Gallery").parent


@pytest.fixture
def look(browser):
    pages = []

    def opened(place, width=1400):
        pages.append(browser.open(place, width))
        return pages[-1]

    yield opened
    for page in pages:
        page.close()


SEARCH = """((words) => {{
  const field = document.getElementById("search");
  field.value = words;
  field.dispatchEvent(new Event("input"));
  return [...document.querySelectorAll(".cards > li")].filter((each) => !each.hidden).length;
}})({words!r})"""


def test_a_search_by_method_or_problem_leaves_what_has_all_words(site, look):
    page = look(site / "index.html")
    assert page.evaluate(SEARCH.format(words="momentum")) == 1
    assert page.evaluate("document.getElementById('found').textContent") == "1 of 2 suites"
    assert page.evaluate(SEARCH.format(words="GD problem")) == 2
    assert page.evaluate(SEARCH.format(words="nobody")) == 0
    assert page.evaluate("document.getElementById('none').checkVisibility()")
    assert page.console == []


@pytest.mark.parametrize("name", ["index.html", "suites/one-first.html", "problems/problem-0.html"])
def test_a_page_fits_a_phone_and_has_contrast_in_both_modes_and_asks_nobody(site, look, name):
    page = look(site / name, 390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for scheme in ("light", "dark"):
        page.prefer(scheme)
        assert page.evaluate(CONTRAST) >= 4.5, scheme
    assert page.console == []
    assert all(address.startswith("file:") for address in page.requests)


def test_the_keyboard_reaches_the_search_and_every_link_in_order(site, look):
    page = look(site / "index.html")
    reached = []
    for _ in range(20):
        for kind in ("keyDown", "keyUp"):
            page.ask("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9)
        reached.append(
            page.evaluate("document.activeElement.id || document.activeElement.getAttribute('href') || ''")
        )
    assert reached[0] == "search"
    links = page.evaluate("[...document.querySelectorAll('a')].map((each) => each.getAttribute('href'))")
    assert reached[1 : len(links) + 1] == links
