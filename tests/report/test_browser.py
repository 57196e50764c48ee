"""The pages in a real Chromium, as a reader meets them."""

from __future__ import annotations

import base64
import csv
import gzip
import math
import re
from dataclasses import replace
from itertools import combinations, pairwise
from time import monotonic, sleep

import pytest

from benchfw.records import Record, Status
from benchfw.report.page import drawing_script, save_records, single_file, write_overview, write_report
from benchfw.store import Store
from benchfw.summary.summarize import summarize

HOSTILE = "<script>alert(1)</script><b>x</b>%{y}"
MARKS = """[...document.querySelectorAll('figure')].map((figure) => [...figure.querySelectorAll(
    '.plot path.js-line, .plot path.point')].filter((mark) => mark.getAttribute('d')).length)"""
CHOOSE = """((name, value) => {{
    const menu = document.querySelector(`[data-choice=${{name}}]`);
    menu.value = value;
    menu.dispatchEvent(new Event('change'));
}})('{}', '{}')"""


@pytest.fixture(scope="module")
def page(browser, quickstart, draw_all):
    """The quickstart page, drawn; tests that press something have a figure of their own."""
    opened = browser.open(quickstart / "run-1" / "index.html")
    draw_all(opened)
    return opened


@pytest.fixture
def written(run, tmp_path):
    folder = tmp_path / "reports" / "run-7"

    def write(results, **options):
        return write_report(summarize(run, save_records(folder, run, results)), run, folder, **options)

    return write


def axis_of(page, figure):
    """Return the horizontal axis of a figure as it is drawn: title and type."""
    plot = f"document.querySelectorAll('.plot')[{figure}]"
    return page.evaluate(f"[{plot}.querySelector('.xtitle').textContent, {plot}._fullLayout.xaxis.type]")


def press(page, figure, words):
    page.evaluate(
        f"[...document.querySelectorAll('figure')[{figure}].querySelectorAll('button, label')]"
        f".find((each) => each.textContent === {words!r}).click()"
    )


def test_the_quickstart_page_draws_every_figure_asks_nobody_and_complains_of_nothing(quickstart, page):
    assert page.console == []
    assert page.requests == [
        (quickstart / "run-1" / "index.html").as_uri(),
        (quickstart / "assets" / drawing_script([]).name).as_uri(),
    ]
    marks = page.evaluate(MARKS)
    assert len(marks) >= 8
    assert min(marks) > 0
    assert marks[0] >= 9  # a line a method at least


def test_figures_are_drawn_when_a_reader_comes_near(browser, quickstart):
    page = browser.open(quickstart / "run-1" / "index.html")
    drawn = "[...document.querySelectorAll('.plot')].map((each) => Boolean(each.querySelector('.main-svg')))"
    first = page.evaluate(drawn)
    assert first[0]
    assert not first[-1]
    page.evaluate("[...document.querySelectorAll('figure')].at(-1).scrollIntoView({behavior: 'instant'})")
    page.wait_for(f"{drawn}.at(-1)")
    page.close()


def test_switches_change_the_axis_that_is_drawn(page):
    assert axis_of(page, 0) == ["gradients", "log"]  # cost is the fairest axis, and the first
    press(page, 0, "time")
    assert axis_of(page, 0) == ["time, ms", "log"]
    press(page, 0, "gradients")
    press(page, 0, "log x")
    assert axis_of(page, 0) == ["gradients", "linear"]
    assert page.console == []


def test_ticks_of_a_logarithmic_axis_of_few_decades_are_numbers_written_out(make, written, look):
    results = [
        make.result("optimizer", "p", name, r, make.curve("gap", [end * 8, end * 3, end]))
        for name, end in (("gd", 0.3), ("sgd", 0.1))
        for r in range(3)
    ]
    page = look(written(results))
    plot = "document.querySelector('.plot')"
    ticks = page.evaluate(f"[...{plot}.querySelectorAll('.ytick text')].map((each) => each.textContent)")
    numbers = [float(each) for each in ticks]
    assert len(numbers) >= 3
    assert numbers == sorted(numbers)
    assert set(numbers) <= {digit * 10.0**power for digit in (1, 2, 5) for power in (-2, -1, 0)}


