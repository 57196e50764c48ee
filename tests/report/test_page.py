from __future__ import annotations

import csv
import io
import json
import math
import re
import sys

import pytest

from benchfw.errors import BenchfwError
from benchfw.records import Status
from benchfw.report import page
from benchfw.report.figures import build_figures, packing
from benchfw.report.figures.plot import extra_figure
from benchfw.report.page import can_draw, drawing_script, save_records, write_report
from benchfw.report.text import script_json
from benchfw.summary.exports import (
    RECORD_COLUMNS,
    record_rows,
    safe_cell,
    summary_rows,
    write_csv,
    write_records,
)
from benchfw.summary.summarize import summarize

SMALL = {"optimizers": 3, "estimators": 2, "repetitions": 2, "last": 300}


def written(run, results, folder, **options):
    return write_report(summarize(run, save_records(folder, run, results)), run, folder, **options)


def test_page_has_the_parts_in_order_and_fetches_nothing(realistic, run, tmp_path):
    page = written(run, realistic(), tmp_path / "reports" / "7")
    text = page.read_text(encoding="utf-8")
    parts = [text.index(f'id="{name}"') for name in ("verdicts", "tables", "figures", "faults", "provenance")]
    assert parts == sorted(parts)
    addresses = re.findall(r'(?:src|href)="([^"]*)"', text)
    script = drawing_script([]).name
    assert set(addresses) >= {f"../assets/{script}", "summary.csv", "records.csv"}
    assert not [address for address in addresses if "//" in address]
    assert (tmp_path / "reports" / "assets" / script).stat().st_size > 1_000_000
    assert page.stat().st_size < 1_000_000
    assert "Example 3000" in text
    assert "Seed 41:" in text
    assert "seed = 7" in text


