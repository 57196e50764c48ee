"""Timings of kernels in words, tables and figures, and on a run's page."""

from __future__ import annotations

import pytest

from benchfw.records import Ending, Status
from benchfw.report.captions import caption
from benchfw.report.figures.kernels import share_figures, size_figures
from benchfw.report.page import write_report
from benchfw.report.tables import headline_table
from benchfw.report.verdicts import verdict
from benchfw.report.verdicts.phrases import fault_advice
from benchfw.summary.summarize import summarize

HOSTILE = "<script>alert(1)</script>"
SIZES = (10**4, 10**5, 10**6)


def facts(size, flop_rate, bandwidth):
    return {
        "flops_per_call": 3.0 * size, "bytes_per_call": 16.0 * size, "ceiling_flops_per_second": flop_rate,
        "ceiling_bytes_per_second": bandwidth, "argument_bytes": 8.0 * size, "peak_bytes": 16.0 * size,
    }  # fmt: skip


@pytest.fixture
def both(make):
    """Return a function that times a kernel on a host, in proportion to the size, and on a device."""

    def timings(kernel="scale", repetitions=1):
        paces = list(enumerate((1.0, 1.01, 0.99)))[:repetitions]
        clocks = {"device_seconds_per_call": 4.5e-5, "copy_seconds_per_call": 2.5e-4}
        return [
            make.timing(kernel, n, "numpy", 2e-9 * n * pace, facts(n, 5e10, 1e10), r)
            for n in SIZES
            for r, pace in paces
        ] + [
            make.timing(kernel, n, "cupy", 5e-5 / pace, facts(n, 6e13, 4e12), r, **clocks)
            for n in SIZES
            for r, pace in paces
        ]

    return timings


def test_a_table_has_one_unit_of_time_and_every_quantity(both, run):
    (comparison,) = summarize(run, both()).comparisons
    table = headline_table(comparison)
    assert table.header == (
        "size", "time a call, µs", "ratio", "by the device, µs", "copies in, µs", "GB/s", "Gflop/s",
        "memory, MB", "of the limit",
    )  # fmt: skip
    # 16 bytes an entry in 2 ns: 8 GB/s, of 10 at the most
    assert table.rows[2] == (
        "1,000,000 (numpy)", "2000 [1960, 2040]", "1", "—", "—", "8.00", "1.50", "24.0", "80 % (memory)",
    )  # fmt: skip
    assert table.rows[5][1:5] == (
        "50.0 [49.1, 50.9]",
        "0.025 [0.024, 0.026]",
        "45.0 [44.2, 45.8]",
        "250 [245, 255]",
    )
    assert caption(comparison) == (
        "Median over blocks of calls [95 % interval]; ratios to the first backend. The limit: the highest "
        "rates seen here, numpy 10.0 GB/s and 50.0 Gflop/s; cupy 4000 GB/s and 60000 Gflop/s."
    )


def test_columns_of_a_device_are_left_out_without_one(both, run):
    header = headline_table(summarize(run, both()[:3]).comparisons[0]).header
    assert not {"ratio", "copies in, µs", "by the device, µs"} & set(header)


def test_the_verdict_names_the_limit_and_the_sizes_at_which_a_backend_is_faster(both, run):
    assert verdict(summarize(run, both(repetitions=3)).comparisons[0]) == (
        "On numpy, a call takes 2000 µs [1950, 2060] at size 1,000,000, 80 % of the memory limit. "
        "On cupy, a call takes 50.0 µs [48.7, 51.3] at size 1,000,000, 8.0 % of the memory limit. "
        "The backend cupy is faster than numpy at size 100,000 and size 1,000,000, "
        "40 [38, 43] times faster at size 1,000,000."
    )


def test_one_run_of_a_kernel_says_nothing_about_other_runs(both, run):
    assert verdict(summarize(run, both()).comparisons[0]).endswith(
        "Not comparable on cupy and numpy: three paired runs are needed."
    )


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.5, "cupy is faster than numpy at every size, 2 times faster at size 20."),
        (2.0, "cupy is not faster than numpy beyond noise up to size 20."),
    ],
)
def test_always_and_never_are_said_so(make, run, seconds, said):
    results = [
        make.timing("scale", n, name, time, repetition=r)
        for n in (10, 20)
        for name, time in (("numpy", 1.0), ("cupy", seconds))
        for r in range(3)
    ]
    assert verdict(summarize(run, results).comparisons[0]).endswith(said)


def test_a_size_that_would_take_too_long_asks_for_more_seconds(make, run):
    long = make.result("kernel", "size 9", "scale", 0, [], status=Status.SKIPPED, ending=Ending.SECONDS)
    (fault,) = summarize(run, [long]).faults
    assert fault_advice(fault) == "raise the budget's seconds (`benchfw time --limit`)"


def test_the_speed_up_is_drawn_with_the_size_from_which_on_a_backend_pays(both, run):
    summary = summarize(run, both())
    (figure,) = size_figures(summary.comparisons[0])
    seconds, faster = figure.views
    assert {trace["name"] for trace in seconds.data} == {"numpy", "numpy, floor", "cupy", "cupy, floor"}
    line, mark = faster.data
    assert line["y"][0] < 1 < line["y"][-1]
    assert line["x"][0] < mark["x"][0] < line["x"][-1]
    assert mark["y"] == [1]
    (alone,) = size_figures(summarize(run, both()[:3]).comparisons[0])
    assert len(alone.views) == 1
    (shares,) = share_figures(summary)
    assert [trace["x"] for trace in shares.views[0].data] == [[80.0], [8.0]]


def test_the_page_of_a_run_draws_kernels_without_a_complaint(both, run, tmp_path, look):
    results = [*both(repetitions=3), *both(HOSTILE, repetitions=3)]
    page = look(write_report(summarize(run, results), run, tmp_path / "run-7"))
    assert page.console == []
    text = page.evaluate("document.body.innerText")
    assert HOSTILE in text
    assert "cupy is faster than numpy at size 100,000 and size 1,000,000" in text
    names = "[...figure.querySelectorAll('.names button')].map((each) => each.textContent)"
    lines = "figure.querySelectorAll('.scatterlayer path.js-line').length"
    figures = page.evaluate(f"[...document.querySelectorAll('figure')].map((figure) => [{names}, {lines}])")
    assert len(figures) == 3
    of_sizes = [found for found, drawn in figures if drawn == 4]
    assert len(of_sizes) == 2
    assert all({"numpy", "numpy, floor", "cupy", "cupy, floor"} <= set(found) for found in of_sizes)