def cross(one, other):
    """Return whether two straight lines, each from (x, y) to (x, y), have a point in common."""

    def side(start, end, point):
        turn = (end[0] - start[0]) * (point[1] - start[1]) - (end[1] - start[1]) * (point[0] - start[0])
        return math.copysign(1, turn) if abs(turn) > 1e-6 else 0

    (a, b), (c, d) = one, other
    return side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0


def test_lines_from_names_to_the_ends_of_curves_do_not_cross(make, written, look):
    ends = {"gd": 80, "nesterov": 45, "lbfgs": 13, "svrg": 20, "saga": 10, "sgd": 90, "adam": 91}
    results = [
        make.result("optimizer", "p", name, 0, make.curve("gap", [1, *[0.1] * (cost - 2), low], cost=1.0))
        for name, cost in ends.items()
        for low in [0.01 if cost > 85 else 1e-6 * (1 + cost / 1000)]
    ]
    page = look(written(results))
    leaders = page.evaluate("""(() => {
        const { annotations, _size } = document.querySelector('.plot')._fullLayout;
        return annotations.map(({ x, y, ax, ay, text }) => {
            const [left, top] = [x * _size.w, (1 - y) * _size.h];
            return [text, [[left, top], [left + ax, top + ay]]];
        });
    })()""")
    assert {name for name, _ in leaders} == set(ends)
    lines = [line for _, line in leaders]
    assert not [(one, other) for one, other in combinations(lines, 2) if cross(one, other)]
    heights = sorted(end[1] for _, end in lines)
    assert min(after - before for before, after in pairwise(heights)) > 10  # names do not overlap


def test_the_ratios_of_all_problems_stand_beside_the_names_of_problems_and_reference(make, written, look):
    results = [
        make.result(
            "optimizer", problem, name, r, make.curve("gap", [9, 0.1], cost=cost * (1 + r / 100)),
            target={"gap": 1},
        )
        for problem in ("bowl", "valley")
        for name, cost in (("gd", 100.0), ("sgd", 10.0))
        for r in range(5)
    ]  # fmt: skip
    page = look(written(results))
    plot = "document.querySelector('.plot')"
    ticks = page.evaluate(f"[...{plot}.querySelectorAll('.ytick text')].map((each) => each.textContent)")
    assert ticks == ["bowl", "valley"]
    across = page.evaluate(f"[...{plot}.querySelectorAll('.xtick text')].map((each) => each.textContent)")
    assert {"10× fewer", "equal"} <= {*across}
    title = page.evaluate(f"{plot}.querySelector('.xtitle').textContent")
    assert title.startswith("gradients, compared with")


def mouse(page, kind, x, y, **more):
    page.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)


def click(page, x, y):
    for kind in ("mousePressed", "mouseReleased"):
        mouse(page, kind, x, y, button="left", clickCount=1)


def centre(page, selector):
    """Scroll to an element of the first figure and return where its middle is on the screen."""
    element = f"document.querySelector('.plot {selector}')"
    page.evaluate(f"{element}.scrollIntoView({{block: 'center', behavior: 'instant'}})")
    box = page.evaluate(
        f"(({{x, y, width, height}}) => [x, y, width, height])({element}.getBoundingClientRect())"
    )
    return box[0] + box[2] / 2, box[1] + box[3] / 2