def test_csv_files_hold_every_record_and_quantity(realistic, run, tmp_path):
    results = realistic(**SMALL)
    page = written(run, results, tmp_path / "7")
    with (page.parent / "records.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    records = [record for result in results for record in result.outcome.records]
    assert len(rows) == len(records)
    assert float(rows[5]["value"]) == records[5].value
    with (page.parent / "summary.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == len(summary_rows(summarize(run, results)))


def test_records_are_written_as_by_the_plain_way(make, run):
    odd = make.curve('a "quoted", name', [1.0, math.nan, math.inf, 1e-300])
    results = [
        make.result("optimizer", "=1+1", "two\nlines", 0, [*odd, *make.curve("gap", [0.1])], reason="a, b"),
        make.result("optimizer", "p", "gd", 1, [], status=Status.SKIPPED, reason="+1"),
    ]
    fast, plain = io.StringIO(), io.StringIO()
    assert list(write_records(fast, run, results)) == results
    write_csv(plain, RECORD_COLUMNS, record_rows(run, results))
    assert fast.getvalue() == plain.getvalue()


def test_every_table_has_its_numbers_unrounded_in_a_file(realistic, run, tmp_path):
    results = realistic(**SMALL)
    page = written(run, results, tmp_path / "7")
    summary = summarize(run, results)
    links = re.findall(r'href="(table-\d+\.csv)" download', page.read_text(encoding="utf-8"))
    assert len(links) == len(summary.comparisons)
    for link, comparison in zip(links, summary.comparisons, strict=True):
        with (page.parent / link).open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert [float(row["estimate"]) for row in rows] == [row.interval.estimate for row in comparison.rows]
        assert [row["ratio"] and float(row["ratio"]) for row in rows] == [
            row.ratio.estimate if row.ratio else "" for row in comparison.rows
        ]


@pytest.mark.parametrize("status", [each for each in Status if each not in {Status.DONE, Status.REACHED}])
def test_every_trial_that_did_not_finish_is_shown_with_its_reason(make, run, tmp_path, status):
    curve = make.curve("gap", [9.0, 5.0])
    results = [make.result("optimizer", "p", "gd", repetition, curve) for repetition in range(2)]
    results.append(make.result("optimizer", "p", "gd", 2, curve, status=status, reason="the cable <was> cut"))
    text = written(run, results, tmp_path / "7").read_text(encoding="utf-8")
    faults = text[text.index('id="faults"') :]
    assert f'class="status {status.value}"' in faults
    assert "1 of 3 trials" in faults
    assert "the cable &lt;was&gt; cut" in faults


def test_a_page_of_many_methods_and_points_stays_small(make, run, tmp_path):
    curves = [make.curve("gap", [0.123456789 + r + 1 / (1 + step) for step in range(200)]) for r in range(2)]
    results = [
        make.result("optimizer", "p", f"sgd {method}", repetition, curve)
        for method in range(50)
        for repetition, curve in enumerate(curves)
    ]
    assert written(run, results, tmp_path / "7").stat().st_size < 3_000_000


def test_a_run_with_no_success_still_gives_a_page(make, run, tmp_path):
    results = [make.result("optimizer", "p", "gd", 0, [], status=Status.FAILED, reason="no luck", number=3)]
    text = written(run, results, tmp_path / "7").read_text(encoding="utf-8")
    assert "No trial finished" in text
    assert "no luck" in text
    assert "benchfw replay 3" in text
    assert "<figure" not in text
    rows = (tmp_path / "7" / "records.csv").read_text(encoding="utf-8").splitlines()
    assert rows[1] == "7,3,quickstart,p,gd,numpy,0,0,failed,fault,no luck,,,,,,,,,counted,False"


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
        written(run, realistic(**SMALL), tmp_path / "file" / "7")


def test_a_missing_jinja_is_named_with_how_to_install_it(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(BenchfwError, match=r"needs jinja2.*pip install 'benchfw\[report\]'"):
        written(run, [], tmp_path / "7")


def test_a_metric_that_starts_at_zero_is_drawn_all_the_same(make, run):
    results = [
        make.result("optimizer", "p", "gd", r, make.curve("train_rmse", [0.0, 0.001, 0.3])) for r in range(3)
    ]
    summary = summarize(run, results)
    (figure,) = [each for each in build_figures(summary) if "train_rmse" in each.title]
    assert figure.views[0].layout["yaxis"]["type"] == "log"


LINES = extra_figure({"data": [{"x": [1], "y": [2]}, {"type": "bar", "y": [1]}]})
HEATMAP = extra_figure({"data": [{"type": "heatmap", "z": [[1]]}]})


@pytest.fixture
def small(tmp_path, monkeypatch):
    path = tmp_path / "small.js"
    monkeypatch.setattr(page, "SMALL", path)
    return path


def test_the_small_script_is_taken_where_it_is(small):
    assert drawing_script([LINES]).name == "plotly.min.js"
    small.touch()
    assert drawing_script([LINES]) == small


def test_a_figure_that_the_small_script_cannot_draw_gets_the_whole_one(small):
    small.touch()
    assert drawing_script([LINES, HEATMAP]).name == "plotly.min.js"


def test_without_plotly_only_the_small_script_draws(small, monkeypatch):
    monkeypatch.setattr(page, "find_spec", lambda name: None)
    assert not can_draw()
    with pytest.raises(BenchfwError, match=r"needs plotly's script.*pip install 'benchfw\[plotly\]'"):
        drawing_script([LINES])
    small.touch()
    assert can_draw()
    assert drawing_script([LINES]) == small
    with pytest.raises(
        BenchfwError, match=r"figures with heatmap need plotly; pip install 'benchfw\[plotly\]'"
    ):
        drawing_script([HEATMAP])


def test_a_very_large_page_links_its_numbers_and_holds_its_figures_compressed(
    realistic, run, tmp_path, monkeypatch
):
    results = realistic(**SMALL)
    small = written(run, results, tmp_path / "small").read_text(encoding="utf-8")
    monkeypatch.setattr(page, "MOST_ROWS", 10)
    monkeypatch.setattr(packing, "MOST_NUMBERS", 100)
    large = written(run, results, tmp_path / "large").read_text(encoding="utf-8")
    assert "<summary>All numbers" in small
    assert "<summary>All numbers" not in large
    assert 'All numbers: <a href="table-1.csv" download>' in large
    places = [
        large.index(each) for each in ('id="first-figure"', "Plotly.react", 'id="tables"', 'id="figure-data"')
    ]
    assert places == sorted(places)  # the first figure is drawn before the tables are read
    kinds = [re.search('type="([^"]+)" id="figure-data"[^>]*>([^<]*)<', each) for each in (small, large)]
    assert [each[1] for each in kinds] == ["application/json", "application/gzip"]
