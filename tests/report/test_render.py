from __future__ import annotations

import csv
import html
import json
import re
import shutil
import subprocess
import sys

import pytest

from benchfw.errors import BenchfwError
from benchfw.records import Record, Status
from benchfw.report.exports import safe_cell
from benchfw.report.render import build_figures, script_json, write_report
from benchfw.report.summary import summarize

HOSTILE = "<script>alert(1)</script>"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no chromium to open the page with")


def written(run, results, folder, **options):
    return write_report(summarize(run, results), run, results, folder, **options)


def opened(page, profile, width=1400):
    """Return the page's document after its scripts ran, and what the console said."""
    done = subprocess.run(
        [
            CHROMIUM,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--enable-logging=stderr",
            f"--user-data-dir={profile}",
            f"--window-size={width},2000",
            "--virtual-time-budget=10000",
            "--dump-dom",
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def test_page_has_the_parts_in_order_and_fetches_nothing(realistic, run, tmp_path):
    page = written(run, realistic(), tmp_path / "reports" / "7")
    text = page.read_text(encoding="utf-8")
    parts = [text.index(f'id="{name}"') for name in ("verdicts", "tables", "figures", "faults", "provenance")]
    assert parts == sorted(parts)
    addresses = re.findall(r'(?:src|href)="([^"]*)"', text)
    assert set(addresses) >= {"../assets/plotly.min.js", "summary.csv", "records.csv"}
    assert not [address for address in addresses if "//" in address]
    assert (tmp_path / "reports" / "assets" / "plotly.min.js").stat().st_size > 1_000_000
    assert page.stat().st_size < 1_000_000
    assert "Example 3000" in text
    assert "Seed 41:" in text
    assert "seed = 7" in text


def test_csv_files_hold_every_record_and_quantity(realistic, run, tmp_path):
    results = realistic()
    page = written(run, results, tmp_path / "7")
    with (page.parent / "records.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    records = [record for result in results for record in result.outcome.records]
    assert len(rows) == len(records)
    assert float(rows[5]["value"]) == records[5].value
    with (page.parent / "summary.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == len(summarize(run, results).export_rows())


def test_a_run_with_no_success_still_gives_a_page(make, run, tmp_path):
    results = [make.result("optimizer", "p", "gd", 0, [], status=Status.FAILED, reason="no luck", number=3)]
    text = written(run, results, tmp_path / "7").read_text(encoding="utf-8")
    assert "No trial finished" in text
    assert "no luck" in text
    assert "benchfw replay 3" in text
    assert "<figure" not in text
    rows = (tmp_path / "7" / "records.csv").read_text(encoding="utf-8").splitlines()
    assert rows[1] == "7,3,quickstart,p,gd,numpy,0,failed,no luck,,,,,"


def test_an_empty_run_gives_a_page(run, tmp_path):
    assert "This run has no trials" in written(run, [], tmp_path / "7").read_text(encoding="utf-8")


def test_json_cannot_end_its_script_element():
    data = {"name": "</script><!--<script>&\u2028"}
    text = script_json(data)
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == data


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_cells_are_no_formulas(text):
    assert safe_cell(text) == f"'{text}"
    assert safe_cell(f"a{text}") == f"a{text}"


def test_a_folder_that_cannot_be_written_is_one_clear_line(realistic, run, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BenchfwError, match=r"cannot write the report to .*file/7: "):
        written(run, realistic(), tmp_path / "file" / "7")


@pytest.mark.parametrize("missing", ["jinja2", "plotly"])
def test_a_missing_package_is_named_with_how_to_install_it(run, tmp_path, monkeypatch, missing):
    monkeypatch.setattr("benchfw.report.render.find_spec", lambda name: None)
    if missing == "jinja2":
        monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(BenchfwError, match=rf"needs {missing}.*pip install 'benchfw\[report\]'"):
        written(run, [], tmp_path / "7")


@needs_chromium
def test_every_figure_is_drawn_without_a_complaint(realistic, run, tmp_path):
    page = written(
        run, realistic(), tmp_path / "7", extra_figures=[{"data": [{"y": [1, 2]}], "title": "Mine"}]
    )
    document, console = opened(page, tmp_path / "profile")
    assert console == []
    figures = document.split("<figure ")[1:]
    assert len(figures) == 2 * (3 + 3) + 1
    assert f'data-drawn="{len(figures)}"' in document
    for figure in figures:
        marks = re.findall(r'<path class="(?:js-line|point)" [^>]*d="M', figure)
        assert marks, figure[:200]
    assert figures[0].count('class="js-line"') >= 8 + 1  # eight methods and a bound
    assert document.count('<button type="button" aria-pressed="true"') == 2 * 4
    assert ">Mine<" in document


@needs_chromium
def test_hostile_names_show_as_text(make, run, tmp_path):
    name = f"{HOSTILE}<b>x</b>"
    results = [
        make.result("optimizer", name, name, r, make.curve(name, [9, 5, 1 + r]), reason=name)
        for r in range(2)
    ]
    results.append(make.result("optimizer", name, name, 2, [], status=Status.FAILED, reason=name))
    results += [make.result("estimator", name, name, r, make.draws(1.0 + r)) for r in range(2)]
    results.append(make.result("kernel", name, name, 0, [Record("seconds_per_call", 0, 0, 0, 1.0)]))
    page = written(run, results, tmp_path / "7")
    document, console = opened(page, tmp_path / "profile")
    assert console == []
    assert "<script>alert" not in document
    assert html.escape(name, quote=False) in document
    drawings = "".join(re.findall(r"<svg.*?</svg>", document, flags=re.DOTALL))
    shown = [
        re.sub("<[^>]*>", "", text) for text in re.findall(r"<text.*?</text>", drawings, flags=re.DOTALL)
    ]
    assert any("&lt;script&gt;alert(1)" in text for text in shown)


@needs_chromium
def test_a_phone_sees_no_wider_page_than_its_screen(realistic, run, tmp_path):
    page = written(run, realistic(), tmp_path / "7")
    probe = "<script>addEventListener('load', () => setTimeout(() => parent.postMessage("
    probe += "document.documentElement.scrollWidth + ' of ' + innerWidth, '*'), 3000))</script></body>"
    page.write_text(page.read_text(encoding="utf-8").replace("</body>", probe), encoding="utf-8")
    # a window cannot be this narrow, a frame can
    phone = tmp_path / "phone.html"
    phone.write_text(
        "<script>addEventListener('message', (event) => { document.title = event.data })</script>"
        f'<iframe src="{page.as_uri()}" style="width:390px;height:844px;border:0"></iframe>',
        encoding="utf-8",
    )
    document, _ = opened(phone, tmp_path / "profile")
    found = re.search(r"<title>(\d+) of (\d+)", document)
    assert found, document[:500]
    wide, screen = map(int, found.groups())
    assert screen == 390
    assert wide <= screen


def test_a_metric_that_starts_at_zero_is_drawn_all_the_same(make, run):
    results = [
        make.result("optimizer", "p", "gd", r, make.curve("train_rmse", [0.0, 0.001, 0.3])) for r in range(3)
    ]
    summary = summarize(run, results)
    (figure,) = [each for each in build_figures(summary, results) if "train_rmse" in each.title]
    assert figure.views[0].layout["yaxis"]["type"] == "log"