def test_a_name_shows_its_line_alone_or_hides_it_and_dragging_zooms(make, written, look):
    curve = make.curve("gap", [9, 5, 2, 1])
    results = [make.result("optimizer", "p", name, r, curve) for name in ("gd", "sgd") for r in range(2)]
    page = look(written(results))
    plot = "document.querySelector('.plot')"
    own = "each.__data__[0].trace.opacity"  # bands have one
    faint = (
        f"[...{plot}.querySelectorAll('.trace')].filter((each) => (each.style.opacity || 1) != {own}).length"
    )
    assert page.evaluate(f"[...{plot}.querySelectorAll('.annotation')].map((each) => each.textContent)") == [
        "gd",
        "sgd",
    ]
    page.evaluate("document.querySelector('.names button').focus()")
    assert page.evaluate(faint) > 0
    page.evaluate("document.activeElement.blur()")
    assert page.evaluate(faint) == 0
    page.evaluate("document.querySelector('.names button').click()")
    page.wait_for(f"{plot}.data.every((each) => !each.name.startsWith('gd'))")
    assert page.evaluate("document.querySelector('.names button').ariaPressed") == "false"
    before = page.evaluate(f"{plot}._fullLayout.xaxis.range")
    x, y = centre(page, ".nsewdrag")
    mouse(page, "mouseMoved", x - 60, y - 60)
    mouse(page, "mousePressed", x - 60, y - 60, button="left", clickCount=1)
    for step in range(0, 121, 20):
        mouse(page, "mouseMoved", x - 60 + step, y - 60 + step, button="left", buttons=1)
    mouse(page, "mouseReleased", x + 60, y + 60, button="left", clickCount=1)
    page.wait_for(f"{plot}._fullLayout.xaxis.range[0] > {before[0]}")
    assert page.console == []


def test_a_long_name_is_whole_above_the_plot_and_short_beside_it(make, written, look):
    long = "random-features-svrg (features=512, step=0.25)"
    curve = make.curve("gap", [9, 5, 2, 1])
    results = [make.result("optimizer", "p", name, r, curve) for name in ("gd", long) for r in range(2)]
    page = look(written(results))
    names = "[...document.querySelectorAll('.names button')].map((each) => each.textContent)"
    assert page.evaluate(names) == ["gd", long]
    labels = "[...document.querySelectorAll('.plot .annotation')].map((each) => each.textContent)"
    assert page.evaluate(labels) == ["gd", f"{long[:25]}…"]


def test_a_line_that_is_alone_has_its_name_above_the_plot(make, written, look):
    page = look(written([make.result("optimizer", "p", "gd", 0, make.curve("gap", [9, 5, 2, 1]))]))
    names = "[...document.querySelectorAll('.names button')].map((each) => each.textContent)"
    assert page.evaluate(names)[0] == "gd"


