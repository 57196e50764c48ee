"""The tables of the performance page are those of the stored runs."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchfw.errors import BenchfwError

TRACKED = Path(__file__).parents[2] / "suites" / "tracked"
TEXT = "Above.\n\n<!-- measured: one -->\n\nold\n\n<!-- end -->\n\nBelow.\n"


@pytest.fixture(autouse=True)
def _scripts(monkeypatch):
    monkeypatch.syspath_prepend(TRACKED)


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """Return a folder with the table that a script of one case has stored."""
    from _measured import Table
    from _timing import run_cases

    columns, rows = ("what", "ms", "error, %"), [("exact", 1234.5, None), ("ours", 0.9, 1.23e-7)]
    words = ["/somewhere/one.py", "--rounds", "3", "--to", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", words)
    run_cases({"case": lambda rounds: Table(f"{rounds} rounds", columns, rows)}, None, rounds=7)
    (tmp_path / "one-case.json").rename(tmp_path / "one.json")
    return tmp_path


def test_the_page_has_the_tables_of_the_stored_runs():
    import performance_page as script

    text = script.PAGE.read_text(encoding="utf-8")
    assert script.fill(text) == text, "run `make performance`"


def test_every_stored_run_is_on_the_page():
    import performance_page as script

    shown = {name for _, name in script.MARK.findall(script.PAGE.read_text(encoding="utf-8"))}
    assert shown == {path.stem for path in script.FOLDER.glob("*.json")}


def test_a_table_is_shown_with_its_day_machine_versions_and_command(stored):
    import performance_page as script

    found = json.loads((stored / "one.json").read_text())
    above, _, below = script.fill(TEXT, stored).partition("<!-- measured: one -->")
    assert above == "Above.\n\n"
    assert below.splitlines()[2:8] == [
        "3 rounds:",
        "",
        "| what | ms | error, % |",
        "| --- | --- | --- |",
        "| exact | 1,234 |  |",
        "| ours | 0.900 | 1.2e-07 |",
    ]
    assert f"*Measured on {found['date']} by `python suites/tracked/one.py --rounds 3`: " in below
    assert f"numpy {found['packages']['numpy']}" in below
    assert below.endswith("<!-- end -->\n\nBelow.\n")


def test_a_mark_without_a_stored_run_is_named(stored):
    import performance_page as script

    with pytest.raises(BenchfwError, match=r"no stored table 'ones' in .*; did you mean 'one'"):
        script.fill(TEXT.replace("one", "ones"), stored)


def test_a_kernel_is_shown_at_the_largest_size_that_both_backends_have():
    from gpu_whole import kernel_table

    times = {100: (2e-6, 8e-6), 10_000: (9e-4, 3e-5), 1_000_000: (None, 4e-5)}
    names = "problem", "method", "backend", "quantity", "estimate"
    rows = [
        dict(zip(names, (f"size {size:,}", "small", backend, quantity, value), strict=True))
        for size, pair in times.items()
        for backend, seconds in zip(("numpy", "cupy"), pair, strict=True)
        if seconds is not None
        for quantity, value in (("seconds_per_call", seconds), ("fraction_of_limit", 0.25))
    ]
    (row,) = kernel_table("kernels", rows).rows
    assert row == ("small", "10,000", pytest.approx(900), pytest.approx(30), 25, pytest.approx(30), "10,000")
