"""The page of a run that goes on: it says so, and loads itself again while it is watched."""

import contextlib
from dataclasses import replace
from time import monotonic, sleep

import pytest

from benchfw.provenance import Environment
from benchfw.report.page import write_report
from benchfw.summary.summarize import summarize


@pytest.fixture
def write(run, realistic, tmp_path):
    """Return a function that writes the page of a run with so many of forty trials."""
    results = realistic(problems=["least-squares"], optimizers=4, estimators=2, repetitions=3)

    def written(trials, **changes):
        going = replace(run, **{"finished": None, "environment": Environment(trials=40), **changes})
        shown = replace(going, counts={"done": trials})
        found = results[:trials]
        reload = 1 if shown.going else 0
        return write_report(summarize(shown, found), shown, tmp_path / "run-7", reload=reload)

    return written


def test_a_page_of_a_going_run_says_so_and_loads_itself_again(write, browser):
    page = browser.open(write(4, going=True))
    said = "document.querySelector('.standing').textContent"
    assert page.evaluate(said) == (
        "Run 7 is still going: 4 of 40 trials. This page loads itself again every 1 seconds."
    )
    # scrolled and looked at in one go, between two loads
    scroll = "document.querySelector('#provenance').scrollIntoView({behavior: 'instant'})"
    assert page.evaluate(f"({scroll}, window.scrollY)") > 100
    write(8, going=False)
    ends = monotonic() + 30
    stopped, shown = "Run 7 was stopped: 8 of 40 trials; the same command continues from there.", ""
    while shown != stopped and monotonic() < ends:
        sleep(0.1)
        with contextlib.suppress(RuntimeError):  # asked while it was loading
            shown = page.evaluate(said)
    assert shown == stopped
    page.wait_for("window.scrollY > 100")  # the reader is left where they were
    assert page.console == []
    page.close()


def test_a_page_of_a_finished_run_says_nothing_of_the_kind(write):
    text = write(4, finished="2025-03-01T12:01:00+00:00").read_text(encoding="utf-8")
    assert 'class="standing"' not in text
    assert "refresh" not in text


def test_a_page_of_a_run_without_a_trial_yet_is_a_page(write):
    text = write(0, going=True).read_text(encoding="utf-8")
    assert "Run 7 is still going: 0 of 40 trials." in text