def test_a_switch_is_reached_and_pressed_by_the_keyboard_alone(page):
    page.evaluate("document.querySelectorAll('.switch')[1].querySelector('button').focus()")
    for key, code in (("Tab", 9), ("Enter", 13)):
        text = {"text": "\r"} if key == "Enter" else {}
        page.ask("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, **text)
        page.ask("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)
    assert axis_of(page, 1)[0] == "time, ms"
    assert page.evaluate("document.activeElement.getAttribute('aria-pressed')") == "true"


CONTROLS = """[...document.querySelectorAll(
    'a[href], button, input, select, summary, [tabindex="0"]')].filter((each) => each.checkVisibility())"""


def test_tab_walks_through_every_control_of_the_page_in_order(quickstart, look):
    page = look(quickstart / "run-1" / "index.html")  # a fresh one: Tab begins where somebody last clicked
    page.evaluate(f"{CONTROLS}.forEach((each, number) => {{ each.dataset.number = number; }})")
    count = page.evaluate(f"{CONTROLS}.length")
    assert count > 50
    walked = []
    for _ in range(count):
        page.ask("Input.dispatchKeyEvent", type="keyDown", key="Tab", windowsVirtualKeyCode=9)
        page.ask("Input.dispatchKeyEvent", type="keyUp", key="Tab", windowsVirtualKeyCode=9)
        walked.append(page.evaluate("Number(document.activeElement.dataset.number)"))
    assert walked == list(range(count))


CONTRASTS = """(() => {
    const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
    const light = (colour) => parts(colour).slice(0, 3).map((each) => each / 255)
        .map((each) => (each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4))
        .reduce((sum, each, number) => sum + each * [0.2126, 0.7152, 0.0722][number], 0);
    const behind = (node) => {
        for (let each = node; each; each = each.parentElement) {
            const colour = getComputedStyle(each).backgroundColor;
            if ((parts(colour)[3] ?? 1) > 0) return colour;
        }
        return 'rgb(255, 255, 255)';
    };
    return [...document.querySelectorAll('body *')]
        .filter((node) => [...node.childNodes].some((each) => each.nodeType === 3 && each.data.trim()))
        .filter((node) => node.checkVisibility() && !['SCRIPT', 'STYLE', 'OPTION'].includes(node.tagName))
        .map((node) => {
            const style = getComputedStyle(node);
            const ink = node instanceof SVGElement ? style.fill : style.color;
            const [low, high] = [light(ink), light(behind(node))].sort((one, other) => one - other);
            return [(high + 0.05) / (low + 0.05), node.textContent.trim().slice(0, 40)];
        })
        .filter(([contrast]) => contrast < 4.5);
})()"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_stands_out_from_its_background(page, scheme):
    page.prefer(scheme)
    wanted = {"light": "rgb(28, 32, 36)", "dark": "rgb(231, 234, 237)"}[scheme]
    page.wait_for(f"getComputedStyle(document.querySelector('.xtitle')).fill === '{wanted}'")
    faint = page.evaluate(CONTRASTS)
    page.prefer("light")
    assert faint == []


def test_the_first_screen_has_findings_a_band_and_one_figure(page):
    top = "((each) => each.getBoundingClientRect().top + scrollY)(document.querySelector('{}'))"
    for part in ("#findings .verdict", "#findings figure .plot"):
        assert page.evaluate(top.format(part)) < 900
    assert page.evaluate("document.querySelectorAll('#findings figure').length") == 1


def test_a_page_of_many_problems_has_contents_that_follow_the_reader(make, written, look):
    results = [
        make.result("optimizer", f"hill {number}", name, r, make.curve("gap", [9, 5, 1 + r]))
        for number in range(4)
        for name in ("gd", "sgd")
        for r in range(3)
    ]
    page = look(written(results))
    here = "document.querySelector('.toc [aria-current]').textContent"
    assert page.evaluate(here) == "Findings"
    page.evaluate("document.querySelector('#table-3').scrollIntoView({behavior: 'instant'})")
    page.wait_for(f"{here} === 'hill 2, optimizers'")
    assert page.console == []


def test_every_figure_and_control_has_words_for_those_who_do_not_see_it(page):
    words = page.evaluate("[...document.querySelectorAll('.plot')].map((each) => each.ariaLabel)")
    assert min(map(len, words)) > 20
    controls = "[...document.querySelectorAll('main button, main input')]"
    named = "each.textContent || each.ariaLabel || each.labels.length"
    assert page.evaluate(f"{controls}.length") > 20
    assert page.evaluate(f"{controls}.filter((each) => !({named})).length") == 0


def test_the_page_turns_dark_with_the_readers_preference(page):
    colours = (
        "[getComputedStyle(document.body).backgroundColor, "
        "getComputedStyle(document.querySelector('.xtitle')).fill]"
    )
    assert page.evaluate(colours) == ["rgb(255, 255, 255)", "rgb(28, 32, 36)"]
    page.prefer("dark")
    page.wait_for(f"{colours}[1] !== 'rgb(28, 32, 36)'")
    assert page.evaluate(colours) == ["rgb(20, 23, 26)", "rgb(231, 234, 237)"]
    page.prefer("light")


def test_the_csv_that_the_page_links_to_has_the_numbers_of_the_store(quickstart):
    page = quickstart / "run-1" / "index.html"
    assert 'href="records.csv" download' in page.read_text(encoding="utf-8")
    with Store(quickstart / "benchfw.sqlite") as store:
        results = store.results(1)
    with (page.parent / "records.csv").open(encoding="utf-8", newline="") as file:
        rows = [
            (int(row["trial"]), row["metric"], int(row["iteration"]), float(row["seconds"]),
             float(row["cost"]), float(row["value"]))
            for row in csv.DictReader(file)
        ]  # fmt: skip
    stored = [
        (result.id, each.metric, each.iteration, each.seconds, each.cost, each.value)
        for result in results
        for each in result.outcome.records
    ]
    assert rows == stored


def test_a_figure_is_downloaded_as_svg(page, browser, tmp_path):
    browser.ask("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    press(page, 2, "SVG")
    ends = monotonic() + 30
    while not (found := list(tmp_path.glob("*.svg"))) or not found[0].stat().st_size:
        assert monotonic() < ends
        sleep(0.05)
    assert found[0].name == "logistic-regression-distance-gradients.svg"
    text = found[0].read_text(encoding="utf-8")
    assert text.startswith("<svg")
    assert "nesterov" in text


def test_a_single_file_draws_everything_and_asks_for_nothing(quickstart, look, tmp_path):
    whole = tmp_path / "whole.html"
    whole.write_text(single_file(quickstart / "run-1" / "index.html"), encoding="utf-8")
    page = look(whole)
    assert page.console == []
    assert [each for each in page.requests if not each.startswith("data:")] == [whole.as_uri()]
    assert min(page.evaluate(MARKS)) > 0
    inside = page.evaluate("document.querySelector('[download^=\"records.csv\"]').href")
    assert (
        gzip.decompress(base64.b64decode(inside.partition(",")[2]))
        == (quickstart / "run-1" / "records.csv").read_bytes()
    )


def test_hostile_names_show_as_text_wherever_they_stand(make, run, written, look):
    results = [
        make.result("optimizer", HOSTILE, HOSTILE, r, make.curve(HOSTILE, [9, 5, 1 + r]), reason=HOSTILE)
        for r in range(2)
    ]
    cut = make.curve(HOSTILE, [9, 5])
    results.append(make.result("optimizer", HOSTILE, HOSTILE, 2, cut, status=Status.FAILED, reason=HOSTILE))
    results += [make.result("estimator", HOSTILE, HOSTILE, r, make.draws(1.0 + r)) for r in range(2)]
    results.append(make.result("kernel", HOSTILE, HOSTILE, 0, [Record("seconds_per_call", 0, 0, 0, 1.0)]))
    index = written(results)
    overview = write_overview([replace(run, title=HOSTILE, suite=HOSTILE)], {7: index})
    for path in (overview, index):
        page = look(path)
        assert page.console == []
        assert HOSTILE in page.evaluate("document.body.innerText")
        bold = page.evaluate("[...document.querySelectorAll('b')].map((each) => each.textContent)")
        assert "x" not in bold
    assert HOSTILE in page.evaluate(
        "[...document.querySelectorAll('svg text')].map((each) => each.textContent)"
    )
    plot = "document.querySelector('.plot')"
    told = []
    for curve in range(page.evaluate(f"{plot}.data.length")):
        point = f"[{{curveNumber: {curve}, pointNumber: 1}}]"
        # a drawing waits a moment before it tells what is under the pointer
        hover = f"Plotly.Fx.hover({plot}, {point}); setTimeout(done, 300)"
        page.evaluate(f"new Promise((done) => {{ {hover} }})")
        labels = "[...document.querySelectorAll('.hoverlayer text')].map((each) => each.textContent)"
        told += filter(None, page.evaluate(labels))
    assert told
    assert all(HOSTILE in text for text in told)


def test_a_browser_runs_no_script_but_the_pages_own(make, written, look):
    index = written(
        [make.result("optimizer", "p", "gd", r, make.curve("gap", [9, 5, 1 + r])) for r in range(2)]
    )
    code = "document.title = 'sprung'"
    injected = f'<main><img src="data:," onerror="{code}"><script>{code}</script>'
    for text in (index.read_text(), single_file(index)):  # as if a name had not been escaped
        index.write_text(text.replace("<main>", injected))
        page = look(index)
        assert page.evaluate("document.title") != "sprung"
        assert min(page.evaluate(MARKS)) > 0


def test_the_choice_of_a_problem_and_a_backend_hides_the_rest(make, written, look):
    results = [
        make.result("optimizer", problem, "gd", r, make.curve("gap", [9, 5, 1 + r]), backend=backend)
        for problem in ("hill", "valley")
        for backend in ("numpy", "cupy")
        for r in range(2)
    ]
    page = look(written(results))
    shown = "[...document.querySelectorAll('figure')].filter((each) => !each.hidden).length"
    assert page.evaluate(shown) == 4
    page.evaluate(CHOOSE.format("problem", "valley"))
    assert page.evaluate(shown) == 2
    assert "hill" not in page.evaluate("document.querySelector('main').innerText")
    page.evaluate(CHOOSE.format("backend", "cupy"))
    plots = "[...document.querySelectorAll('figure:not([hidden]) .plot')]"
    names = page.evaluate(f"{plots}.flatMap((plot) => plot.data.map((each) => each.name))")
    assert names
    assert all("(cupy)" in name for name in names)
    page.evaluate(CHOOSE.format("problem", ""))
    assert page.evaluate(shown) == 4
    assert page.console == []


def test_a_page_of_one_problem_and_backend_has_nothing_to_choose(make, written):
    results = [make.result("optimizer", "p", "gd", r, make.curve("gap", [9, 5, 1])) for r in range(2)]
    assert "<select" not in written(results).read_text(encoding="utf-8")


def test_a_phone_sees_no_wider_page_than_its_screen(quickstart, look):
    page = look(quickstart / "run-1" / "index.html", 390)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    drawings = "[...document.querySelectorAll('.plot svg.main-svg')].map((each) => each.clientWidth)"
    assert max(page.evaluate(drawings)) <= 390


def test_on_paper_figures_are_as_wide_as_it_is(quickstart, look):
    page = look(quickstart / "run-1" / "index.html", 1400)
    page.wait_for("document.querySelector('.main-svg').getAttribute('viewBox')")
    page.ask("Emulation.setEmulatedMedia", media="print")
    page.evaluate("document.querySelector('.plot').style.width = '300px'")
    drawn = "[...document.querySelectorAll('.plot .main-svg')][0].getBoundingClientRect()"
    assert page.evaluate(f"{drawn}.width") <= 300
    assert page.evaluate(f"{drawn}.height") < 300


def test_a_plugins_figure_is_drawn_too(make, written, look):
    results = [make.result("optimizer", "p", "gd", r, make.curve("gap", [9, 5, 1])) for r in range(2)]
    page = look(written(results, extra_figures=[{"data": [{"y": [1, 2]}], "title": "Mine"}]))
    assert min(page.evaluate(MARKS)) > 0
    assert re.search(r"\bMine\b", page.evaluate("document.body.innerText"))
    assert page.console == []


def test_figures_that_a_large_page_holds_compressed_are_drawn(realistic, written, look, monkeypatch):
    monkeypatch.setattr("benchfw.report.figures.packing.MOST_NUMBERS", 100)
    page = look(written(realistic(problems=("p",), repetitions=2)))
    assert page.evaluate("document.getElementById('figure-data').type") == "application/gzip"
    assert page.evaluate("document.querySelectorAll('.plot .scatterlayer .trace').length") > 3
