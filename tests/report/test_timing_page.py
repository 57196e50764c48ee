"""Timings in words, tables, rows and as a page that opens from disk."""

from __future__ import annotations

import csv
import math
import re

import pytest

from benchfw.analysis.roofline import Ceilings
from benchfw.analysis.timings import Timing
from benchfw.records import Status
from benchfw.report.figures.kernels import size_figure
from benchfw.report.figures.plot import Style
from benchfw.report.script import drawing_script
from benchfw.report.timing_page import write_timing_page
from benchfw.report.timing_tables import (
    EXPORT_COLUMNS,
    ceiling_sentences,
    export_rows,
    kernel_table,
    sentence,
)

STYLE = Style("#0072b2", "solid", "circle")
HOSTILE = "<script>alert(1)</script>"
CEILINGS = {
    "numpy": Ceilings("float64", 5e10, (10**5, 10**8), (6e10, 1e10)),
    "cupy": Ceilings("float64", 6e13, (10**5, 10**8), (6e12, 4e12)),
}
SPREAD = (0.98, 0.99, 1.0, 1.0, 1.01, 1.02)


def timing(size, backend, seconds, kernel="scale"):
    device = tuple(seconds * 0.9 * x for x in SPREAD) if backend == "cupy" else ()
    copies = tuple(seconds * 5 * x for x in SPREAD) if backend == "cupy" else ()
    return Timing(
        kernel, size, backend, Status.DONE, "6 blocks of 1 calls", "float64",
        tuple(seconds * x for x in SPREAD), device, copies,
        flops=3.0 * size, moved=16.0 * size, argument_bytes=8 * size, result_bytes=8 * size,
        peak_bytes=16 * size, ceilings=CEILINGS[backend],
    )  # fmt: skip


def both(kernel="scale"):
    host = [timing(size, "numpy", 2e-9 * size, kernel) for size in (10**4, 10**5, 10**6)]
    device = [timing(size, "cupy", 5e-5, kernel) for size in (10**4, 10**5, 10**6)]
    return [*host, *device]


def test_a_table_has_one_unit_three_figures_and_every_quantity():
    table = kernel_table(both())
    assert table.header == (
        "backend", "size", "time a call, µs", "by the device, µs", "copies in, µs", "GB/s", "Gflop/s",
        "of the limit", "memory, MB", "times faster",
    )  # fmt: skip
    # 16 bytes an entry in 2 ns: 8 GB/s, of 10 at the most
    assert table.rows[2] == (
        "numpy", "1,000,000", "2000 [1970, 2030]", "—", "—", "8.00", "1.50", "80 % (memory)", "24.0", "—",
    )  # fmt: skip
    assert table.rows[5][2:5] == ("50.0 [49.2, 50.8]", "45.0 [44.3, 45.7]", "250 [246, 254]")
    assert table.rows[5][-1].startswith("40 [39, 41]")


def test_columns_of_a_device_are_left_out_without_one():
    header = kernel_table(both()[:3]).header
    assert not {"times faster", "copies in, µs", "by the device, µs"} & set(header)


def test_the_sentence_names_the_limit_and_the_break_even():
    said = sentence(both())
    assert "numpy reaches 80 % of the memory limit at size 1,000,000" in said
    assert "cupy is faster than numpy from size 25,000 on, 40 [39, 41] times at size 1,000,000" in said


def test_always_and_never_are_said_so():
    always = [timing(10, "numpy", 1.0), timing(10, "cupy", 0.5)]
    assert "cupy is faster than numpy at every size, 2.0" in sentence(always)
    never = [timing(10, "numpy", 0.5), timing(10, "cupy", 1.0)]
    assert "cupy is no faster than numpy at size 10, the largest" in sentence(never)


def test_the_ceilings_are_told_once_a_backend():
    numpy, cupy = ceiling_sentences(both())
    assert numpy.startswith("numpy: memory 10.0 GB/s (smaller working sets up to 60.0), products of float64")
    assert cupy.endswith("products of float64 matrices 60000 Gflop/s")


def test_rows_for_other_programs_hold_plain_finite_numbers():
    missing = Timing("scale", 10**7, "cupy", Status.OUT_OF_MEMORY, "not enough memory")
    rows = [dict(zip(EXPORT_COLUMNS, row, strict=True)) for row in export_rows([*both(), missing])]
    assert rows[2]["bytes_per_second"] == pytest.approx(8e9)
    assert rows[2]["floor_seconds"] == pytest.approx(1.6e-3)
    assert rows[5]["times_faster"] == pytest.approx(40.0)
    assert rows[6]["status"] == "out-of-memory"
    assert rows[6]["seconds"] is None
    assert all(math.isfinite(cell) for row in rows for cell in row.values() if isinstance(cell, float))


def test_the_page_names_everything_and_fetches_nothing(tmp_path):
    missing = Timing("scale", 10**7, "cupy", Status.OUT_OF_MEMORY, "not enough memory")
    page = write_timing_page(
        [*both(), missing], {"other": "no such device"}, {"machine": {"cores": 2}}, tmp_path / "time"
    )
    text = page.read_text(encoding="utf-8")
    for part in ("cupy is faster than numpy", "other: no such device", "not enough memory", "machine.cores"):
        assert part in text
    addresses = re.findall(r'(?:src|href)="([^"]*)"', text)
    assert {f"../assets/{drawing_script([]).name}", "timings.csv"} <= set(addresses)
    assert not [address for address in addresses if "//" in address]
    with (page.parent / "timings.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == 7


def test_every_figure_is_drawn_without_a_complaint(tmp_path, look):
    page = look(write_timing_page([*both(), *both(HOSTILE)], {HOSTILE: HOSTILE}, {}, tmp_path / "time"))
    assert page.console == []
    assert HOSTILE in page.evaluate("document.body.innerText")
    names = "[...figure.querySelectorAll('.legendtext')].map((each) => each.textContent)"
    lines = "figure.querySelectorAll('.scatterlayer path.js-line').length"
    figures = page.evaluate(f"[...document.querySelectorAll('figure')].map((figure) => [{names}, {lines}])")
    assert len(figures) == 3
    for found, drawn in figures[1:]:
        assert {"numpy", "numpy, floor", "cupy", "cupy, floor"} <= set(found)
        assert drawn == 4


def test_the_speed_up_is_drawn_with_the_size_from_which_on_a_backend_pays():
    figure = size_figure("scale", both(), {"numpy": STYLE, "cupy": STYLE})
    seconds, faster = figure.views
    assert [trace["name"] for trace in seconds.data] == ["numpy", "numpy, floor", "cupy", "cupy, floor"]
    line, mark = faster.data
    assert line["y"][0] < 1 < line["y"][-1]
    assert line["x"][0] < mark["x"][0] < line["x"][-1]
    assert mark["y"] == [1]
    alone = size_figure("scale", [each for each in both() if each.backend == "numpy"], {"numpy": STYLE})
    assert len(alone.views) == 1
